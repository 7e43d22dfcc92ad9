"""Positions of chess as people write them: Forsyth-Edwards Notation.

"Portable Game Notation Specification and Implementation Guide" (S. Edwards, 1994), section 16.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.attacks import is_attacked, square_bit
from zermelo.envs.games.chess.state import ChessState, kind_of, king_square, set_up, turned
from zermelo.envs.rules.bits import bit_index, popcount, swapped_bytes
from zermelo.envs.rules.boards import whole

START: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_KINDS: Final = "pnbrqk"
_ROOKS: Final = {"K": 7, "Q": 0, "k": 63, "q": 56}


def _refuse(fen: object, why: str) -> InvalidSettingError:
    return InvalidSettingError(
        f"Chess needs fen as a position in Forsyth-Edwards Notation, such as {START!r}, not {fen!r}: {why}"
    )


def read_fen(fen: object) -> tuple[ChessState, int]:
    """The state that a text stands for, and the number of the move; the last four fields may be left out.

    Rights to castle may be named by the rook's column, as in X-FEN: ``HAha``. Those without a king or rook are
    dropped, as is a passed pawn that nobody can take. A position with other than one king each, with pawns on a
    last row, whose mover could take the king, or with rights to castle from the squares of Chess960, is refused.
    """
    if not isinstance(fen, str) or not 2 <= len(words := fen.split()) <= 6:
        raise _refuse(fen, "two to six words are needed")
    placed, mover, castles, passed, clock, number = [*words, *["w", "-", "-", "0", "1"][len(words) - 1 :]]
    pieces = _pieces(fen, placed)
    if mover not in ("w", "b"):
        raise _refuse(fen, f"{mover!r} is neither w nor b")
    if not clock.isdecimal() or not number.isdecimal() or int(clock) > 100:
        raise _refuse(fen, f"{clock!r} of at most 100 and {number!r} must be whole numbers")
    castling = 0
    for right in castles if castles != "-" else "":
        if (rook := _castling_rook(fen, pieces, castles, right)) is not None:
            castling |= 1 << rook
    seat = "wb".index(mover)
    behind = 0
    if passed != "-":
        if len(passed) != 2 or passed[0] not in "abcdefgh" or passed[1] not in "12345678":
            raise _refuse(fen, f"{passed!r} is no square")
        if passed[1] != "63"[seat]:
            raise _refuse(fen, f"no pawn of the other player can have passed {passed}: write - in its place")
        behind = 1 << "abcdefgh".index(passed[0]) + 8 * (int(passed[1]) - 1)
    boards = [sum(1 << s for s, piece in pieces.items() if piece in kinds) for kinds in _BOARDS]
    white, black, *kinds = [swapped_bytes(b) if seat else whole(b) for b in (*boards, castling, behind)]
    own, other = (black, white) if seat else (white, black)
    pawns, knights, diagonal, straight, castling, behind = kinds
    row = behind >> 40 & 255
    if row == 0 or (own | other) & (behind | whole(behind << 8)) != 0 or (behind >> 8) & other & pawns == 0:
        behind = 0
    bare = ChessState(own, other, pawns, knights, diagonal, straight, castling, behind, int(clock), seat, 0, 0, 0)
    seen = turned(bare[:6])
    exposed = king_square(bare._replace(own=other)) ^ 56
    if is_attacked(exposed, seen[0] | seen[1], *seen[1:]):
        raise _refuse(fen, "the player to move could take the king")
    return set_up(bare), int(number)


_BOARDS: Final = ("PNBRQK", "pnbrqk", "Pp", "Nn", "BbQq", "RrQq")
"""Which pieces are on the boards of white and black, and of a state's kinds."""


def _castling_rook(fen: str, pieces: Mapping[int, str], castles: str, right: str) -> int | None:
    """The square of the rook that a letter names: the outermost on that side of the king, or that of a column.

    None where there is no such rook, or no king in its row: nobody may castle then, whatever the letter says.
    """
    side, first = right.upper(), 0 if right.isupper() else 56
    king_mark, rook_mark = ("K", "R") if right.isupper() else ("k", "r")
    row = [pieces.get(square, "") for square in range(first, first + 8)]
    if side not in "KQABCDEFGH" or castles.count(right) > 1:
        raise _refuse(fen, f"{castles!r} are no rights to castle")
    king = row.index(king_mark) if king_mark in row else 8
    rooks = [column for column, piece in enumerate(row) if piece == rook_mark]
    if side == "Q":
        rooks = [column for column in rooks if column < king][:1]
    elif side == "K":
        rooks = [column for column in rooks if column > king][-1:]
    else:
        rooks = [column for column in rooks if column == "ABCDEFGH".index(side)]
    if not rooks or king > 7:
        return None
    if king != 4 or rooks[0] not in (0, 7):
        squares = " and ".join(f"{'abcdefgh'[column]}{first // 8 + 1}" for column in (king, rooks[0]))
        raise _refuse(
            fen,
            f"{right} castles with king and rook on {squares}, as in Chess960, which is not played here: write - "
            "for no right to castle",
        )
    return first + rooks[0]


def _pieces(fen: str, placed: str) -> dict[int, str]:
    rows = placed.split("/")
    pieces: dict[int, str] = {}
    for row, line in enumerate(reversed(rows)):
        marks = re.sub("[1-8]", lambda number: "." * int(number[0]), line)
        if wrong := {mark for mark in marks if mark.lower() not in _KINDS + "."}:
            raise _refuse(fen, f"{min(wrong)!r} is no piece")
        if len(marks) != 8:
            raise _refuse(fen, f"{line!r} is no row of eight squares")
        pieces |= {8 * row + column: mark for column, mark in enumerate(marks) if mark != "."}
    if len(rows) != 8:
        raise _refuse(fen, f"it has {len(rows)} rows")
    for king in "Kk":
        if list(pieces.values()).count(king) != 1:
            raise _refuse(fen, f"each player has one king, {king}")
    if any(piece in "Pp" and square // 8 in (0, 7) for square, piece in pieces.items()):
        raise _refuse(fen, "a pawn stands on a last row")
    return pieces


def piece_at(state: ChessState, square: int) -> str:
    """The letter of the piece on one of white's squares, upper case if it is white's; nothing for no piece."""
    here = square_bit(square ^ 56 * state.seat)
    if (state.own | state.other) & here == 0:
        return ""
    letter = _KINDS[kind_of(state, here)]
    return letter.upper() if (state.own & here != 0) == (state.seat == 0) else letter


def square_name(state: ChessState, square: int) -> str:
    """A square, which is numbered as the player to move sees it, as people call it: ``e4``."""
    square ^= 56 * state.seat
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def write_fen(state: ChessState, number: int = 1) -> str:
    """The position as text; states do not know how many moves there were, so ``number`` says the move's."""
    rows = ("".join(piece_at(state, 8 * row + column) or "1" for column in range(8)) for row in reversed(range(8)))
    placed = re.sub("1+", lambda ones: str(len(ones[0])), "/".join(rows))
    rooks = swapped_bytes(state.castling) if state.seat else state.castling
    castles = "".join(right for right, rook in _ROOKS.items() if rooks >> rook & 1) or "-"
    passed = "-"
    if popcount(state.passed):
        passed = square_name(state, bit_index(state.passed))
    return f"{placed} {'wb'[state.seat]} {castles} {passed} {state.clock} {number}"
