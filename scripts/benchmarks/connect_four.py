"""Exact scores of Connect Four beside bitbully's."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.common import installed
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.scores import WIN

GAME = RulesGame(ConnectFour())


def drawn(generator: random.Random, plies: int, count: int) -> list[tuple[int, ...]]:
    """Columns to different unfinished positions after so many random moves."""
    found: dict[Any, tuple[int, ...]] = {}
    while len(found) < count:
        moves, state = [], GAME.initial_state()
        while len(moves) < plies and not GAME.is_terminal(state):
            moves.append(generator.choice(GAME.legal_actions(state)))
            state = GAME.result(state, moves[-1])
        if not GAME.is_terminal(state):
            found.setdefault(state, tuple(moves))
    return list(found.values())


def stones_left(score: int, played: int) -> int:
    """A score as bitbully counts: 22 less the winner's disks, negative for a loss."""
    winners = (played + WIN - abs(score) + 1) // 2
    return 0 if score == 0 else 22 - winners if score > 0 else winners - 22


def exact(positions: int = 40, seed: int = 2026, threads: int = 1) -> Iterator[dict[str, Any]]:
    """Scores of so many random positions after each of 8 to 16 plies, each from an empty table, beside bitbully's.

    Both search each position in turn. bitbully has one thread and no opening book. Emptying a table is not timed.
    Seconds are those of the processor, with more threads than one those of the clock.
    """
    clock = time.process_time if threads == 1 else time.perf_counter
    prover = Prover(GAME, threads=threads)
    core = None
    if installed("bitbully"):
        from bitbully import bitbully_core

        core = bitbully_core.BitBullyCore()
    generator = random.Random(seed)
    prover.score(ConnectFour().initial_state(), nodes=1)
    every: list[tuple[float, float]] = []
    for plies in range(8, 17):
        times, wrong, before = [], 0, prover.nodes
        for moves in drawn(generator, plies, positions):
            state = GAME.initial_state()
            for action in moves:
                state = GAME.result(state, action)
            prover.clear_memory()
            started = clock()
            score = prover.score(state).lower
            ours, theirs = clock() - started, 0.0
            if core:
                board = bitbully_core.BoardCore()
                board.play(list(moves))
                core.resetTranspositionTable()
                started = clock()
                value = core.mtdf(board, 0)
                theirs = clock() - started
                wrong += value != stones_left(score, plies)
            times.append((ours, theirs))
        every += times
        yield _row(str(plies), times) | {"nodes": prover.nodes - before, "wrong": wrong}
    yield _row("all", every) | {"nodes": prover.nodes, "wrong": ""}


def _row(name: str, times: list[tuple[float, float]]) -> dict[str, Any]:
    """Seconds of all, and the medians in milliseconds."""
    ours, theirs = zip(*times, strict=True)
    total, medians = (sum(ours), sum(theirs)), [1000 * statistics.median(each) for each in (ours, theirs)]
    return {
        "plies": name,
        "s": total[0],
        "bitbully s": total[1],
        "ratio": total[0] / total[1] if total[1] else "-",
        "median ms": medians[0],
        "bitbully ms": medians[1],
    }
