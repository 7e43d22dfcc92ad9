"""What has been paid so far and what is to come stay apart: in scores, tables and values at a depth limit."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from doubles.paid_ways import PaidWays, Way
from doubles.small_games import Leaf, Node, PlainGame, TreeGame

from zermelo.agents import GreedyAgent, ISMCTSAgent, LinearEvaluator, MCTSAgent, make_agent
from zermelo.agents import textbook as algorithms
from zermelo.agents.evaluators.policy_value import NetworkEvaluator
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.envs import CHANCE, Traits, UnsupportedGameError
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.envs.rules import GENERAL_SUM

INFINITE = (-math.inf, math.inf)
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "maxn": [{"exact": True}, {"deepening": True}, {"memory_mb": 0}],
    "paranoid": [{"exact": True}, {"deepening": True, "prefer_short_wins": False}, {"memory_mb": 0}],
    "bestreply": [{"exact": True}, {"deepening": True}],
    "expectimax": [{}, {"memory_mb": 0}],
    "expectiminimax": [{"exact": True}, {"pruning": "star2", "deepening": True}],
    "alphabeta": [{"exact": True}, {"window": "full", "deepening": True}, {"memory_mb": 0}],
    "minimax": [{}],
}
CASES = [(kind, how) for kind, each in SETTINGS.items() for how in each]
DEPTHS = (1, 2, 3, 4, None)


def game_for(kind: str, seed: int, bounds: tuple[float, float], lower: int = -1) -> PaidWays:
    """A random game of a kind that the agent takes: general sums wherever it may be."""
    rng = np.random.default_rng(seed)
    seats, total, chance = int(rng.integers(1, 4)), None, bool(rng.integers(2))
    if kind in ("alphabeta", "minimax"):
        seats, total, chance = 2, 4.0, False
    elif kind == "expectiminimax" and seats > 1:
        seats, total = 2, 4.0
    elif seats > 1 and seed % 5 == 0:
        total = 6.0
    return PaidWays(seed, seats=seats, lower=lower, total=total, chance=chance, bounds=bounds)


def expected(game: PaidWays, state: Way) -> float:
    """Nothing more, or a share of what is left of a constant sum; as near to it as the bounds allow."""
    traits = game.traits
    share = 0.0
    if traits.reward_sum is not RewardSum.GENERAL:
        share = (traits.constant - sum(state.paid)) / traits.seats
    return min(max(share, traits.utility_bounds[0]), traits.utility_bounds[1])


def book(kind: str, game: PaidWays, state: Way, seat: int, depth: float) -> float:
    """What the textbook says a state is worth to a seat, so many moves deep."""
    if kind == "maxn":
        values = algorithms.max_n(
            game, state, "first", seat, depth, lambda state: (expected(game, state),) * game.traits.seats
        )
        return values[seat]
    if kind in ("paranoid", "bestreply"):
        algorithm = algorithms.paranoid if kind == "paranoid" else algorithms.best_reply
        return algorithm(game, state, seat, depth, lambda state: expected(game, state))
    if kind == "expectimax":

        def replies(state: Way) -> list[tuple[int, float]]:
            actions = game.legal_actions(state)
            return [(action, 1 / len(actions)) for action in actions]

        return algorithms.expectimax(game, state, seat, replies, depth, lambda state: expected(game, state))
    value = algorithms.expectiminimax(game, state, depth, lambda state: expected(game, state))
    return value if seat == 0 else game.traits.constant - value


def check(kind: str, how: dict[str, Any], game: PaidWays, depth: int | None) -> None:
    limits: dict[str, Any] = {"depth": "full" if depth is None else depth, "evaluator": "rewards"}
    if kind in ("expectiminimax", "expectimax"):
        limits["chance_at_limit"] = "average"
    root, deep = game.initial_state(), math.inf if depth is None else depth - 1
    seat = game.to_move(root)
    agent: Any = dataclasses.replace(make_agent(kind), name="", **how, **limits)  # type: ignore[type-var]
    result = agent.search_state(game)
    true = {a: book(kind, game, game.result(root, a), seat, deep) for a in game.legal_actions(root)}
    told = f"{kind} {how} {game.traits} depth={depth}"
    assert result.value == pytest.approx(max(true.values()), abs=1e-9), told
    assert true[result.action] == pytest.approx(max(true.values()), abs=1e-9), told
    for action, value in result.action_values.items():
        proven = action in result.proven_actions
        right = book(kind, game, game.result(root, action), seat, math.inf) if proven else true[action]
        assert value == pytest.approx(right, abs=1e-9), told


@pytest.mark.parametrize(("kind", "how"), CASES, ids=str)
def test_searches_are_the_textbooks_at_every_depth(kind: str, how: dict[str, Any]) -> None:
    for seed in range(6):
        game = game_for(kind, seed, (-30.0, 30.0) if seed % 2 else INFINITE)
        for depth in DEPTHS:
            check(kind, how, game, depth)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "how"), CASES, ids=str)
def test_they_are_in_many_games(kind: str, how: dict[str, Any]) -> None:
    for seed in range(100, 160):
        game = game_for(kind, seed, (-30.0, 30.0) if seed % 2 else INFINITE)
        check(kind, how, game, DEPTHS[seed % len(DEPTHS)])


@pytest.mark.parametrize("kind", ["maxn", "paranoid", "bestreply", "expectimax"])
@pytest.mark.parametrize("lower", [1, -3])
def test_bounds_that_leave_nothing_out(kind: str, lower: int) -> None:
    """From 1 to 3, or -3 to -1, is paid at each of at most five moves, and again at the end."""
    bounds = (1.0, 18.0) if lower > 0 else (-18.0, -1.0)
    for seed in range(8):
        game = PaidWays(seed, seats=1 + seed % 3, lower=lower, bounds=bounds)
        for depth in (1, 3):
            check(kind, {"exact": True} if kind != "expectimax" else {}, game, depth)


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_greedy_counts_what_an_action_pays(seats: int) -> None:
    for seed in range(20):
        game = PaidWays(seed, seats=seats, lower=1, bounds=(1.0, 18.0))
        root = game.initial_state()
        seat, paid = game.to_move(root), dict[int, float]()
        for action in game.legal_actions(root):
            after = game.result(root, action)
            paid[action] = after.paid[seat] + (0.0 if game.is_terminal(after) else 1.0)
        result = GreedyAgent().search_state(game)
        assert result.action_values == paid
        assert paid[result.action] == max(paid.values())


def best_total(game: PaidWays, state: Way) -> float:
    if game.is_terminal(state):
        return state.paid[0]
    return max(best_total(game, game.result(state, action)) for action in game.legal_actions(state))


@pytest.mark.parametrize("spec", ["mcts(simulations=400)", "best_first", "value_iteration"])
def test_one_player_gets_all_there_is(spec: str) -> None:
    for seed in range(10):
        game = PaidWays(seed, seats=1, height=4)
        root = game.initial_state()
        result = make_agent(spec).search_state(game)
        assert best_total(game, game.result(root, result.action)) == best_total(game, root), seed
        assert result.value == best_total(game, root)


def test_monte_carlo_proves_what_minimax_says() -> None:
    for seed in range(10):
        game = PaidWays(seed, total=2.0, height=4)
        value = algorithms.minimax(game, game.initial_state())
        result = MCTSAgent(simulations=20_000).search_state(game)
        assert result.proven
        assert result.values_by_seat == (value, 2.0 - value)


class Parcels(PlainGame):
    """Chance sends a parcel by one of two ways; what it pays there, 0 or 100, the key of its position leaves out.

    Action 1 of the first move ends the game with 65. Later action 0 pays 20, and on the dear way action 1 nothing:
    so the first move is worth 70 if 0 is played on both ways.
    """

    traits = Traits(
        name="parcels",
        seat_names=("carrier", "nobody"),
        reward_sum=RewardSum.ZERO,
        chance=Chance.EXACT,
        information=Information.HIDDEN,
        terminal_rewards_only=False,
    )

    def initial_state(self) -> Any:
        return "start", 0.0

    def to_move(self, state: Any) -> int:
        return CHANCE if state[0] == "sent" else 0

    def legal_actions(self, state: Any) -> list[int]:
        return [0] if state == ("here", 0.0) else [0, 1]

    def chance_outcomes(self, state: Any) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    def result(self, state: Any, action: int) -> Any:
        if state[0] == "start":
            return ("sent", 0.0) if action == 0 else ("end", 65.0)
        if state[0] == "sent":
            return "here", 100.0 * action
        return "end", state[1] + 20.0 * (action == 0)

    def is_terminal(self, state: Any) -> bool:
        return bool(state[0] == "end")

    def utility(self, state: Any) -> tuple[float, float]:
        return state[1], -state[1]

    def information_state_key(self, state: Any, seat: int) -> Any:
        return state[0]

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        return state


def test_information_sets_leave_out_what_was_paid() -> None:
    result = ISMCTSAgent(simulations=3000, seed=0).search_state(Parcels())
    assert result.action == 0
    assert result.action_values[0] == pytest.approx(70, abs=4)
    assert result.action_values[1] == 65


class Wild(PlainGame):
    """One move, which ends the game with what is given."""

    def __init__(self, *ends: tuple[float, ...]) -> None:
        self.ends = ends
        seats = len(ends[0])
        names = tuple(f"seat {seat}" for seat in range(seats))
        self.traits = Traits(name="wild", seat_names=names, reward_sum=RewardSum.GENERAL)

    def initial_state(self) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return 0

    def legal_actions(self, state: int) -> range:
        return range(len(self.ends))

    def result(self, state: int, action: int) -> int:
        return action

    def is_terminal(self, state: int) -> bool:
        return state >= 0

    def utility(self, state: int) -> tuple[float, ...]:
        return self.ends[state] if state >= 0 else (0.0,) * self.traits.seats


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "spec",
    [
        "maxn(depth=2)", "paranoid(depth=2)", "bestreply(depth=2)", "expectimax(depth=2)", "mcts(simulations=50)",
        "expectiminimax(depth=2)", "best_first", "value_iteration",
    ],
)  # fmt: skip
def test_utilities_that_are_not_finite_are_refused(spec: str, wild: float) -> None:
    game = Wild((1.0,), (wild,))
    with pytest.raises(UnsupportedGameError, match=rf"utilities of wild must be finite .*not \({wild},\)"):
        make_agent(spec).search_state(game)


def test_all_may_be_paid_before_the_end() -> None:
    """What is left of the constant is 0 then, which is the lower bound."""
    early, late = Node(1, [Leaf(2, 2)], utility=(2, 2)), Node(1, [Leaf(1, 3)], utility=(1, 2))
    game = TreeGame(Node(0, [early, late]), constant=4, bounds=(0, 4), terminal_rewards_only=False)
    result = make_agent("alphabeta(depth=1, exact=true)").search_state(game)
    assert result.action_values == {0: 2, 1: 1.5}


def test_bounds_are_of_what_is_to_come() -> None:
    """From 3 on a player may still get 5: an end with 5 in all is not the best there can be."""
    root = Node(0, [Leaf(5), Node(0, [Leaf(8)], utility=(4,))], utility=(3,))
    game = TreeGame(root, seats=1, bounds=(0, 5), terminal_rewards_only=False, reward_sum=RewardSum.GENERAL)
    result = make_agent("best_first").search_state(game)
    assert (result.action, result.value) == (1, 8)


class ScoresState(NamedTuple):
    ply: int
    drawn: int


class Scores(NamedTuple):
    """Everybody ends with ``lower`` to ``upper`` points, drawn by the moves."""

    players: int = 2
    lower: int = 1
    upper: int = 3

    def num_actions(self) -> int:
        return 2

    def seats(self) -> int:
        return self.players

    def utility_bounds(self) -> tuple[int, int]:
        return (self.lower, self.upper)

    def utility_sum(self) -> int:
        return GENERAL_SUM

    def initial_state(self) -> ScoresState:
        return ScoresState(0, 0)

    def to_move(self, state: ScoresState) -> int:
        return state.ply % self.players

    def legal_actions(self, state: ScoresState, actions: list[int]) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    def result(self, state: ScoresState, action: int) -> ScoresState:
        return ScoresState(state.ply + 1, (state.drawn * 5 + action + 1) % 97)

    def is_terminal(self, state: ScoresState) -> bool:
        return state.ply >= 4 + state.drawn % 3

    def utility(self, state: ScoresState, seat: int) -> int:
        return self.lower + (state.drawn + seat) % (self.upper - self.lower + 1)


def searched(spec: str, rules: Scores, compile: str) -> Any:  # noqa: A002 - the setting's name
    result = make_agent(f"{spec[:-1]}, compile={compile}, seed=0)").search_state(rules)
    assert result.compiled == (compile == "wait")
    return result.values_by_seat, result.action_values, result.action, result.nodes


@pytest.mark.thorough
@pytest.mark.parametrize(
    "spec", ["maxn(depth=3, exact=true)", "mcts(simulations=99, playout_moves=1, ties=first)"]
)
def test_kernels_expect_what_plain_searches_expect(spec: str) -> None:
    for players, lower, upper in ((1, 1, 3), (2, 0, 3), (2, -5, -1), (3, 1, 3), (3, -3, 0)):
        rules = Scores(players, lower, upper)
        assert repr(searched(spec, rules, "wait")) == repr(searched(spec, rules, "never"))
        assert all(lower <= value <= upper for value in searched(spec, rules, "never")[0])


class Halfway(PlainGame):
    """One move before its end: of ten coins the first player has eight."""

    traits = Traits(
        name="halfway",
        seat_names=("first", "second"),
        reward_sum=RewardSum.CONSTANT,
        constant=10.0,
        utility_bounds=(0.0, 10.0),
        num_actions=1,
    )

    def initial_state(self) -> str:
        return "before"

    def to_move(self, state: str) -> int:
        return 0

    def legal_actions(self, state: str) -> list[int]:
        return [0]

    def result(self, state: str, action: int) -> str:
        return "end"

    def is_terminal(self, state: str) -> bool:
        return state == "end"

    def utility(self, state: str) -> tuple[float, float]:
        return (9.0, 1.0) if state == "end" else (8.0, 0.0)

    def observation(self, state: str, seat: int) -> list[float]:
        return [0.0]


def test_evaluations_share_what_is_left() -> None:
    game = Halfway()
    assert LinearEvaluator(features={}, weights={})(game, "before") == (1, 1)
    assert make_evaluator("rewards")(game, "before") == (1, 1)
    network = NetworkEvaluator(lambda observations: (np.zeros((1, 1)), np.full(1, -0.9)))
    assert network(game, "before") == pytest.approx((0.5, 1.5))
