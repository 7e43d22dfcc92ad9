"""Hexapawn on boards of any size that fits; 3x3 is the original.

Rules: M. Gardner, "Mathematical Games", Scientific American, March 1962. Each player starts with a row of pawns. A
pawn moves one step straight forward to an empty square, or captures one step diagonally forward. The player wins
who brings a pawn to the farthest row, or leaves the opponent without a move (all pawns captured included).

Actions: ``3 * square + direction`` moves the pawn on a square one row forward. Squares are numbered ``row *
columns + column`` from a1, at the lower left. Direction 0 is to the next lower column, 1 straight, 2 to the next
higher column.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.envs.games.pawns.steps import PawnMoves, destination, far_row, list_moves, sources
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import Sides, require_limits
from zermelo.envs.rules.boards import all_squares, whole
from zermelo.envs.rules.scores import loss_in, win_in


class _HexapawnParameters(NamedTuple):
    rows: int = 3
    columns: int = 3


class Hexapawn(PawnMoves, _HexapawnParameters):
    """Bring a pawn to the other side, or leave the opponent without a move.

    Attributes:
        rows: Height of the board, at least 3.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 64.
    """

    __slots__ = ()

    def check(self) -> None:
        require_limits(self, rows=(3, 64), columns=(1, 64), squares=(3, 64))

    def initial_state(self) -> Sides:
        pawns = all_squares(self.columns)
        return Sides(pawns, whole(pawns << ((self.rows - 1) * self.columns)), 0)

    def legal_actions(self, state: Sides, actions: list[int]) -> int:
        lower, straight, higher = self._sources(state)
        return list_moves(lower, straight, higher, actions)

    def is_terminal(self, state: Sides) -> bool:
        if state.other & far_row(1 - state.seat, self.rows, self.columns, 0) != 0:
            return True
        lower, straight, higher = self._sources(state)
        return lower | straight | higher == 0

    def evaluation(self, state: Sides, seat: int) -> int:
        """Pawns, and moves that could be made."""
        score = 30 * (popcount(state.mover) - popcount(state.other))
        score += self._moves(state) - self._moves(Sides(state.other, state.mover, 1 - state.seat))
        return score if seat == state.seat else -score

    def ordering_hint(self, state: Sides, action: int) -> int:
        row = destination(action, state.seat, self.columns) // self.columns
        return (row if state.seat == 0 else self.rows - 1 - row) + (2 * self.rows if action % 3 != 1 else 0)

    def is_noisy(self, state: Sides, action: int) -> bool:
        return action % 3 != 1

    def bounds(self, state: Sides) -> tuple[int, int]:
        """A pawn that can step onto the far row wins at once."""
        near = state.mover & far_row(state.seat, self.rows, self.columns, 1)
        lower, straight, higher = self._sources(state)
        if near & (lower | straight | higher) != 0:
            return win_in(1), win_in(1)
        return loss_in(2), win_in(1)

    def _sources(self, state: Sides) -> tuple[int, int, int]:
        free = ~(state.mover | state.other)
        return sources(state.mover, state.seat, self.rows, self.columns, free, state.other)

    def _moves(self, state: Sides) -> int:
        lower, straight, higher = self._sources(state)
        return popcount(lower) + popcount(straight) + popcount(higher)
