"""Kalah knowledge for searches: evaluation, move ordering, and bounds on the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zermelo.envs.games.mancala.sowing import ONES
from zermelo.envs.rules import loss_in, popcount, win_in

if TYPE_CHECKING:
    from zermelo.envs.games.mancala.kalah.state import KalahState

_DISTANCES = 0x0102030405060708
_SEVEN_BITS = 0x7F7F7F7F7F7F7F7F


class KalahKnowledge:
    """The methods for searches."""

    def evaluation(self: Any, state: KalahState, seat: int) -> int:
        difference: int = state.mover_store - state.other_store
        difference *= 1024 if self.margin else 1000 // (2 * self.houses * self.seeds)
        return difference if seat == state.seat else -difference

    def ordering_hint(self: Any, state: KalahState, action: int) -> int:
        """Moves that move again, then moves that gain most and leave the opponent few of those; far houses first.

        Measured by proofs with four and five houses: with the farthest house first among equal moves, searches
        visited a quarter to nine tenths of the positions that they visited with the nearest first.
        """
        after: KalahState = self.result(state, action)
        if after.seat == state.seat:
            return 1000 + 16 * (after.mover_store - state.mover_store) + action
        again: int = self._moving_again(after.mover)
        return 16 * (after.other_store - state.mover_store) - 8 * again - action

    def is_noisy(self: Any, state: KalahState, action: int) -> bool:
        after: KalahState = self.result(state, action)
        store = after.mover_store if after.seat == state.seat else after.other_store
        return store - state.mover_store > 1

    def bounds(self: Any, state: KalahState) -> tuple[int, int]:
        """Seeds in a store stay there: a player with more than half of all seeds has won.

        Each house whose last seed would fall into the store is good for one more, as all of them can be played in
        turn, from the nearest one on.
        """
        every, mine = 2 * self.houses * self.seeds, state.mover_store + self._moving_again(state.mover)
        if self.margin:
            return 2 * (2 * mine - every), 2 * (every - 2 * state.other_store)
        lower, upper = loss_in(1), win_in(1)
        if 2 * mine >= every:
            lower = 1 if 2 * mine > every else 0
        if 2 * state.other_store >= every:
            upper = -1 if 2 * state.other_store > every else 0
        return lower, upper

    def _moving_again(self: Any, side: int) -> int:
        """The number of houses of a side with just the seeds that reach its store, less whole laps."""
        unlike = side ^ _DISTANCES >> 8 * (8 - self.houses)
        alike = ~(unlike + _SEVEN_BITS | unlike) >> 7  # no house holds 128 seeds
        return popcount(alike & ONES >> 8 * (8 - self.houses))
