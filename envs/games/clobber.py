"""Clobber on boards of any size that fits.

Rules: M. H. Albert, J. P. Grossman, R. J. Nowakowski and D. Wolfe, "An introduction to Clobber", INTEGERS 5(2),
2005. The board starts full, the players' stones in a checkerboard pattern, with a stone of the first player on the
lower left square. A move takes one of the mover's stones one step up, down, left or right onto a stone of the
opponent, which leaves the board. A player who cannot move has lost.

Actions: ``4 * square + direction``, squares being numbered ``row * columns + column`` from the upper left one: the
stone on the square moves up, right, down or left, directions 0 to 3.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, FIRST, SECOND, disk, marks_image, shade, tile
from zermelo.envs.pictures.squares import Squares
from zermelo.envs.rules.bits import bit_index, shift_right
from zermelo.envs.rules.board_methods import MoverLoses, Sides, SidesBoard, require_limits
from zermelo.envs.rules.boards import all_squares, first_column, symmetric_direction, symmetric_square, whole

_FREE: Final = tile(FAINT)
_PIECES: Final = {
    ".": [_FREE],
    "X": [_FREE, disk(shade(FIRST, 0.7), 0.38), disk(FIRST, 0.34)],
    "O": [_FREE, disk(shade(SECOND, 0.7), 0.38), disk(SECOND, 0.34)],
}


class _ClobberParameters(NamedTuple):
    rows: int = 5
    columns: int = 6


class Clobber(MoverLoses, SidesBoard, _ClobberParameters):
    """Move a stone onto a neighbouring one of the opponent; a player who cannot loses.

    Attributes:
        rows: Height of the board, at least 1.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 64.
    """

    __slots__ = ()
    image = marks_image(_PIECES)
    marks = "XO"
    board_squares = Squares(from_below=True)

    def check(self) -> None:
        require_limits(self, rows=(1, 64), columns=(1, 64), squares=(1, 64))

    def num_actions(self) -> int:
        return 4 * self.rows * self.columns

    def initial_state(self) -> Sides:
        first = 0
        for square in range(self.rows * self.columns):
            from_below = self.rows - 1 - square // self.columns
            if (from_below + square % self.columns) % 2 == 0:
                first |= 1 << square
        return Sides(whole(first), whole(all_squares(self.rows * self.columns) & ~first), 0)

    def legal_actions(self, state: Sides, actions: list[int]) -> int:
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

    def result(self, state: Sides, action: int) -> Sides:
        to = 1 << self._target(action)
        return Sides(whole(state.other ^ to), whole(state.mover ^ 1 << action // 4 ^ to), 1 - state.seat)

    def is_terminal(self, state: Sides) -> bool:
        up, right, down, left = self._movable(state)
        return up | right | down | left == 0

    def symmetric_action(self, action: int, symmetry: int) -> int:
        square = symmetric_square(action // 4, self.rows, self.columns, symmetry)
        return 4 * square + symmetric_direction(action % 4, symmetry)

    def action_text(self, state: Sides, action: int) -> str:
        squares = self.board_squares
        return squares.square(self, action // 4) + squares.square(self, self._target(action))

    def _target(self, action: int) -> int:
        square, direction = action // 4, action % 4
        if direction % 2 == 1:
            return square + 2 - direction
        return square + (direction - 1) * self.columns

    def _movable(self, state: Sides) -> tuple[int, int, int, int]:
        """The mover's stones with a stone of the opponent above, to the right, below and to the left."""
        left_edge = first_column(self.rows, self.columns)
        right_edge = left_edge << (self.columns - 1)
        return (
            whole(state.mover & (state.other << self.columns)) if self.rows > 1 else 0,
            state.mover & shift_right(state.other & ~left_edge, 1),
            state.mover & shift_right(state.other, self.columns) if self.rows > 1 else 0,
            whole(state.mover & (state.other & ~right_edge) << 1),
        )
