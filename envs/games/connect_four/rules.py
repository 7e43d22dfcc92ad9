"""Connect Four of any size that fits, in two 64-bit boards.

Squares are numbered up the columns with one spare square on top of each, ``bit = column * (rows + 1) + row``, so
that a shift in any of the four directions never joins two columns (the layout of J. Tromp's Fhourstones; the tests
on whole boards follow from it).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.games.connect_four.evaluation import ConnectFourKnowledge
from zermelo.envs.pictures.boards import disk, draws_marks
from zermelo.envs.pictures.squares import Squares, whole_text
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import Board, board, limits, with_methods
from zermelo.envs.rules.boards import first_column, has_row, stones_of

_DISKS: Final = {
    ".": [disk((226, 233, 244), 0.4)],
    "X": [disk((214, 66, 58), 0.4)],
    "O": [disk((246, 200, 60), 0.4)],
}


class ConnectFourState(NamedTuple):
    """The stones of the player to move, and all stones."""

    mover: Board
    stones: Board


@limits(("columns * (rows + 1)", lambda four: four.columns * (four.rows + 1), 62), rows=(1, 61), columns=(1, 31))
@board("XO", symmetric=ConnectFourState, squares=Squares(rows_named=False, path=whole_text))
@draws_marks(_DISKS, frame=(44, 86, 158))
@with_methods(ConnectFourKnowledge)
class ConnectFour(NamedTuple):
    """Drop stones into columns; four in a row wins, a full board is a draw. Actions are columns from the left.

    Attributes:
        rows: Height of the board.
        columns: Width of the board; ``columns * (rows + 1)`` must be at most 62.
    """

    rows: int = 6
    columns: int = 7

    def num_actions(self) -> int:
        return self.columns

    def initial_state(self) -> ConnectFourState:
        return ConnectFourState(0, 0)

    def to_move(self, state: ConnectFourState) -> int:
        return popcount(state.stones) & 1

    def legal_actions(self, state: ConnectFourState, actions: list[int]) -> int:
        height = self.rows + 1
        count = 0
        for column in range(self.columns):
            if not state.stones >> (column * height + self.rows - 1) & 1:
                actions[count] = column
                count += 1
        return count

    def result(self, state: ConnectFourState, action: int) -> ConnectFourState:
        bottom = 1 << (action * (self.rows + 1))
        return ConnectFourState(state.mover ^ state.stones, state.stones | (state.stones + bottom))

    def is_terminal(self, state: ConnectFourState) -> bool:
        return self._four(state.mover ^ state.stones) or state.stones == self._board()

    def utility(self, state: ConnectFourState, seat: int) -> int:
        if not self._four(state.mover ^ state.stones):
            return 0
        return -1 if seat == self.to_move(state) else 1

    def key(self, state: ConnectFourState) -> int:
        """All stones plus the mover's: no two positions have the same sum."""
        return state.mover + state.stones

    def key_bits(self) -> int:
        return self.columns * (self.rows + 1)

    def symmetries(self) -> int:
        return 2

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.rows, self.columns, self.rows - 1, -1, self.rows + 1

    def planes(self, state: ConnectFourState, seat: int) -> tuple[int, ...]:
        """The observer's stones, the opponent's; the top row first."""
        other = state.mover ^ state.stones
        return (state.mover, other) if seat == self.to_move(state) else (other, state.mover)

    def table_part(self, state: ConnectFourState) -> int:
        return self.rows * self.columns - popcount(state.stones)

    def _bottom(self) -> int:
        return ((1 << (self.columns * (self.rows + 1))) - 1) // ((1 << (self.rows + 1)) - 1)

    def _board(self) -> int:
        return self._bottom() * ((1 << self.rows) - 1)

    def _four(self, stones: int) -> bool:
        return has_row(stones, 4, self.rows + 1)


_PETTINGZOO_SQUARES: Final = [cell % 7 * 7 + 5 - cell // 7 for cell in range(42)]
_LOWEST_ROW: Final = first_column(7, 7)


def _read_connect_four(env: Any) -> ConnectFourState | None:
    """PettingZoo's cells are numbered row by row from the top."""
    found = stones_of(env.board, _PETTINGZOO_SQUARES)
    if found is None or found[1] & ~(found[1] << 1 | _LOWEST_ROW):
        return None
    return ConnectFourState(*found)


PETTINGZOO: Final = EquivalentRules(ConnectFour(6, 7), _read_connect_four)
"""PettingZoo's environment of this game."""


def from_openspiel(rows: int, columns: int, x_in_row: int, egocentric_obs_tensor: bool) -> ConnectFour | None:
    """Its rows of four alone."""
    return ConnectFour(rows, columns) if x_in_row == 4 else None
