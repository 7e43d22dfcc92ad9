"""Moves of chess as people and programs write them."""

from __future__ import annotations

from zermelo.envs.games.chess.attacks import square_bit
from zermelo.envs.games.chess.fen import square_name
from zermelo.envs.games.chess.moves import after, allowed, any_move, destinations
from zermelo.envs.games.chess.state import ChessState, kind_of, king_square
from zermelo.envs.games.chess.tables import MOVES
from zermelo.envs.rules.bits import bit_index

_PIECES = ("", "N", "B", "R", "Q", "K")
_PROMOTIONS = "qnbr"


def _parts(state: ChessState, action: int) -> tuple[int, int, int, str]:
    """Origin, target, and the promotion as actions number it and as a letter."""
    move = int(MOVES[action])
    origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
    promotes = target >= 56 and state.pawns & square_bit(origin) != 0
    return origin, target, promotion, _PROMOTIONS[promotion] if promotes else ""


def coordinates(state: ChessState, action: int) -> str:
    """A move as engines write it (UCI): ``e2e4``, ``e7e8q``."""
    origin, target, _, letter = _parts(state, action)
    return square_name(state, origin) + square_name(state, target) + letter


def castling_by_rook(state: ChessState, action: int) -> str:
    """Castling as engines write it in Chess960, the king taking its rook: ``e1h1``; nothing for other moves."""
    origin, target, _, _ = _parts(state, action)
    if not _castles(state, origin, target):
        return ""
    return square_name(state, origin) + square_name(state, origin + (3 if target > origin else -4))


def _castles(state: ChessState, origin: int, target: int) -> bool:
    return kind_of(state, square_bit(origin)) == 5 and abs(target - origin) == 2


def algebraic(state: ChessState, action: int) -> str:
    """A legal move in Standard Algebraic Notation: ``e4``, ``Nbxd7+``, ``e8=Q#``, ``O-O``."""
    origin, target, promotion, letter = _parts(state, action)
    here, there = square_bit(origin), square_bit(target)
    kind = kind_of(state, here)
    captures = state.other & there != 0 or (kind == 0 and there == state.passed)
    to = ("x" if captures else "") + square_name(state, target)
    if _castles(state, origin, target):
        text = "O-O" if target > origin else "O-O-O"
    elif kind == 0:
        text = (square_name(state, origin)[0] if captures else "") + to + (f"={letter.upper()}" if letter else "")
    else:
        text = _PIECES[kind] + _disambiguation(state, origin, target, kind) + to
    following = after(state, origin, target, promotion)
    if following.checkers == 0:
        return text
    return text + ("+" if any_move(following) else "#")


def _disambiguation(state: ChessState, origin: int, target: int, kind: int) -> str:
    """The column, the row or both of a piece, where another of its kind can go to the same square."""
    king = king_square(state)
    targets = allowed(state, king)
    others = []
    movers = state.own & ~square_bit(origin)
    while movers:
        square = bit_index(movers)
        movers ^= square_bit(square)
        same = kind_of(state, square_bit(square)) == kind
        if same and destinations(state, square, king, targets) & square_bit(target):
            others.append(square_name(state, square))
    here = square_name(state, origin)
    if not others:
        return ""
    if all(here[0] != other[0] for other in others):
        return here[0]
    return here[1] if all(here[1] != other[1] for other in others) else here
