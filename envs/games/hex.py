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

from zermelo.envs.pictures.boards import FIRST, IVORY, SECOND, disk, hexagons_image, man
from zermelo.envs.pictures.squares import HEXAGONS
from zermelo.envs.rules import Words, first_places, hexagons_around, is_empty
from zermelo.envs.rules.board_methods import BoardMethods, MoverLoses, require_limits
from zermelo.envs.rules.words import list_places, lowest, no_places, single

_CELL: Final = man(IVORY)
_PIECES: Final = {".": [_CELL], "X": [_CELL, disk(FIRST, 0.33)], "O": [_CELL, disk(SECOND, 0.33)]}
_OVER: Final = 2


class HexState(NamedTuple):
    """Both players' stones, those connected with the edge their player starts from, and the seat to move.

    The players start from the upper and the left edge. ``turn`` is 2 more once the game is over.
    """

    first: Words
    second: Words
    linked: Words
    turn: int


class _HexParameters(NamedTuple):
    rows: int = 11
    columns: int = 11


class Hex(MoverLoses, BoardMethods, _HexParameters):
    """Connect your two edges; exactly one player can.

    Attributes:
        rows: Height of the board, at least 1: what the first player crosses.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 124.
    """

    __slots__ = ()
    marks = "XO"
    board_squares = HEXAGONS

    def check(self) -> None:
        require_limits(self, rows=(1, 124), columns=(1, 124), squares=(1, 124))

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
        beside = hexagons_around(stone, action, self.columns) & own
        if self._line(action, seat) == 0 or not is_empty(beside & linked):
            last = (self.columns if seat else self.rows) - 1
            linked, new = linked | stone, stone
            while not is_empty(new):  # the stones that are newly linked, whose neighbours have not been looked at
                cell = lowest(new)
                if self._line(cell, seat) == last:
                    turn = 1 - seat + _OVER
                more = (hexagons_around(stone, cell, self.columns) & own) - linked
                linked, new = linked | more, new - single(new, cell) | more
        if seat:
            return HexState(state.first, own, linked, turn)
        return HexState(own, state.second, linked, turn)

    def pass_turn(self, state: HexState) -> HexState:
        """A stone more never hurts in Hex, so skipping a turn never helps."""
        return HexState(state.first, state.second, state.linked, 1 - state.turn)

    def is_terminal(self, state: HexState) -> bool:
        return state.turn >= _OVER

    def planes(self, state: HexState, seat: int) -> tuple[Words, ...]:
        """The observer's stones, the other's, and all ones for seat 1."""
        own, other = (state.second, state.first) if seat else (state.first, state.second)
        return own, other, first_places(own, self.rows * self.columns * seat)

    def image(self, state: HexState) -> Any:
        return hexagons_image(self, state, _PIECES)

    def _line(self, cell: int, seat: int) -> int:
        """The distance of a cell from the edge that a player starts from."""
        return cell % self.columns if seat else cell // self.columns


def from_openspiel(
    board_size: int, num_cols: int, num_rows: int, plain_obs_tensor: bool, string_rep: str, swap: bool
) -> Hex | None:
    """Without the swap rule."""
    return None if swap else Hex(num_rows, num_cols)
