"""Every way to solve a game, against backward induction: any constant sum, bounds tight and loose."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, NamedTuple

import pytest
from doubles.small_games import PlainGame

from zermelo.agents import make_agent, solve
from zermelo.agents.solutions.solution import Outcome
from zermelo.agents.solving.solve import SolveBy, exact_values
from zermelo.agents.solving.solve_policy import solve_policy
from zermelo.envs import Traits
from zermelo.envs.game import RewardSum
from zermelo.envs.rules import RulesGame, mix


class At(NamedTuple):
    level: int
    place: int


class Lattice(NamedTuple):
    """Levels of three places, where ways meet again; who moves, where actions lead and what ends pay is drawn.

    Seat 0 gets from ``least`` to ``least + spread`` at an end, seat 1 what is left of ``total``.
    """

    seed: int
    total: int
    least: int
    spread: int
    lower: int
    upper: int
    levels: int = 4

    def _drawn(self, state: At, what: int) -> int:
        return (mix(self.seed * 4096 + state.level * 64 + state.place * 16 + what) >> 8) & 0xFFFF

    def utility_bounds(self) -> tuple[int, int]:
        return self.lower, self.upper

    def utility_sum(self) -> int:
        return self.total

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> At:
        return At(0, 0)

    def to_move(self, state: At) -> int:
        return self._drawn(state, 0) & 1

    def legal_actions(self, state: At, actions: Any) -> int:
        count = 1 + self._drawn(state, 1) % 3
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: At, action: int) -> At:
        return At(state.level + 1, self._drawn(state, 2 + action) % 3)

    def is_terminal(self, state: At) -> bool:
        return state.level == self.levels or (state.level > 1 and self._drawn(state, 7) % 5 == 0)

    def utility(self, state: At, seat: int) -> int:
        first = self.least + self._drawn(state, 8) % (self.spread + 1)
        return first if seat == 0 else self.total - first

    def key(self, state: At) -> int:
        return state.level * 3 + state.place


PAID = (0.0, 0.0, -1.0, 1.0, 0.25, -2.5)


class Stop(NamedTuple):
    level: int
    place: int
    paid: tuple[float, float] = (0.0, 0.0)


class Walk(PlainGame):
    """Players are paid at each step, parts of a point too; the key says where they are, not what they have.

    What a step pays both adds up to something that its level says, and over the whole walk to ``total``.
    """

    LEVELS = 4

    def __init__(self, seed: int, total: float, bounds: tuple[float, float]) -> None:
        source = random.Random(seed)
        stops = list(itertools.product(range(self.LEVELS), range(3)))
        self._movers = {stop: source.randrange(2) for stop in stops}
        self._ways = {
            stop: [(source.randrange(3), source.choice(PAID)) for _ in range(source.randint(1, 3))]
            for stop in stops
        }
        self._sums = [source.choice(PAID) for _ in range(self.LEVELS - 1)]
        self._sums.append(total - sum(self._sums))
        self.traits = Traits(
            name="a walk",
            seat_names=("first", "second"),
            reward_sum=RewardSum.CONSTANT if total else RewardSum.ZERO,
            constant=total,
            utility_bounds=bounds,
            num_actions=3,
        )

    def initial_state(self) -> Stop:
        return Stop(0, 0)

    def to_move(self, state: Stop) -> int:
        return self._movers[state[:2]]

    def legal_actions(self, state: Stop) -> range:
        return range(len(self._ways[state[:2]]))

    def result(self, state: Stop, action: int) -> Stop:
        place, first = self._ways[state[:2]][action]
        second = self._sums[state.level] - first
        return Stop(state.level + 1, place, (state.paid[0] + first, state.paid[1] + second))

    def is_terminal(self, state: Stop) -> bool:
        return state.level == self.LEVELS

    def utility(self, state: Stop) -> tuple[float, ...]:
        return state.paid

    def key(self, state: Stop) -> tuple[int, int]:
        return state[:2]


def drawn_rules(number: int) -> Lattice:
    """Rules with some constant, and bounds of utility that are as tight as can be or not at all."""
    source = random.Random(number)
    total, spread = source.choice([-4, -3, 0, 1, 2, 5]), source.choice([0, 1, 2, 3, 8])
    least = source.choice([-4, -1, 0, 2, (total - spread) // 2])
    below, above = source.choice([(0, 0), (0, 1), (2, 0), (3, 3), (500, 7)])
    lower = min(least, total - least - spread) - below
    return Lattice(number, total, least, spread, lower, max(least + spread, total - least) + above)


def drawn_walk(number: int) -> Walk:
    """A walk with some constant, and bounds of utility that may be infinite."""
    source = random.Random(number)
    lower, upper = source.choice([-40, -500, -math.inf]), source.choice([40, math.inf])
    return Walk(number, source.choice([-3.0, 0.0, 0.5, 1.0, 5.0]), (lower, upper))


GAMES = [("rules", number) for number in range(60)] + [("walk", number) for number in range(60)]


def game_of(kind: str, number: int) -> Any:
    return RulesGame(drawn_rules(number)) if kind == "rules" else drawn_walk(number)


def first_value(game: Any, state: Any) -> float:
    """Backward induction, without a table: what seat 0 gets."""
    if game.is_terminal(state):
        return float(game.utility(state)[0])
    values = [first_value(game, game.result(state, action)) for action in game.legal_actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)


class Truth(NamedTuple):
    """The value of a state by seat, its outcome, and the values of its actions for the player to move."""

    by_seat: tuple[float, float]
    outcome: Outcome
    actions: dict[int, float]


def truth_of(game: Any, state: Any) -> Truth:
    total = game.traits.constant
    first, mover = first_value(game, state), game.to_move(state)
    outcome = Outcome.NEITHER if 2 * first == total else Outcome.FIRST if 2 * first > total else Outcome.SECOND
    values = {action: first_value(game, game.result(state, action)) for action in game.legal_actions(state)}
    actions = {action: value if mover == 0 else total - value for action, value in values.items()}
    return Truth((first, total - first), outcome, actions)


@pytest.mark.thorough
@pytest.mark.parametrize("compile", ["never", "wait"])
@pytest.mark.parametrize("method", list(SolveBy))
def test_solutions_are_those_of_backward_induction(method, compile):  # noqa: A002
    for which in GAMES:
        game = game_of(*which)
        state = game.initial_state()
        truth, mover = truth_of(game, state), game.to_move(state)
        found = solve(game, method=method, compile=compile)
        assert found.proven, which
        assert (found.seat, found.values_by_seat, found.outcome) == (mover, truth.by_seat, truth.outcome), which
        assert found.value == truth.by_seat[mover], which
        assert found.value_bounds == (found.value, found.value), which
        assert found.action_values, which
        assert found.action_values.items() <= truth.actions.items(), which
        if method is not SolveBy.PROOF_NUMBER:
            assert found.action_values == truth.actions, which
        assert max(found.action_values.values()) == found.value, which


@pytest.mark.thorough
@pytest.mark.parametrize("compile", ["never", "wait"])
@pytest.mark.parametrize("method", list(SolveBy))
def test_who_wins_is_right_and_bounds_hold(method, compile):  # noqa: A002
    for which in GAMES:
        game = game_of(*which)
        state = game.initial_state()
        truth = truth_of(game, state)
        value = truth.by_seat[game.to_move(state)]
        for nodes in (None, 1, 5, 17):
            found = solve(game, method=method, compile=compile, outcome_only=True, nodes=nodes)
            assert found.proven or nodes is not None, which
            assert found.outcome in ({truth.outcome} if found.proven else {None, truth.outcome}), (which, nodes)
            assert found.value_bounds[0] <= value <= found.value_bounds[1], (which, nodes)
            assert found.action_values == {}, which


@pytest.mark.thorough
def test_values_of_many_states_and_policies_are_right():
    for which in GAMES:
        game = game_of(*which)
        state = game.initial_state()
        truth, mover = truth_of(game, state), game.to_move(state)
        [exact] = exact_values(game, [state])
        assert exact.values_by_seat == truth.by_seat, which
        to_come, policy = solve_policy(game).entry(game, state)
        assert to_come == truth.by_seat[mover], which
        assert {truth.actions[action] for action in policy} == {truth.by_seat[mover]}, which


AGENTS = [
    "minimax(depth=full, evaluator=rewards)", "alphabeta(depth=full, evaluator=rewards)",
    "maxn(depth=full, evaluator=rewards)", "paranoid(depth=full, evaluator=rewards)", "auto(nodes=3000)",
    "alphabeta(nodes=20, evaluator=rewards)", "mcts(simulations=40)", "mcts(simulations=2000)",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("spec", AGENTS)
def test_what_agents_prove_is_right(spec):
    proven = 0
    for which in GAMES[::3]:
        game = game_of(*which)
        state = game.initial_state()
        truth, mover = truth_of(game, state), game.to_move(state)
        agent = make_agent(spec.replace(")", ", compile=never)"))
        agent.reset(0)
        found = agent.search_state(game, state)
        assert all(truth.actions[action] == found.action_values[action] for action in found.proven_actions), which
        if found.proven:
            proven += 1
            assert found.values_by_seat == truth.by_seat, which
            assert found.value == truth.by_seat[mover] == truth.actions[found.action], which
    assert proven
