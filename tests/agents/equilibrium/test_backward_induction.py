"""Games of several simultaneous moves, against a slow recursion; their limits; and games without an end."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from doubles.small_games import PlainGame

from zermelo.agents import make_agent, solve
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
from zermelo.agents.equilibrium.matrix_games import solve_matrix
from zermelo.envs import CHANCE, Traits, UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Chance, RewardSum


class At(NamedTuple):
    level: int
    place: int
    paid: tuple[float, float] = (0.0, 0.0)


class Rounds(PlainGame):
    """Both players move, or one of them, or chance; they are paid on the way, and the key does not say how much.

    With ``returns`` a way of the last level leads back to the first one.
    """

    def __init__(self, seed: int, levels: int = 3, total: float = 0.0, *, returns: bool = False) -> None:
        source = random.Random(seed)
        self.levels, places = levels, range(3)
        stops = list(itertools.product(range(levels), places))
        self._movers = {stop: source.choice([(0, 1), (0, 1), (0, 1), (0,), (1,), ()]) for stop in stops}
        self._sizes = {stop: (source.randint(1, 3), source.randint(1, 3)) for stop in stops}
        self._ways = {
            (*stop, row, column): (source.choice(places), float(source.randint(-4, 4)))
            for stop in stops
            for row, column in itertools.product(range(3), range(3))
        }
        self._sums = [0.0] * (levels - 1) + [total]
        self._returns = returns
        self.traits = Traits(
            name="rounds",
            seat_names=("row", "column"),
            reward_sum=RewardSum.CONSTANT if total else RewardSum.ZERO,
            constant=total,
            chance=Chance.EXACT,
            information="hidden",  # type: ignore[arg-type]  # becomes the enum's member
            simultaneous=True,
            utility_bounds=(-4.0 * levels, 4.0 * levels + total),
        )

    def initial_state(self) -> At:
        return At(0, 0)

    def movers(self, state: At) -> tuple[int, ...]:
        return () if self.is_terminal(state) else self._movers[state[:2]]

    def to_move(self, state: At) -> int:
        return (*self.movers(state), CHANCE)[0]

    def actions_of(self, state: At, seat: int) -> range:
        return range(self._sizes[state[:2]][seat])

    def legal_actions(self, state: At) -> range:
        return self.actions_of(state, self.to_move(state))

    def chance_outcomes(self, state: At) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def _after(self, state: At, row: int, column: int) -> At:
        place, first = self._ways[*state[:2], row, column]
        second = self._sums[state.level] - first
        level = 0 if self._returns and state.level + 1 == self.levels and place == 0 else state.level + 1
        return At(level, place, (state.paid[0] + first, state.paid[1] + second))

    def result(self, state: At, action: int) -> At:
        return self._after(state, action, 0) if self.to_move(state) != 1 else self._after(state, 0, action)

    def joint_result(self, state: At, actions: Mapping[int, int], generator: Any = None) -> At:
        return self._after(state, actions.get(0, 0), actions.get(1, 0))

    def is_terminal(self, state: At) -> bool:
        return state.level == self.levels

    def utility(self, state: At) -> tuple[float, float]:
        return state.paid

    def key(self, state: At) -> tuple[int, int]:
        return state[:2]

    def hides_more(self) -> bool:
        return False


def value_of_matrix(matrix: np.ndarray) -> float:
    """What the best mixture of rows is sure of, by looking at every vertex of the linear program."""
    rows, columns = matrix.shape
    best = -np.inf
    # Unknown: a mixture and its value. It gets the value at least against each column, and no share is negative.
    bounds = np.vstack([np.hstack([matrix.T, -np.ones((columns, 1))]), np.eye(rows, rows + 1)])
    for tight in itertools.combinations(range(len(bounds)), rows):
        system = np.vstack([bounds[list(tight)], np.append(np.ones(rows), 0.0)])
        try:
            found = np.linalg.solve(system, np.append(np.zeros(rows), 1.0))
        except np.linalg.LinAlgError:
            continue
        if (bounds @ found >= -1e-9).all():
            best = max(best, found[-1])
    return best


def first_value(game: Any, state: At) -> float:
    """The first player's value, by recursion without a table."""
    if game.is_terminal(state):
        return game.utility(state)[0]
    movers = game.movers(state)
    if not movers:
        return sum(
            p * first_value(game, game.result(state, outcome)) for outcome, p in game.chance_outcomes(state)
        )
    rows, columns = (game.actions_of(state, seat) if seat in movers else [0] for seat in (0, 1))
    payoffs = [[first_value(game, game.joint_result(state, {0: r, 1: c})) for c in columns] for r in rows]
    return value_of_matrix(np.array(payoffs))


@pytest.mark.thorough
def test_values_are_those_of_a_recursion() -> None:
    for seed in range(60):
        game = Rounds(seed, total=(-3.0, 0.0, 1.0, 5.0)[seed % 4])
        states = [game.initial_state(), At(1, 1, (2.0, -2.0))]
        for state in states:
            found, value = solve_simultaneous(game, state), first_value(game, state)
            assert found.values_by_seat == pytest.approx((value, game.traits.constant - value)), seed
            assert found.proven, seed
            assert set(found.policies) == set(game.movers(state)), seed
            assert solve(game, state).values_by_seat == found.values_by_seat, seed


@pytest.mark.thorough
def test_matrices_of_any_size_have_the_value_of_their_best_vertex() -> None:
    source = np.random.default_rng(5)
    for number in range(300):
        matrix = source.integers(-2, 3, source.integers(1, 5, 2)).astype(float) * 10.0 ** source.integers(-3, 6)
        solved, expected = (
            solve_matrix(matrix),
            value_of_matrix(matrix / np.abs(matrix).max() if matrix.any() else matrix),
        )
        size = max(np.abs(matrix).max(), 1e-300)
        assert solved.value / size == pytest.approx(expected, abs=1e-9), number
        assert (solved.row @ matrix).min() / size >= expected - 1e-7, number
        assert (matrix @ solved.column).max() / size <= expected + 1e-7, number


@pytest.mark.parametrize("matrix", [[[1e308, -1e308], [-1e308, 1e308]], [[1e9 + 1, 1e9], [1e9, 1e9 + 1]]])
def test_payoffs_may_be_huge(matrix: Any) -> None:
    solved = solve_matrix(matrix)
    assert solved.row == pytest.approx([0.5, 0.5])
    assert solved.value == pytest.approx(np.mean([row[0] / 2 + row[1] / 2 for row in matrix]))


def test_rounds_that_leave_nothing_behind_are_one_state_each() -> None:
    """450 rounds of which the key says only how many are left: what was paid is not worked out again."""
    game = Rounds(0, levels=450)
    found = solve_simultaneous(game)
    assert found.nodes <= 3 * 450 + 1
    assert found.proven


def test_a_game_that_returns_is_refused_whatever_was_paid_on_the_way() -> None:
    with pytest.raises(UnsupportedGameError, match="can come back to a state that it has left"):
        solve_simultaneous(Rounds(3, returns=True))


def test_limits_say_what_was_reached_and_what_to_do() -> None:
    game = Rounds(0, levels=50)
    with pytest.raises(UnsupportedGameError, match=r"more than 20 states, found within \d+ rounds: .*most_states"):
        solve_simultaneous(game, most_states=20)
    for name, value in (("most_states", 0), ("seconds", -1)):
        with pytest.raises(InvalidSettingError, match=name):
            solve_simultaneous(game, **{name: value})
    with pytest.raises(InvalidSettingError, match="on_progress"):
        solve_simultaneous(game, on_progress=3)  # type: ignore[arg-type]


class Endless(Rounds):
    """A round more after each round, and no state twice."""

    def is_terminal(self, state: At) -> bool:
        return False

    def _after(self, state: At, row: int, column: int) -> At:
        return At(state.level + 1, (row + column) % 2)

    def movers(self, state: At) -> tuple[int, ...]:
        return (0, 1)

    def actions_of(self, state: At, seat: int) -> range:
        return range(2)


@pytest.mark.parametrize(
    ("limit", "reason"), [({"seconds": 0.05}, StoppedBy.SECONDS), ({"nodes": 30}, StoppedBy.NODES)]
)
def test_a_limit_leaves_bounds(limit: dict[str, Any], reason: StoppedBy) -> None:
    game, state = Endless(0), At(0, 0)
    found = solve(game, state, **limit)
    assert (found.stopped_by, found.proven, found.value, found.outcome) == (reason, False, None, None)
    assert found.value_bounds == game.traits.utility_bounds
    assert found.nodes > 0
    if "seconds" in limit:
        assert solve_simultaneous(game, **limit).stopped_by is reason


def test_bounds_count_what_was_paid() -> None:
    game = Rounds(0, levels=50)
    found = solve(game, At(1, 0, (9.0, -9.0)), nodes=3)
    assert found.value_bounds == (9.0 - 200.0, 9.0 + 200.0)


def test_progress_is_told_and_can_stop() -> None:
    seen = []

    def stop(now: Any) -> None:
        seen.append((now.nodes, now.actions_solved, now.actions))
        raise KeyboardInterrupt

    for solver in (solve, solve_simultaneous):
        with pytest.raises(KeyboardInterrupt):
            solver(Endless(0), on_progress=stop)
    assert all(0 < nodes <= known and solved == 0 for nodes, solved, known in seen)


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
sys.path.insert(0, {here!r})
from test_backward_induction import At, Endless
from zermelo.agents.equilibrium.backward_induction import solve_simultaneous
solve_simultaneous(Endless(0), most_states=10**9)
"""


@pytest.mark.thorough
def test_a_line_says_how_far_it_is_and_ctrl_c_ends_it() -> None:
    here = os.path.dirname(__file__)
    script = SCRIPT.format(tests=os.path.dirname(os.path.dirname(here)), here=here)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "zermelo: solving rounds: " in line
    assert "states found, 0 solved in 2 s; seconds limits that, and Ctrl-C ends it" in line
    assert said.rstrip().endswith("KeyboardInterrupt")


def test_the_agent_answers_as_the_solution_does() -> None:
    for seed in range(20):
        game = Rounds(seed)
        found = solve_simultaneous(game)
        for seat in game.movers(game.initial_state()):
            agent = make_agent("backward_induction")
            agent.reset(0)
            if seat == game.to_move(game.initial_state()):
                result = agent.search_state(game)
                assert result.values_by_seat == found.values_by_seat
                assert result.policy == found.policies[seat]
                assert result.proven
