"""Sets of places on a board of any size, as tuples of words: place ``n`` is bit ``n % 62`` of word ``n // 62``.

Compiled code keeps the words in registers, and has no loops over them. Sets are never changed, and have the same
length.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from zermelo.envs.rules.bits import bit_index, mix, popcount

WORD: Final = 62
"""Places in a word."""
_ALL: Final = (1 << WORD) - 1


class Words(tuple[int, ...]):
    """A set of places; the operators for union, intersection and difference are those of sets."""

    __slots__ = ()

    def __or__(self, other: Words) -> Words:
        return Words(map(operator.or_, self, other))

    def __and__(self, other: Words) -> Words:
        return Words(map(operator.and_, self, other))

    def __sub__(self, other: Words) -> Words:
        return Words(one & ~another for one, another in zip(self, other, strict=True))


def no_places(how_many: int) -> Words:
    """The empty set, with room for so many places; never compiled."""
    return Words((0,) * -(-how_many // WORD))


def is_empty(places: Words) -> bool:
    """Whether there is no place in the set."""
    return not any(places)


def count(places: Words) -> int:
    """The number of places in the set."""
    return sum(map(popcount, places))


def single(like: Words, place: int) -> Words:
    """The set of one place, as long as another set."""
    return Words(1 << place - low if 0 <= place - low < WORD else 0 for low in range(0, WORD * len(like), WORD))


def hexagons_around(like: Words, cell: int, columns: int) -> Words:
    """The neighbours of a cell, numbered by rows that each lie half a cell to the right of the one above.

    They may be places below the board, of which a set of cells has none.
    """
    column = cell % columns
    around = single(like, cell - columns) | single(like, cell + columns)
    if column > 0:
        around = around | single(like, cell - 1) | single(like, cell + columns - 1)
    if column < columns - 1:
        around = around | single(like, cell + 1) | single(like, cell - columns + 1)
    return around


def spread(like: Words, start: int, bits: int) -> Words:
    """The places from ``start`` on whose bits are set in a number, all of one word; as long as another set."""
    return Words(bits << start - low if 0 <= start - low < WORD else 0 for low in range(0, WORD * len(like), WORD))


def first_places(like: Words, how_many: int) -> Words:
    """The set of the lowest places, as long as another set."""
    return Words((1 << min(max(how_many - start, 0), WORD)) - 1 for start in range(0, WORD * len(like), WORD))


def contains(places: Words | int, place: int) -> int:
    """1 if the place is in the set, else 0; an integer is a set of the places of its bits."""
    if isinstance(places, int):
        return places >> place & 1
    return places[place // WORD] >> place % WORD & 1 if 0 <= place < WORD * len(places) else 0


def window(places: Words, start: int, width: int) -> int:
    """The ``width`` places from ``start`` on as the lowest bits of an integer; at most 62."""
    word, places_below = start // WORD, start % WORD
    higher = places[word + 1] if word + 1 < len(places) else 0
    return (places[word] >> places_below | higher << (WORD - places_below)) & (1 << width) - 1


def moved_up(places: Words, by: int) -> Words:
    """Every place ``by`` further, from 1 to 61; what leaves the last word is lost."""
    below = (0, *places[:-1])
    return Words((one << by | low >> WORD - by) & _ALL for one, low in zip(places, below, strict=True))


def moved_down(places: Words, by: int) -> Words:
    """Every place ``by`` nearer to 0, from 1 to 61; what would fall below 0 is lost."""
    above = (*places[1:], 0)
    return Words((one >> by | high << WORD - by) & _ALL for one, high in zip(places, above, strict=True))


def scrambled(places: Words, seed: int) -> int:
    """A hash of 64 bits, another one for every seed."""
    for word in places:
        seed = mix(seed ^ word)
    return seed


def flatten_state(state: Any) -> tuple[int, ...]:
    """All integers of a state, those of tuples inside it too."""
    return tuple(
        word for part in state for word in (flatten_state(part) if isinstance(part, tuple) else (int(part),))
    )


def list_places(places: Words, actions: Any) -> int:
    """Writes the places of a set, ascending, and returns how many."""
    number = 0
    for start in range(0, WORD * len(places), WORD):
        word = window(places, start, WORD)
        while word != 0:
            actions[number] = start + bit_index(word)
            number += 1
            word &= word - 1
    return number


def lowest(places: Words) -> int:
    """The first place of a set that is not empty."""
    return nth(places, 0)


def nth(places: Words, number: int) -> int:
    """The place before which there are ``number`` others in the set."""
    for start in range(0, WORD * len(places), WORD):
        word = window(places, start, WORD)
        here = popcount(word)
        if number < here:
            while number > 0:
                word &= word - 1
                number -= 1
            return start + bit_index(word)
        number -= here
    return -1
