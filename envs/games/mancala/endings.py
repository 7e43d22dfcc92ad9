"""Arrangements of seeds in two rows of houses, as endgame tables number them: in the order of their houses."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.mancala.sowing import seeds_in

MOST_SEEDS: Final = 40
_CHOOSE: Final = np.array([[math.comb(n, k) for k in range(17)] for n in range(MOST_SEEDS + 17)], np.int64)


def arrangements(houses: int, seeds: int) -> int:
    """In how many ways seeds can lie in so many houses."""
    return int(_CHOOSE[seeds + houses - 1, houses - 1])


def arrangement_number(houses: int, mover: int, other: int) -> int:
    """The number of an arrangement among those of as many seeds in two rows of houses."""
    left = seeds_in(mover) + seeds_in(other)
    number = 0
    for place in range(2 * houses - 1):
        after = 2 * houses - 1 - place
        seeds = (mover >> 8 * place if place < houses else other >> 8 * (place - houses)) & 255
        number += int(_CHOOSE[left + after, after]) - int(_CHOOSE[left - seeds + after, after])
        left -= seeds
    return number


def arrangement(houses: int, seeds: int, number: int) -> tuple[int, int]:
    """The two rows of the arrangement with a number."""
    mover, other = 0, 0
    for place in range(2 * houses):
        after = 2 * houses - 1 - place
        here = 0
        while after > 0 and int(_CHOOSE[seeds - here + after - 1, after - 1]) <= number:
            number -= int(_CHOOSE[seeds - here + after - 1, after - 1])
            here += 1
        if after == 0:
            here = seeds
        seeds -= here
        if place < houses:
            mover |= here << 8 * place
        else:
            other |= here << 8 * (place - houses)
    return mover, other


class SeedTables:
    """The methods of endgame tables of states with houses, by the seeds in them."""

    def table_part(self: Any, state: Any) -> int:
        """The seeds in houses; none where a player has no move."""
        seeds = seeds_in(state.mover) + seeds_in(state.other)
        return seeds if state.mover != 0 and state.other != 0 and seeds <= MOST_SEEDS else -1

    def table_size(self: Any, part: int) -> int:
        return arrangements(2 * self.houses, part)

    def table_index(self: Any, state: Any) -> int:
        return arrangement_number(self.houses, state.mover, state.other)

    def table_lead(self: Any, state: Any) -> int:
        return int(state.mover_store - state.other_store)

    def table_unit(self: Any) -> str:
        return "stones"

    def table_parts(self: Any, what: str) -> list[tuple[int, ...]]:
        """One part for each number of seeds, up to the greatest.

        Raises:
            InvalidSettingError: It is no such number.
        """
        if not what.isdecimal() or not 2 <= int(what) <= MOST_SEEDS:
            raise InvalidSettingError(f"--stones is a number from 2 to {MOST_SEEDS}, not {what!r}")
        return [(seeds,) for seeds in range(2, int(what) + 1)]
