"""Measures the compiled searches beside their peers, everything in one run.

``python scripts/bench_search.py [PART...]``, where a part is one of solve, perft, minimax, alphabeta, branching,
selective, threads and start. Peers that are not installed are left out, and a line says so. Times are the best of
several runs, taken in turns; ratios are what to look at on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_peers import has, peers
from bench_selective import selective

from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.compiled.proof.prover import Prover
from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta, CompiledMinimax
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import Ordering, Ties
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.iterative_deepening import deepen
from zermelo.envs import perft
from zermelo.envs.games import MNK, ConnectFour
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.scores import WIN

DATA = Path(__file__).parents[1] / "tests" / "data" / "connect_four"
GAME = RulesGame(ConnectFour())


class ShuffledConnectFour(ConnectFour):
    """Connect Four whose moves are tried in an order that means nothing."""

    __slots__ = ()

    def ordering_hint(self, state: Any, action: int) -> int:
        """A number drawn by the position and the move."""
        return mix(self.key(state) * 8 + action) & 0xFFFF


def fastest(runs: int, *calls: Callable[[], Any]) -> list[float]:
    """The best of several runs of each call, taken in turns, in seconds."""
    best = [float("inf")] * len(calls)
    for _ in range(runs):
        for number, call in enumerate(calls):
            started = time.perf_counter()
            call()
            best[number] = min(best[number], time.perf_counter() - started)
    return best


def position(moves: str) -> Any:
    state = GAME.initial_state()
    for move in moves:
        state = GAME.result(state, int(move) - 1)
    return state


def random_positions(seed: int, count: int) -> list[str]:
    """Moves to positions at plies 8 to 14 in which nobody wins at once, as text."""
    generator = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        moves, state = "", GAME.initial_state()
        while len(moves) < 8 + len(found) % 7 and not GAME.is_terminal(state):
            action = generator.choice(GAME.legal_actions(state))
            moves, state = moves + str(action + 1), GAME.result(state, action)
        if not GAME.is_terminal(state) and GAME.rules.bounds(state)[1] < WIN - 1:
            found.append(moves)
    return found


def pons(score: int, played: int) -> int:
    """A score as 22 less the number of stones the winner has played, negative for a loss."""
    winners = (played + WIN - abs(score) + 1) // 2
    return 0 if score == 0 else 22 - winners if score > 0 else winners - 22


def solve() -> None:
    """Exact scores of lists of Connect Four positions, beside bitbully's.

    Two threads take a position each, and both work on the last.
    """
    sets = {name: (DATA / name).read_text().splitlines() for name in ("Test_L3_R1", "Test_L2_R1", "Test_L1_R1")}
    sets["random, plies 8 to 14"] = random_positions(1, 28)
    one, two = Prover(GAME), Prover(GAME, threads=2)
    peer = None
    if has("bitbully"):
        from bitbully import BitBully, Board

        peer = BitBully(opening_book=None)
    totals = [0.0, 0.0, 0.0]
    print(f"  {'positions':24}{'wrong':>6}{'bitbully s':>12}{'1 thread s':>12}{'2 threads s':>13}{'ratios':>14}")
    for name, lines in sets.items():
        moves = [line.split()[0] for line in lines]
        states = [position(text) for text in moves]
        boards = [Board([int(c) - 1 for c in text]) for text in moves] if peer else []
        answers: dict[str, Any] = {}

        def run_peer(boards: Any = boards, answers: Any = answers) -> None:
            if peer is not None:
                peer.reset_transposition_table()
                answers["peer"] = [peer.mtdf(board) for board in boards]

        def run(prover: Prover, states: Any = states, answers: Any = answers) -> None:
            prover.forget()
            answers["ours"] = prover.scores(states)

        times = fastest(3, run_peer, lambda: run(one), lambda: run(two))
        ours = [
            pons(s.lower, len(m)) if s.lower == s.upper else None
            for s, m in zip(answers["ours"], moves, strict=True)
        ]
        known = [int(line.split()[1]) for line in lines] if " " in lines[0] else answers.get("peer", ours)
        wrong = sum(a != b for a, b in zip(ours, known, strict=True))
        totals = [total + t for total, t in zip(totals, times, strict=True)]
        show = f"{times[1] / times[0]:.2f} {times[2] / times[0]:.2f}" if peer else ""
        print(f"  {name:24}{wrong:6}{times[0]:12.3f}{times[1]:12.3f}{times[2]:13.3f}{show:>14}")
    if peer:
        print(
            f"  in all: 1 thread {totals[1] / totals[0]:.2f}, 2 threads {totals[2] / totals[0]:.2f} of bitbully's"
        )


def count_leaves() -> None:
    """Perft of Connect Four."""
    leaves = perft(GAME, 8)
    (seconds,) = fastest(5, lambda: perft(GAME, 8))
    print(f"  depth 8: {leaves:,} leaves, {leaves / seconds / 1e6:.0f} million a second")


def minimax() -> None:
    """The whole tree of tic-tac-toe."""
    game = RulesGame(MNK())
    nodes = 0

    def run() -> None:
        nonlocal nodes
        budget = Budget(Limits())
        search = compiled_search(CompiledMinimax, game, None, budget, limits=Limits())
        assert search is not None
        search.visit(game.initial_state(), float("inf"), *search.window(None), 0)
        nodes = budget.nodes

    run()
    (seconds,) = fastest(15, run)
    print(f"  {nodes:,} nodes in {1000 * seconds:.1f} ms")


def alpha_beta(depth: int, *, game: RulesGame = GAME, **settings: Any) -> int:
    """Searches the empty board with every leaf worth nothing; the nodes visited."""
    limits = Limits(depth=depth)
    budget = Budget(limits)
    search = compiled_search(CompiledAlphaBeta, game, make_evaluator("rewards"), budget, limits=limits, **settings)
    assert search is not None
    deepen(
        search,
        game.initial_state(),
        limits,
        step_by_step=bool(settings.get("table_mb")),
        exact=False,
        ties=Ties.FIRST,
        watch=lambda *_: True,
    )
    return budget.nodes


def branching() -> None:
    """Nodes of alpha-beta by the order of moves, next to what theory says."""
    shuffled = RulesGame(ShuffledConnectFour())
    print(f"  {'depth':>6}{'ordered':>12}{'board order':>14}{'random':>12}{'7^(d/2)':>12}{'7^(3d/4)':>13}")
    for depth in (6, 8, 10):
        ordered = alpha_beta(depth)
        ascending = alpha_beta(depth, ordering=Ordering.FIXED)
        chance = alpha_beta(depth, game=shuffled)
        print(
            f"  {depth:6}{ordered:12,}{ascending:14,}{chance:12,}"
            f"{7 ** (depth / 2):12,.0f}{7 ** (depth * 0.75):13,.0f}"
        )
        factors = [nodes ** (1 / depth) for nodes in (ordered, ascending, chance)]
        print(
            f"  {'factor':>6}{factors[0]:12.2f}{factors[1]:14.2f}{factors[2]:12.2f}{7**0.5:12.2f}{7**0.75:13.2f}"
        )


def threads() -> None:
    """Time to a fixed depth of one thread and of two."""
    game = GAME
    alpha_beta(4, table_mb=16)
    for depth in (14, 16):
        one, two = fastest(
            3, lambda d=depth: alpha_beta(d, table_mb=16), lambda d=depth: alpha_beta(d, table_mb=16, threads=2)
        )
        print(f"  {game.traits.name}, depth {depth}: {one:.2f} s and {two:.2f} s, {one / two:.2f} times sooner")


def start() -> None:
    """From the start of a process to its first compiled move."""
    script = (
        "from zermelo.agents.compiled.program import compiled_search\n"
        "from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta\n"
        "from zermelo.agents.core.budget import Budget; "
        "from zermelo.agents.core.limits import Limits; from zermelo.envs import as_game; import pettingzoo; "
        "env = pettingzoo.make('aec', 'classic/connect_four-v3'); env.reset(seed=0); game = as_game(env); "
        "limits = Limits(depth=4); budget = Budget(limits); "
        "search = compiled_search(CompiledAlphaBeta, game, None, budget, limits=limits); "
        "state = game.snapshot(env); print(search.visit(state, 4, *search.window(state), 0).line)"
    )

    def run(cache: str) -> None:
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "ZERMELO_CACHE_DIR": cache},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (cold,) = fastest(1, lambda: run(folder))
        (warm,) = fastest(4, lambda: run(folder))
    print(f"  cold {cold:.1f} s, warm {warm:.2f} s")


PARTS: dict[str, Callable[[], None]] = {
    "solve": solve,
    "perft": count_leaves,
    "minimax": minimax,
    "alphabeta": peers,
    "branching": branching,
    "selective": selective,
    "threads": threads,
    "start": start,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none is given"
    )
    chosen = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]!r}: there are {', '.join(PARTS)}")
    for part in chosen:
        print(f"{part}: {(PARTS[part].__doc__ or part).splitlines()[0]}")
        PARTS[part]()


if __name__ == "__main__":
    main()
