"""Oware, of the kind called Abapa, with any number of houses and seeds that fits.

Rules: those of OpenSpiel's Oware, after the Oware Society's. Each player has a row of houses. A move takes all
seeds out of one of the mover's houses and sows them one by one counterclockwise, round the whole board if they are
many, leaving out the house that was emptied.

- If the last seed falls into a house of the opponent that then has two or three seeds, these are captured; so are
  those of the houses before it, one after the other, as long as they are the opponent's and have two or three.
- A move that would capture all seeds of the opponent captures nothing.
- If the opponent's houses are empty, only moves that sow into them are legal.
- The game ends when the player to move has no legal move, or when a position has come for the second time since
  the last capture. Each player then gets the seeds in its own houses. It also ends when a player has captured more
  than half of all seeds. More seeds win.

Actions: 0 to ``houses`` - 1, a house of the player to move, from its left.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.mancala.sowing import ONES, HouseMethods, lead, ones, seeds_in
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.board_methods import require_limits


class OwareState(NamedTuple):
    """Houses and captured seeds of both, as in Kalah; the seat to move, and the moves since the last capture."""

    mover: int
    other: int
    mover_store: int
    other_store: int
    seat: int
    quiet: int


class _OwareParameters(NamedTuple):
    houses: int = 6
    seeds: int = 4


class Oware(HouseMethods, _OwareParameters):
    """Sow seeds, capture them by twos and threes.

    Attributes:
        houses: Houses on each side, 1 to 8.
        seeds: Seeds in each house at the start, at least 1; ``2 * houses * seeds`` must be at most 127.
    """

    __slots__ = ()

    def check(self) -> None:
        require_limits(self, self._all_seeds(), houses=(1, 8), seeds=(1, 63))

    def initial_state(self) -> OwareState:
        side = self.seeds * (ONES >> 8 * (8 - self.houses))
        return OwareState(side, side, 0, 0, 0, 0)

    def legal_actions(self, state: OwareState, actions: list[int]) -> int:
        count = 0
        for house in range(self.houses):
            seeds = state.mover >> 8 * house & 255
            if seeds and (state.other != 0 or house + seeds >= self.houses):
                actions[count] = house
                count += 1
        return count

    def result(self, state: OwareState, action: int) -> OwareState:
        houses = self.houses
        seeds = state.mover >> 8 * action & 255
        mover, other = state.mover ^ seeds << 8 * action, state.other
        lap = 2 * houses - 1
        laps = seeds // lap
        if laps:
            each = laps * (ONES >> 8 * (8 - houses))
            mover, other, seeds = mover + each - (laps << 8 * action), other + each, seeds - laps * lap
        # As if the mover's houses, the opponent's, and the mover's up to the emptied one lay in one line.
        last = action + seeds
        mover += ones(min(seeds, houses - 1 - action)) << 8 * (action + 1)
        other += ones(min(last + 1 - houses, houses))
        mover += ones(last + 1 - 2 * houses)
        if seeds == 0:  # whole laps: the last seed is in the house before the emptied one
            last = action - 1 if action else 2 * houses - 1
        taken = 0
        if houses <= last < 2 * houses:
            house, left = last - houses, other
            while house >= 0 and 2 <= other >> 8 * house & 255 <= 3:
                left ^= (other >> 8 * house & 255) << 8 * house
                taken += other >> 8 * house & 255
                house -= 1
            if left == 0:
                taken = 0
            elif taken:
                other = left
        store, other_store = state.mover_store + taken, state.other_store
        if not self._has_move(other, mover):
            store += seeds_in(mover)
            other_store += seeds_in(other)
            mover = other = 0
        return OwareState(other, mover, other_store, store, 1 - state.seat, 0 if taken else state.quiet + 1)

    def is_terminal(self, state: OwareState) -> bool:
        most = max(state.mover_store, state.other_store)
        return state.mover | state.other == 0 or most > self.houses * self.seeds

    def repetition_key(self, state: OwareState) -> int:
        """The houses and the player to move: since the last capture the captured seeds are the same."""
        key = mix(mix(state.mover) ^ state.other) ^ state.seat
        return key if key else 1

    def repetition_limit(self) -> int:
        return 2

    def repetition_utility(self, state: OwareState, seat: int) -> int:
        return lead(self.table_repetition(state), 0, seat == state.seat)

    def table_repetition(self, state: OwareState) -> int:
        return state.mover_store - state.other_store + seeds_in(state.mover) - seeds_in(state.other)

    def reversible_plies(self, state: OwareState) -> int:
        return state.quiet

    def ordering_hint(self, state: OwareState, action: int) -> int:
        return self.result(state, action).other_store

    def is_noisy(self, state: OwareState, action: int) -> bool:
        return self.result(state, action).other_store > state.mover_store

    def table_parts(self, what: str) -> list[tuple[int, ...]]:
        """A part for each number of seeds in houses, at most half of all seeds."""
        parts, most = [(1,), *HouseMethods.table_parts(self, what)], self.houses * self.seeds
        if len(parts) > most:
            raise InvalidSettingError(f"--stones is at most {most} in Oware with so many seeds, not {what}")
        return parts

    def table_rules(self) -> Oware:
        return self._replace(seeds=3)

    def _with_houses(self, mover: int, other: int) -> OwareState:
        return OwareState(mover, other, 0, 0, 0, 0)

    def _has_move(self, side: int, opposite: int) -> bool:
        """True if the player of a side can move: it has seeds, and can give some to a side that has none."""
        if opposite != 0:
            return side != 0
        for house in range(self.houses):
            seeds = side >> 8 * house & 255
            if seeds and house + seeds >= self.houses:
                return True
        return False


def from_openspiel(num_houses_per_player: int, num_seeds_per_house: int) -> Oware:
    """Its parameters under our names."""
    return Oware(num_houses_per_player, num_seeds_per_house)
