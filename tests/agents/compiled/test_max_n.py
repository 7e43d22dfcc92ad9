"""Compiled max^n against the plain one: the same nodes, lines, values by seat and best actions, for every rule."""

from __future__ import annotations

import dataclasses
import random
from typing import Any
from unittest import mock

import pytest
from doubles.small_games import ConnectK
from oracles.compared_searches import Share, compiled, exact_values, plain, random_positions, searched

from zermelo.agents import MaxNAgent, StoppedBy
from zermelo.agents.algorithms import max_n
from zermelo.agents.compiled import front_end
from zermelo.agents.compiled.general.search import can_search_any
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import Ordering, TieRule, Ties
from zermelo.agents.core.tree_config import MaxNConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.backend import tree_search
from zermelo.envs import Chance, RewardSum, UnsupportedGameError
from zermelo.envs.games import MNK, DotsAndBoxes, Nim, Pig
from zermelo.envs.rules import RulesGame

GAME, REWARDS = make_evaluator("game"), make_evaluator("rewards")


RULES = [
    pytest.param(MNK(m=3, n=3, k=3, players=3), marks=pytest.mark.slow),
    pytest.param(MNK(m=4, n=3, k=3, players=4), marks=pytest.mark.slow),
    DotsAndBoxes(rows=2, columns=2, players=3),
    DotsAndBoxes(rows=1, columns=3, players=4, margin=True),
    pytest.param(Pig(target=8, players=3), marks=pytest.mark.slow),  # each class more is seconds of compiling
    pytest.param(Pig(target=6, sides=3), marks=pytest.mark.slow),
    Share(),
]
MORE_RULES = [Nim(heaps=(2, 3, 2), players=3), Nim(heaps=(2, 2, 3), misere=True, players=4), MNK(m=4, n=3, k=3)]


def compare(rules: Any, count: int, seed: int) -> None:
    """The two searches at random positions with random settings; everything agrees."""
    generator = random.Random(f"{seed} {rules}")
    game = RulesGame(rules)
    for number, state in enumerate(random_positions(game, generator, count)):
        compare_at(game, state, list(TieRule)[number % len(TieRule)], generator)


def compare_at(game: RulesGame, state: Any, rule: TieRule, generator: random.Random) -> None:
    depth = generator.choice([1, 2, 3] if game.traits.chance is Chance.EXACT else [1, 2, 3, 4])
    limits, whole = Limits(depth=depth, nodes=generator.choice([None, None, 300])), Limits(depth=depth)
    evaluator = generator.choice([GAME, REWARDS] if hasattr(game.rules, "evaluation") else [REWARDS])
    megabytes = generator.choice([0.001, 1])
    config = MaxNConfig(
        depends_on_seat=True,
        ordering=generator.choice(list(Ordering)),
        tie_rule=rule,
        sooner=generator.random() < 0.7,
        prunes=game.traits.reward_sum is not RewardSum.GENERAL and generator.random() < 0.7,
    )
    how = {
        "step": generator.random() < 0.5,
        "exact": generator.random() < 0.5,
        "ties": generator.choice(list(Ties)),
    }

    def run(make: Any, limits: Limits, memory_mb: float = 0) -> Any:
        config_here = dataclasses.replace(config, memory_mb=memory_mb)
        return searched(make(Root(game, state, evaluator), limits, config_here), state, limits, **how)

    said = (game, state, limits, config, evaluator, how, megabytes)
    with mock.patch.object(front_end, "ARENA", 1):
        assert run(compiled, limits) == run(plain, limits), said
    assert exact_values(run(compiled, whole, megabytes)) == exact_values(run(plain, whole, 8)), said


@pytest.mark.thorough
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_everything_agrees(rules: Any) -> None:
    compare(rules, 10, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("rules", RULES + MORE_RULES, ids=str)
def test_everything_agrees_at_thousands_of_positions(rules: Any, seed: int) -> None:
    compare(rules, 250, seed)


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


@pytest.mark.thorough
def test_limits_and_results_are_as_everywhere() -> None:
    game = RulesGame(DotsAndBoxes(players=3))
    result = MaxNAgent(nodes=5000).search_state(game)
    assert (result.stopped_by, result.nodes) == (StoppedBy.NODES, 5000)
    result = MaxNAgent(seconds=0.3).search_state(game)
    assert result.stopped_by is StoppedBy.SECONDS
    result = MaxNAgent(depth=3).search_state(game)
    assert (result.stopped_by, result.depth, result.proven) == (StoppedBy.DEPTH, 3, False)
    assert result.stats["table_hits"] > 0
    assert sum(result.values_by_seat) == pytest.approx(0)
    assert len(result.principal_variation) == 3
    seen: list[int] = []
    MaxNAgent(depth=3, deepening=True, on_iteration=lambda found: seen.append(found.depth)).search_state(game)
    assert seen == [1, 2, 3]


@pytest.mark.alone
def test_the_clock_stops_a_kernel() -> None:
    rules = DotsAndBoxes(rows=3, columns=3, players=3)
    search_of(rules, Limits())  # compiled by now
    limits = Limits(seconds=0.2)
    search, state = search_of(rules, limits)
    assert searched(search, state, limits, step=False).stopped_by is StoppedBy.SECONDS


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
