"""Breakthrough on boards of any size that fits.

Rules: D. Troyka's game of 2000 as described by A. Saffidine, N. Jouandeau and T. Cazenave, "Solving Breakthrough
with Race Patterns and Job-Level Proof Number Search", ACG 2011. Each player starts with ``pawn_rows`` full rows of
pawns. A move takes one pawn one step straight or diagonally forward. Straight it may only go to an empty square;
diagonally it goes to an empty square or captures an opponent's pawn there. The first player with a pawn on the
farthest row, or who has captured all the opponent's pawns, wins. There are no draws, and there is always a move.

Actions: ``3 * square + direction`` moves the pawn on a square one row forward. Squares are numbered ``row *
columns + column`` from a1, at the lower left. Direction 0 is to the next lower column, 1 straight, 2 to the next
higher column.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.envs.games.pawns.steps import PawnMoves, attacked, destination, far_row, list_moves, sources
from zermelo.envs.rules.about import OpenSpielRules
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import Sides, require_limits
from zermelo.envs.rules.boards import all_squares, whole
from zermelo.envs.rules.scores import loss_in, win_in


class _BreakthroughParameters(NamedTuple):
    rows: int = 8
    columns: int = 8
    pawn_rows: int = 2


class Breakthrough(PawnMoves, _BreakthroughParameters):
    """Bring one pawn to the other side.

    Attributes:
        rows: Height of the board.
        columns: Width of the board, at least 2; ``rows * columns`` must be at most 64.
        pawn_rows: How many rows of pawns each player starts with, at least 1 and at most half of the rows.
    """

    __slots__ = ()

    def check(self) -> None:
        too_many = "2 * pawn_rows - rows", 2 * self.pawn_rows - self.rows, 0
        require_limits(self, too_many, rows=(2, 32), columns=(2, 32), pawn_rows=(1, 16), squares=(4, 64))

    def initial_state(self) -> Sides:
        pawns = all_squares(self.pawn_rows * self.columns)
        return Sides(pawns, whole(pawns << ((self.rows - self.pawn_rows) * self.columns)), 0)

    def legal_actions(self, state: Sides, actions: list[int]) -> int:
        free = ~(state.mover | state.other)
        lower, straight, higher = sources(state.mover, state.seat, self.rows, self.columns, free, ~state.mover)
        return list_moves(lower, straight, higher, actions)

    def is_terminal(self, state: Sides) -> bool:
        return state.mover == 0 or state.other & far_row(1 - state.seat, self.rows, self.columns, 0) != 0

    def evaluation(self, state: Sides, seat: int) -> int:
        """Pawns, and how far they have come."""
        score = self._worth(state.mover, state.seat) - self._worth(state.other, 1 - state.seat)
        return score if seat == state.seat else -score

    def ordering_hint(self, state: Sides, action: int) -> int:
        to = destination(action, state.seat, self.columns)
        row = to // self.columns
        return (row if state.seat == 0 else self.rows - 1 - row) + (state.other >> to & 1) * 2 * self.rows

    def pass_turn(self, state: Sides) -> Sides:
        return Sides(state.other, state.mover, 1 - state.seat)

    def bounds(self, state: Sides) -> tuple[int, int]:
        """A pawn one step from the far row arrives unless it is captured at once; it can always step."""
        if state.mover & far_row(state.seat, self.rows, self.columns, 1) != 0:
            return win_in(1), win_in(1)
        captures = state.other & attacked(state.mover, state.seat, self.rows, self.columns)
        if captures != 0 and popcount(state.other) == 1:
            return win_in(1), win_in(1)
        threats = state.other & far_row(1 - state.seat, self.rows, self.columns, 1)
        if popcount(threats) > 1 or threats & ~captures != 0:
            return loss_in(2), loss_in(2)
        return loss_in(2 if popcount(state.mover) == 1 else 4), win_in(3)

    def safe_actions(self, state: Sides, actions: list[int]) -> int:
        """The captures of a pawn that would arrive, if there is one; else all actions."""
        threats = state.other & far_row(1 - state.seat, self.rows, self.columns, 1)
        if threats == 0:
            return self.legal_actions(state, actions)
        lower, _, higher = sources(state.mover, state.seat, self.rows, self.columns, 0, threats)
        return list_moves(lower, 0, higher, actions)

    def _worth(self, pawns: int, seat: int) -> int:
        """Twenty points a pawn, and the square of the rows that it has come."""
        worth = 20 * popcount(pawns)
        for row in range(self.rows):
            come = row if seat == 0 else self.rows - 1 - row
            worth += come * come * popcount(pawns & all_squares(self.columns) << (row * self.columns))
        return worth


def from_openspiel(rows: int, columns: int) -> OpenSpielRules:
    """There are two rows of pawns from six rows on, else one; its first player starts at the top.

    A number is ``12 * square + 2 * direction + capture``, directions 0 to 2 being those of the first player from
    left to right, 3 to 5 those of the second.
    """

    def to_openspiel(state: Sides, action: int) -> int:
        captures = state.other >> destination(action, state.seat, columns) & 1
        return 12 * (action // 3) + 2 * (3 * state.seat + action % 3) + captures

    return OpenSpielRules(rules=Breakthrough(rows, columns, 2 if rows >= 6 else 1), to_openspiel=to_openspiel)
