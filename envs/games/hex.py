"""Hex on boards of any size that fits, without the swap rule.

Rules: P. Hein, 1942, and J. Nash, 1948, as given by C. Browne, *Hex Strategy: Making the Right Connections*, 2000.
Players take turns to put a stone on an empty cell. The first player (X) has won when its stones connect the upper
with the lower edge, the second (O) when they connect the left with the right one. Exactly one of them does in the
end (D. Gale, "The game of Hex and the Brouwer fixed-point theorem", American Mathematical Monthly 86, 1979).

Each row lies half a cell to the right of the one above: a cell's neighbours are those beside it, the one above and
the one to the right of that, the one below and the one to the left of that.

Actions are cells, ``row * columns + column``; row 0 is the upper edge.

A state is seven integers: the first player's stones and the second's, two integers each
(``zermelo.envs.games.wide_boards``); the stones of both that are connected with the edge their player starts from,
the upper and the left one; and the seat to move, 2 more once the game is over. So only stones that become
connected are looked at, each once in a game.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.wide_boards import (
    MOST_SQUARES,
    board_of,
    has,
    high_bit,
    list_squares,
    low_bit,
    pop_square,
)
from zermelo.envs.pictures.boards import CELL, FIRST, INK, IVORY, MARGIN, PAPER, SECOND, draws, shade, text_rows
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.rules.about import OpenSpielTwin, listed, openspiel_twin
from zermelo.envs.rules.boards import square_text

_OVER: Final = 2


class HexState(NamedTuple):
    """A position: both players' stones, those connected with their player's first edge, and whose turn it is."""

    first_low: int
    first_high: int
    second_low: int
    second_high: int
    linked_low: int
    linked_high: int
    turn: int


@listed()
class Hex(NamedTuple):
    """Connect your two edges; exactly one player can.

    Attributes:
        rows: Height of the board, at least 1: what the first player crosses.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 124.
    """

    rows: int = 11
    columns: int = 11

    def check(self) -> None:
        if min(self) < 1 or self.rows * self.columns > MOST_SQUARES:
            raise InvalidSettingError(
                f"Hex needs rows and columns of at least 1 and rows * columns of at most {MOST_SQUARES}, "
                f"not rows={self.rows}, columns={self.columns}"
            )

    def num_actions(self) -> int:
        return self.rows * self.columns

    def initial_state(self) -> HexState:
        return HexState(0, 0, 0, 0, 0, 0, 0)

    def to_move(self, state: HexState) -> int:
        return state.turn & 1

    def legal_actions(self, state: HexState, actions: list[int]) -> int:
        low, high = board_of(self.rows * self.columns)
        low &= ~(state.first_low | state.second_low)
        high &= ~(state.first_high | state.second_high)
        return list_squares(low, high, actions)

    def result(self, state: HexState, action: int) -> HexState:
        first_low, first_high, second_low, second_high, linked_low, linked_high, seat = state
        low, high = low_bit(action), high_bit(action)
        if seat:
            second_low, second_high = second_low | low, second_high | high
            own_low, own_high = second_low, second_high
        else:
            first_low, first_high = first_low | low, first_high | high
            own_low, own_high = first_low, first_high
        over = 0
        around_low, around_high = self._around(action)
        touches = (around_low & own_low & linked_low) | (around_high & own_high & linked_high)
        if touches or self._line(action, seat) == 0:
            last = (self.columns if seat else self.rows) - 1
            linked_low, linked_high = linked_low | low, linked_high | high
            while low | high:  # the stones that are newly linked, whose neighbours have not been looked at
                cell, low, high = pop_square(low, high)
                if self._line(cell, seat) == last:
                    over = _OVER
                around_low, around_high = self._around(cell)
                around_low &= own_low & ~linked_low
                around_high &= own_high & ~linked_high
                low, high = low | around_low, high | around_high
                linked_low, linked_high = linked_low | around_low, linked_high | around_high
        turn = 1 - seat + over
        return HexState(first_low, first_high, second_low, second_high, linked_low, linked_high, turn)

    def pass_turn(self, state: HexState) -> HexState:
        """A stone more never hurts in Hex, so skipping a turn never helps."""
        first_low, first_high, second_low, second_high, linked_low, linked_high, seat = state
        return HexState(first_low, first_high, second_low, second_high, linked_low, linked_high, 1 - seat)

    def is_terminal(self, state: HexState) -> bool:
        return state.turn >= _OVER

    def utility(self, state: HexState, seat: int) -> int:
        return -1 if seat == state.turn & 1 else 1

    def text(self, state: HexState) -> str:
        return "\n".join(
            " " * row + " ".join(self._mark(state, row * self.columns + column) for column in range(self.columns))
            for row in range(self.rows)
        )

    def observation_shape(self) -> tuple[int, int, int]:
        """Planes of shape (rows, columns, 3): the observer's stones, the other's, and all ones for seat 1."""
        return self.rows, self.columns, 3

    def write_observation(self, state: HexState, seat: int, numbers: Any) -> None:
        for cell in range(self.rows * self.columns):
            numbers[3 * cell + seat] = has(state.first_low, state.first_high, cell)
            numbers[3 * cell + 1 - seat] = has(state.second_low, state.second_high, cell)
            numbers[3 * cell + 2] = seat

    def action_text(self, state: HexState, action: int) -> str:
        return square_text(action, self.columns)

    def _mark(self, state: HexState, cell: int) -> str:
        if has(state.first_low, state.first_high, cell):
            return "X"
        return "O" if has(state.second_low, state.second_high, cell) else "."

    def _line(self, cell: int, seat: int) -> int:
        """The distance of a cell from the edge that a player starts from."""
        return cell % self.columns if seat else cell // self.columns

    def _around(self, cell: int) -> tuple[int, int]:
        row, column = cell // self.columns, cell % self.columns
        low = high = 0
        if column > 0:
            low, high = low | low_bit(cell - 1), high | high_bit(cell - 1)
        if column < self.columns - 1:
            low, high = low | low_bit(cell + 1), high | high_bit(cell + 1)
        if row > 0:
            above = cell - self.columns
            low, high = low | low_bit(above), high | high_bit(above)
            if column < self.columns - 1:
                low, high = low | low_bit(above + 1), high | high_bit(above + 1)
        if row < self.rows - 1:
            below = cell + self.columns
            low, high = low | low_bit(below), high | high_bit(below)
            if column > 0:
                low, high = low | low_bit(below - 1), high | high_bit(below - 1)
        return low, high


# -- picture -----------------------------------------------------------------------------------------------------


_STEP: Final = CELL * 0.75


def cell_middle(row: float, column: float) -> tuple[float, float]:
    """The middle of a cell in the picture of a board."""
    across = column + 0.5 + row / 2
    return 2.5 * MARGIN + across * _STEP, 2.5 * MARGIN + (row + 0.5) * CELL * 0.65


@draws(Hex)
def _hex(rules: Any, state: Any) -> Canvas:
    rows = text_rows(rules, state)
    height, width = len(rows), len(rows[0])
    size = cell_middle(height - 0.5, width - 0.5)
    canvas = Canvas(round(size[0] + 2.5 * MARGIN), round(size[1] + 2.5 * MARGIN), PAPER)
    for row in (-0.75, height - 0.25):
        canvas.line(*cell_middle(row, -0.4), *cell_middle(row, width - 0.6), 10, FIRST)
    for column in (-0.9, width - 0.1):
        canvas.line(*cell_middle(-0.2, column), *cell_middle(height - 0.8, column), 10, SECOND)
    for row, marks in enumerate(rows):
        for column, mark in enumerate(marks):
            colour = {"X": FIRST, "O": SECOND}.get(mark, IVORY)
            x, y = cell_middle(row, column)
            canvas.disk(x, y, _STEP * 0.47, INK if mark == "." else shade(colour, 0.7))
            canvas.disk(x, y, _STEP * 0.44, colour)
    return canvas


# -- twin ------------------------------------------------------------------------------------------------------


@openspiel_twin("hex")
def _openspiel(
    board_size: int, num_cols: int, num_rows: int, plain_obs_tensor: bool, string_rep: str, swap: bool
) -> OpenSpielTwin | None:
    return None if swap else OpenSpielTwin(rules=Hex(num_rows, num_cols))
