"""A live environment, and what it shares with its copies, stay as they were: searched rightly, or refused."""

from __future__ import annotations

import contextvars
import functools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.heap import Heap
from doubles.heaps_in_objects import objects
from doubles.heaps_in_processes import processes
from doubles.heaps_on_classes import classes

from zermelo.agents import make_agent
from zermelo.envs import CloneError, ZermeloError, as_game
from zermelo.envs.adapters.foretold import Foretold
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.support.forked import can_fork

pytestmark = [
    pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning"),
    pytest.mark.usefixtures("seen_by_nobody"),
]

SEARCHES = ("alphabeta(depth=2)", "mcts(simulations=20)")


@pytest.fixture(autouse=True)
def _process_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Puts back what the heaps do to the process."""
    monkeypatch.setenv("STICKS", "0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def ways() -> dict[str, type[Heap]]:
    """A fresh class for each place where a heap may lie, by its name."""
    return {cls.__name__: cls for made in (objects, classes, processes) for cls in made()}


def three_left(cls: Callable[[], Heap], **options: Any) -> Heap:
    env = cls()
    env.reset(seed=0, options=options)
    env.step(1)
    assert env.get() == 3
    return env


def visible(env: Heap) -> Any:
    """All that is to be seen of an environment, of what its copies share with it, and of the process."""
    seen = [env.observe(agent).tolist() for agent in env.possible_agents]
    paid = dict(env.rewards), dict(env._cumulative_rewards)
    ends = dict(env.terminations), dict(env.truncations)
    process = os.getcwd(), dict(os.environ), list(contextvars.copy_context().values())
    return seen, env.agent_selection, env.agents[:], paid, ends, env.held(), process


@pytest.mark.parametrize("way", ways())
def test_searched_rightly_or_refused_and_left_as_it_was(way: str) -> None:
    for spec in SEARCHES:
        env = three_left(ways()[way])
        before = visible(env)
        try:
            result = make_agent(spec).search(env)
        except ZermeloError as error:
            refusal = str(error)
        else:
            refusal = ""
            assert result.env_action == 2
        assert "\n" not in refusal
        assert visible(env) == before
        env.step(2)  # and the game goes on as it would have
        assert env.get() == 0
        assert env.rewards == {"b": 1.0, "a": -1.0}
        env.close()


def test_what_nobody_has_looked_at_is_not_played_to_compare_it() -> None:
    env = three_left(ways()["ListOfClass"])
    assert Foretold.of(env, 0) is None
    assert env.get() == 3


# What is shown nowhere


def hidden_heaps() -> dict[str, type[Heap]]:
    """Heaps that nobody sees, so that only the end of the game shows them."""

    def blind(way: str) -> type[Heap]:
        class Blind(ways()[way]):  # type: ignore[misc]
            def seen(self) -> list[int]:
                return [self.turn_number]

        return Blind

    return {way: blind(way) for way in ("ListOfClass", "CellOfMethods", "Cached", "FileByName", "Mapped")}


@pytest.mark.parametrize("way", hidden_heaps())
def test_what_is_shared_and_shown_nowhere_is_refused(way: str) -> None:
    env = three_left(hidden_heaps()[way])
    before = visible(env)
    for spec in SEARCHES:
        with pytest.raises(CloneError, match="playing a clone of two_in_turn_v0 changes how another one goes on"):
            make_agent(spec).search(env)
        assert visible(env) == before


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="copies are compared in forked processes")
def test_what_is_shared_is_noticed_on_a_busy_machine_too() -> None:
    count = 4 * (os.cpu_count() or 1)
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        for way in ("CellOfMethods", "Cached"):
            with pytest.raises(CloneError, match="changes how another one goes on"):
                make_agent("alphabeta(depth=2)").search(three_left(hidden_heaps()[way]))
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_a_count_on_the_class_is_told_of_and_not_refused() -> None:
    class Counted(Heap):
        steps = 0

        def take(self, number: int) -> None:
            type(self).steps += 1
            super().take(number)

    env = three_left(Counted)
    with pytest.warns(UnknownTraitWarning, match=r"has copies that change it; .*Counted\.steps \(1, now "):
        assert make_agent("alphabeta(depth=2)").act(env) == 2


# Files


def test_a_file_that_copies_write_is_put_back_after_play_and_told_of(tmp_path: Path) -> None:
    class Logged(Heap):
        def take(self, number: int) -> None:
            super().take(number)
            with (tmp_path / "moves.log").open("a") as file:
                file.write(f"{number}\n")
            (tmp_path / f"left{self.heap}.txt").write_text("")

    env = three_left(Logged)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    with pytest.warns(UnknownTraitWarning, match=r"copies that write to files \(.*moves\.log.*\), so searches"):
        as_game(env)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == files


# Another configuration


class MayShare(Heap):
    """A heap that is kept on the class where an instance says so."""

    board: list[int]
    is_shared = False

    def put(self, number: int) -> None:
        if self.is_shared:
            self.board[0] = number
        super().put(number)

    def get(self) -> int:
        return self.board[0] if self.is_shared else super().get()


@pytest.mark.parametrize("is_shown", [True, False])
def test_another_environment_of_a_known_class_is_not_searched_if_its_copies_share_state(is_shown: bool) -> None:
    class Shown(MayShare):
        board = [0]  # noqa: RUF012 - as strangers do

        def __init__(self, is_shared: bool = False) -> None:
            self.is_shared = is_shared
            super().__init__()

        def seen(self) -> list[int]:
            return super().seen() if is_shown else [self.turn_number]

    assert make_agent("alphabeta(depth=2)").act(three_left(Shown)) == 2
    env = three_left(functools.partial(Shown, True))
    before = visible(env)
    for spec in (*SEARCHES, "auto(seconds=0.2)"):
        with pytest.raises(CloneError, match="playing a clone of two_in_turn_v0 changes how another one goes on"):
            make_agent(spec).search(env)
        assert visible(env) == before
    assert make_agent("alphabeta(depth=2)").act(three_left(Shown)) == 2


def test_copies_that_share_state_only_after_a_change_of_the_environment_are_noticed() -> None:
    class OwnBoard(MayShare):
        board = [0]  # noqa: RUF012 - as strangers do

    env = three_left(OwnBoard)
    assert make_agent("alphabeta(depth=2)").act(env) == 2
    env.is_shared, OwnBoard.board[0] = True, 3
    with pytest.warns(UnknownTraitWarning, match=r"shows something else after a search .* copies share state"):
        make_agent("alphabeta(depth=2)").act(env)


def test_an_environment_that_copies_leave_alone_is_searched_without_a_word_on_copies() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*copies")
        assert make_agent("alphabeta(depth=2)").act(three_left(Heap)) == 2
