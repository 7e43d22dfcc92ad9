"""Plays alpha-beta against Stockfish set to a rating, each opening from both sides, and writes the games as PGN.

``scripts/match_chess.py --elo 1800 --games 60 --out match.pgn``: 0.1 seconds a move for both. Openings are six
random plies after which Stockfish sees neither side ahead by more than 0.8 pawns. Games end as PettingZoo's
environment ends them: also by a repetition that is one move away, of which Stockfish does not know.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn

from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import Chess
from zermelo.envs.games.chess.notation import coordinates
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import elo

ENGINE = "/usr/games/stockfish"
GAME = RulesGame(Chess())


def opening(draw: random.Random) -> list[chess.Move]:
    """Six plies after which the game is open."""
    while True:
        board = chess.Board()
        for _ in range(6):
            board.push(draw.choice(list(board.legal_moves)))
        if board.is_game_over():
            continue
        with chess.engine.SimpleEngine.popen_uci(ENGINE) as engine:
            found = engine.analyse(board, chess.engine.Limit(nodes=20_000))
        if abs(found["score"].white().score(mate_score=10_000)) < 80:
            return list(board.move_stack)


def play(
    agent: Any, engine: Any, moves: list[chess.Move], is_white: bool, seconds: float
) -> tuple[int, chess.Board]:
    """One game: what the agent gets, and the board with all moves."""
    board, state = chess.Board(), GAME.initial_state()
    waiting = list(moves)
    while not GAME.is_terminal(state):
        actions = {coordinates(state, action): action for action in GAME.legal_actions(state)}
        if waiting:
            text = waiting.pop(0).uci()
        elif board.turn == is_white:
            text = coordinates(state, agent.search_state(GAME, state).action)
        else:
            text = engine.play(board, chess.engine.Limit(time=seconds)).move.uci()
        state = GAME.result(state, actions[text])
        board.push(chess.Move.from_uci(text))
    return round(GAME.utility(state)[0 if is_white else 1]), board


def main() -> None:
    """Plays the match."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elo", type=int, default=1800)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("match.pgn"))
    given = parser.parse_args()
    agent = AlphaBetaAgent(seconds=given.seconds, selective="game", keep_table=True, table_mb=32)
    agent.prepare(GAME)
    draw = random.Random(given.seed)
    counts = {1: 0, 0: 0, -1: 0}
    moves: list[chess.Move] = []
    with chess.engine.SimpleEngine.popen_uci(ENGINE) as engine:
        engine.configure({"UCI_LimitStrength": True, "UCI_Elo": given.elo, "Threads": 1})
        for number in range(given.games):
            is_white = number % 2 == 0
            moves = opening(draw) if is_white else moves
            result, board = play(agent, engine, moves, is_white, given.seconds)
            counts[result] += 1
            game = chess.pgn.Game.from_board(board)
            names = "zermelo", f"Stockfish {given.elo}"
            game.headers["White"], game.headers["Black"] = names if is_white else names[::-1]
            game.headers["Round"] = str(number + 1)
            game.headers["Result"] = "1/2-1/2" if not result else "1-0" if (result > 0) == is_white else "0-1"
            with open(given.out, "a") as file:
                print(game, file=file, end="\n\n")
            print(f"{number + 1}: {counts[1]} won, {counts[0]} drawn, {counts[-1]} lost", flush=True)
    print(elo(counts[1], counts[0], counts[-1]))


if __name__ == "__main__":
    main()
