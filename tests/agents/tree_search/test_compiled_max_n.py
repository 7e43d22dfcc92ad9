"""Compiled max^n against the plain one: the same nodes, lines, values by seat and best actions, for every rule."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracles.compared_searches import Share, compiled, random_positions, searched

from zermelo.agents import MaxNAgent
from zermelo.agents.base.limits import Limits
from zermelo.agents.textbook import max_n
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import MaxNConfig, TieRule
from zermelo.envs.games import DotsAndBoxes
from zermelo.envs.rules import RulesGame


@pytest.mark.thorough
@pytest.mark.parametrize("rule", TieRule)
def test_the_textbook_function_agrees(rule: TieRule) -> None:
    generator = random.Random(3)
    for rules in (DotsAndBoxes(rows=1, columns=2, players=3), Share(coins=7)):
        game = RulesGame(rules)
        for state in random_positions(game, generator, 5):
            agent = MaxNAgent(depth="full", tie_rule=rule)
            assert agent.search_state(game, state).values_by_seat == max_n(game, state, rule), (rules, state)


def search_of(rules: Any, limits: Limits, **settings: Any) -> tuple[Any, Any]:
    game = RulesGame(rules)
    root = SearchSetup(game, game.initial_state())
    return compiled(root, limits, MaxNConfig(depends_on_seat=True, prunes=True, **settings)), root.state


def test_the_table_tells_best_actions_for_lines() -> None:
    search, state = search_of(Share(), Limits(), memory_mb=1)
    line = next(move[4] for move in searched(search, state, Limits(), step=False, exact=True).moves)
    after = search.game.result(state, line[0])
    assert search.recall(after, float("inf"), 1) == line[1]
    assert search.recall(after, 3, 1) == line[1], "a proven answer holds for every depth"
    assert search.recall(state._replace(left=100), 3, 0) is None


def test_a_table_is_no_larger_than_the_search_can_fill() -> None:
    large, _ = search_of(Share(), Limits(), memory_mb=1)
    small, _ = search_of(Share(), Limits(nodes=100), memory_mb=1)
    assert large.table is not None
    assert small.table is not None
    assert 0.4 * 2**20 < large.table.words.nbytes <= 2**20
    assert 50 * 2 * 6 * 8 <= small.table.words.nbytes <= 100 * 2 * 6 * 8
    search, _ = search_of(Share(), Limits(depth=2), memory_mb=64)
    assert search.table is not None
    assert search.table.words.nbytes < 2**10
