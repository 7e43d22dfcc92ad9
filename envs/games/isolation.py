"""Isolation on boards of any size that fits.

Rules: B. Kienitz, "Isolation", Lakeside 1972. Each player has a pawn, on opposite sides. A turn has two actions:
the pawn steps to one of the eight squares around it, which must be there and empty, and then any empty square is
taken away for good. Who is to step and cannot has lost.

Actions are squares, ``row * columns + column``: the one stepped to, then the one taken away.

A state is five integers: the squares that are still there, the squares of the first and of the second pawn, the
seat to move, and 1 if it has stepped and takes a square away next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.pictures.boards import CELL, FAINT, FIRST, INK, SECOND, draws_marks
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.rules.about import listed
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.boards import (
    all_squares,
    draw,
    first_column,
    square_text,
    symmetric_board,
    symmetric_square,
    whole,
)
from zermelo.envs.rules.observations import write_boards


class IsolationState(NamedTuple):
    """A position: the squares that are left, both pawns, whose turn it is, and whether it has stepped."""

    squares: int
    first: int
    second: int
    seat: int
    stepped: int


@listed()
class Isolation(NamedTuple):
    """Step with your pawn, then take a square away; who cannot step loses.

    Attributes:
        rows: Height of the board, at least 2.
        columns: Width of the board; ``rows * columns`` must be at most 64.
    """

    rows: int = 6
    columns: int = 8

    def check(self) -> None:
        if self.rows < 2 or self.columns < 1 or self.rows * self.columns > 64:
            raise InvalidSettingError(
                "Isolation needs rows of at least 2, columns of at least 1 and rows * columns of at most 64, "
                f"not rows={self.rows}, columns={self.columns}"
            )

    def num_actions(self) -> int:
        return self.rows * self.columns

    def initial_state(self) -> IsolationState:
        last = self.rows * self.columns - 1
        return IsolationState(whole(all_squares(last + 1)), self.columns // 2, last - self.columns // 2, 0, 0)

    def to_move(self, state: IsolationState) -> int:
        return state.seat

    def legal_actions(self, state: IsolationState, actions: list[int]) -> int:
        squares = self._empty(state)
        if not state.stepped:
            squares &= self._around(state.second if state.seat else state.first)
        count = popcount(squares)
        for number in range(count):
            actions[number] = bit_index(squares)
            squares &= squares - 1
        return count

    def result(self, state: IsolationState, action: int) -> IsolationState:
        if state.stepped:
            squares = whole(state.squares & ~(1 << action))
            return IsolationState(squares, state.first, state.second, 1 - state.seat, 0)
        if state.seat:
            return IsolationState(state.squares, state.first, action, 1, 1)
        return IsolationState(state.squares, action, state.second, 0, 1)

    def is_terminal(self, state: IsolationState) -> bool:
        """True if the player to step cannot; after a step the square that it came from can be taken away."""
        return not state.stepped and self._steps(state, state.seat) == 0

    def utility(self, state: IsolationState, seat: int) -> int:
        return -1 if seat == state.seat else 1

    def evaluation(self, state: IsolationState, seat: int) -> int:
        """The number of steps of the seat's pawn less that of the opponent's."""
        ahead = popcount(self._steps(state, seat)) - popcount(self._steps(state, 1 - seat))
        return 100 * ahead

    def symmetries(self) -> int:
        return 8 if self.rows == self.columns else 4

    def symmetric_state(self, state: IsolationState, symmetry: int) -> IsolationState:
        return IsolationState(
            symmetric_board(state.squares, self.rows, self.columns, symmetry),
            symmetric_square(state.first, self.rows, self.columns, symmetry),
            symmetric_square(state.second, self.rows, self.columns, symmetry),
            state.seat,
            state.stepped,
        )

    def symmetric_action(self, action: int, symmetry: int) -> int:
        return symmetric_square(action, self.rows, self.columns, symmetry)

    def text(self, state: IsolationState) -> str:
        """X and O for the pawns, # for squares that are gone."""
        marks = {state.first: "X", state.second: "O"}
        return draw(
            self.rows, self.columns, lambda s: marks.get(s, "." if shift_right(state.squares, s) & 1 else "#")
        )

    def observation_shape(self) -> tuple[int, int, int]:
        """Planes of shape (rows, columns, 4): the observer's pawn, the other's, the squares left, and the phase.

        The last is 1 everywhere while the player to move has still to step.
        """
        return self.rows, self.columns, 4

    def write_observation(self, state: IsolationState, seat: int, numbers: Any) -> None:
        own, other = (state.first, state.second) if seat == 0 else (state.second, state.first)
        boards = 1 << own, 1 << other, state.squares, min(state.stepped, 1) - 1
        write_boards(boards, self.rows, self.columns, 0, self.columns, 1, numbers)

    def action_text(self, state: IsolationState, action: int) -> str:
        return ("x" if state.stepped else "") + square_text(action, self.columns)

    def _empty(self, state: IsolationState) -> int:
        """The squares that are left and have no pawn on them."""
        return whole(state.squares & ~(1 << state.first | 1 << state.second))

    def _steps(self, state: IsolationState, seat: int) -> int:
        return self._empty(state) & self._around(state.second if seat else state.first)

    def _around(self, square: int) -> int:
        """The neighbours of a square, without those beyond the upper and lower edge."""
        left = first_column(self.rows, self.columns)
        right = left << (self.columns - 1)
        pawn = 1 << square
        row = pawn
        if not pawn & left:
            row |= shift_right(pawn, 1)
        if not pawn & right:
            row |= pawn << 1
        around = row | row << self.columns | shift_right(row, self.columns)
        return whole(around & all_squares(self.rows * self.columns) & ~pawn)


@draws_marks(Isolation)
def _isolation(canvas: Canvas, x: float, y: float, mark: str) -> None:
    if mark != "#":
        canvas.rectangle(x - CELL / 2 + 2, y - CELL / 2 + 2, CELL - 4, CELL - 4, FAINT, radius=6)
    if mark in "XO":
        canvas.disk(x, y, CELL * 0.34, INK)
        canvas.disk(x, y, CELL * 0.3, FIRST if mark == "X" else SECOND)
