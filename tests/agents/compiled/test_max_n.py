"""Compiled max^n against the plain one: the same nodes, lines, values by seat and best actions, for every rule."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracles.compared_searches import Share, exact_values, random_positions, searched

from zermelo.agents import MaxNAgent, StoppedBy
from zermelo.agents.algorithms import max_n
from zermelo.agents.compiled.general.search import can_search_any
from zermelo.agents.compiled.max_n.search import CompiledMaxN
from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ordering, TieRule, Ties
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.agents.search.tree.max_n import MaxNSearch
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
    ordering, megabytes = generator.choice(list(Ordering)), generator.choice([0.001, 1])
    shared: dict[str, Any] = {
        "seat": game.to_move(state),
        "tie_rule": rule,
        "sooner": generator.random() < 0.7,
        "prunes": game.traits.reward_sum is not RewardSum.GENERAL and generator.random() < 0.7,
    }
    how = {
        "step_by_step": generator.random() < 0.5,
        "exact": generator.random() < 0.5,
        "ties": generator.choice(list(Ties)),
    }

    def plain(limits: Limits, table: TranspositionTable | None) -> Any:
        order = MoveOrder(game, ordering)
        search = MaxNSearch(game, Budget(limits), evaluator, order=order, table=table, **shared)
        return searched(search, state, limits, **how)

    def compiled(limits: Limits, **settings: Any) -> Any:
        search = compiled_search(
            CompiledMaxN, game, evaluator, Budget(limits), limits=limits, ordering=ordering, **shared, **settings
        )
        assert search is not None
        return searched(search, state, limits, **how)

    said = (game, state, limits, shared, evaluator, ordering, how, megabytes)
    assert compiled(limits, arena=1) == plain(limits, None), said
    expected = exact_values(plain(whole, TranspositionTable(8)))
    assert exact_values(compiled(whole, memory_mb=megabytes)) == expected, said


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_everything_agrees(rules: Any) -> None:
    compare(rules, 10, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("rules", RULES + MORE_RULES, ids=str)
def test_everything_agrees_at_thousands_of_positions(rules: Any, seed: int) -> None:
    compare(rules, 250, seed)


@pytest.mark.parametrize("rule", TieRule)
def test_the_textbook_function_agrees(rule: TieRule) -> None:
    generator = random.Random(3)
    for rules in (DotsAndBoxes(rows=1, columns=2, players=3), Share(coins=7)):
        game = RulesGame(rules)
        for state in random_positions(game, generator, 5):
            agent = MaxNAgent(depth="full", tie_rule=rule)
            assert agent.search_state(game, state).values_by_seat == max_n(game, state, rule), (rules, state)


def search_of(rules: Any, limits: Limits, **settings: Any) -> tuple[CompiledMaxN, Any]:
    game = RulesGame(rules)
    state = game.initial_state()
    options: dict[str, Any] = {"tie_rule": TieRule.FIRST, "sooner": True, "prunes": True, **settings}
    search = compiled_search(
        CompiledMaxN, game, None, Budget(limits), limits=limits, seat=0, ordering=Ordering.AUTO, **options
    )
    assert search is not None
    return search, state


def test_memory_grows_with_what_there_is_to_remember() -> None:
    everything = ((-float("inf"), 0.0), (float("inf"), 0.0))
    answers = []
    for memory in (1, 1 << 18):
        search, state = search_of(DotsAndBoxes(rows=2, columns=1, players=3), Limits(), arena=memory)
        answers.append((search.visit(state, float("inf"), *everything, 0), search.budget.nodes))
    assert answers[0] == answers[1]
    assert answers[0][0].proven


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
    search, state = search_of(rules, Limits(seconds=0.2))
    with pytest.raises(SearchStopped):
        search.visit(state, float("inf"), (-float("inf"), 0.0), (float("inf"), 0.0), 0)


@pytest.mark.slow
def test_a_game_without_an_end_is_said_to_have_none() -> None:
    with pytest.raises(UnsupportedGameError, match=r"Pig\(players=3\) goes on for more than \d+ moves.*depth="):
        MaxNAgent(depth="full").search_state(RulesGame(Pig(players=3)))


def test_where_it_does_not_fit_the_plain_search_is_left_to_do_it() -> None:
    game = RulesGame(MNK(players=3))
    options: dict[str, Any] = {"seat": 0, "tie_rule": TieRule.FIRST, "sooner": True, "prunes": False}
    for other, evaluator in (
        (object(), None),
        (game, lambda game, state: (0.0,) * 3),
        (RulesGame(Nim(players=3)), GAME),  # which has no evaluation of its own
    ):
        found = compiled_search(
            CompiledMaxN, other, evaluator, Budget(Limits()), limits=Limits(), ordering=Ordering.AUTO, **options
        )
        assert found is None
    vast = type("Vast", (Share,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 41)})
    assert not can_search_any(RulesGame(vast()))
    assert can_search_any(RulesGame(Share()))


def test_the_table_tells_best_actions_for_lines() -> None:
    search, state = search_of(Share(), Limits(), memory_mb=1)
    assert isinstance(search.table, CompiledTable)
    found = search.visit(state, float("inf"), (-float("inf"), 0.0), (float("inf"), 0.0), 0)
    assert search.recall(state, float("inf"), 0) == found.line[0]
    assert search.recall(state, 3, 0) == found.line[0], "a proven answer holds for every depth"
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
