"""Waiting for the compiler: before a search's clock starts, in the background, or never."""

from __future__ import annotations

import _thread
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from zermelo.agents import AlphaBetaAgent, MinimaxAgent, make_agent, solve
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Hex, Nim
from zermelo.envs.jit import build
from zermelo.envs.jit.cache import kernel_archive, store
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.settings import TournamentSettings

LONG = 60.0
"""Seconds after which a test has failed."""


@pytest.fixture(autouse=True)
def _no_shipped_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is how the compiler is waited for."""
    monkeypatch.setattr(kernel_archive, "ARCHIVE", tmp_path / "none.zip")


@pytest.fixture
def nothing_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh process, but for Numba, which may have been imported."""
    monkeypatch.setattr(build, "_BUILT", {})


def search(agent: Any, rules: Any) -> Any:
    game = RulesGame(rules)
    return agent.search_state(game, game.initial_state())


class SlowCompiler:
    """In place of the compiler: machine code comes from disk, but only once it may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rules: Any, agent: Any) -> None:
        search(dataclasses.replace(agent), rules)  # now it is on disk, and the agent itself has nothing
        monkeypatch.setattr(build, "_BUILT", {})
        self.may_finish = threading.Event()
        self.runs = 0
        read = store.read

        def read_slowly(path: Path) -> Any:
            if threading.current_thread().name != "zermelo-compiler":
                return None
            self.runs += 1
            assert self.may_finish.wait(LONG)
            return read(path)

        monkeypatch.setattr(store, "read", read_slowly)


@pytest.fixture
def slow_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SlowCompiler]]:
    made: list[SlowCompiler] = []

    def make(rules: Any, agent: Any) -> SlowCompiler:
        made.append(SlowCompiler(monkeypatch, rules, agent))
        return made[-1]

    yield make
    for each in made:
        each.may_finish.set()
    wait_for_compilers()


def wait_for_compilers() -> None:
    for thread in threading.enumerate():
        if thread.name == "zermelo-compiler":
            thread.join(LONG)
            assert not thread.is_alive()


@contextmanager
def soon(call: Callable[[], Any], seconds: float = 0.2) -> Iterator[None]:
    timer = threading.Timer(seconds, call)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.mark.thorough
def test_other_shapes_of_rules_are_loaded_before_the_clock_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = AlphaBetaAgent(seconds=0.1, proof_share=0, evaluator="rewards")
    one, two = Hex(3, 3), Hex(9, 9)  # whose states are of more words
    for rules in (one, two):
        search(AlphaBetaAgent(depth=2, evaluator="rewards"), rules)  # puts the code on disk
    monkeypatch.setattr(build, "_BUILT", {})
    read = store.read

    def read_slowly(path: Path) -> Any:
        time.sleep(delay)
        return read(path)

    monkeypatch.setattr(store, "read", read_slowly)
    delay = 0.0
    search(agent, one)
    delay = 1.0
    other = search(agent, two)
    assert other.seconds < 1.0 <= other.compiling


def test_finished_kernels_do_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    finished, other = AlphaBetaAgent(depth=2), MinimaxAgent(depth=2)
    search(MinimaxAgent(depth=2), MNK())  # puts the code on disk
    monkeypatch.setattr(build, "_BUILT", {})
    search(finished, MNK())
    read, reading, may_go_on = store.read, threading.Event(), threading.Event()

    def read_slowly(path: Path) -> Any:
        reading.set()
        assert may_go_on.wait(LONG)
        return read(path)

    monkeypatch.setattr(store, "read", read_slowly)
    found: list[Any] = []
    waiting = threading.Thread(target=search, args=(other, MNK()))
    searching = threading.Thread(target=lambda: found.append(search(finished, MNK())))
    waiting.start()
    assert reading.wait(LONG)
    searching.start()
    searching.join(5)
    in_time = list(found)
    may_go_on.set()
    searching.join(LONG)
    waiting.join(LONG)
    assert in_time


def test_a_search_waits_and_its_clock_starts_afterwards(slow_compiler: Any) -> None:
    agent = AlphaBetaAgent(seconds=0.1, proof_share=0)
    compiler = slow_compiler(MNK(), agent)
    with soon(compiler.may_finish.set, 1.0):
        found = search(agent, MNK())
    assert found.seconds < 0.9 <= found.compiling
    assert search(agent, MNK()).compiling < 0.1
    assert compiler.runs == 1


def test_in_the_background_searches_are_plain_until_it_is_done(slow_compiler: Any) -> None:
    agent = AlphaBetaAgent(depth=3, compile="background")
    compiler = slow_compiler(MNK(), AlphaBetaAgent(depth=3))
    first = search(agent, MNK())
    assert first.compiling < LONG / 2
    assert not compiler.may_finish.is_set()
    assert not build._BUILT
    compiler.may_finish.set()
    wait_for_compilers()
    assert build._BUILT
    assert search(agent, MNK()).value == first.value
    assert compiler.runs == 1


@pytest.mark.usefixtures("nothing_built")
@pytest.mark.parametrize("spec", ["alphabeta(depth=3, compile='never')", "mcts(simulations=9, compile='never')"])
def test_nothing_is_compiled_where_it_is_not_wanted(spec: str) -> None:
    assert search(make_agent(spec), MNK()).compiling == 0
    assert solve(Nim((1, 2, 2)), compile="never").proven
    assert not build._BUILT


@pytest.mark.parametrize("make", [AlphaBetaAgent, lambda **how: solve(MNK(), **how)], ids=["agent", "solve"])
def test_there_are_three_ways(make: Any) -> None:
    with pytest.raises(
        InvalidSettingError, match="compile must be one of 'wait', 'background', 'never', not 'no'"
    ):
        make(compile="no")


def test_two_threads_compile_once(slow_compiler: Any) -> None:
    agent = AlphaBetaAgent(depth=2)
    compiler = slow_compiler(MNK(), agent)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(search(agent, MNK()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    with soon(compiler.may_finish.set):
        for thread in threads:
            thread.join(LONG)
    assert len({result.value for result in found}) == 1
    assert (len(found), compiler.runs) == (3, 1)


def test_a_thread_that_is_late_does_not_compile_again(slow_compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = AlphaBetaAgent(depth=2)
    compiler = slow_compiler(MNK(), agent)
    compiler.may_finish.set()
    read, main = store.read, threading.current_thread()

    def another_ends_first(path: Path) -> Any:
        if threading.current_thread() is main:
            other = threading.Thread(target=search, args=(agent, MNK()))
            other.start()
            other.join(LONG)
        return read(path)

    monkeypatch.setattr(store, "read", another_ends_first)
    assert search(agent, MNK()).nodes > 0
    assert compiler.runs == 1


def test_ctrl_c_ends_the_wait_and_the_compiler(
    slow_compiler: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from zermelo.envs.jit.waiting import check_interrupt

    agent = AlphaBetaAgent(depth=2)
    compiler = slow_compiler(MNK(), agent)

    def compile_for_ever(*_: Any) -> Any:
        while True:
            check_interrupt()
            time.sleep(0.01)

    monkeypatch.setattr("zermelo.envs.jit.compiling.compile_kernel", compile_for_ever)
    with monkeypatch.context() as patch:
        patch.setattr(store, "read", lambda path: None)
        with soon(_thread.interrupt_main), pytest.raises(KeyboardInterrupt):
            search(agent, MNK())
        wait_for_compilers()
    assert "Traceback" not in capsys.readouterr().err
    compiler.may_finish.set()
    assert search(agent, MNK()).nodes > 0  # the next one begins anew


def test_stop_ends_the_wait_too(slow_compiler: Any) -> None:
    agent = AlphaBetaAgent(seconds=LONG, proof_share=0)
    slow_compiler(MNK(), AlphaBetaAgent(depth=1))
    with soon(agent.stop):
        found = search(agent, MNK())
    assert found.stopped_by == "interrupt"


def test_what_does_not_compile_is_an_error_each_time(slow_compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.errors import TypingError

    from zermelo.envs.errors import RulesError

    def refuse(*_: Any) -> Any:
        raise TypingError("Cannot unify this and that")

    agent = AlphaBetaAgent(depth=2, compile="wait")
    slow_compiler(MNK(), agent)
    monkeypatch.setattr(store, "read", lambda path: None)
    monkeypatch.setattr("zermelo.envs.jit.compiling.compile_kernel", refuse)
    monkeypatch.setattr("zermelo.envs.jit.method_calls.compiled_methods", lambda rules: {})
    for _ in range(2):
        with pytest.raises(RulesError, match="MNK does not compile: Cannot unify this and that"):
            search(agent, MNK())


@pytest.mark.usefixtures("nothing_built")
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("tictactoe", "mcts(seconds=0.05)"),
        ("tictactoe", "minimax(depth=3)"),
        ("connect_four", "alphabeta(seconds=0.05)"),
        ("connect_four", "auto(seconds=0.05)"),
    ],
)
def test_an_agent_that_is_prepared_loads_nothing_later(
    name: str, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make(f"classic/{name}-v3")
    env.reset()
    agent = make_agent(spec)
    agent.prepare(env)
    assert build._BUILT

    def refuse(path: Path) -> Any:
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr(store, "read", refuse)
    assert agent.act(env) in range(9)


@pytest.mark.usefixtures("nothing_built")
def test_a_tournament_compiles_when_it_is_planned() -> None:
    Tournament.prepare("classic/tictactoe-v3", ["random", "alphabeta(depth=2)"], TournamentSettings(games=2))
    assert build._BUILT
