"""Isolation on boards of any size that fits.

Rules: B. Kienitz, "Isolation", Lakeside 1972. Each player has a pawn, on opposite sides. A turn has two actions:
the pawn steps to one of the eight squares around it, which must be there and empty, and then any empty square is
taken away for good. A player who cannot step has lost.

Actions are squares, ``row * columns + column``: the one stepped to, then the one taken away.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, FIRST, SECOND, man, marks_image, tile
from zermelo.envs.rules import board_seen, popcount, require_limits, symmetric_square
from zermelo.envs.rules.board_methods import MoverLoses, SymmetricBoard
from zermelo.envs.rules.boards import all_squares, king_moves, list_squares, square_text, whole

_TILE: Final = tile(FAINT, 2, 6)
_PIECES: Final = {".": [_TILE], "X": [_TILE, man(FIRST)], "O": [_TILE, man(SECOND)]}


class IsolationState(NamedTuple):
    """The squares that are left, both pawns, the seat to move, and 1 if it has stepped and takes a square away."""

    squares: int
    first: int
    second: int
    seat: int
    stepped: int


class _IsolationParameters(NamedTuple):
    rows: int = 6
    columns: int = 8


class Isolation(MoverLoses, SymmetricBoard, _IsolationParameters):
    """Step with your pawn, then take a square away; a player who cannot step loses.

    Attributes:
        rows: Height of the board, at least 2.
        columns: Width of the board; ``rows * columns`` must be at most 64.
    """

    __slots__ = ()
    image = marks_image(_PIECES)
    marks = "XO."
    empty_mark = "#"

    def check(self) -> None:
        require_limits(self, rows=(2, 64), columns=(1, 64), squares=(2, 64))

    def initial_state(self) -> IsolationState:
        last = self.rows * self.columns - 1
        return IsolationState(whole(all_squares(last + 1)), self.columns // 2, last - self.columns // 2, 0, 0)

    def legal_actions(self, state: IsolationState, actions: list[int]) -> int:
        return list_squares(self._empty(state) if state.stepped else self._steps(state, state.seat), actions)

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

    def evaluation(self, state: IsolationState, seat: int) -> int:
        """The number of steps of the seat's pawn less that of the opponent's."""
        return 100 * (popcount(self._steps(state, seat)) - popcount(self._steps(state, 1 - seat)))

    def planes(self, state: IsolationState, seat: int) -> tuple[int, ...]:
        """The observer's pawn, the other's, the squares left, and all ones while the mover has still to step."""
        own, other = (state.first, state.second) if seat == 0 else (state.second, state.first)
        return 1 << own, 1 << other, state.squares, min(state.stepped, 1) - 1

    def symmetric_state(self, state: IsolationState, symmetry: int) -> IsolationState:
        squares = board_seen(state.squares, self.layout(), symmetry)
        first = symmetric_square(state.first, self.rows, self.columns, symmetry)
        second = symmetric_square(state.second, self.rows, self.columns, symmetry)
        return IsolationState(squares, first, second, state.seat, state.stepped)

    def action_text(self, state: IsolationState, action: int) -> str:
        return ("x" if state.stepped else "") + square_text(action, self.columns)

    def _empty(self, state: IsolationState) -> int:
        return whole(state.squares & ~(1 << state.first | 1 << state.second))

    def _steps(self, state: IsolationState, seat: int) -> int:
        around = king_moves(state.second if seat else state.first, self.rows, self.columns)
        return self._empty(state) & around
