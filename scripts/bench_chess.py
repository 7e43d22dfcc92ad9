"""Chess: leaves counted and nodes searched a second, beside python-chess.

``scripts/bench_chess.py`` prints both tables; python-chess counts less deep, for a second or two.
"""

from __future__ import annotations

import time

import chess

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import perft
from zermelo.envs.games import Chess
from zermelo.envs.rules import RulesGame

POSITIONS = (
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 4),
    ("Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 3),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 5),
    ("position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5, 4),
    ("position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5, 4),
    ("position 6", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 3),
)
"""The Chess Programming Wiki's, with a depth for us and one for python-chess."""


def count(board: chess.Board, depth: int) -> int:
    """Leaves, the last move counted and not made, as it is done here."""
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += count(board, depth - 1)
        board.pop()
    return leaves


def main() -> None:
    """Prints the tables."""
    perft(RulesGame(Chess()), 4)  # compiles
    print("| perft | leaves | zermelo, million a second | python-chess, million a second | times |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, fen, depth, shallow in POSITIONS:
        game = RulesGame(Chess(fen))
        start = time.perf_counter()
        leaves = perft(game, depth)
        ours = leaves / (time.perf_counter() - start) / 1e6
        start = time.perf_counter()
        theirs = count(chess.Board(fen), shallow) / (time.perf_counter() - start) / 1e6
        print(f"| {name}, depth {depth} | {leaves:,} | {ours:.1f} | {theirs:.3f} | {ours / theirs:.0f} |")
    print()
    print("| search, two seconds | nodes | depth | million nodes a second | value |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, fen, *_ in POSITIONS:
        game = RulesGame(Chess(fen))
        agent = AlphaBetaAgent(seconds=2.0, selective="game", share_positions=True)
        agent.search_state(game, game.initial_state())  # compiles
        start = time.perf_counter()
        result = agent.search_state(game, game.initial_state())
        speed = result.nodes / (time.perf_counter() - start) / 1e6
        print(f"| {name} | {result.nodes:,} | {result.depth} | {speed:.2f} | {result.value:.3f} |")


if __name__ == "__main__":
    main()
