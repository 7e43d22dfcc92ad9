"""Numbers of positions of Kalah and Oware, for endgame tables: one part for each number of seeds in houses.

Rules have ``_has_move(mover, other)``, whether the player to move has one, and ``_with_houses(mover, other)``, the
state of the first player with nothing captured.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.mancala.sowing import seeds_in

MOST_SEEDS: Final = 40
_CHOOSE: Final = np.array([[math.comb(n, k) for k in range(17)] for n in range(MOST_SEEDS + 17)], np.int64)


class HouseTables:
    """The methods for endgame tables."""

    __slots__ = ()

    def table_part(self: Any, state: Any) -> int:
        """The seeds in houses; -1 where the game is over."""
        seeds = seeds_in(state.mover) + seeds_in(state.other)
        return seeds if seeds <= MOST_SEEDS and self._has_move(state.mover, state.other) else -1

    def table_size(self: Any, part: int) -> int:
        return int(_CHOOSE[part + 2 * self.houses - 1, 2 * self.houses - 1])

    def table_index(self: Any, state: Any) -> int:
        """The number of an arrangement, in the order of the houses, among those of as many seeds."""
        number, left = 0, seeds_in(state.mover) + seeds_in(state.other)
        for place in range(2 * self.houses - 1):
            after = 2 * self.houses - 1 - place
            side = state.mover if place < self.houses else state.other
            seeds = side >> 8 * (place % self.houses) & 255
            number += int(_CHOOSE[left + after, after]) - int(_CHOOSE[left - seeds + after, after])
            left -= seeds
        return number

    def table_lead(self: Any, state: Any) -> int:
        return int(state.mover_store - state.other_store)

    def table_unit(self: Any) -> str:
        return "stones"

    def table_parts(self: Any, what: str) -> list[tuple[int, ...]]:
        """One part for each number of seeds, up to the greatest."""
        if not what.isdecimal() or not 2 <= int(what) <= MOST_SEEDS:
            raise InvalidSettingError(f"--stones is a number from 2 to {MOST_SEEDS}, not {what!r}")
        return [(seeds,) for seeds in range(2, int(what) + 1)]

    def table_state(self: Any, part: int, index: int) -> Any:
        mover, other, seeds = 0, 0, part
        for place in range(2 * self.houses):
            after, here = 2 * self.houses - 1 - place, 0
            while after > 0 and int(_CHOOSE[seeds - here + after - 1, after - 1]) <= index:
                index -= int(_CHOOSE[seeds - here + after - 1, after - 1])
                here += 1
            if after == 0:
                here = seeds
            seeds -= here
            if place < self.houses:
                mover |= here << 8 * place
            else:
                other |= here << 8 * (place - self.houses)
        return self._with_houses(mover, other)

    def table_rules(self: Any) -> Any:
        return self._replace(seeds=1, margin=False)
