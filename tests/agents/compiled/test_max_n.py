"""Compiled max^n against the plain one: the same nodes, lines, values by seat and best actions, for every rule."""

from __future__ import annotations

import random
from typing import Any

import pytest
from doubles.small_games import ConnectK
from oracles.compared_searches import Share, compiled, random_positions, searched

from zermelo.agents import BestReplyAgent, MaxNAgent, ParanoidAgent
from zermelo.agents.algorithms import max_n
from zermelo.agents.compiled.general.search import can_search_any
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import TieRule
from zermelo.agents.core.tree_config import MaxNConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.backend import tree_search
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, DotsAndBoxes, Nim, Pig
from zermelo.envs.rules import RulesGame

GAME, REWARDS = make_evaluator("game"), make_evaluator("rewards")


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
    root = Root(game, game.initial_state())
    return compiled(root, limits, MaxNConfig(depends_on_seat=True, prunes=True, **settings)), root.state


@pytest.mark.slow
@pytest.mark.parametrize("agent", [ParanoidAgent, BestReplyAgent])
def test_a_game_too_long_to_be_searched_to_its_end_is_said_to_be(agent: Any) -> None:
    with pytest.raises(
        UnsupportedGameError, match=r"Share\(coins=30000\) goes on for more than \d+ moves.*depth="
    ):
        agent().search_state(RulesGame(Share(coins=30000)))


@pytest.mark.slow
def test_a_game_without_an_end_is_said_to_have_none() -> None:
    with pytest.raises(UnsupportedGameError, match=r"Pig\(players=3\) goes on for more than \d+ moves.*depth="):
        MaxNAgent(depth="full").search_state(RulesGame(Pig(players=3)))


def test_where_it_does_not_fit_the_plain_search_is_left_to_do_it() -> None:
    game = RulesGame(MNK(players=3))
    for other, evaluator in (
        (ConnectK(), None),
        (game, lambda game, state: (0.0,) * 3),
        (RulesGame(Nim(players=3)), GAME),  # which has no evaluation of its own
    ):
        root = Root(other, other.initial_state(), evaluator)
        assert not tree_search(root, Budget(Limits()), MaxNConfig()).compiled
    vast = type("Vast", (Share,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 41)})
    assert not can_search_any(RulesGame(vast()))
    assert can_search_any(RulesGame(Share()))


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
