"""Hexapawn on boards of any size that fits; 3x3 is the original.

Rules: M. Gardner, "Mathematical Games", Scientific American, March 1962. Each player starts with a row of pawns. A
pawn moves one step straight forward to an empty square, or captures one step diagonally forward. The player wins
who brings a pawn to the farthest row, or leaves the opponent without a move (all pawns captured included).

Actions and board are those of ``zermelo.envs.games.pawns.steps``.

A state is three integers: the pawns of the player to move, those of the opponent, and the seat to move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.pawns.steps import (
    destination,
    draw_pawns,
    far_row,
    list_moves,
    mirrored_move,
    paint_pawns,
    pawn_text,
    sources,
    write_pawns,
)
from zermelo.envs.pictures.boards import draws
from zermelo.envs.rules.about import listed
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.boards import all_squares, mirrored_columns, whole
from zermelo.envs.rules.scores import loss_in, win_in


class HexapawnState(NamedTuple):
    """A position: the pawns of the player to move, of the opponent, and whose turn it is."""

    mover: int
    other: int
    seat: int


@listed()
class Hexapawn(NamedTuple):
    """Bring a pawn to the other side, or leave the opponent without a move.

    Attributes:
        rows: Height of the board, at least 3.
        columns: Width of the board, at least 1; ``rows * columns`` must be at most 64.
    """

    rows: int = 3
    columns: int = 3

    def check(self) -> None:
        if self.rows < 3 or self.columns < 1 or self.rows * self.columns > 64:
            raise InvalidSettingError(
                "Hexapawn needs rows of at least 3, columns of at least 1 and rows * columns of at most 64, "
                f"not rows={self.rows}, columns={self.columns}"
            )

    def num_actions(self) -> int:
        return 3 * self.rows * self.columns

    def initial_state(self) -> HexapawnState:
        pawns = all_squares(self.columns)
        return HexapawnState(pawns, whole(pawns << ((self.rows - 1) * self.columns)), 0)

    def to_move(self, state: HexapawnState) -> int:
        return state.seat

    def legal_actions(self, state: HexapawnState, actions: list[int]) -> int:
        lower, straight, higher = self._sources(state)
        return list_moves(lower, straight, higher, actions)

    def result(self, state: HexapawnState, action: int) -> HexapawnState:
        to = 1 << destination(action, state.seat, self.columns)
        return HexapawnState(whole(state.other & ~to), whole(state.mover ^ 1 << action // 3 ^ to), 1 - state.seat)

    def is_terminal(self, state: HexapawnState) -> bool:
        if state.other & far_row(1 - state.seat, self.rows, self.columns, 0) != 0:
            return True
        lower, straight, higher = self._sources(state)
        return lower | straight | higher == 0

    def utility(self, state: HexapawnState, seat: int) -> int:
        return -1 if seat == state.seat else 1

    def evaluation(self, state: HexapawnState, seat: int) -> int:
        """Pawns, and moves that could be made."""
        score = 30 * (popcount(state.mover) - popcount(state.other))
        score += self._moves(state) - self._moves(HexapawnState(state.other, state.mover, 1 - state.seat))
        return score if seat == state.seat else -score

    def ordering_hint(self, state: HexapawnState, action: int) -> int:
        row = destination(action, state.seat, self.columns) // self.columns
        return (row if state.seat == 0 else self.rows - 1 - row) + (2 * self.rows if action % 3 != 1 else 0)

    def is_noisy(self, state: HexapawnState, action: int) -> bool:
        return action % 3 != 1

    def symmetries(self) -> int:
        return 2

    def symmetric_state(self, state: HexapawnState, symmetry: int) -> HexapawnState:
        if symmetry == 0:
            return state
        mover = mirrored_columns(state.mover, self.rows, self.columns, self.columns)
        return HexapawnState(
            mover, mirrored_columns(state.other, self.rows, self.columns, self.columns), state.seat
        )

    def symmetric_action(self, action: int, symmetry: int) -> int:
        return mirrored_move(action, self.columns) if symmetry else action

    def bounds(self, state: HexapawnState) -> tuple[int, int]:
        """A pawn that can step onto the far row wins at once."""
        near = state.mover & far_row(state.seat, self.rows, self.columns, 1)
        lower, straight, higher = self._sources(state)
        if near & (lower | straight | higher) != 0:
            return win_in(1), win_in(1)
        return loss_in(2), win_in(1)

    def text(self, state: HexapawnState) -> str:
        return draw_pawns(state, self.rows, self.columns)

    def observation_shape(self) -> tuple[int, int, int]:
        """The observer's pawns, the opponent's, and whose they are (``write_pawns``)."""
        return self.rows, self.columns, 3

    def write_observation(self, state: HexapawnState, seat: int, numbers: Any) -> None:
        write_pawns(state, seat, self.rows, self.columns, numbers)

    def action_text(self, state: HexapawnState, action: int) -> str:
        return pawn_text(action, state.seat, self.columns, self.is_noisy(state, action))

    def _sources(self, state: HexapawnState) -> tuple[int, int, int]:
        free = ~(state.mover | state.other)
        return sources(state.mover, state.seat, self.rows, self.columns, free, state.other)

    def _moves(self, state: HexapawnState) -> int:
        lower, straight, higher = self._sources(state)
        return popcount(lower) + popcount(straight) + popcount(higher)


draws(Hexapawn)(paint_pawns)
