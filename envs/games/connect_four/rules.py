"""Connect Four of any size that fits, in two 64-bit boards.

Squares are numbered up the columns with one spare square on top of each, ``bit = column * (rows + 1) + row``, so
that a shift in any of the four directions never joins two columns (the layout of J. Tromp's Fhourstones; the tests
on whole boards follow from it).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from zermelo.envs.pictures.boards import CELL, MARGIN
from zermelo.envs.pictures.squares import Coordinates, Spot, Squares, whole_text
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.declared import board, limits


def _spots(rules: Any, names: Coordinates) -> Iterator[Spot]:
    """A spot for each column."""
    height = rules.rows * CELL
    for place, name in enumerate(names.columns):
        yield Spot(name, MARGIN + (place + 0.5) * CELL, MARGIN + height / 2, CELL, height)


class ConnectFourState(NamedTuple):
    """A position: the stones of the player to move, and all stones."""

    mover: int
    stones: int


@limits(
    ("columns * (rows + 1)", lambda rules: rules.columns * (rules.rows + 1), 62), rows=(1, 61), columns=(1, 31)
)
@board("XO", squares=Squares(rows_named=False, spots=_spots, path=whole_text))
class ConnectFourRules(NamedTuple):
    """The rules alone, of ``ConnectFour``."""

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
        last = state.mover ^ state.stones
        return self._four(last) or state.stones == self.board()

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

    def symmetric_state(self, state: ConnectFourState, symmetry: int) -> ConnectFourState:
        if symmetry == 0:
            return state
        return ConnectFourState(self._mirrored(state.mover), self._mirrored(state.stones))

    def symmetric_action(self, action: int, symmetry: int) -> int:
        return action if symmetry == 0 else self.columns - 1 - action

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.rows, self.columns, self.rows - 1, -1, self.rows + 1

    def planes(self, state: ConnectFourState, seat: int) -> tuple[int, ...]:
        """The observer's stones, the opponent's; the top row first."""
        other = state.mover ^ state.stones
        return (state.mover, other) if seat == self.to_move(state) else (other, state.mover)

    def action_text(self, state: ConnectFourState, action: int) -> str:
        return chr(ord("a") + action)

    def bottom(self) -> int:
        """The lowest square of every column."""
        return ((1 << (self.columns * (self.rows + 1))) - 1) // ((1 << (self.rows + 1)) - 1)

    def board(self) -> int:
        """All squares."""
        return self.bottom() * ((1 << self.rows) - 1)

    def _mirrored(self, stones: int) -> int:
        height = self.rows + 1
        mirrored = 0
        for _ in range(self.columns):
            mirrored = mirrored << height | stones & ((1 << height) - 1)
            stones >>= height
        return mirrored

    def _four(self, stones: int) -> bool:
        height = self.rows + 1
        return (
            _four_along(stones, 1)
            | _four_along(stones, height)
            | _four_along(stones, height - 1)
            | _four_along(stones, height + 1)
        ) != 0


def _four_along(stones: int, step: int) -> int:
    """Not zero if four of the stones lie ``step`` bits apart."""
    pairs = stones & (stones >> step)
    return pairs & (pairs >> 2 * step)
