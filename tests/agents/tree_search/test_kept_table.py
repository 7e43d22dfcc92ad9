"""``reuse``: what one move has searched serves the next ones, and changes no value."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from zermelo.agents import (
    AlphaBetaAgent,
    BestReplyAgent,
    ExpectimaxAgent,
    ExpectiminimaxAgent,
    MaxNAgent,
    ParanoidAgent,
)
from zermelo.agents.kernels.layout import KernelRecord
from zermelo.envs.games import MNK, DotsAndBoxes
from zermelo.envs.rules.rules_game import RulesGame

PLAIN: dict[str, Any] = {"evaluator": lambda game, state: game.evaluation(state)}


def test_a_new_game_begins_with_an_empty_table() -> None:
    game = RulesGame(DotsAndBoxes(2, 2))
    agent = AlphaBetaAgent(depth=4, ties="first", reuse=True, **PLAIN)
    first = agent.search_state(game).nodes
    assert agent.search_state(game).nodes < first
    agent.reset()
    assert agent.search_state(game).nodes == first
    other = RulesGame(DotsAndBoxes(1, 2))
    fresh = AlphaBetaAgent(depth=4, ties="first", **PLAIN).search_state(other)
    assert agent.search_state(other).nodes == fresh.nodes


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (AlphaBetaAgent, {}),
        (AlphaBetaAgent, PLAIN),
        (ParanoidAgent, {}),
        (ParanoidAgent, PLAIN),
        (BestReplyAgent, PLAIN),
        (MaxNAgent, {}),
        (MaxNAgent, PLAIN),
        (ExpectimaxAgent, PLAIN),
        (ExpectiminimaxAgent, {**PLAIN, "pruning": "star1"}),
    ],
)
def test_every_search_with_a_table_can_keep_it(kind: Any, settings: dict[str, Any]) -> None:
    players = 2 if kind in (AlphaBetaAgent, ExpectiminimaxAgent) else 3
    game = RulesGame(DotsAndBoxes(2, 1, players=players))
    settings = {"depth": "full", "ties": "first", "memory_mb": 4, **settings}
    keeping, fresh = kind(**settings, reuse=True), kind(**settings)
    kept_nodes = fresh_nodes = 0
    state = game.initial_state()
    while not game.is_terminal(state):
        action = game.legal_actions(state)[0]
        if game.to_move(state) == 0:
            kept, new = keeping.search_state(game, state), fresh.search_state(game, state)
            assert (kept.values_by_seat, kept.proven) == (new.values_by_seat, new.proven)
            kept_nodes, fresh_nodes = kept_nodes + kept.nodes, fresh_nodes + new.nodes
            action = new.action
        state = game.result(state, action)
    assert kept_nodes < fresh_nodes


@pytest.mark.slow
def test_a_kept_table_keeps_no_searches() -> None:
    game = RulesGame(MNK())
    agent = AlphaBetaAgent(depth=2, reuse=True)
    counts = []
    for _ in range(8):
        agent.search_state(game)
        gc.collect()
        counts.append(sum(issubclass(type(thing), KernelRecord) for thing in gc.get_objects()))
    assert counts[-1] <= counts[1]
