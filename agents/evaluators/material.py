"""Material: what the pieces on a chess board are worth."""

from __future__ import annotations

import functools
from typing import Any

from zermelo.agents.evaluators.boards import chess_board
from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game, UnsupportedGameError

__all__ = ["chess"]

# python-chess numbers piece types from pawn, 1, to king, 6; the values are the customary ones.
_PIECES = {"pawns": (1, 1.0), "knights": (2, 3.0), "bishops": (3, 3.0), "rooks": (4, 5.0), "queens": (5, 9.0)}


def _balance(piece_type: int, game: Game[Any], state: Any) -> float:
    """White's pieces of a type minus black's; white is seat 0."""
    board = chess_board(game, state)
    if board is None:
        raise UnsupportedGameError(
            f"the evaluator 'chess' cannot find a chess board in {game.traits.name}: use 'playout', or an "
            "evaluator of your own"
        )
    return float(len(board.pieces(piece_type, True)) - len(board.pieces(piece_type, False)))


def chess() -> LinearEvaluator:
    """Pawns 1, knights and bishops 3, rooks 5, queens 9."""
    return LinearEvaluator(
        features={name: functools.partial(_balance, number) for name, (number, _) in _PIECES.items()},
        weights={name: value for name, (_, value) in _PIECES.items()},
        scale=10.0,
    )
