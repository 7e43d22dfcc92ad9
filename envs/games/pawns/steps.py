"""Pawns that step forward: what Breakthrough and Hexapawn share.

Boards are those of ``zermelo.envs.rules.boards``. Seat 0 has the rows from 0 up and moves to higher rows, seat 1
the other way. Actions, for squares numbered ``row * columns + column`` from a1, row by row:

    ==================  ===========================================================
    ``3 * square``      the pawn on the square moves one row forward, one column lower
    ``3 * square + 1``  one row straight forward
    ``3 * square + 2``  one row forward, one column higher
    ==================  ===========================================================
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import draws_marks, man
from zermelo.envs.pictures.canvas import Colour
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.boards import all_squares, first_column
from zermelo.envs.rules.declared import Board


class PawnState(NamedTuple):
    """The pawns of the player to move, those of the opponent, and the seat to move."""

    mover: Board
    other: Board
    seat: int


def planes_of(state: PawnState, seat: int) -> tuple[int, ...]:
    """The observer's pawns, the opponent's, and all zeros for seat 0, whose pawns move up, all ones for seat 1."""
    return (state.mover, state.other, -seat) if seat == state.seat else (state.other, state.mover, -seat)


def far_row(seat: int, rows: int, columns: int, before: int) -> int:
    """The row that a seat's pawns go for, or the one ``before`` rows short of it."""
    row = rows - 1 - before if seat == 0 else before
    return all_squares(columns) << (row * columns)


def attacked(pawns: int, seat: int, rows: int, columns: int) -> int:
    """The squares one step diagonally ahead of a seat's pawns."""
    first = first_column(rows, columns)
    lower, higher = pawns & ~first, pawns & ~(first << (columns - 1))
    if seat == 0:
        return lower << (columns - 1) | higher << (columns + 1)
    return shift_right(lower, columns + 1) | shift_right(higher, columns - 1)


def sources(pawns: int, seat: int, rows: int, columns: int, free: int, diagonal: int) -> tuple[int, int, int]:
    """The pawns that can move to a lower column, straight on, and to a higher column.

    They may go straight on to ``free`` squares, and diagonally to those of ``diagonal``.
    """
    first = first_column(rows, columns)
    lower, higher = pawns & ~first, pawns & ~(first << (columns - 1))
    if seat == 0:
        return (
            lower & shift_right(diagonal, columns - 1),
            pawns & shift_right(free, columns),
            higher & shift_right(diagonal, columns + 1),
        )
    return lower & (diagonal << (columns + 1)), pawns & (free << columns), higher & (diagonal << (columns - 1))


def list_moves(lower: int, straight: int, higher: int, actions: list[int]) -> int:
    """Writes the actions of these pawns, ascending."""
    movable = lower | straight | higher
    count = 0
    for _ in range(popcount(movable)):
        square = bit_index(movable)
        movable &= movable - 1
        if lower >> square & 1:
            actions[count] = 3 * square
            count += 1
        if straight >> square & 1:
            actions[count] = 3 * square + 1
            count += 1
        if higher >> square & 1:
            actions[count] = 3 * square + 2
            count += 1
    return count


def destination(action: int, seat: int, columns: int) -> int:
    """The square that an action of a seat leads to."""
    return action // 3 + (columns if seat == 0 else -columns) + action % 3 - 1


def mirrored_move(action: int, columns: int) -> int:
    """The same move of the pawn on the other side, to the other side."""
    square, sideways = action // 3, action % 3
    return 3 * (square + columns - 1 - 2 * (square % columns)) + 2 - sideways


def pawn_text(action: int, seat: int, columns: int, captures: bool) -> str:
    """From and to as in chess, such as ``a2-a3``, or ``a2xb3`` for a capture."""
    squares = (action // 3, destination(action, seat, columns))
    return ("x" if captures else "-").join(f"{chr(ord('a') + s % columns)}{s // columns + 1}" for s in squares)


_BLACK: Final[Colour] = (34, 36, 40)
_WHITE: Final[Colour] = (246, 245, 240)
draws_pawns = draws_marks({"X": [man(_WHITE)], "O": [man(_BLACK)]}, squares=((240, 225, 196), (190, 150, 110)))
"""Draws pawns on a chequered board."""
