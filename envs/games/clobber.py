"""Clobber on boards of any size that fits.

Rules: M. H. Albert, J. P. Grossman, R. J. Nowakowski and D. Wolfe, "An introduction to Clobber", INTEGERS 5(2),
2005. The board starts full, the players' stones in a checkerboard pattern, with a stone of the first player on the
lower left square. A move takes one of the mover's stones one step up, down, left or right onto a stone of the
opponent, which leaves the board. Who cannot move has lost.

Actions, for squares numbered ``row * columns + column`` from the upper left one:

    ==================  ==============================================
    ``4 * square``      the stone on the square moves up
    ``4 * square + 1``  it moves right
    ``4 * square + 2``  it moves down
    ``4 * square + 3``  it moves left
    ==================  ==============================================

A state is three integers: the stones of the player to move, those of the opponent, and the seat to move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.pictures.boards import (
    CELL,
    FAINT,
    FIRST,
    SECOND,
    draws_marks,
    shade,
)
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.rules.about import OpenSpielTwin, listed, openspiel_twin
from zermelo.envs.rules.bits import bit_index, shift_right
from zermelo.envs.rules.boards import (
    all_squares,
    draw,
    first_column,
    symmetric_board,
    symmetric_square,
    whole,
)
from zermelo.envs.rules.observations import write_boards


class ClobberState(NamedTuple):
    """A position: the stones of the player to move, of the opponent, and whose turn it is."""

    mover: int
    other: int
    seat: int


@listed()
class Clobber(NamedTuple):
    """Move a stone onto a neighbouring one of the opponent; who cannot loses.

    Attributes:
        rows: Height of the board, at least 1.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 64.
    """

    rows: int = 5
    columns: int = 6

    def check(self) -> None:
        if min(self) < 1 or self.rows * self.columns > 64:
            raise InvalidSettingError(
                "Clobber needs rows and columns of at least 1 and rows * columns of at most 64, "
                f"not rows={self.rows}, columns={self.columns}"
            )

    def num_actions(self) -> int:
        return 4 * self.rows * self.columns

    def initial_state(self) -> ClobberState:
        first = 0
        for square in range(self.rows * self.columns):
            from_below = self.rows - 1 - square // self.columns
            if (from_below + square % self.columns) % 2 == 0:
                first |= 1 << square
        return ClobberState(whole(first), whole(all_squares(self.rows * self.columns) & ~first), 0)

    def to_move(self, state: ClobberState) -> int:
        return state.seat

    def legal_actions(self, state: ClobberState, actions: list[int]) -> int:
        up, right, down, left = self._movable(state)
        movable = up | right | down | left
        count = 0
        while movable:
            square = bit_index(movable)
            movable = whole(movable & (movable - 1))
            bit = 1 << square
            for direction, stones in enumerate((up, right, down, left)):
                if stones & bit:
                    actions[count] = 4 * square + direction
                    count += 1
        return count

    def result(self, state: ClobberState, action: int) -> ClobberState:
        to = 1 << self._target(action)
        return ClobberState(whole(state.other ^ to), whole(state.mover ^ 1 << action // 4 ^ to), 1 - state.seat)

    def is_terminal(self, state: ClobberState) -> bool:
        up, right, down, left = self._movable(state)
        return up | right | down | left == 0

    def utility(self, state: ClobberState, seat: int) -> int:
        return -1 if seat == state.seat else 1

    def symmetries(self) -> int:
        return 8 if self.rows == self.columns else 4

    def symmetric_state(self, state: ClobberState, symmetry: int) -> ClobberState:
        return ClobberState(
            symmetric_board(state.mover, self.rows, self.columns, symmetry),
            symmetric_board(state.other, self.rows, self.columns, symmetry),
            state.seat,
        )

    def symmetric_action(self, action: int, symmetry: int) -> int:
        direction = action % 4
        if symmetry & 1 and direction % 2 == 1:
            direction = 4 - direction
        if symmetry & 2 and direction % 2 == 0:
            direction = 2 - direction
        if symmetry & 4:
            direction = 3 - direction
        return 4 * symmetric_square(action // 4, self.rows, self.columns, symmetry) + direction

    def text(self, state: ClobberState) -> str:
        first, second = (state.mover, state.other) if state.seat == 0 else (state.other, state.mover)
        return draw(self.rows, self.columns, lambda s: "X" if first >> s & 1 else "O" if second >> s & 1 else ".")

    def observation_shape(self) -> tuple[int, int, int]:
        """Planes of shape (rows, columns, 2): the observer's stones, the opponent's."""
        return self.rows, self.columns, 2

    def write_observation(self, state: ClobberState, seat: int, numbers: Any) -> None:
        sides = (state.mover, state.other) if seat == state.seat else (state.other, state.mover)
        write_boards(sides, self.rows, self.columns, 0, self.columns, 1, numbers)

    def action_text(self, state: ClobberState, action: int) -> str:
        return self._square_text(action // 4) + self._square_text(self._target(action))

    def _square_text(self, square: int) -> str:
        return f"{chr(ord('a') + square % self.columns)}{self.rows - square // self.columns}"

    def _target(self, action: int) -> int:
        square, direction = action // 4, action % 4
        if direction % 2 == 1:
            return square + 2 - direction
        return square + (direction - 1) * self.columns

    def _movable(self, state: ClobberState) -> tuple[int, int, int, int]:
        """The mover's stones with a stone of the opponent above, to the right, below and to the left."""
        left_edge = first_column(self.rows, self.columns)
        right_edge = left_edge << (self.columns - 1)
        return (
            whole(state.mover & (state.other << self.columns)) if self.rows > 1 else 0,
            state.mover & shift_right(state.other & ~left_edge, 1),
            state.mover & shift_right(state.other, self.columns) if self.rows > 1 else 0,
            whole(state.mover & (state.other & ~right_edge) << 1),
        )


# -- picture -----------------------------------------------------------------------------------------------------


@draws_marks(Clobber)
def _clobber(canvas: Canvas, x: float, y: float, mark: str) -> None:
    canvas.rectangle(x - CELL / 2 + 1, y - CELL / 2 + 1, CELL - 2, CELL - 2, FAINT, radius=4)
    if mark in "XO":
        colour = FIRST if mark == "X" else SECOND
        canvas.disk(x, y, CELL * 0.38, shade(colour, 0.7))
        canvas.disk(x, y, CELL * 0.34, colour)


# -- twin ------------------------------------------------------------------------------------------------------


@openspiel_twin("clobber")
def _openspiel(rows: int, columns: int) -> OpenSpielTwin:
    return OpenSpielTwin(rules=Clobber(rows, columns))
