"""Pawns that step forward: what Breakthrough and Hexapawn share.

Boards are those of ``zermelo.envs.rules.boards``. Seat 0 has the rows from 0 up and moves to higher rows, seat 1
the other way. Actions: ``3 * square + direction``, squares being numbered ``row * columns + column`` from a1: the
pawn on the square moves one row forward, one column lower (0), straight (1) or one column higher (2).
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.pictures.boards import man, marks_image
from zermelo.envs.pictures.canvas import Colour
from zermelo.envs.pictures.squares import Squares
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.board_methods import MoverLoses, Sides, SidesBoard
from zermelo.envs.rules.boards import all_squares, first_column, whole


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
        ahead = shift_right(diagonal, columns - 1), shift_right(free, columns), shift_right(diagonal, columns + 1)
        return lower & ahead[0], pawns & ahead[1], higher & ahead[2]
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


_BLACK: Final[Colour] = (34, 36, 40)
_WHITE: Final[Colour] = (246, 245, 240)
_PIECES: Final = {"X": [man(_WHITE)], "O": [man(_BLACK)]}
_SQUARES: Final[tuple[Colour, Colour]] = (240, 225, 196), (190, 150, 110)


class PawnMoves(MoverLoses, SidesBoard):
    """The methods that follow from what the actions are."""

    __slots__ = ()
    image = marks_image(_PIECES, squares=_SQUARES)
    marks = "XO"
    board_squares = Squares(from_below=True)

    def num_actions(self: Any) -> int:
        return 3 * int(self.rows * self.columns)

    def result(self: Any, state: Sides, action: int) -> Sides:
        to = 1 << destination(action, state.seat, self.columns)
        return Sides(whole(state.other & ~to), whole(state.mover ^ 1 << action // 3 ^ to), 1 - state.seat)

    def is_noisy(self: Any, state: Sides, action: int) -> bool:
        return state.other >> destination(action, state.seat, self.columns) & 1 != 0

    def symmetries(self: Any) -> int:
        return 2

    def symmetric_action(self: Any, action: int, symmetry: int) -> int:
        if symmetry == 0:
            return action
        square = action // 3
        mirrored: int = square + self.columns - 1 - 2 * (square % self.columns)
        return 3 * mirrored + 2 - action % 3

    def layout(self: Any) -> tuple[int, int, int, int, int]:
        return self.rows, self.columns, (self.rows - 1) * self.columns, -self.columns, 1

    def planes(self: Any, state: Sides, seat: int) -> tuple[int, ...]:
        """The observer's pawns, the opponent's, and all ones for seat 1; the farthest row first."""
        return (state.mover, state.other, -seat) if seat == state.seat else (state.other, state.mover, -seat)

    def action_text(self: Any, state: Sides, action: int) -> str:
        """From and to as in chess, such as ``a2-a3``, or ``a2xb3`` for a capture."""
        squares = (action // 3, destination(action, state.seat, self.columns))
        return ("x" if self.is_noisy(state, action) else "-").join(
            f"{chr(ord('a') + square % self.columns)}{square // self.columns + 1}" for square in squares
        )
