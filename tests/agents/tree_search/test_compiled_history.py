"""Repetition and superko: every search, plain and compiled, against trying everything with the path at hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from doubles.chase import Chase, ChaseState, minimax_with_past, retrograde_values
from oracles.compared_searches import searched

from zermelo.agents import MaxNAgent, MinimaxAgent, ParanoidAgent, solve
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.settings import Compile
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.solutions.solution import WatchedBudget
from zermelo.agents.solving.solvers import AlphaBetaSolver
from zermelo.agents.tree_search.alpha_beta.searches import ALPHA_BETA
from zermelo.agents.tree_search.choose import tree_search
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs import counting, perft
from zermelo.envs.rules import RulesGame, with_past

EVALUATOR = make_evaluator("game")
STARTS = [(cop, robber) for cop in range(5) for robber in range(5) if cop != robber]
VARIANTS = [{"limit": 2}, {"limit": 3}, {"limit": 2, "superko": 1}]
every_variant = pytest.mark.parametrize("settings", VARIANTS, ids=str)


def walks(settings: dict[str, int], count: int, seed: int = 0) -> Iterator[tuple[Chase, list[Any]]]:
    """Rules and the states of the beginning of a game, which likes to come back; the last is not finished."""
    generator = random.Random(f"{settings} {seed}")
    for _ in range(count):
        rules = Chase(*generator.choice(STARTS), **settings)
        game = RulesGame(rules)
        path = [game.initial_state()]
        for _ in range(generator.randrange(20)):
            children = [game.result(path[-1], action) for action in game.legal_actions(path[-1])]
            children = [child for child in children if not game.is_terminal(child)]
            back = [child for child in children if any(child[:] == other[:] for other in path)]
            if children:
                path.append(generator.choice(back if back and generator.random() < 0.7 else children))
        yield rules, path


def oracle(rules: Chase, path: list[Any], depth: int) -> float:
    """What the last state is worth to its mover."""
    value = minimax_with_past(rules, [ChaseState(*state) for state in path], depth)
    return -value if path[-1].mover else value


def alpha_beta(
    rules: Chase, state: Any, depth: int | None, may_compile: bool = True, earlier: Any = None, **how: Any
) -> Any:
    budget = Budget(Limits(depth=depth), compile=Compile.WAIT if may_compile else Compile.NEVER)
    config = AlphaBetaConfig(**{"memory_mb": 1.0, "use_bounds": True} | how)
    root = SearchSetup(RulesGame(rules), state, EVALUATOR)
    return tree_search(root, budget, config, family=ALPHA_BETA, earlier=earlier)


@pytest.mark.thorough
@every_variant
def test_alpha_beta_knows_the_past_with_and_without_a_table(settings: dict[str, int]) -> None:
    kept: dict[Any, Any] = {}
    by_path = 0
    for number, (rules, path) in enumerate(walks(settings, 40, seed=1)):
        depth = 4 + number % 2
        truth = oracle(rules, path, depth)
        by_path += truth != oracle(rules, path[-1:], depth)
        answers = []
        for may_compile in (False, True):
            for memory_mb in (0, 1):  # one table for all positions, whatever was before them
                which = may_compile, depth, memory_mb
                search = alpha_beta(rules, path[-1], depth, may_compile, kept.get(which), memory_mb=memory_mb)
                kept[which] = search
                answers.append(searched(search, path[-1], Limits(depth=depth), exact=number % 3 == 0))
                value = answers[-1].score[0] if path[-1].mover == 0 else -answers[-1].score[0]
                assert value == truth, (rules, path, may_compile, memory_mb)
        assert answers[0] == answers[2], (rules, path)
    assert by_path >= 3


@pytest.mark.thorough
@every_variant
def test_what_positions_that_share_entries_prove_holds(settings: dict[str, int]) -> None:
    proven = 0
    for rules, path in walks(settings, 20, seed=2):
        truth = oracle(rules, path, 5)
        for memory_mb in (0, 1):
            search = alpha_beta(rules, path[-1], 5, share_positions=True, memory_mb=memory_mb)
            found = searched(search, path[-1], Limits(depth=5), step=False)
            value = -found.score[0] if path[-1].mover else found.score[0]
            assert value == truth or (memory_mb and not found.proven), (rules, path, memory_mb)
            proven += bool(memory_mb) and found.proven
    assert proven


@pytest.mark.thorough
def test_positions_that_share_entries_take_fewer_nodes_and_prove_less() -> None:
    """With superko the cop wins in eleven moves."""
    nodes = {}
    for settings, depth in (({"limit": 3}, 10), ({"limit": 2, "superko": 1}, 12)):
        for shares in (False, True):
            rules = Chase(4, 2, **settings)
            state, limits = RulesGame(rules).initial_state(), Limits(depth=depth)
            found = searched(alpha_beta(rules, state, depth, share_positions=shares), state, limits)
            nodes[depth, shares] = found.nodes
            if depth == 12:
                assert found.score == (1.0, -11.0)
                assert found.proven is not shares
    assert nodes[10, True] < nodes[10, False]


@pytest.mark.thorough
@every_variant
def test_perft_knows_the_past(settings: dict[str, int]) -> None:
    for rules, path in walks(settings, 5):
        game = RulesGame(rules)
        assert perft(game, 6, state=path[-1]) == counting._count(game, path[-1], 6)
        assert counting.COMPILED_DEPTH <= 6


@pytest.mark.slow
@every_variant
def test_the_other_searches_know_the_past(settings: dict[str, int]) -> None:
    for rules, path in walks(settings, 20):
        truth = oracle(rules, path, 5)
        for agent in (MinimaxAgent, MaxNAgent, ParanoidAgent):
            for how in ({}, {"stop_test": lambda *_: False}):  # a test of the caller's is not compiled
                found = agent(depth=5, evaluator="game", **how).search_state(RulesGame(rules), path[-1])
                assert found.value == truth, (agent, rules, path)


@pytest.mark.thorough
@pytest.mark.parametrize("limit", [2, 3])
def test_solving_agrees_with_retrograde_analysis(limit: int) -> None:
    expected = retrograde_values()
    for number, start in enumerate(STARTS):
        game = RulesGame(Chase(*start, limit=limit))
        score = Prover(game, memory_mb=1).score(game.initial_state())
        assert score.lower == score.upper
        found = (score.lower > 0) - (score.lower < 0)
        assert found == expected[ChaseState(*start, 0, 0)], start
        if number % 4 == limit:
            solution = solve(game)  # so few states are searched in plain Python
            assert solution.proven, start
            assert solution.value == found, start


@pytest.mark.thorough
def test_with_superko_the_cop_wins_where_the_robber_went_in_circles() -> None:
    """As trying everything says, seven moves ahead."""
    rules = Chase(0, 2, limit=2, superko=1)
    assert minimax_with_past(rules, [ChaseState(0, 2, 0, 0)], 7) == 1
    assert retrograde_values()[ChaseState(0, 2, 0, 0)] == 0
    game = RulesGame(rules)
    score = Prover(game, memory_mb=1).score(game.initial_state())
    assert score.lower == score.upper > 0
    plain = AlphaBetaSolver(game, WatchedBudget(Limits(), compile=Compile.NEVER), memory_mb=1)
    assert plain.solve(game.initial_state(), outcome_only=True).value == 1


def test_a_repetition_is_a_draw_unless_the_rules_end_the_game_there() -> None:
    rules = Chase(limit=2)
    game = RulesGame(rules)
    for state, expected in ((ChaseState(4, 0, 1, 0), (0.0, 0.0)), (ChaseState(4, 4, 0, 0), (1.0, -1.0))):
        again = with_past(rules, state, [rules.repetition_key(state)])
        assert game.is_terminal(again)
        assert game.utility(again) == expected
    assert not game.is_terminal(with_past(rules, ChaseState(4, 0, 1, 0), [0]))


def test_a_game_that_hardly_ever_repeats_too_often_is_too_long() -> None:
    game = RulesGame(Chase(4, 2, limit=1 << 40))
    state = game.initial_state()
    search = alpha_beta(game.rules, state, None, use_bounds=False, memory_mb=0)
    with pytest.raises(GameTooLongError, match="goes on for more than"):
        searched(search, state, Limits(), step=False)


def test_threads_have_a_path_each() -> None:
    for rules, path in walks({"limit": 2}, 4, seed=1):
        limits = Limits(depth=9)
        found, expected = (
            searched(alpha_beta(rules, path[-1], 9, **how), path[-1], limits, step=False)
            for how in ({"threads": 3}, {"may_compile": False})
        )
        assert found.score == expected.score, (rules, path)
