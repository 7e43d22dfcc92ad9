"""Chomp on boards of any size that fits.

Rules: D. Gale, "A curious Nim-type game", American Mathematical Monthly 81, 1974. A bar of chocolate squares; the
one at the upper left is poisoned. A bite takes a square and all that is left below it and to its right, corner
included. The player who eats the poisoned square loses.

Actions: ``row * columns + column`` of the square bitten, row 0 on top, so action 0 is the poison.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from zermelo.envs.pictures.boards import CELL, FAINT, Piece, marks_image, middle, shade, tile
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Spot, Squares, whole_text
from zermelo.envs.rules.board_methods import BoardMethods, board_lines, require_limits
from zermelo.envs.rules.boards import all_squares, first_column, list_squares
from zermelo.envs.rules.scores import loss_in, win_in

_CHOCOLATE: Final[Colour] = (104, 64, 40)
_POISON: Final[Colour] = (110, 158, 62)


def _piece(colour: Colour) -> Piece:
    def paint(canvas: Canvas, x: float, y: float) -> None:
        left, top = x - CELL / 2, y - CELL / 2
        canvas.rectangle(left + 1, top + 1, CELL - 2, CELL - 2, shade(colour, 0.75), radius=6)
        canvas.rectangle(left + 6, top + 6, CELL - 14, CELL - 14, colour, radius=6)
        canvas.rectangle(left + 12, top + 12, CELL - 24, CELL - 24, shade(colour, 1.2), radius=4)

    return paint


def _spots(rules: Any, names: None) -> Iterator[Spot]:
    for square in range(rules.rows * rules.columns):
        row, column = divmod(square, rules.columns)
        yield Spot(f"({row + 1},{column + 1})", *middle(row, column), CELL, CELL)


_PIECES: Final = {".": [tile(FAINT, 2, 6)], "#": [_piece(_CHOCOLATE)], "P": [_piece(_POISON)]}


class ChompState(NamedTuple):
    """The squares that are left, and the seat to move."""

    squares: int
    seat: int


class _ChompParameters(NamedTuple):
    rows: int = 4
    columns: int = 7


class Chomp(BoardMethods, _ChompParameters):
    """Bite off squares and all below and to the right of them; leave the poisoned one to the opponent.

    Attributes:
        rows: Height of the bar, at least 1.
        columns: Width of the bar, at least 1; ``rows * columns`` must be at most 62.
    """

    __slots__ = ()
    image = marks_image(_PIECES)
    board_squares = Squares(size=None, spots=_spots, path=whole_text)

    def check(self) -> None:
        require_limits(self, rows=(1, 62), columns=(1, 62), squares=(1, 62))

    def initial_state(self) -> ChompState:
        return ChompState(all_squares(self.rows * self.columns), 0)

    def legal_actions(self, state: ChompState, actions: list[int]) -> int:
        return list_squares(state.squares, actions)

    def result(self, state: ChompState, action: int) -> ChompState:
        row, column = action // self.columns, action % self.columns
        bite = first_column(self.rows - row, self.columns) * all_squares(self.columns - column) << action
        return ChompState(state.squares & ~bite, 1 - state.seat)

    def is_terminal(self, state: ChompState) -> bool:
        return state.squares == 0

    def utility(self, state: ChompState, seat: int) -> int:
        return 1 if seat == state.seat else -1

    def key(self, state: ChompState) -> int:
        return state.squares << 1 | state.seat

    def key_bits(self) -> int:
        return self.rows * self.columns + 1

    def bounds(self, state: ChompState) -> tuple[int, int]:
        """The last square loses at once; with two or more squares nobody needs to eat the poison."""
        if state.squares == 1:
            return loss_in(1), loss_in(1)
        return loss_in(3), win_in(2)

    def safe_actions(self, state: ChompState, actions: list[int]) -> int:
        return list_squares(state.squares & ~1 if state.squares != 1 else 1, actions)

    def planes(self, state: ChompState, seat: int) -> tuple[int, ...]:
        """The squares that are left, the poison at the upper left."""
        return (state.squares,)

    def text(self, state: ChompState) -> str:
        """P for the poison, # for the other squares that are left."""
        text = "\n".join(board_lines(self, self.planes(state, 0), "#"))
        return "P" + text[1:] if state.squares else text

    def action_text(self, state: ChompState, action: int) -> str:
        return f"({action // self.columns + 1},{action % self.columns + 1})"
