"""``solve``: published results, plain minimax as the oracle, limits, and what it says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from doubles.small_games import AIMA_5_2, CoinRow, DiceRace, TreeGame

from zermelo.agents import MinimaxAgent, solve
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.playouts import random_game
from zermelo.agents.base.settings import Compile
from zermelo.agents.solutions.solution import Outcome, Solution, WatchedBudget
from zermelo.agents.solving.solvers import AlphaBetaSolver, ProofSolver
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs import UnsupportedGameError, make
from zermelo.envs.errors import GameOverError, InvalidSettingError
from zermelo.envs.games import (
    MNK,
    Breakthrough,
    Chomp,
    ConnectFour,
    DotsAndBoxes,
    Goofspiel,
    Hexapawn,
    Kalah,
    Nim,
    Othello,
    Pig,
)
from zermelo.envs.rules import RulesGame

FIRST, SECOND, NEITHER = Outcome.FIRST, Outcome.SECOND, Outcome.NEITHER


def proof(rules: Any, state: Any = None, *, outcome_only: bool = False) -> Solution:
    """Solved by compiled proof, however small it is."""
    game = RulesGame(rules)
    solver = ProofSolver(game, WatchedBudget(Limits()), memory_mb=1)
    return solver.solve(game.initial_state() if state is None else state, outcome_only=outcome_only)


def plain(rules: Any, state: Any = None, *, outcome_only: bool = False, **limits: Any) -> Solution:
    """Solved in plain Python."""
    game = RulesGame(rules)
    solver = AlphaBetaSolver(game, WatchedBudget(Limits(**limits), compile=Compile.NEVER), memory_mb=8)
    return solver.solve(game.initial_state() if state is None else state, outcome_only=outcome_only)


def positions(rules: Any, count: int) -> list[Any]:
    """Unfinished positions of random games, none of which is early."""
    generator, game = np.random.default_rng(1), RulesGame(rules)
    lines = [list(random_game(game, game.initial_state(), generator, 999)) for _ in range(count)]
    return [line[int(generator.integers(len(line) // 3, len(line)))] for line in lines]


# -- known results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        (MNK(), NEITHER),
        (MNK(m=3, n=4, k=3), FIRST),
        (MNK(m=4, n=3, k=3), FIRST),
        (Hexapawn(3, 3), SECOND),
        (Nim((1, 3, 5, 7)), SECOND),
        (Nim((1, 3, 5, 7), misere=True), SECOND),
        (Nim((1, 2, 4)), FIRST),
        (Chomp(3, 3), FIRST),
    ],
    ids=str,
)
def test_who_wins(rules: Any, outcome: Outcome) -> None:
    for outcome_only in (True, False):
        solution = solve(rules, outcome_only=outcome_only)
        assert (solution.outcome, solution.proven) == (outcome, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("houses", "margins"),
    [(1, [0, -2, 6, -2, 2, 0]), (2, [2, -2, -2, -10, 6, 8]), (3, [0, 4, 2, 2, 6, -8])],
)
def test_kalah_margins(houses: int, margins: list[int]) -> None:
    found = [solve(Kalah(houses, seeds, empty_capture=False, margin=True)) for seeds in range(1, 7)]
    assert [solution.value for solution in found] == margins
    assert all(solution.values_by_seat == (solution.value, -(solution.value or 0)) for solution in found)


@pytest.mark.parametrize(("rows", "columns", "margin"), [(1, 1, -1), (1, 2, 0), (1, 3, -1)])
@pytest.mark.slow
def test_dots_and_boxes_margins(rows: int, columns: int, margin: int) -> None:
    assert solve(DotsAndBoxes(rows=rows, columns=columns, margin=True)).value == margin


def test_chomp_s_only_winning_bite() -> None:
    solution = solve(Chomp(3, 3))
    winning = [action for action, value in solution.action_values.items() if value == 1]
    rules = Chomp(3, 3)
    assert [rules.action_text(rules.initial_state(), action) for action in winning] == ["(2,2)"]
    assert solution.best_actions == tuple(winning)


@pytest.mark.slow
def test_larger_games() -> None:
    assert solve(Othello(rows=4, columns=4, margin=True)).value == -8
    assert solve(Breakthrough(4, 3, 1)).outcome is FIRST
    assert solve(Breakthrough(5, 3, 1)).outcome is FIRST
    assert solve(Breakthrough(4, 2, 1)).outcome is SECOND
    assert solve(DotsAndBoxes(rows=2, columns=2, margin=True)).value == 2
    assert solve(MNK(4, 4, 4), outcome_only=True).outcome is NEITHER
    assert solve(Hexapawn(3, 4)).outcome is FIRST
    assert solve(Hexapawn(4, 4)).outcome is FIRST


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_kalah_with_six_houses_four_seeds_and_empty_captures() -> None:
    """The first player wins by 10 (Wikipedia, "Kalah"); some 500 million positions."""
    game = RulesGame(Kalah(6, 4, empty_capture=True, margin=True))
    prover = Prover(game, memory_mb=512)
    score = prover.score(game.initial_state(), guess=2 * 10)
    assert score.lower == score.upper
    assert prover.value(score.lower) == (10, None)


def pons_score(value: float, plies: int | None, played: int) -> int:
    """22 less the stones that the winner has on the board at the end; negative for a loss."""
    if value == 0:
        return 0
    assert plies is not None
    winners = (played + plies + 1) // 2
    return 22 - winners if value > 0 else winners - 22


def test_connect_four_as_the_solving_blog_scores_it() -> None:
    # blog.gamesolver.org, part 2: 44455554221 scores -15.
    rules = ConnectFour()
    state = rules.initial_state()
    moves = "44455554221"
    for move in moves:
        state = rules.result(state, int(move) - 1)
    solution = solve(rules, state)
    assert solution.value is not None
    assert pons_score(solution.value, solution.plies, len(moves)) == -15
    assert solution.outcome is FIRST  # the second player is to move and loses
    scores = {
        action: pons_score(value, solution.action_plies.get(action), len(moves))
        for action, value in solution.action_values.items()
    }
    assert max(scores.values()) == -15
    assert len(solution.principal_variation) == solution.plies


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_connect_four_first_moves() -> None:
    solution = solve(ConnectFour(), threads=2)
    scores = [pons_score(solution.action_values[a], solution.action_plies.get(a), 0) for a in range(7)]
    assert scores == [-2, -1, 0, 1, 0, -1, -2]  # Pascal Pons' solver


# -- against plain searches ------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("rules", [MNK(), Kalah(2, 2, margin=True), MNK(m=4, n=3, k=3)], ids=str)
def test_compiled_and_plain_agree(rules: Any) -> None:
    game = RulesGame(rules)
    for state in positions(rules, 15):
        mine, oracle = proof(rules, state), plain(rules, state)
        for field in ("value", "values_by_seat", "outcome", "action_values", "best_actions"):
            assert getattr(mine, field) == getattr(oracle, field), (field, state)
        if game.traits.utility_bounds == (-1, 1):
            assert mine.action_plies == oracle.action_plies, state
            if mine.value != 0:
                assert mine.plies == oracle.plies == len(mine.principal_variation), state
        colours = proof(rules, state, outcome_only=True), plain(rules, state, outcome_only=True)
        assert [colour.outcome for colour in colours] == [mine.outcome] * 2, state
        for colour in colours:
            assert colour.value_bounds[0] <= mine.value <= colour.value_bounds[1], state
        minimax = MinimaxAgent().search_state(game, state)
        assert mine.action_values == minimax.action_values, state
        for solution in (mine, oracle):
            end = state
            for action in solution.principal_variation:
                assert action in game.legal_actions(end)
                end = game.result(end, action)
            if solution.principal_variation:
                assert game.is_terminal(end)
                assert game.utility(end) == solution.values_by_seat
                assert solution.plies == len(solution.principal_variation)
                assert solution.principal_variation[0] in solution.best_actions


def test_games_that_are_no_rules() -> None:
    solution = solve(TreeGame(AIMA_5_2))
    assert (solution.value, solution.best_actions, solution.proven) == (3, (0,), True)
    assert solution.action_values == {0: 3, 1: 2, 2: 2}
    assert solve(TreeGame(AIMA_5_2), outcome_only=True).outcome is FIRST


@pytest.mark.parametrize("coins", [(3, 9, 1, 2), (4, 1, 7, 6, 8, 3)], ids=str)
def test_rewards_before_the_end(coins: tuple[int, ...]) -> None:
    game = CoinRow(coins)
    expected = MinimaxAgent().search_state(game)
    solution = solve(game)
    assert solution.value == expected.value
    assert solution.action_values == expected.action_values
    assert solve(game, outcome_only=True).outcome is solution.outcome


def test_a_live_environment_is_solved_where_it_stands() -> None:
    env = make("classic/tictactoe-v3")
    env.reset(seed=0)
    for action in (0, 1):
        env.step(action)
    solution = solve(env)
    assert (solution.seat, solution.value, solution.outcome) == (0, 1, FIRST)
    assert solution.plies == 5
    assert env.agent_selection == "player_1"
    assert len(solution.action_values) == 7


# -- limits, progress, refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [{"nodes": 20_000}, {"seconds": 0.3}])
def test_a_limit_leaves_bounds(limit: dict[str, Any]) -> None:
    solution = solve(ConnectFour(), **limit)
    assert solution.stopped_by.value in limit
    assert not solution.proven
    assert (solution.value, solution.outcome, solution.plies) == (None, None, None)
    assert solution.value_bounds == (-1, 1)
    assert "nodes" not in limit or solution.nodes <= 20_002


@pytest.mark.thorough
@pytest.mark.parametrize("outcome_only", [False, True])
@pytest.mark.parametrize(
    ("rules", "limits"),
    [
        (Nim((1, 2, 4), misere=True), range(2, 200, 2)),
        (Kalah(houses=2, seeds=2), range(1, 200, 3)),
        (DotsAndBoxes(1, 2), range(1, 3000, 97)),
        (ConnectFour(rows=4, columns=4), range(1501, 6000, 750)),
    ],
    ids=str,
)
def test_no_node_limit_gives_a_false_proof(rules: Any, limits: range, outcome_only: bool) -> None:
    """Games and limits beside those of the contract of all solvers."""
    truth, settled = solve(rules), 0
    assert truth.proven
    for nodes in limits:
        found = solve(rules, outcome_only=outcome_only, nodes=nodes)
        lower, upper = found.value_bounds
        assert lower <= truth.value <= upper, nodes
        assert found.outcome in (None, truth.outcome), nodes
        assert not found.proven or found.outcome is truth.outcome, nodes
        assert found.value in (None, truth.value), nodes
        assert found.plies in (None, truth.plies), nodes
        for action, value in found.action_values.items():
            assert value == truth.action_values[action], nodes
        for action, plies in found.action_plies.items():
            assert plies == truth.action_plies[action], nodes
        settled += found.proven
    assert settled > 0, "the limits should be about those that suffice"
    assert settled < len(limits)


def test_plain_python_gives_no_false_proof() -> None:
    rules = Kalah(houses=4, seeds=2)
    truth = solve(rules)
    found = solve(rules, seconds=0.3, compile="never")
    assert found.value in (None, truth.value)
    assert found.outcome in (None, truth.outcome)


def test_a_limit_in_plain_python_leaves_bounds() -> None:
    solution = plain(MNK(), nodes=300)
    assert (solution.stopped_by, solution.proven, solution.value) == (StoppedBy.NODES, False, None)
    assert solution.value_bounds[0] <= 0 <= solution.value_bounds[1]
    colour = plain(MNK(), outcome_only=True, nodes=300)
    assert (colour.stopped_by, colour.proven, colour.outcome) == (StoppedBy.NODES, False, None)


def test_progress_is_told_and_may_stop_the_search() -> None:
    told = []

    def tell(progress: Any) -> None:
        told.append(progress)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(ConnectFour(), on_progress=tell)
    assert len(told) == 3
    assert [p.nodes for p in told] == sorted(p.nodes for p in told)
    assert told[-1].actions == 7


def test_threads_find_the_same() -> None:
    rules = ConnectFour(rows=4, columns=5)
    one, two = solve(rules), solve(rules, threads=2)
    assert (one.value, one.action_values, one.action_plies) == (two.value, two.action_values, two.action_plies)
    assert one.proven
    assert two.proven


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (DiceRace(), "value_iteration needs the probabilities of chance"),
        (Nim((1, 2), players=3), "solve needs two players"),
    ],
    ids=["sampled dice", "three"],
)
def test_games_that_cannot_be_solved(game: Any, message: str) -> None:
    with pytest.raises(UnsupportedGameError, match=message):
        solve(game)


def test_games_of_chance_are_solved_by_their_values() -> None:
    game = Pig(target=12)
    values = value_iteration(game)
    solution, state = solve(game), values.game.initial_state()
    assert solution.action_values == values.action_values(state)
    assert solution.value == max(solution.action_values.values())
    assert solution.best_actions == tuple(a for a, v in solution.action_values.items() if v == solution.value)
    lower, upper = solution.value_bounds
    assert lower < solution.value < upper
    assert (solution.seat, solution.proven, solution.nodes) == (0, False, len(values))
    with pytest.raises(InvalidSettingError, match="outcome_only and nodes are not for"):
        solve(game, outcome_only=True)


def test_moves_at_the_same_time_are_mixed() -> None:
    solution = solve(Goofspiel(3, shuffled=False))
    assert solution.values_by_seat == pytest.approx((0, 0), abs=1e-9)
    assert sum(solution.policies[0].values()) == pytest.approx(1)
    assert solution.outcome is NEITHER
    assert solution.proven


def test_a_finished_position_is_refused() -> None:
    rules = Nim((1,))
    with pytest.raises(GameOverError, match="is over"):
        solve(rules, rules.result(rules.initial_state(), 0))


@pytest.mark.parametrize(
    "settings",
    [{"outcome_only": 1}, {"nodes": 0}, {"seconds": 0}, {"threads": 0}, {"memory_mb": 0}, {"on_progress": 3}],
)
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettingError, match=next(iter(settings))):
        solve(MNK(), **settings)
