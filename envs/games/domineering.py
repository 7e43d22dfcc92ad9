"""Domineering (Crosscram) on boards of any size that fits.

Rules: E. R. Berlekamp, J. H. Conway and R. K. Guy, *Winning Ways for your Mathematical Plays*, chapter 5; M.
Gardner, "Mathematical Games", Scientific American, February 1974. The players take turns to cover two free
neighbouring squares: seat 0 two in a column, seat 1 two in a row. A player who cannot loses.

Actions, for squares counted from the upper left:

    ==========================================  ======================================================
    ``row * columns + column``                  an upright domino whose upper square this is
    ``(rows - 1) * columns`` plus               a lying domino whose left square is in this row and
    ``row * (columns - 1) + column``            column
    ==========================================  ======================================================
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, marks_image, shade, tile
from zermelo.envs.pictures.canvas import Colour
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.board_methods import MoverLoses, SymmetricBoard, require_limits
from zermelo.envs.rules.boards import all_squares, board_seen, first_column, square_text, symmetric_square, whole
from zermelo.envs.rules.scores import loss_in, win_in

_WOOD: Final[Colour] = (168, 118, 72)
_PIECES: Final = {".": [tile(FAINT, 1, 5)], "#": [tile(_WOOD, 1, 5), tile(shade(_WOOD, 1.12), 6, 4)]}


class DomineeringState(NamedTuple):
    """The covered squares; whose turn it is follows from their number."""

    covered: int


class _Size(NamedTuple):
    rows: int = 8
    columns: int = 8


class Domineering(MoverLoses, SymmetricBoard, _Size):
    """Place dominoes, seat 0 upright and seat 1 lying, until a player cannot, who loses.

    Attributes:
        rows: Height of the board, at least 1.
        columns: Width of the board, at least 1; ``rows * columns`` must be 2 to 64.
    """

    __slots__ = ()
    image = marks_image(_PIECES)
    marks = "#"

    def check(self) -> None:
        require_limits(self, rows=(1, 64), columns=(1, 64), squares=(2, 64))

    def num_actions(self) -> int:
        return self._uprights() + self.rows * (self.columns - 1)

    def initial_state(self) -> DomineeringState:
        return DomineeringState(0)

    def to_move(self, state: DomineeringState) -> int:
        return popcount(state.covered) >> 1 & 1

    def legal_actions(self, state: DomineeringState, actions: list[int]) -> int:
        seat = self.to_move(state)
        moves = self._places(self._free(state), seat)
        count = popcount(moves)
        for number in range(count):
            square = bit_index(moves)
            actions[number] = square if seat == 0 else self._uprights() + square - square // self.columns
            moves &= moves - 1
        return count

    def result(self, state: DomineeringState, action: int) -> DomineeringState:
        square, second = self._squares(action)
        return DomineeringState(whole(state.covered | 1 << square | 1 << second))

    def is_terminal(self, state: DomineeringState) -> bool:
        return self._places(self._free(state), self.to_move(state)) == 0

    def key(self, state: DomineeringState) -> int:
        return state.covered

    def key_bits(self) -> int:
        return self.rows * self.columns

    def evaluation(self, state: DomineeringState, seat: int) -> int:
        """The number of places for a domino of the seat, less that of the opponent."""
        free = self._free(state)
        return 16 * (popcount(self._places(free, seat)) - popcount(self._places(free, 1 - seat)))

    def ordering_hint(self, state: DomineeringState, action: int) -> int:
        seat = self.to_move(state)
        free = self._free(self.result(state, action))
        return popcount(self._places(free, seat)) - popcount(self._places(free, 1 - seat))

    def symmetries(self) -> int:
        """Mirrors and half turns; a quarter turn would exchange the players."""
        return 4

    def symmetric_state(self, state: DomineeringState, symmetry: int) -> DomineeringState:
        return DomineeringState(board_seen(state.covered, self.layout(), symmetry))

    def symmetric_action(self, action: int, symmetry: int) -> int:
        upright = action < self._uprights()
        width = self.columns if upright else self.columns - 1
        height = self.rows - 1 if upright else self.rows
        first = 0 if upright else self._uprights()
        return first + symmetric_square(action - first, height, width, symmetry)

    def bounds(self, state: DomineeringState) -> tuple[int, int]:
        """Counts the moves that each player has for certain, and those that it has at best."""
        free = self._free(state)
        seat = self.to_move(state)
        mine, theirs = self._places(free, seat), self._places(free, 1 - seat)
        most_mine, most_theirs = self._packed(free, seat), self._packed(free, 1 - seat)
        sure_mine = self._packed(free & ~self._covers(theirs, 1 - seat), seat)
        sure_theirs = self._packed(free & ~self._covers(mine, seat), 1 - seat)
        # A win after k moves of the opponent takes 2k + 1 plies, a loss after k moves of the mover 2k.
        lower, upper = loss_in(2 * max(1, sure_mine)), win_in(2 * sure_theirs + 1)
        if sure_mine > most_theirs:
            lower = win_in(2 * most_theirs + 1)
        if sure_theirs >= most_mine:
            upper = loss_in(2 * most_mine)
        return lower, upper

    def seat_names(self) -> tuple[str, ...]:
        return ("vertical", "horizontal")

    def planes(self, state: DomineeringState, seat: int) -> tuple[int, ...]:
        """The covered squares; all zeros for seat 0, all ones for seat 1."""
        return state.covered, -seat

    def action_text(self, state: DomineeringState, action: int) -> str:
        return "".join(square_text(square, self.columns) for square in self._squares(action))

    def _uprights(self) -> int:
        return (self.rows - 1) * self.columns

    def _squares(self, action: int) -> tuple[int, int]:
        lying = action - self._uprights()
        if lying < 0:
            return action, action + self.columns
        square = lying + lying // (self.columns - 1)
        return square, square + 1

    def _free(self, state: DomineeringState) -> int:
        return ~state.covered & all_squares(self.rows * self.columns)

    def _places(self, free: int, seat: int) -> int:
        """The upper or left squares of a seat's dominoes that fit on some squares."""
        if seat == 0:
            return free & shift_right(free, self.columns)
        last = first_column(self.rows, self.columns) << (self.columns - 1)
        return free & ~last & shift_right(free, 1)

    def _covers(self, places: int, seat: int) -> int:
        return places | places << (self.columns if seat == 0 else 1)

    def _packed(self, free: int, seat: int) -> int:
        """The largest number of a seat's dominoes that fit together on free squares, found line by line."""
        count = 0
        line = all_squares(self.columns) if seat == 0 else first_column(self.rows, self.columns)
        step = self.columns if seat == 0 else 1
        for number in range((self.rows if seat == 0 else self.columns) - 1):
            placed = free & shift_right(free, step) & line << number * step
            count += popcount(placed)
            free &= ~(placed << step)
        return count
