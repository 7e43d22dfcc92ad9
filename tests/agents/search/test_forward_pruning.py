"""Futility pruning and singular extensions: fewer nodes, or deeper lines, and never a false proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from doubles.small_games import CoinRow, ConnectK, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, MinimaxAgent
from zermelo.envs import InvalidSettingError

EVEN = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluation that knows nothing


def by_name(game: Any, state: Any) -> tuple[float, float]:
    return float(state.name), -float(state.name)


def leaf(value: float) -> Node:
    return Node(1, [Leaf(0, 0)] * 2, name=str(value))


def positions(count: int) -> list[tuple[ConnectK, Any]]:
    rng, game, found = np.random.default_rng(8), ConnectK(), []
    while len(found) < count:
        state = game.initial_state()
        for _ in range(int(rng.integers(3, 6))):
            if not game.is_terminal(state):
                state = game.result(state, int(rng.choice(game.legal_actions(state))))
        if not game.is_terminal(state):
            found.append((game, state))
    return found


SETTINGS: list[dict[str, Any]] = [{"futility": 0.1}, {"singular": 0.1}, {"futility": 0.1, "singular": 0.1}]


@pytest.mark.parametrize("settings", SETTINGS)
def test_nothing_false_is_proven(settings: dict[str, Any]) -> None:
    for game, state in positions(8):
        truth = MinimaxAgent().search_state(game, state).value
        for depth in (3, 5, 8):
            found = AlphaBetaAgent(depth=depth, evaluator=EVEN, **settings).search_state(game, state)
            if found.proven:
                assert found.value == truth
        assert AlphaBetaAgent(nodes=10**5, evaluator=EVEN, **settings).search_state(game, state).value == truth
        assert AlphaBetaAgent(depth="full", **settings).search_state(game, state).value == truth


def test_what_cannot_reach_the_window_is_not_looked_at() -> None:
    """MAX has 0.5 with action 0. After action 1 it has -0.3, which two moves will hardly change by 0.8."""
    low = Node(0, [leaf(-0.4), leaf(-0.3), leaf(-0.2), leaf(-0.35)], name="-0.3")
    tree = TreeGame(
        Node(0, [Node(1, [Node(0, [leaf(0.5)] * 2, name="0.5")], name="0.5"), Node(1, [low], name="-0.3")]),
        bounds=(-1, 1),
    )
    settings: dict[str, Any] = {
        "depth": 3,
        "evaluator": by_name,
        "memory_mb": 0,
        "ordering": "fixed",
        "ties": "first",
    }
    full = AlphaBetaAgent(**settings).search_state(tree)
    pruned = AlphaBetaAgent(**settings, futility=0.2).search_state(tree)
    assert (
        (pruned.action, pruned.value, pruned.proven) == (full.action, full.value, full.proven) == (0, 0.5, False)
    )
    assert pruned.nodes == full.nodes - 5
    hopeful = AlphaBetaAgent(**settings, futility=0.9).search_state(tree)
    assert hopeful.nodes == full.nodes


def test_an_action_that_stands_alone_is_searched_deeper() -> None:
    rng = np.random.default_rng(1)
    deeper = 0
    for _ in range(6):
        game = CoinRow(rng.integers(1, 30, 12).tolist())
        plain = AlphaBetaAgent(depth=6).search_state(game)
        extended = AlphaBetaAgent(depth=6, singular=2).search_state(game)
        deeper += extended.nodes > plain.nodes and len(extended.principal_variation) > 6
    assert deeper


@pytest.mark.parametrize("name", ["futility", "singular"])
def test_settings_are_checked(name: str) -> None:
    with pytest.raises(InvalidSettingError, match=f"{name} must be a finite number of at least 0, not -1"):
        AlphaBetaAgent(**{name: -1})


def test_a_game_can_say_what_pays() -> None:
    class Telling(ConnectK):
        def selective_settings(self) -> dict[str, float]:
            return {"late_move_reductions": 1, "futility": 0.1}

    def nodes(**settings: Any) -> int:
        return AlphaBetaAgent(depth=5, evaluator=EVEN, **settings).search_state(Telling()).nodes

    assert nodes() > nodes(selective="game") == nodes(late_move_reductions=1, futility=0.1)
    assert nodes(selective="game", late_move_reductions=2) == nodes(late_move_reductions=2, futility=0.1)
    assert AlphaBetaAgent(depth=5, evaluator=EVEN, selective="game").search_state(ConnectK()).nodes == nodes()
