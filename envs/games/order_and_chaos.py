"""Order and Chaos: both players use both marks, and only one of them wants a row.

Rules: S. Sniderman, "Order and Chaos", Games 5 (1981). Each player puts either mark on an empty square. The first
player, Order, wins as soon as ``length`` equal marks or more stand in a row; the second, Chaos, if the board fills
without.

Actions: ``row * columns + column`` puts an X there; with ``rows * columns`` added, an O.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, FIRST, SECOND, man, marks_image, tile
from zermelo.envs.rules import SymmetricBoard, popcount, require_limits
from zermelo.envs.rules.boards import board_seen, first_column, has_row, rows_of, square_text, symmetric_square

_TILE: Final = tile(FAINT, 2, 6)
_PIECES: Final = {".": [_TILE], "X": [_TILE, man(FIRST)], "O": [_TILE, man(SECOND)]}


class OrderAndChaosState(NamedTuple):
    """The squares with an X and those with an O; rows are one bit longer than the board."""

    crosses: int
    circles: int


class _OrderAndChaosParameters(NamedTuple):
    rows: int = 6
    columns: int = 6
    length: int = 5


class OrderAndChaos(SymmetricBoard, _OrderAndChaosParameters):
    """Put either mark on an empty square; Order wins with equal marks in a row, Chaos if the board fills without.

    Attributes:
        rows: Height of the board; ``rows * (columns + 1)`` must be at most 62.
        columns: Width of the board.
        length: Equal marks in a row that win.
    """

    __slots__ = ()
    image = marks_image(_PIECES)
    marks = "XO"

    def check(self) -> None:
        bits = "rows * (columns + 1)", self.rows * (self.columns + 1), 62
        require_limits(self, bits, rows=(1, 31), columns=(1, 61), length=(2, 31))

    def num_actions(self) -> int:
        return 2 * self.rows * self.columns

    def initial_state(self) -> OrderAndChaosState:
        return OrderAndChaosState(0, 0)

    def to_move(self, state: OrderAndChaosState) -> int:
        return popcount(state.crosses | state.circles) & 1

    def legal_actions(self, state: OrderAndChaosState, actions: list[int]) -> int:
        marks = state.crosses | state.circles
        count = 0
        for action in range(2 * self.rows * self.columns):
            if not marks & self._bit(action):
                actions[count] = action
                count += 1
        return count

    def result(self, state: OrderAndChaosState, action: int) -> OrderAndChaosState:
        bit = self._bit(action)
        if action < self.rows * self.columns:
            return OrderAndChaosState(state.crosses | bit, state.circles)
        return OrderAndChaosState(state.crosses, state.circles | bit)

    def is_terminal(self, state: OrderAndChaosState) -> bool:
        full = popcount(state.crosses | state.circles) == self.rows * self.columns
        return full or self._has_row(state)

    def utility(self, state: OrderAndChaosState, seat: int) -> int:
        return 1 if self._has_row(state) == (seat == 0) else -1

    def evaluation(self, state: OrderAndChaosState, seat: int) -> int:
        """Rows that Order can still complete, those with more marks counting more; none are sure for Chaos."""
        board = ((1 << self.columns) - 1) * first_column(self.rows, self.columns + 1)
        ahead = self._promise(state.crosses, board ^ state.circles)
        ahead += self._promise(state.circles, board ^ state.crosses)
        order = 1000 * ahead // (ahead + 8 * self.length) * 2 - 1000
        return order if seat == 0 else -order

    def symmetric_state(self, state: OrderAndChaosState, symmetry: int) -> OrderAndChaosState:
        layout = self.layout()
        crosses = board_seen(state.crosses, layout, symmetry)
        return OrderAndChaosState(crosses, board_seen(state.circles, layout, symmetry))

    def symmetric_action(self, action: int, symmetry: int) -> int:
        squares = self.rows * self.columns
        image: int = symmetric_square(action % squares, self.rows, self.columns, symmetry)
        return action // squares * squares + image

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.rows, self.columns, 0, self.columns + 1, 1

    def planes(self, state: OrderAndChaosState, seat: int) -> tuple[int, ...]:
        """The squares with an X, those with an O, and all ones for Chaos."""
        return state.crosses, state.circles, -seat

    def action_text(self, state: OrderAndChaosState, action: int) -> str:
        """The mark and the square, such as ``Xb3``."""
        squares = self.rows * self.columns
        return "XO"[action // squares] + square_text(action % squares, self.columns)

    def table_part(self, state: OrderAndChaosState) -> int:
        return self.rows * self.columns - popcount(state.crosses | state.circles)

    def _bit(self, action: int) -> int:
        square = action % (self.rows * self.columns)
        return 1 << (square + square // self.columns)

    def _has_row(self, state: OrderAndChaosState) -> bool:
        stride = self.columns + 1
        return has_row(state.crosses, self.length, stride) or has_row(state.circles, self.length, stride)

    def _promise(self, marks: int, room: int) -> int:
        """Windows of ``length`` squares without the other mark, by how many marks they have."""
        total = 0
        for step in (1, self.columns, self.columns + 1, self.columns + 2):
            windows = rows_of(room, self.length, step)
            for square in range(self.length):
                total += popcount(windows & (marks >> (square * step)))
        return total
