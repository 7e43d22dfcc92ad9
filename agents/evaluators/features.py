"""Evaluations that read a board which others keep: material in chess, area in Go, pips in backgammon."""

from __future__ import annotations

import functools
from typing import Any

from zermelo.agents.evaluators.boards import GoScore, chess_board, go_score
from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game, UnsupportedGameError
from zermelo.envs.games.backgammon.features import count_at
from zermelo.envs.games.backgammon.rules import BackgammonState

# python-chess numbers piece types from pawn, 1, to king, 6; the values are the customary ones.
_PIECES = {"pawns": (1, 1.0), "knights": (2, 3.0), "bishops": (3, 3.0), "rooks": (4, 5.0), "queens": (5, 9.0)}


def no_board(game: Game[Any], name: str, board: str) -> UnsupportedGameError:
    """The error for a game in whose states an evaluator finds no board to evaluate."""
    return UnsupportedGameError(
        f"the evaluator {name!r} cannot find {board} in {game.traits.name}: use 'playout', or an evaluator of "
        "your own"
    )


def _balance(piece_type: int, game: Game[Any], state: Any) -> float:
    """White's pieces of a type minus black's; white is seat 0."""
    board = chess_board(game, state)
    if board is None:
        raise no_board(game, "chess", "a chess board")
    return float(len(board.pieces(piece_type, True)) - len(board.pieces(piece_type, False)))


def chess() -> LinearEvaluator:
    """Pawns 1, knights and bishops 3, rooks 5, queens 9."""
    return LinearEvaluator(
        features={name: functools.partial(_balance, number) for name, (number, _) in _PIECES.items()},
        weights={name: value for name, (_, value) in _PIECES.items()},
        scale=10.0,
    )


def _score(game: Game[Any], state: Any) -> GoScore:
    score = go_score(game, state)
    if score is None:
        raise no_board(game, "go", "a Go board")
    return score


def _area(game: Game[Any], state: Any) -> float:
    """Black's stones and surrounded points less white's and the komi; black is seat 0."""
    return _score(game, state).area


def _stones(game: Game[Any], state: Any) -> float:
    """Black's stones less white's, so that captures count before territory does."""
    return _score(game, state).stones


def go() -> LinearEvaluator:
    """The score by area (Tromp-Taylor rules, komi included), and a point more for each stone."""
    return LinearEvaluator(
        features={"area": _area, "stones": _stones}, weights={"area": 1.0, "stones": 1.0}, scale=20.0
    )


def _pips(low: int, high: int) -> int:
    return sum(place * count_at(low, high, place) for place in range(1, 26))


def _ahead(game: Game[Any], state: Any) -> float:
    """The other player's pips less those of the first player, seat 0."""
    if not isinstance(state, BackgammonState):
        raise no_board(game, "pips", "a backgammon board")
    ahead = _pips(state.other_low, state.other_high) - _pips(state.low, state.high)
    return float(ahead if state.seat == 0 else -ahead)


def pips() -> LinearEvaluator:
    """The pips by which a player is ahead in backgammon; 150 are half a game."""
    return LinearEvaluator(features={"pips ahead": _ahead}, weights={"pips ahead": 1.0}, scale=150.0)
