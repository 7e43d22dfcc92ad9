"""``on_node``: what a plain search does, told node by node, and nothing else changed by it."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from doubles.grown_rules import Grown
from doubles.small_games import AIMA_5_2, ConnectK, TreeGame

from zermelo.agents import (
    AlphaBetaAgent,
    ExpectimaxAgent,
    ExpectiminimaxAgent,
    MaxNAgent,
    MinimaxAgent,
    ParanoidAgent,
)
from zermelo.agents.tree_search.observer import NodeEvent, NodeEventKind
from zermelo.envs.rules.rules_game import RulesGame

TEXTBOOK: dict[str, Any] = {
    "window": "full",
    "prefer_short_wins": False,
    "ordering": "fixed",
    "memory_mb": 0,
    "ties": "first",
}


def watched(agent: Any, game: Any) -> tuple[list[NodeEvent], Any]:
    events: list[NodeEvent] = []
    kind, settings = agent
    return events, kind(**settings, on_node=events.append).search_state(game)


def test_the_textbook_tree() -> None:
    """Figure 5.5: after B is worth 3, C is cut off at its first leaf, 2; D is searched whole."""
    events, result = watched((AlphaBetaAgent, TEXTBOOK | {"depth": "full"}), TreeGame(AIMA_5_2))
    cuts = [event for event in events if event.kind is NodeEventKind.CUTOFF]
    assert [(cut.ply, cut.action, cut.not_searched) for cut in cuts] == [(1, 0, (1, 2))]
    assert cuts[0].alpha[0] == 3
    left = [event for event in events if event.kind is NodeEventKind.VALUE and event.ply <= 1]
    assert [(event.ply, event.taken, event.score[0]) for event in left if event.score is not None] == [
        (1, 0, 3), (1, 1, 2), (1, 2, 2), (0, None, 3),
    ]  # fmt: skip
    windows = [event for event in events if event.kind is NodeEventKind.WINDOW]
    assert [(event.ply, event.alpha[0], event.beta[0]) for event in windows] == [
        (1, -math.inf, 3), (0, 3, math.inf), (1, 3, 2), (1, 3, 14), (1, 3, 5), (1, 3, 2),
    ]  # fmt: skip
    assert result.value == 3


@pytest.mark.thorough
def test_every_node_is_told_once() -> None:
    game = ConnectK()
    state = game.result(game.initial_state(), 4)
    for kind in (AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent, ExpectimaxAgent, MaxNAgent, ParanoidAgent):
        events: list[NodeEvent] = []
        result = kind(depth=3, ties="first", on_node=events.append).search_state(game, state)
        plain = kind(depth=3, ties="first").search_state(game, state)
        assert (result.action, result.value, result.nodes) == (plain.action, plain.value, plain.nodes)
        counts = Counter(event.kind for event in events)
        assert counts[NodeEventKind.ENTER] == counts[NodeEventKind.VALUE] == plain.nodes
        roots = [event for event in events if event.ply == 0 and event.kind is NodeEventKind.ENTER]
        assert [event.taken for event in roots] == [None] * len(roots)
        assert 1 <= len(roots) <= 3, "the root, once for each iteration"
        for event in events:
            if event.kind is NodeEventKind.ENTER and event.ply == 1:
                assert event.state == game.result(state, event.taken)


@pytest.mark.thorough
@pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
def test_chance_and_the_table(pruning: str) -> None:
    seen: Counter[NodeEventKind] = Counter()
    for seed in range(12):
        agent = ExpectiminimaxAgent, {"pruning": pruning, "depth": 4, "ties": "first"}
        events, result = watched(agent, RulesGame(Grown(seed)))
        evaluator = lambda game, state: game.evaluation(state)  # noqa: E731 - so that it is not compiled
        plain = ExpectiminimaxAgent(pruning=pruning, depth=4, ties="first", evaluator=evaluator)
        assert plain.search_state(RulesGame(Grown(seed))).nodes == result.nodes
        seen.update(event.kind for event in events)
        entered = (NodeEventKind.ENTER, NodeEventKind.CHANCE, NodeEventKind.PROBE)
        assert sum(event.kind in entered for event in events) == result.nodes
        for event in events:
            if event.kind is NodeEventKind.CUTOFF and event.action is not None:
                assert event.action not in event.not_searched
    expected = set(NodeEventKind)
    if pruning == "none":
        expected -= {NodeEventKind.CUTOFF, NodeEventKind.WINDOW}
    if pruning != "star2":
        expected -= {NodeEventKind.PROBE}
    assert set(seen) == expected


@pytest.mark.thorough
def test_the_table_of_max_n() -> None:
    events: list[NodeEvent] = []
    MaxNAgent(depth=5, ties="first", on_node=events.append).search_state(ConnectK())
    hits = [event for event in events if event.kind is NodeEventKind.TABLE]
    assert hits
    assert all(event.score is not None for event in hits)


def test_quiescence() -> None:
    """Its nodes are told too, from depth 0 downwards."""

    class Noisy(ConnectK):
        def is_noisy(self, state: Any, action: int) -> bool:
            return action % 2 == 0

    events: list[NodeEvent] = []
    settings: dict[str, Any] = {"depth": 2, "quiescence": 2, "ties": "first", "evaluator": lambda *_: (0.0, 0.0)}
    result = AlphaBetaAgent(**settings, on_node=events.append).search_state(Noisy())
    entered = [event for event in events if event.kind is NodeEventKind.ENTER]
    assert {event.depth for event in entered} == {2, 1, 0, -1}
    assert len(entered) == result.nodes
    left_out = [event for event in events if event.kind is NodeEventKind.CUTOFF and event.action is None]
    assert left_out, "where standing pat is good enough"
    assert AlphaBetaAgent(**settings).search_state(Noisy()).nodes == result.nodes
