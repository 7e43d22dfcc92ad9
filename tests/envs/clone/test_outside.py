"""State and random generators outside of an environment: not copied, not advanced, and not changed in silence."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from doubles import awkward_globals
from doubles.awkward_globals import (
    BoardOnClass,
    CountsOnClass,
    FillsReplay,
    RollsClass,
    RollsGlobalNumpy,
    RollsGlobalPython,
    RollsModuleNumpy,
    RollsModulePython,
    RollsModuleState,
    torch,
)
from doubles.awkward_lifetimes import CountToSix
from doubles.game_envs import started

from zermelo.agents import AlphaBetaAgent, ExpectimaxAgent, MCTSAgent
from zermelo.envs import CloneError, as_game
from zermelo.envs.game import Chance

ROLLS = [RollsModuleNumpy, RollsModuleState, RollsModulePython, RollsClass, RollsGlobalNumpy, RollsGlobalPython]
if torch:
    ROLLS += [awkward_globals.RollsModuleTorch, awkward_globals.RollsGlobalTorch]


def states() -> list[Any]:
    """The states of all generators that the environments below draw from."""
    return [
        random.getstate(),
        repr(np.random.get_state()),  # noqa: NPY002  # the global generator
        repr(awkward_globals.NUMPY.bit_generator.state),
        repr(awkward_globals.STATE.get_state()),
        awkward_globals.PYTHON.getstate(),
        repr(RollsClass.dice.bit_generator.state),
        *([torch.get_rng_state().tolist(), awkward_globals.TORCH.get_state().tolist()] if torch else []),
    ]


@pytest.mark.parametrize("cls", ROLLS)
def test_a_search_neither_sees_nor_advances_dice_that_stand_outside(cls: Any) -> None:
    random.seed(1)
    random.gauss(0, 1)  # half of a pair is kept
    np.random.seed(1)  # noqa: NPY002  # what is tested
    np.random.normal()  # noqa: NPY002  # as above
    env = started(cls(), seed=0)
    before = states()
    assert as_game(env).traits.chance is Chance.SAMPLED
    assert states() == before
    MCTSAgent(simulations=60, seed=0).act(env)
    assert states() == before
    game = as_game(env)
    root = game.snapshot(env)
    rolls = [game.sample_result(root, 0, np.random.default_rng(seed)).env.last for seed in range(30)]
    assert len(set(rolls)) > 20
    env.step(0)
    assert rolls.count(env.last) <= 2
    assert states() != before


@pytest.mark.parametrize(("cls", "name"), [(FillsReplay, "awkward_globals.REPLAY"), (CountsOnClass, "steps")])
def test_what_copies_change_outside_is_named_in_a_warning(cls: Any, name: str) -> None:
    env = started(cls(), seed=0)
    with pytest.warns(UserWarning, match=rf"count_v0.* state outside the object changed: .*{name}"):
        AlphaBetaAgent(depth=2).act(env)


def test_nothing_of_the_users_modules_is_copied_or_kept() -> None:
    awkward_globals.REPLAY[:] = mine = [object() for _ in range(300_000)]
    items = awkward_globals.REPLAY
    references = sys.getrefcount(items)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert AlphaBetaAgent(depth=2).act(started(FillsReplay(), seed=0)) in (0, 1)
        with pytest.raises(CloneError, match=r"BoardOnClass\.board"):
            as_game(started(BoardOnClass(), seed=0))
        assert awkward_globals.REPLAY is items
        assert all(one is other for one, other in zip(items, mine, strict=False))
        assert sys.getrefcount(items) == references
    finally:
        awkward_globals.REPLAY.clear()


def test_threads_that_search_leave_the_global_generators_as_they_were() -> None:
    np.random.seed(4)  # noqa: NPY002  # what is tested
    random.seed(4)
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002  # as above
    environments = [started(cls(), seed=0) for cls in (RollsGlobalNumpy, RollsGlobalPython)] * 2
    games = [as_game(env) for env in environments]
    failed = []

    def play(game: Any, env: Any) -> None:
        generator = np.random.default_rng(0)
        root = game.snapshot(env)
        alone = [game.sample_result(root, 0, np.random.default_rng(seed)).env.last for seed in range(40)]
        for _ in range(3):
            again = [game.sample_result(root, 0, np.random.default_rng(seed)).env.last for seed in range(40)]
            if again != alone:
                failed.append((alone, again))
        game.sample_result(root, 0, generator)

    threads = [threading.Thread(target=play, args=pair) for pair in zip(games, environments, strict=True)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failed
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002  # as above


def test_steps_that_draw_nothing_are_not_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    env = started(CountToSix(), seed=0)
    game = as_game(env, backend="clone")
    root = game.snapshot(env)
    monkeypatch.setattr(random, "getstate", lambda: pytest.fail("saved"))
    monkeypatch.setattr(np.random, "get_state", lambda *a, **k: pytest.fail("saved"))
    assert ExpectimaxAgent(depth=2).search_state(game, root).nodes > 3
