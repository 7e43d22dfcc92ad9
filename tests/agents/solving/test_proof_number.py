"""Proof numbers: backward induction, known results, and play that goes round."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.settings import Compile
from zermelo.agents.solutions.solution import Outcome, WatchedBudget
from zermelo.agents.solving.proof_numbers import PlainNumbers, ProofNumberSolver
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Chess, ConnectFour, Hex, Kalah, Oware
from zermelo.envs.rules import RulesGame, mix

COMPILES = pytest.mark.parametrize("compile", ["wait", "never"])


class MazeState(NamedTuple):
    room: int
    seat: int


class Maze(NamedTuple):
    """Players walk through rooms in turn, from each to one of two; some rooms end the game."""

    seed: int = 0
    rooms: int = 12

    def initial_state(self) -> MazeState:
        return MazeState(self.rooms - 1, 0)

    def num_actions(self) -> int:
        return 2

    def to_move(self, state: MazeState) -> int:
        return state.seat

    def legal_actions(self, state: MazeState, actions: Any) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2

    def result(self, state: MazeState, action: int) -> MazeState:
        drawn = mix(self.seed * 1000 + state.room * 2 + action)
        return MazeState((drawn & 0xFFFF) % self.rooms, 1 - state.seat)

    def is_terminal(self, state: MazeState) -> bool:
        return state.room < 3

    def utility(self, state: MazeState, seat: int) -> int:
        return 1 - state.room if seat == 0 else state.room - 1

    def key(self, state: MazeState) -> int:
        return state.room * 2 + state.seat

    def repetition_key(self, state: MazeState) -> int:
        return state.room * 2 + state.seat + 1


def forced(rules: Maze) -> int:
    """The value for seat 0, by taking wins back from the ends until there are no more."""
    states = [MazeState(room, seat) for room in range(rules.rooms) for seat in (0, 1)]
    values = {state: rules.utility(state, 0) for state in states if rules.is_terminal(state)}
    changed = True
    while changed:
        changed = False
        for state in states:
            if values.get(state, 0) or rules.is_terminal(state):
                continue
            after = [values.get(rules.result(state, action), 0) for action in (0, 1)]
            wanted = 1 - 2 * state.seat
            value = wanted if wanted in after else -wanted if set(after) == {-wanted} else 0
            changed = changed or value != 0
            values[state] = value
    return values[rules.initial_state()]


MAZES = [Maze(seed, 16) for seed in (*range(120), 549, 687)]


@COMPILES
def test_play_that_goes_round_is_drawn(compile):  # noqa: A002
    found = [solve(rules, method="proof_number", compile=compile).value for rules in MAZES]
    assert found == [forced(rules) for rules in MAZES]
    assert {*found} == {-1, 0, 1}


def test_a_search_that_stores_every_disproof_is_wrong(monkeypatch):
    """Graph history interaction: what rests on the path is not so on another one."""
    monkeypatch.setattr(PlainNumbers, "stores", lambda *_: True)
    found = [solve(rules, method="proof_number", compile="never").value for rules in MAZES]
    assert found != [forced(rules) for rules in MAZES]


@COMPILES
@pytest.mark.parametrize(
    "rules", [MNK(3, 3, 3), MNK(4, 3, 3), Hex(3, 3), Kalah(3, 2), Kalah(3, 2, margin=True), ConnectFour(4, 4)]
)
def test_values_are_those_of_alpha_beta(rules, compile):  # noqa: A002
    found, expected = solve(rules, method="proof_number", compile=compile), solve(rules, method="alpha_beta")
    assert found.proven
    assert (found.value, found.outcome) == (expected.value, expected.outcome)
    assert all(expected.action_values[action] == value for action, value in found.action_values.items())


@pytest.mark.parametrize("rules", [MNK(3, 3, 3), Hex(3, 3), Kalah(3, 2)])
def test_plain_and_compiled_searches_visit_the_same_nodes(rules):
    nodes = []
    for compiled in (Compile.WAIT, Compile.NEVER):
        budget = WatchedBudget(Limits(), compile=compiled)
        solver = ProofNumberSolver(RulesGame(rules), budget)
        nodes.append(solver.solve(rules.initial_state()).nodes)
    assert nodes[0] == nodes[1]


@pytest.mark.parametrize(
    ("fen", "moves", "most"),
    [
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3, 1000),
        ("2q1nk1r/4Rp2/1ppp1P2/6Pp/3p1B2/3P3P/PPP1Q3/6K1 w - - 0 1", 5, 1000),
        ("6r1/p3p1rk/1p1pPp1p/q3n2R/4P3/3BR2P/PPP2QP1/7K w - - 0 1", 5, 1000),
        ("3k4/1p6/1P1K4/2P5/8/8/8/8 w - - 0 1", 8, 30_000),  # lines meet so often that sums of numbers overflow
        ("3Q4/5q1k/4ppp1/2Kp1N1B/RR6/3P1r2/4nP1b/3b4 w - - 0 1", 9, 50_000),
    ],
)
def test_mates_in_chess(fen, moves, most):
    """The first move keeps the mate; alpha-beta visits 9,000 nodes for the first, and millions for the others."""
    rules = Chess(fen=fen)
    found = solve(rules, method="proof_number", nodes=100_000)
    assert found.outcome is Outcome.FIRST
    assert found.nodes < most
    if moves == 3:
        [action] = found.action_values
        assert action == AlphaBetaAgent(depth=5, quiescence=0).search(rules).action


def test_a_limit_leaves_bounds():
    found = solve(ConnectFour(), method="proof_number", nodes=1000)
    assert found.stopped_by is StoppedBy.NODES
    assert not found.proven
    assert found.value_bounds == (-1, 1)


def test_what_does_not_fit_is_refused():
    with pytest.raises(UnsupportedGameError, match="use method='alpha_beta'"):
        solve(Oware(2, 2), method="proof_number")
    with pytest.raises(InvalidSettingError, match="method must be one of"):
        solve(MNK(3, 3, 3), method="guessing")
