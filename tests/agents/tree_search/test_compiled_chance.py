"""Compiled expectiminimax, Star1 and Star2 against the plain ones: the same nodes, values and best actions."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from doubles.checked import assert_keeps_contract
from doubles.grown_rules import Grown
from oracles.compared_searches import compiled, random_positions, searched

from zermelo.agents import ExpectiminimaxAgent
from zermelo.agents.base.limits import Limits
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs import CHANCE
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Backgammon, Game2048, Hypergammon
from zermelo.envs.rules import RulesGame

GAME, REWARDS = make_evaluator("game"), make_evaluator("rewards")


def looked_at(game: RulesGame, state: Any, depth: int, width: int, *, below: bool = False) -> float:
    """What the first seat can expect if nodes below the root try the actions that look best: by definition."""
    if game.is_terminal(state):
        return game.utility(state)[0]
    if game.to_move(state) == CHANCE:
        if depth <= 0:
            return game.evaluation(state)[0]
        outcomes = game.chance_outcomes(state)
        return sum(p * looked_at(game, game.result(state, o), depth, width, below=True) for o, p in outcomes)
    depth += below and getattr(state, "roll", 0) >= 64  # half a double of backgammon is left to play
    if depth <= 0:
        return game.evaluation(state)[0]
    choose, sign = ((max, -1), (min, 1))[game.to_move(state)]
    children = [game.result(state, action) for action in game.legal_actions(state)]
    if below and depth > 1:
        children.sort(key=lambda child: sign * looked_at(game, child, 0, width, below=True))
        children = children[:width]
    return choose(looked_at(game, child, depth - 1, width, below=True) for child in children)


def own_evaluation(game: Any, state: Any) -> Any:
    """What no kernel can call."""
    return game.evaluation(state)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.slow
def test_a_beam_tries_the_actions_that_look_best(width: int) -> None:
    """As the definition says, plain and compiled, with a table and without; and not as a search of all actions."""
    differ, generator = 0, random.Random(width)
    games = [RulesGame(Grown(seed=seed, players=players)) for seed in range(0, 6000, 1000) for players in (1, 2)]
    states = [(game, game.initial_state(), 5) for game in games]
    dice = RulesGame(Hypergammon(3))
    states += [(dice, state, 2) for state in random_positions(dice, generator, 6)]
    for game, state, depth in states:
        expected = looked_at(game, state, depth, width)
        for memory_mb, evaluator in itertools.product((0, 1), (None, own_evaluation)):
            if evaluator is not None and game is dice and memory_mb == 0:
                continue
            how: Any = {
                "depth": depth,
                "chance_at_limit": "evaluate",
                "memory_mb": memory_mb,
                "evaluator": evaluator,
            }
            found = ExpectiminimaxAgent(beam_width=width, **how).search_state(game, state)
            assert found.values_by_seat[0] == pytest.approx(expected, abs=1e-12), (game, how)
            assert found.compiled == (evaluator is None)
        differ += ExpectiminimaxAgent(depth=depth, chance_at_limit="evaluate").search_state(game, state).value != (
            found.value
        )
    assert differ


@pytest.mark.thorough
def test_the_halves_of_a_double_are_one_move() -> None:
    """Two moves deep, whoever plays a double sees the replies to it."""
    game = RulesGame(Backgammon())
    doubles = [8 * die + die for die in range(1, 7)]
    state = next(state for state in random_positions(game, random.Random(2), 99) if state.roll in doubles)
    found = ExpectiminimaxAgent(depth=2, beam_width=1).search_state(game, state)
    assert found.values_by_seat[0] == pytest.approx(looked_at(game, state, 2, 1), abs=1e-12)


def test_a_beam_is_for_searches_that_do_not_prune() -> None:
    with pytest.raises(InvalidSettingError, match=r"beam_width=2 is for pruning='none', not 'star2'"):
        ExpectiminimaxAgent(depth=2, beam_width=2, pruning="star2")


@pytest.mark.thorough
@pytest.mark.parametrize("players", [1, 2])
def test_the_rules_grown_here_are_rules(players: int) -> None:
    assert_keeps_contract(Grown(seed=7, players=players))


def test_the_agent_searches_compiled_where_it_can() -> None:
    game = RulesGame(Grown(seed=2000))
    expected = ExpectiminimaxAgent(depth=3, pruning="star2").search_state(game)
    assert expected.compiled
    plain = ExpectiminimaxAgent(depth=3, pruning="star2", evaluator=own_evaluation).search_state(game)
    cut = ExpectiminimaxAgent(depth=3, stop_test=lambda game, state, ply: ply >= 3).search_state(game)
    for found in (plain, cut):
        assert not found.compiled
        assert found.values_by_seat == expected.values_by_seat


def test_the_table_recalls_actions_found_at_the_same_depth_or_proven() -> None:
    game = RulesGame(Grown(seed=3000, height=12, width=4000))
    state = game.initial_state()
    config = AlphaBetaConfig(history_on_improvement=True, memory_mb=1)
    for limits, others in ((Limits(depth=4), 0), (Limits(), 1)):
        search = compiled(SearchSetup(game, state, GAME), limits, config)
        depth = float("inf") if limits.depth is None else limits.depth
        for action, *_, line, _, _, _ in searched(search, state, limits, step=False, exact=True).moves:
            if len(line) < 2:
                continue
            after = game.result(state, action)
            assert search.recall(after, depth - 1, 1) == line[1]
            assert search.recall(after, 2, 1) == search.recall(after, 4, 1) == (line[1] if others else None)


@pytest.mark.slow
def test_2048_on_2x2() -> None:
    """The expected score of optimal play from two tiles, computed independently by another program."""
    game = RulesGame(Game2048(rows=2, columns=2))
    start = game.initial_state()
    total = 0.0
    for first, p in game.chance_outcomes(start):
        middle = game.result(start, first)
        for second, q in game.chance_outcomes(middle):
            found = ExpectiminimaxAgent(depth="full").search_state(game, game.result(middle, second))
            assert found.proven
            total += p * q * found.value
    assert total == pytest.approx(66.9641494571, abs=1e-9)
