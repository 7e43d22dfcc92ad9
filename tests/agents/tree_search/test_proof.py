"""Exact scores by compiled proof: published ones, and those of plain minimax."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, ConnectFour, Nim, Othello
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
    prover, again = Prover(game, memory_mb=1), Prover(game, memory_mb=1)
    for _ in range(6):
        state = game.initial_state()
        for _ in range(4):
            state = game.result(state, generator.choice(game.legal_actions(state)))
        exact = prover.score(state)
        assert again.score(state, guess=guess) == exact
        # A window answers on its own side of the score.
        for lower, upper in ((-3, 2), (exact.lower, exact.lower + 1), (LOSS, exact.lower)):
            found = again.score(state, guess=guess, lower=lower, upper=upper)
            assert found.lower == found.upper == min(max(exact.lower, lower), upper)
        again.clear_memory()


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


def test_symmetric_positions_score_the_same(prover: Prover) -> None:
    assert prover.score(connect_four("223344556")) == prover.score(connect_four("665544332"))


def test_what_cannot_be_proven_is_refused() -> None:
    big = type("Big", (MNK,), {"__slots__": (), "utility_bounds": lambda self: (-5000, 5000)})
    with pytest.raises(UnsupportedGameError, match="Big cannot be proven by compiled search"):
        Prover(RulesGame(big()))


class OwnNim(Nim):
    """A class of its own, which nobody has compiled."""

    __slots__ = ()


@pytest.mark.slow
def test_functions_too_long_to_be_compiled_into_their_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_SHORT", 0)
    assert not compiling._options(Nim.utility)["forceinline"]
    game = RulesGame(OwnNim((1, 2)))
    prover = Prover(game)
    assert prover.score(game.initial_state()).lower == WIN - 3
