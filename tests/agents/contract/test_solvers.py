"""What solving keeps to under any limit: a proof is true, bounds hold, and nothing finished is lost."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.contract import GAMES, Position, game_kind, positions, textbook

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.solutions.solution import Outcome, Solution
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.training.labels import search_many
from zermelo.envs.games import MNK, DotsAndBoxes, Nim
from zermelo.envs.rules import RulesGame

TWO = [game for game in GAMES if game_kind(game) == "two"]
PROVEN = [game for game in TWO if not game.startswith("DotsAndBoxes") or game.endswith(" plain")]
"""One class of rules fewer to compile."""
LIMITS = (*range(1, 41), *range(41, 200, 7), *range(200, 700, 41))


def moves_to_end(position: Position, state: Any) -> tuple[float, int]:
    """Value for the first player and moves to the end: of wins the shortest, of losses the longest."""
    game, half = position.game, position.game.traits.constant / 2
    if game.is_terminal(state):
        return game.utility(state)[0], 0
    scores = []
    for action in game.legal_actions(state):
        value, promptness = moves_to_end(position, game.result(state, action))
        scores.append((value, promptness - (value > half) + (value < half)))
    return max(scores) if game.to_move(state) == 0 else min(scores)


def true_outcome(position: Position) -> Outcome:
    value, half = textbook("alphabeta", position, 99), position.game.traits.constant / 2
    assert isinstance(value, float)
    if value == half:
        return Outcome.NEITHER
    return Outcome.FIRST if (value > half) == (position.seat == 0) else Outcome.SECOND


def check(position: Position, solution: Solution, *, outcome_only: bool, what: Any) -> None:
    """Everything that a solution says is true."""
    value = textbook("alphabeta", position, 99)
    least, greatest = solution.value_bounds
    assert isinstance(value, float)
    assert least <= value <= greatest, ("the bounds are wrong", value, what)
    assert solution.value in (None, value), ("the value is wrong", value, what)
    assert solution.outcome in (None, true_outcome(position)), ("who wins is wrong", what)
    for action, worth in solution.action_values.items():
        assert worth == textbook("alphabeta", position, 99, action), (f"action {action}", what)
    if solution.proven:
        assert solution.outcome is not None, what
        assert outcome_only or solution.value == value, what
    is_won_or_lost = position.game.traits.utility_bounds == (-1, 1) and value != 0
    if solution.plies is not None and is_won_or_lost:
        assert solution.plies == abs(moves_to_end(position, position.state)[1]), ("moves to the end", what)
    if solution.principal_variation:
        state = position.state
        for action in solution.principal_variation:
            state = position.game.result(state, action)
        assert position.game.is_terminal(state), what
        assert position.game.utility(state)[position.seat] == value, ("the line ends otherwise", what)


@pytest.mark.thorough
@pytest.mark.parametrize("outcome_only", [False, True], ids=["values", "outcome"])
@pytest.mark.parametrize("game", PROVEN)
def test_what_is_solved_is_true_under_any_limit(game: str, outcome_only: bool) -> None:
    for position in positions(game):
        whole = solve(position.game, position.state, outcome_only=outcome_only, memory_mb=1)
        check(position, whole, outcome_only=outcome_only, what=(position.name, whole))
        assert whole.proven, position.name
        for nodes in LIMITS:
            found = solve(position.game, position.state, outcome_only=outcome_only, nodes=nodes, memory_mb=1)
            check(position, found, outcome_only=outcome_only, what=(position.name, nodes, found))


@pytest.mark.parametrize("rules", [MNK(m=3, n=3, k=3), Nim(heaps=(1, 2, 4))], ids=["tic-tac-toe", "nim"])
@pytest.mark.parametrize("nodes", [1, 9, 33, 74, 120, 250, 400])
def test_a_limit_proves_nothing_that_is_not_so(rules: Any, nodes: int) -> None:
    """The games and limits of the false proofs that were once reported."""
    game = RulesGame(rules)
    state = game.initial_state()
    for action in (2, 6, 5) if isinstance(rules, MNK) else ():
        state = game.result(state, action)
    position = Position(game, state, None, str(rules))
    for limit in range(nodes, nodes + 8):
        found = solve(game, state, nodes=limit)
        check(position, found, outcome_only=False, what=(limit, found))


@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 1e-3, 0.005])
@pytest.mark.parametrize("game", [game for game in PROVEN if not game.startswith("Kalah")])
def test_what_is_solved_in_time_is_true(game: str, seconds: float) -> None:
    for position in positions(game):
        for outcome_only in (False, True):
            found = solve(position.game, position.state, outcome_only=outcome_only, seconds=seconds)
            check(position, found, outcome_only=outcome_only, what=(position.name, seconds, found))


@pytest.mark.parametrize("game", PROVEN)
def test_exact_values(game: str) -> None:
    many = positions(game)
    found = exact_values(many[0].game, [position.state for position in many], memory_mb=1, threads=2)
    for position, exact in zip(many, found, strict=True):
        assert exact.values_by_seat[position.seat] == textbook("alphabeta", position, 99), position.name


@pytest.mark.parametrize("nodes", [1, 7, 30, 100, 400])
@pytest.mark.parametrize("game", TWO)
def test_search_many_is_one_search_a_state(game: str, nodes: int) -> None:
    many = positions(game)
    for threads in (1, 2):
        agent = AlphaBetaAgent(nodes=nodes, quiescence=0, memory_mb=1)
        found = search_many(many[0].game, [position.state for position in many], agent, threads=threads)
        for position, result in zip(many, found, strict=True):
            assert result.nodes <= nodes
            if result.proven:
                assert result.value == textbook("alphabeta", position, 99), (position.name, nodes, result)


@pytest.mark.thorough
@pytest.mark.parametrize("nodes", [200, 1000])
def test_threads_do_not_change_the_value_of_a_finished_depth(nodes: int) -> None:
    """Many small searches, each of which may be stopped while one thread is ahead of the other."""
    from zermelo.agents.textbook import alpha_beta

    game = RulesGame(DotsAndBoxes(rows=2, columns=2))
    state = game.initial_state()
    for action in (3, 9, 11, 0, 5):
        state = game.result(state, action)
    true: dict[int, float] = {}
    for _ in range(60):
        finished: list[Any] = []
        agent = AlphaBetaAgent(
            threads=2, nodes=nodes, depth=8, memory_mb=1, quiescence=0, on_iteration=finished.append
        )
        agent.search_state(game, state)
        for result in finished:
            depth = result.depth
            if depth not in true:
                true[depth] = alpha_beta(game, state, depth=depth, evaluate=lambda at: game.evaluation(at)[0])
            assert result.values_by_seat[0] == true[depth], (depth, result)
