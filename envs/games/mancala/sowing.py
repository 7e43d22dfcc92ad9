"""Houses with seeds that are sown: what Kalah and Oware share.

A row of houses is one integer, eight bits a house from the lowest (house 0, at its player's left). States have
``mover``, ``other``, ``mover_store``, ``other_store`` and ``seat``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.pictures.boards import CELL, FIRST, MARGIN, PAPER, SECOND, shade
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Spot, Squares, whole_text
from zermelo.envs.rules.bits import shift_right

ONES: Final = 0x0101010101010101
"""One seed in each of eight houses."""


def ones(houses: int) -> int:
    """One seed in each of the lowest houses, 0 to 8 of them."""
    return ONES >> 8 * (8 - houses) if houses > 0 else 0


def house_text(seat: int, house: int) -> str:
    """A house as a letter from its player's left: upper case for the first player, lower case for the second."""
    return chr(ord("a" if seat else "A") + house)


def seeds_in(side: int) -> int:
    """All seeds in a row of houses, fewer than 256 of them."""
    return shift_right(side * ONES, 56)


def lead(mover: int, other: int, is_mover: bool) -> int:
    """Who has more seeds: 1 for a player who does, -1 for one who has fewer."""
    ahead = (mover > other) - (mover < other)
    return ahead if is_mover else -ahead


_PIT: Final[Colour] = (124, 82, 48)
_WOOD: Final[Colour] = (168, 118, 72)
_HOUSE: Final = CELL + 16
_STORE: Final = CELL + 24


def house_middle(houses: int, seat: int, house: int) -> tuple[float, float]:
    """The middle of a player's house in the picture."""
    place = houses - 1 - house if seat else house
    x = MARGIN + _STORE + (place + 0.5) * _HOUSE
    return x, MARGIN + 22 + _HOUSE * (0.5 if seat else 1.5)


def paint_houses(rules: Any, state: Any) -> Canvas:
    """The first player's houses below, its store on the right, with the numbers of seeds."""
    sides = [(state.mover, state.mover_store), (state.other, state.other_store)]
    width, height = rules.houses * _HOUSE + 2 * _STORE + 2 * MARGIN, 2 * _HOUSE + 2 * MARGIN + 44
    canvas = Canvas(width, height, PAPER)
    canvas.rectangle(6, 6, width - 12, height - 12, _WOOD, radius=30)
    for seat, (houses, store) in enumerate(sides if state.seat == 0 else sides[::-1]):
        x = MARGIN + _STORE / 2 if seat else width - MARGIN - _STORE / 2
        canvas.rectangle(x - 34, MARGIN + 22, 68, height - 2 * MARGIN - 44, _PIT, radius=34)
        places = [(x, height / 2, store)]
        for house in range(rules.houses):
            x, y = house_middle(rules.houses, seat, house)
            canvas.disk(x, y, _HOUSE * 0.44, _PIT)
            places.append((x, y, houses >> 8 * house & 255))
        for x, y, count in places:
            canvas.text(x, y, str(count), 4, shade((FIRST, SECOND)[seat], 2))
    return canvas


def _spots(rules: Any, names: None) -> Iterator[Spot]:
    for seat in (1, 0):
        for house in range(rules.houses):
            yield Spot(house_text(seat, house), *house_middle(rules.houses, seat, house), _HOUSE, _HOUSE)


MOST_SEEDS: Final = 40
_CHOOSE: Final = np.array([[math.comb(n, k) for k in range(17)] for n in range(MOST_SEEDS + 17)], np.int64)


class HouseMethods:
    """The methods that follow from the houses, the stores and the seat of a state.

    For endgame tables, with a part for each number of seeds in houses, rules have ``_has_move(mover, other)``,
    whether the mover has one, and ``_with_houses(mover, other)``, the state of the first player with no captures.
    """

    __slots__ = ()
    board_squares = Squares(size=None, spots=_spots, path=whole_text)

    def _all_seeds(self: Any) -> tuple[str, int, int]:
        return "2 * houses * seeds", 2 * self.houses * self.seeds, 127

    def num_actions(self: Any) -> int:
        return int(self.houses)

    def to_move(self: Any, state: Any) -> int:
        return int(state.seat)

    def utility(self: Any, state: Any, seat: int) -> int:
        return lead(state.mover_store, state.other_store, seat == state.seat)

    def evaluation(self: Any, state: Any, seat: int) -> int:
        difference: int = (state.mover_store - state.other_store) * (1000 // (2 * self.houses * self.seeds))
        return difference if seat == state.seat else -difference

    def text(self: Any, state: Any) -> str:
        """The second player's houses on top, from right to left as it sees them, the first player's below."""
        houses = self.houses
        sides = [(state.mover, state.mover_store), (state.other, state.other_store)]
        (first, first_store), (second, second_store) = sides if state.seat == 0 else sides[::-1]
        below = [f"{first >> 8 * house & 255:3}" for house in range(houses)]
        above = [f"{second >> 8 * house & 255:3}" for house in reversed(range(houses))]
        return f"   {''.join(above)}\n{second_store:3}{'   ' * houses}{first_store:3}\n   {''.join(below)}"

    def image(self: Any, state: Any) -> Any:
        return paint_houses(self, state).image()

    def observation_box(self: Any) -> tuple[tuple[int, int], tuple[int, int], str]:
        return (2, self.houses + 1), (0, 2 * self.houses * self.seeds), "int8"

    def write_observation(self: Any, state: Any, seat: int, numbers: Any) -> None:
        """Seeds, of shape (2, houses + 1): the observer's houses from its left and its store, the opponent's."""
        houses = self.houses
        first = 0 if seat == state.seat else houses + 1
        for house in range(houses):
            numbers[first + house] = state.mover >> 8 * house & 255
            numbers[houses + 1 - first + house] = state.other >> 8 * house & 255
        numbers[first + houses] = state.mover_store
        numbers[2 * houses + 1 - first] = state.other_store

    def action_text(self: Any, state: Any, action: int) -> str:
        return house_text(state.seat, action)

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
