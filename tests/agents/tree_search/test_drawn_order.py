"""Root actions are tried in an order drawn from the seed, and the first of the best is played."""

from __future__ import annotations

import collections
from typing import Any

import pytest
import scipy.stats
from doubles.small_games import ConnectK, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import as_game
from zermelo.envs.games import MNK

EQUALS = TreeGame(Node(0, [Leaf(1, -1), Leaf(0, 0), Leaf(1, -1), Node(1, [Leaf(0, 0)] * 3), Leaf(1, -1)]))


@pytest.mark.parametrize(
    ("game", "played"), [(as_game(MNK(3, 3, 3)), (4,)), (EQUALS, ())], ids=["compiled", "plain"]
)
def test_equals_are_played_equally_often(game: Any, played: tuple[int, ...]) -> None:
    """Pearson's chi-squared over 2,000 seeds, below what it passes once in a thousand times."""
    state = game.initial_state()
    for action in played:
        state = game.result(state, action)
    exact = AlphaBetaAgent(depth=9, exact=True).search_state(game, state)
    best = exact.best_actions
    counts = collections.Counter[int]()
    agent = AlphaBetaAgent(depth=9)
    for seed in range(2000):
        agent.reset(seed)
        result = agent.search_state(game, state)
        counts[result.action] += 1
        assert result.value == exact.value
    assert set(counts) == set(best)
    assert len(best) in (3, 4)
    expected = 2000 / len(best)
    squares = sum((count - expected) ** 2 / expected for count in counts.values())
    assert squares < scipy.stats.chi2.ppf(0.999, len(best) - 1)


@pytest.mark.parametrize("settings", [{"exact": True}, {"ordering": "fixed"}])
def test_all_equals_show_where_they_are_asked_for(settings: dict[str, Any]) -> None:
    result = AlphaBetaAgent(depth="full", **settings).search_state(EQUALS)
    assert set(result.best_actions) >= {0, 2, 4}
    assert len(AlphaBetaAgent(depth="full").search_state(EQUALS).best_actions) == 1


def test_ties_cost_no_nodes() -> None:
    game = ConnectK()
    drawn, first, everything = (
        AlphaBetaAgent(depth=6, seed=0, **settings).search_state(game)
        for settings in ({}, {"ties": "first"}, {"exact": True})
    )
    assert drawn.nodes < 1.2 * first.nodes < everything.nodes
    assert drawn.value == everything.value
