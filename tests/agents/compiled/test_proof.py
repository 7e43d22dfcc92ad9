"""Exact scores by compiled proof: published ones, and those of plain minimax."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zermelo.agents.algorithms import minimax
from zermelo.agents.compiled.proof.prover import Prover, Score
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, ConnectFour, Othello
from zermelo.envs.jit import compiling
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

DATA = Path(__file__).parents[2] / "data" / "connect_four"


def stones_left_score(score: int, played: int) -> int:
    """A score as Pascal Pons counts: 22 less the winner's stones at the end; negative for a loss."""
    if score == 0:
        return 0
    plies = WIN - abs(score)
    winners = (played + plies + 1) // 2
    return 22 - winners if score > 0 else winners - 22


def connect_four(moves: str) -> Any:
    rules = ConnectFour()
    state = rules.initial_state()
    for move in moves:
        state = rules.result(state, int(move) - 1)
    return state


@pytest.fixture(scope="module")
def prover() -> Prover:
    return Prover(RulesGame(ConnectFour()))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Test_L3_R1", "Test_L2_R1", "Test_L1_R1"])
def test_connect_four_scores_as_published(prover: Prover, name: str) -> None:
    lines = [line.split() for line in (DATA / name).read_text().splitlines()]
    found = prover.scores(connect_four(moves) for moves, _ in lines)
    for (moves, expected), score in zip(lines, found, strict=True):
        assert score.lower == score.upper
        assert stones_left_score(score.lower, len(moves)) == int(expected), moves


@pytest.mark.thorough
@pytest.mark.parametrize("together", [1, 3])
def test_threads_left_over_help_with_the_last_positions(prover: Prover, together: int) -> None:
    three = Prover(RulesGame(ConnectFour()), threads=3)
    kernel, barrier, calls = three._kernel, threading.Barrier(together), []

    def called(*arguments: Any) -> int:
        calls.append(arguments[1])
        if len(calls) <= 3:
            barrier.wait(timeout=120)  # all three are there before one has an answer
        return kernel(*arguments)

    three._kernel = called
    states = [connect_four(moves) for moves in ("474464721", "773231752331")[: 2 if together == 1 else 1]]
    assert three.scores(states) == prover.scores(states)
    assert len(calls) >= len(states) if together == 1 else calls == states * 3


@pytest.mark.thorough
@pytest.mark.parametrize("guess", [None, LOSS - 1, LOSS, LOSS + 9, -1, 0, 1, WIN - 40, WIN - 9, WIN])
@pytest.mark.parametrize(
    "rules",
    [MNK(m=4, n=3, k=3), pytest.param(Othello(4, 4, margin=True), marks=pytest.mark.slow)],
    ids=["distances", "margins"],
)
def test_any_guess_finds_the_same(rules: Any, guess: int | None) -> None:
    game = RulesGame(rules)
    generator = random.Random(5)
    prover = Prover(game, memory_mb=1)
    for _ in range(6):
        again = Prover(game, memory_mb=1)
        state = game.initial_state()
        for _ in range(4):
            state = game.result(state, generator.choice(game.legal_actions(state)))
        exact = prover.score(state)
        assert again.score(state, guess=guess) == exact
        # A window answers on its own side of the score.
        for lower, upper in ((-3, 2), (exact.lower, exact.lower + 1), (LOSS, exact.lower)):
            found = again.score(state, guess=guess, lower=lower, upper=upper)
            assert found.lower == found.upper == min(max(exact.lower, lower), upper)


@pytest.mark.parametrize(("moves", "expected"), [("4455", 18), ("44455554221", -15)])
def test_positions_of_the_solving_blog(prover: Prover, moves: str, expected: int) -> None:
    # blog.gamesolver.org, part 2
    assert stones_left_score(prover.score(connect_four(moves)).lower, len(moves)) == expected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "rules", [MNK(), MNK(m=4, n=3, k=3), MNK(m=3, n=4, k=3), ConnectFour(rows=4, columns=4)], ids=str
)
def test_proofs_agree_with_plain_alpha_beta(rules: Any, threads: int) -> None:
    generator = random.Random(f"{rules} {threads}")
    game = RulesGame(rules)
    prover = Prover(game, threads=threads, memory_mb=1)
    plain = AlphaBetaAgent(depth="full", backend="clone")
    for _ in range(12):
        state = game.initial_state()
        for _ in range(generator.randrange(2, 9)):
            after = game.result(state, generator.choice(game.legal_actions(state)))
            if game.is_terminal(after):
                break
            state = after
        expected = plain.search_state(game, state)
        score = prover.score(state)
        assert score.lower == score.upper
        value, plies = prover.value(score.lower)
        assert value == expected.value, state
        if value != 0:
            assert plies == expected.plies, state


def test_colours_of_small_games() -> None:
    # W. Uiterwijk and H. J. van den Herik, "The advantage of the initiative", Information Sciences 122 (2000): the
    # first player wins 3,4,3 and 4,4,3; 3,3,3 and 4,4,4 are draws.
    def value(rules: Any) -> float:
        game = RulesGame(rules)
        prover = Prover(game)
        return prover.value(prover.score(game.initial_state()).lower)[0]

    assert value(MNK(m=3, n=3, k=3)) == 0
    assert value(MNK(m=3, n=4, k=3)) == 1
    assert value(MNK(m=4, n=4, k=3)) == 1
    assert value(MNK(m=4, n=4, k=4)) == 0


class PickState(NamedTuple):
    taken: int
    mover: int
    margin: int


class Pick(NamedTuple):
    """Take numbers next to taken ones; some give another turn. The margin of the sums counts."""

    numbers: int = 6

    def num_actions(self) -> int:
        return self.numbers

    def initial_state(self) -> PickState:
        return PickState(0, 0, 0)

    def to_move(self, state: PickState) -> int:
        return state.mover

    def legal_actions(self, state: PickState, actions: list[int]) -> int:
        count = 0
        for action in range(self.numbers):
            neighbours = 5 << action >> 1
            if not state.taken >> action & 1 and (state.taken & neighbours or state.taken == 0 or action < 2):
                actions[count] = action
                count += 1
        return count

    def result(self, state: PickState, action: int) -> PickState:
        gain = action + 1 if state.mover == 0 else -action - 1
        mover = state.mover if action % 2 == 0 and action < 3 else 1 - state.mover
        return PickState(state.taken | 1 << action, mover, state.margin + gain)

    def is_terminal(self, state: PickState) -> bool:
        return state.taken == (1 << self.numbers) - 1

    def utility(self, state: PickState, seat: int) -> int:
        return state.margin if seat == 0 else -state.margin

    def utility_bounds(self) -> tuple[int, int]:
        return (-self.numbers * self.numbers, self.numbers * self.numbers)

    def bounds(self, state: PickState) -> tuple[int, int]:
        left = 0
        for action in range(self.numbers):
            if not state.taken >> action & 1:
                left += action + 1
        margin = state.margin if state.mover == 0 else -state.margin
        return 2 * (margin - left), 2 * (margin + left)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", range(2, 8))
def test_margins_and_extra_turns(numbers: int) -> None:
    game = RulesGame(Pick(numbers))
    prover = Prover(game)
    expected = minimax(game, game.initial_state())
    assert prover.value(prover.score(game.initial_state()).lower) == (expected, None)


def test_a_window_is_enough_to_tell_the_colour(prover: Prover) -> None:
    state = connect_four("4455")
    won = prover.score(state, lower=0, upper=1)
    assert won.lower >= 1
    assert prover.score(state, lower=LOSS, upper=-1).upper <= WIN


def test_symmetric_positions_score_the_same(prover: Prover) -> None:
    assert prover.score(connect_four("223344556")) == prover.score(connect_four("665544332"))


def test_a_node_limit_leaves_bounds() -> None:
    prover = Prover(RulesGame(ConnectFour()), nodes=10_000)
    score = prover.score(ConnectFour().initial_state())
    assert score.stopped_by is StoppedBy.NODES
    assert score.lower < score.upper
    assert prover.nodes <= 10_002
    assert score == Score(score.lower, score.upper, StoppedBy.NODES)


def test_what_cannot_be_proven_is_refused() -> None:
    big = type("Big", (Pick,), {"__slots__": (), "utility_bounds": lambda self: (-5000, 5000)})
    with pytest.raises(UnsupportedGameError, match="Big cannot be proven by compiled search"):
        Prover(RulesGame(big()))


def left_after(left: int, taken: int) -> int:
    return left - taken


class Subtract(NamedTuple):
    """Take one to three; who takes the last wins. A multiple of four is lost."""

    first: int = 8

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> SubtractState:
        return SubtractState(self.first, 0)

    def to_move(self, state: SubtractState) -> int:
        return state.mover

    def legal_actions(self, state: SubtractState, actions: list[int]) -> int:
        count = min(3, state.left)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: SubtractState, action: int) -> SubtractState:
        return SubtractState(left_after(state.left, action + 1), 1 - state.mover)

    def is_terminal(self, state: SubtractState) -> bool:
        return state.left == 0

    def utility(self, state: SubtractState, seat: int) -> int:
        return -1 if seat == state.mover else 1


class SubtractState(NamedTuple):
    left: int
    mover: int


@pytest.mark.slow
def test_functions_too_long_to_be_compiled_into_their_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_SHORT", 0)
    assert not compiling._options(left_after)["forceinline"]
    game = RulesGame(Subtract())
    prover = Prover(game)
    assert prover.score(game.initial_state()).lower == LOSS + 4
    assert prover.score(game.result(game.initial_state(), 0)).lower == WIN - 3
