"""Compiling ahead."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_games import AIMA_5_2, TreeGame

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.kernels import program
from zermelo.agents.warmup import kernels_of, warm_up
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, Nim, Pig
from zermelo.envs.rules import RulesGame


@pytest.mark.parametrize(
    ("game", "names"),
    [
        (MNK(), ["alphabeta", "minimax", "mcts", "solve", "perft"]),
        (Nim((1, 2), players=3), ["maxn", "paranoid", "mcts", "perft"]),
        (Pig(), ["expectiminimax", "mcts"]),
        (Pig(players=3), ["maxn", "paranoid", "mcts"]),
        (TreeGame(AIMA_5_2), []),
    ],
    ids=["two", "three", "dice", "dice for three", "no rules"],
)
def test_what_there_is_to_compile(game: Any, names: list[str]) -> None:
    assert list(kernels_of(game)) == names


@pytest.mark.thorough
def test_each_kernel_is_told_when_it_is_done() -> None:
    told: list[tuple[str, float]] = []
    taken = warm_up(MNK(), on_kernel=lambda name, seconds: told.append((name, seconds)))
    assert list(taken) == ["alphabeta", "minimax", "mcts", "solve", "perft"]
    assert dict(told) == taken


def test_nothing_is_compiled_where_numba_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(UnsupportedGameError, match="as NUMBA_DISABLE_JIT is set: searches run as plain Python"):
        warm_up(MNK())


@pytest.mark.thorough
def test_waiting_for_the_compiler_is_no_searching(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    is_built = program.is_built

    def load_slowly(*args: Any) -> bool:
        now[0] = 105.0
        return is_built(*args)

    def search_slowly(result: Any) -> bool:
        now[0] = 105.5
        return True

    monkeypatch.setattr(program, "is_built", load_slowly)
    monkeypatch.setattr(Budget, "now", staticmethod(lambda: now[0]))
    game = RulesGame(MNK())
    found = AlphaBetaAgent(depth=2, on_iteration=search_slowly).search_state(game, game.initial_state())
    assert (found.compiling, found.seconds) == (5.0, 0.5)
    assert found.nodes_per_second == found.nodes / 0.5
