"""Hex on boards of any size that fits, without the swap rule.

Rules: P. Hein, 1942, and J. Nash, 1948, as given by C. Browne, *Hex Strategy: Making the Right Connections*, 2000.
Players take turns to put a stone on an empty cell. The first player (X) has won when its stones connect the upper
with the lower edge, the second (O) when they connect the left with the right one. Exactly one of them does in the
end (D. Gale, "The game of Hex and the Brouwer fixed-point theorem", American Mathematical Monthly 86, 1979).

Each row lies half a cell to the right of the one above: a cell's neighbours are those beside it, the one above and
the one to the right of that, the one below and the one to the left of that.

Actions are cells, ``row * columns + column``; row 0 is the upper edge.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.pictures.boards import CELL, FIRST, INK, IVORY, MARGIN, PAPER, SECOND, draws, shade, text_rows
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.pictures.squares import Squares, cells_at
from zermelo.envs.rules import Words, board, board_lines, limits, listed, openspiel_rules
from zermelo.envs.rules.words import first_places, is_empty, list_places, lowest, no_places, single

_OVER: Final = 2
_STEP: Final = CELL * 0.75


def cell_middle(row: float, column: float) -> tuple[float, float]:
    """The middle of a cell in the picture of a board."""
    across = column + 0.5 + row / 2
    return 2.5 * MARGIN + across * _STEP, 2.5 * MARGIN + (row + 0.5) * CELL * 0.65


class HexState(NamedTuple):
    """Both players' stones, those connected with the edge their player starts from, and the seat to move.

    The players start from the upper and the left edge. Stones that become connected are looked at once in a game.
    ``turn`` is 2 more once the game is over.
    """

    first: Words
    second: Words
    linked: Words
    turn: int


@listed()
@limits(rows=(1, 124), columns=(1, 124), squares=(1, 124))
@board("XO", squares=Squares(spots=cells_at(cell_middle, _STEP, _STEP * 0.86), labelled=False))
class Hex(NamedTuple):
    """Connect your two edges; exactly one player can.

    Attributes:
        rows: Height of the board, at least 1: what the first player crosses.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 124.
    """

    rows: int = 11
    columns: int = 11

    def initial_state(self) -> HexState:
        none = no_places(self.rows * self.columns)
        return HexState(none, none, none, 0)

    def to_move(self, state: HexState) -> int:
        return state.turn & 1

    def legal_actions(self, state: HexState, actions: list[int]) -> int:
        taken = state.first | state.second
        return list_places(first_places(taken, self.rows * self.columns) - taken, actions)

    def result(self, state: HexState, action: int) -> HexState:
        seat = state.turn & 1
        stone = single(state.linked, action)
        own = (state.second if seat else state.first) | stone
        linked, turn = state.linked, 1 - seat
        if self._line(action, seat) == 0 or not is_empty(self._around(stone, action) & own & linked):
            last = (self.columns if seat else self.rows) - 1
            linked, new = linked | stone, stone
            while not is_empty(new):  # the stones that are newly linked, whose neighbours have not been looked at
                cell = lowest(new)
                if self._line(cell, seat) == last:
                    turn = 1 - seat + _OVER
                more = (self._around(stone, cell) & own) - linked
                linked, new = linked | more, new - single(new, cell) | more
        if seat:
            return HexState(state.first, own, linked, turn)
        return HexState(own, state.second, linked, turn)

    def pass_turn(self, state: HexState) -> HexState:
        """A stone more never hurts in Hex, so skipping a turn never helps."""
        return HexState(state.first, state.second, state.linked, 1 - state.turn)

    def is_terminal(self, state: HexState) -> bool:
        return state.turn >= _OVER

    def utility(self, state: HexState, seat: int) -> int:
        return -1 if seat == state.turn & 1 else 1

    def planes(self, state: HexState, seat: int) -> tuple[Words, ...]:
        """The observer's stones, the other's, and all ones for seat 1."""
        own, other = (state.second, state.first) if seat else (state.first, state.second)
        return own, other, first_places(own, self.rows * self.columns * seat)

    def text(self, state: HexState) -> str:
        return "\n".join(
            " " * row + line for row, line in enumerate(board_lines(self, self.planes(state, 0), "XO"))
        )

    def _line(self, cell: int, seat: int) -> int:
        """The distance of a cell from the edge that a player starts from."""
        return cell % self.columns if seat else cell // self.columns

    def _around(self, like: Words, cell: int) -> Words:
        """The neighbours of a cell, perhaps with places below the board."""
        column = cell % self.columns
        around = single(like, cell - self.columns) | single(like, cell + self.columns)
        if column > 0:
            around = around | single(like, cell - 1) | single(like, cell + self.columns - 1)
        if column < self.columns - 1:
            around = around | single(like, cell + 1) | single(like, cell - self.columns + 1)
        return around


@draws(Hex)
def _hex(rules: Any, state: Any) -> Canvas:
    rows = text_rows(rules, state)
    size = cell_middle(len(rows) - 0.5, len(rows[0]) - 0.5)
    canvas = Canvas(round(size[0] + 2.5 * MARGIN), round(size[1] + 2.5 * MARGIN), PAPER)
    for row in (-0.75, len(rows) - 0.25):
        canvas.line(*cell_middle(row, -0.4), *cell_middle(row, len(rows[0]) - 0.6), 10, FIRST)
    for column in (-0.9, len(rows[0]) - 0.1):
        canvas.line(*cell_middle(-0.2, column), *cell_middle(len(rows) - 0.8, column), 10, SECOND)
    for row, marks in enumerate(rows):
        for column, mark in enumerate(marks):
            colour = {"X": FIRST, "O": SECOND}.get(mark, IVORY)
            x, y = cell_middle(row, column)
            canvas.disk(x, y, _STEP * 0.47, INK if mark == "." else shade(colour, 0.7))
            canvas.disk(x, y, _STEP * 0.44, colour)
    return canvas


@openspiel_rules("hex")
def _openspiel(
    board_size: int, num_cols: int, num_rows: int, plain_obs_tensor: bool, string_rep: str, swap: bool
) -> Hex | None:
    return None if swap else Hex(num_rows, num_cols)
