"""Pentago.

Rules: T. Flodén, 2005, as given by G. Irving, "Pentago is a first player win", arXiv 1404.0743, 2014. The board
has six by six squares in four quadrants. A turn has two actions: a stone on an empty square, then a quarter turn
of one quadrant, whichever. Five in a row win, at once if they are there before the turn; five of both players,
which only a turn can make, or a full board are a draw.

Actions: 0 to 35 a stone on square ``6 * row + column``, row 0 on top; ``36 + 2 * quadrant`` turns a quadrant
clockwise, one more anticlockwise. Quadrants are numbered row by row.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FIRST, LINES, SECOND, man, marks_image, tile
from zermelo.envs.rules import SymmetricBoard, popcount
from zermelo.envs.rules.boards import board_seen, list_squares, rows_of, square_text, symmetric_square

_SQUARES: Final = 36
_ALL: Final = (1 << _SQUARES) - 1
_TWO_ROWS: Final = (1 << 12) - 1
_TWO_COLUMNS: Final = 0b000011_000011_000011_000011_000011_000011
_CORNERS: Final = _TWO_ROWS & _TWO_COLUMNS
_DIRECTIONS: Final = ((1, _TWO_COLUMNS), (6, _TWO_ROWS), (7, _CORNERS), (5, _CORNERS << 4))
"""The step of each line of five, and the squares on which it can start."""
_FREE: Final = tile(LINES, 2, 8)
_PIECES: Final = {".": [_FREE], "X": [_FREE, man(FIRST)], "O": [_FREE, man(SECOND)]}


class PentagoState(NamedTuple):
    """Both players' stones, the seat to move, and 1 if it has put a stone and turns a quadrant next."""

    first: int
    second: int
    seat: int
    placed: int


class _PentagoParameters(NamedTuple):
    pass


class Pentago(SymmetricBoard, _PentagoParameters):
    """Put a stone and turn a quadrant; five in a row win."""

    __slots__ = ()
    image = marks_image(_PIECES)
    marks = "XO"

    def num_actions(self) -> int:
        return _SQUARES + 8

    def initial_state(self) -> PentagoState:
        return PentagoState(0, 0, 0, 0)

    def legal_actions(self, state: PentagoState, actions: list[int]) -> int:
        if not state.placed:
            return list_squares(_ALL & ~(state.first | state.second), actions)
        for turn in range(8):
            actions[turn] = _SQUARES + turn
        return 8

    def result(self, state: PentagoState, action: int) -> PentagoState:
        first, second, seat, placed = state
        if placed:
            return PentagoState(turned(first, action - _SQUARES), turned(second, action - _SQUARES), 1 - seat, 0)
        stone = 1 << action
        return PentagoState(first if seat else first | stone, second | stone if seat else second, seat, 1)

    def is_terminal(self, state: PentagoState) -> bool:
        full = not state.placed and state.first | state.second == _ALL
        return full or lines_in(state.first) != 0 or lines_in(state.second) != 0

    def utility(self, state: PentagoState, seat: int) -> int:
        lead = min(lines_in(state.first), 1) - min(lines_in(state.second), 1)
        return -lead if seat else lead

    def evaluation(self, state: PentagoState, seat: int) -> int:
        """The lines still open to the seat, less those open to the opponent."""
        lead = lines_in(_ALL & ~state.second) - lines_in(_ALL & ~state.first)
        return -30 * lead if seat else 30 * lead

    def layout(self) -> tuple[int, int, int, int, int]:
        return 6, 6, 0, 6, 1

    def planes(self, state: PentagoState, seat: int) -> tuple[int, ...]:
        """The observer's stones, the opponent's, and all ones where a quadrant is to be turned."""
        own, other = (state.second, state.first) if seat else (state.first, state.second)
        return own, other, -state.placed

    def symmetric_state(self, state: PentagoState, symmetry: int) -> PentagoState:
        layout = self.layout()
        first, second = board_seen(state.first, layout, symmetry), board_seen(state.second, layout, symmetry)
        return PentagoState(first, second, state.seat, state.placed)

    def symmetric_action(self, action: int, symmetry: int) -> int:
        """A mirror changes the sense of a turn."""
        if action < _SQUARES:
            return symmetric_square(action, 6, 6, symmetry)
        turn = action - _SQUARES
        mirrored = symmetry & 1 ^ symmetry >> 1 & 1 ^ symmetry >> 2
        return _SQUARES + 2 * symmetric_square(turn // 2, 2, 2, symmetry) + (turn & 1 ^ mirrored)

    def action_text(self, state: PentagoState, action: int) -> str:
        """A square, or the number of a quadrant, from 1, and the side to which it is turned."""
        if action < _SQUARES:
            return square_text(action, 6)
        return f"{(action - _SQUARES) // 2 + 1}{'RL'[action & 1]}"


def lines_in(stones: int) -> int:
    """The number of lines of five squares that are all among some."""
    count = 0
    for step, starts in _DIRECTIONS:
        count += popcount(rows_of(stones, 5, step) & starts)
    return count


def turned(stones: int, turn: int) -> int:
    """The stones with a quadrant turned: two turns for each quadrant, the first one clockwise."""
    corner = turn // 4 * 18 + turn // 2 % 2 * 3
    after = stones & ~(0b000111_000111_000111 << corner)
    for row in range(3):
        for column in range(3):
            to = column * 6 + 2 - row if turn % 2 == 0 else (2 - column) * 6 + row
            after |= (stones >> corner + 6 * row + column & 1) << corner + to
    return after
