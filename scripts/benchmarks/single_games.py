"""Single games: chess beside python-chess, 2048, selective search, and matches against engines."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common import fastest, match, openings, result_of, searching
from zermelo.agents import AlphaBetaAgent, make_agent
from zermelo.envs import CHANCE, perft
from zermelo.envs.games import MNK, Breakthrough, Chess, ConnectFour, Domineering, Game2048, Kalah, Othello
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import gauntlet

Rows = Iterator[dict[str, Any]]

SETTINGS: dict[str, dict[str, float]] = {
    "reductions": {"late_move_reductions": 3},
    "null moves": {"null_move": 2},
    "futility": {"futility": 0.1},
    "singular": {"singular": 0.1},
}
RULES = {
    type(rules).__name__: rules
    for rules in (Othello(), Breakthrough(), ConnectFour(), Kalah(), MNK(7, 7, 5), Domineering())
}
POSITIONS = (
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 4),
    ("Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 3),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 5),
    ("position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5, 4),
    ("position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5, 4),
    ("position 6", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 3),
)
"""The Chess Programming Wiki's, with a depth for us and one for python-chess."""
ENGINES = {
    "gnugo": (
        "classic/go-v5(board_size=9)",
        "mcts(simulations=15000, rave=3000, exploration=0)",
        "gtp(path='{} --mode gtp --chinese-rules --play-out-aftermath --capture-all-dead', level={level})",
        0,
    ),
    "stockfish": (
        "classic/chess-v6",
        "alphabeta(seconds={seconds}, selective=game, keep_table=true, table_mb=32)",
        "uci(path='{}', elo={elo}, seconds={seconds})",
        6,
    ),
}
"""Environment, agent, engine and random plies. GNU Go captures what is dead before it passes, as PettingZoo counts
all stones."""


def selective(only: tuple[str, ...] = tuple(RULES), games: int = 100, nodes: int = 5_000) -> Rows:
    """What late-move reductions, null moves, futility pruning and singular extensions win, game by game.

    Each agent with a setting plays the same agent without it, at equal nodes a move, from openings of six random
    moves, each from both seats. What pays is then written into a game's selective_settings.
    """
    shared: dict[str, Any] = {"nodes": nodes, "table_mb": 1, "keep_table": True}
    for game in (RulesGame(RULES[name]) for name in only):
        starts = openings(game, games // 2, 6, seed=2)
        for name, settings in SETTINGS.items():
            if "null_move" not in settings or hasattr(game, "pass_turn"):
                players = searching(AlphaBetaAgent, **shared, **settings), searching(AlphaBetaAgent, **shared)
                yield {"game": game.traits.name, "setting": name, **match(game, starts, *players)}


def leaves(board: Any, depth: int) -> int:
    """Leaves by python-chess, the last move counted and not made, as it is done here."""
    if depth == 1:
        return int(board.legal_moves.count())
    found = 0
    for move in board.legal_moves:
        board.push(move)
        found += leaves(board, depth - 1)
        board.pop()
    return found


def chess(
    only: tuple[str, ...] = tuple(name for name, *_ in POSITIONS), shallower: int = 0, seconds: float = 2.0
) -> Rows:
    """Million leaves and nodes a second, by the clock, beside python-chess, which counts leaves less deep."""
    import chess as python_chess

    perft(RulesGame(Chess()), 4)  # compiles
    for name, fen, deep, shallow in POSITIONS:
        if name in only:
            game, depth, theirs = RulesGame(Chess(fen)), deep - shallower, shallow - shallower
            board = python_chess.Board(fen)
            counts = [perft(game, depth), leaves(board, theirs)]
            times = fastest(
                1,
                lambda g=game, d=depth: perft(g, d),
                lambda b=board, d=theirs: leaves(b, d),
                clock=time.perf_counter,
            )
            ours, others = (count / spent / 1e6 for count, spent in zip(counts, times, strict=True))
            agent = AlphaBetaAgent(seconds=seconds, selective="game", share_positions=True)
            agent.search_state(game, game.initial_state())  # compiles
            result = agent.search_state(game, game.initial_state())
            row = {"position": name, "perft": depth, "leaves": counts[0], "M/s": ours, "python-chess M/s": others}
            yield {
                **row,
                "ratio": ours / others,
                "search": result.depth,
                "M nodes/s": result.nodes / result.seconds / 1e6,
            }


def score_2048(
    agents: tuple[str, ...] = ("expectiminimax(depth=1)", "expectiminimax(depth=2)"),
    games: int = 20,
    seed: int = 1,
) -> Rows:
    """Scores at 2048: how good the evaluation is that scripts/fit_2048.py fits.

    The tiles of each game are drawn from its own seed. Shown are the median and the mean score with its standard
    error, in how many games each large tile came to be, and the processor time and nodes of a move.
    """
    game = RulesGame(Game2048())
    for spec in agents:
        agent, scores, tiles, moves, nodes, started = make_agent(spec), [], [], 0, 0, time.process_time()
        for number in range(seed, seed + games):
            generator, state = np.random.default_rng(number), game.initial_state()
            agent.reset(number)
            while not game.is_terminal(state):
                if game.to_move(state) == CHANCE:
                    outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                    state = game.result(state, int(generator.choice(outcomes, p=chances)))
                    continue
                found = agent.search_state(game, state)
                state, moves, nodes = game.result(state, found.action), moves + 1, nodes + found.nodes
            scores.append(state.score)
            tiles.append(int(game.rules.tiles(state).max()))
        reached = {str(1 << tile): f"{np.mean([most >= tile for most in tiles]):.0%}" for tile in (11, 13, 14, 15)}
        error = statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        row = {"agent": f"`{spec}`", "games": games, "median": float(statistics.median(scores))}
        row |= {"mean": statistics.mean(scores), "error": error, **reached}
        yield {**row, "ms a move": 1000 * (time.process_time() - started) / moves, "nodes": nodes / moves}


def engines(
    only: tuple[str, ...] = tuple(ENGINES),
    games: int = 40,
    level: int = 10,
    elo: int = 1350,
    seconds: float = 0.1,
    out: str = "",
) -> Rows:
    """Matches on 9x9 go against GNU Go at a level, and in chess against Stockfish at a rating.

    Stockfish has as many seconds a move as we have. Games are stored in a folder for each engine where ``out`` is
    given: `zermelo export` makes PGN and SGF of them.
    """
    for name in only:
        env, ours, theirs, plies = ENGINES[name]
        path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/games")
        if path is None:
            print(f"({name} is not installed)", file=sys.stderr)
            continue
        options = {"level": level, "elo": elo, "seconds": seconds}
        agent, engine = ours.format(**options), theirs.format(path, **options)
        where = os.path.join(out, name) if out else None
        agents = {"zermelo": agent, name: engine}
        row = gauntlet(env, agents, games=games, openings=plies, workers=1, out=where).row("zermelo")
        strength = f"level {level}" if name == "gnugo" else f"{elo} Elo"
        yield {
            "agent": f"`{agent}`",
            "engine": f"{name}, {strength}",
            **result_of(row.wins, row.draws, row.losses),
        }
