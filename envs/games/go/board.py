"""Stones, groups and liberties, on a board in words of bits.

Rows lie ``size + 1`` places apart, so each ends with a place off the board, and a row of such places is above and
below. No move by one row or column leads from one point of the board to another that is not beside it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.rules.words import Words, count, is_empty, lowest, moved_down, moved_up, single

NO_POINT: Final = -1


class GoState(NamedTuple):
    """A position: the stones and the other points of the board.

    Attributes:
        ko: The point where the player to move may not retake a ko, or ``NO_POINT``.
        last: The point of the last move, ``NO_POINT`` before the first one and after a pass.
        turn: The seat to move, and 2 for each pass since the last stone was played.
    """

    black: Words
    white: Words
    empty: Words
    ko: int
    last: int
    turn: int


def point_of(action: int, size: int) -> int:
    """The place of a point of the board."""
    return action + action // size + size + 2


def around(points: Words, size: int) -> Words:
    """All places beside these, off the board too."""
    beside = moved_up(points, 1) | moved_down(points, 1)
    return beside | moved_up(points, size + 1) | moved_down(points, size + 1)


def diagonals(point: Words, size: int) -> Words:
    """The four places diagonal to a point."""
    rows = moved_up(point, size + 1) | moved_down(point, size + 1)
    return moved_up(rows, 1) | moved_down(rows, 1)


def group_of(seed: Words, stones: Words, size: int) -> Words:
    """The stones that are connected with some of them."""
    found = seed
    while True:
        wider = (found | around(found, size)) & stones
        if wider == found:
            return found
        found = wider


def liberties(group: Words, empty: Words, size: int) -> Words:
    """The empty points beside a group."""
    return around(group, size) & empty


def captured_by(stone: Words, other: Words, empty: Words, size: int) -> Words:
    """The opponent's stones that have no liberty once a stone lies on a point, which ``empty`` has not."""
    taken = stone - stone
    rest = around(stone, size) & other
    while not is_empty(rest):
        first = single(stone, lowest(rest))
        group = first
        if is_empty(liberties(first, empty, size)):  # else it need not be looked at as a whole
            group = group_of(first, other, size)
            if is_empty(liberties(group, empty, size)):
                taken = taken | group
        rest = rest - group
    return taken


def is_allowed(place: int, own: Words, other: Words, empty: Words, size: int) -> bool:
    """True if a stone may be put on an empty point: it has a liberty then, perhaps by a capture."""
    stone = single(empty, place)
    left = empty - stone
    if not is_empty(liberties(stone, left, size)):
        return True
    if not is_empty(captured_by(stone, other, left, size)):
        return True
    return not is_empty(liberties(group_of(stone, own | stone, size), left, size))


def stones_in_atari(place: int, own: Words, other: Words, empty: Words, size: int) -> int:
    """The number of stones, itself included, that a move leaves with at most one liberty; 0 if they have more."""
    stone = single(empty, place)
    left = empty - stone
    if count(liberties(stone, left, size)) > 1:
        return 0
    group = group_of(stone, own | stone, size)
    freedom = liberties(group, left, size)
    if count(freedom) <= 1:
        freedom = freedom | captured_by(stone, other, left, size)
    return count(group) if count(freedom) <= 1 else 0


def territory(stones: Words, other: Words, empty: Words, size: int) -> Words:
    """The empty regions that border on these stones alone."""
    reached = group_of(liberties(stones, empty, size), empty, size)
    return reached - group_of(liberties(other, empty, size), empty, size)
