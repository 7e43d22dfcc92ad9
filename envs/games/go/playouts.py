"""How a playout of Go goes on: beside the last move, then anywhere but into own eyes.

Beside it means captures, rescues, and the answers that good players give (``patterns``).

S. Gelly, Y. Wang, R. Munos and O. Teytaud, *Modification of UCT with patterns in Monte-Carlo Go*, INRIA RR-6062,
2006.
"""

from __future__ import annotations

from zermelo.envs.games.go.board import (
    NO_POINT,
    GoState,
    around,
    captured_by,
    diagonals,
    group_of,
    is_allowed,
    liberties,
)
from zermelo.envs.games.go.patterns import ANSWERED, CERTAIN, pattern_at
from zermelo.envs.rules.bits import mix, shift_right
from zermelo.envs.rules.words import Words, common, count, is_empty, lowest, nth, single, union, without

__all__ = ["playout_point"]


def playout_point(state: GoState, size: int, random: int) -> int:
    """The place of a playout's next stone, or ``NO_POINT`` for a pass."""
    own, other = (state.white, state.black) if state.turn & 1 else (state.black, state.white)
    if state.last != NO_POINT:
        urgent = _urgent(state, own, other, size)
        if not is_empty(urgent):
            return _drawn(urgent, random)
        place = _answer(state, own, other, size, random & 0xFFFF)
        if place != NO_POINT:
            return place
    free = without(state.empty, _eyes(own, other, state.empty, size))
    if state.ko != NO_POINT:
        free = without(free, single(free, state.ko))
    while not is_empty(free):
        place = _drawn(free, random)
        if is_allowed(place, own, other, state.empty, size):
            return place
        free = without(free, single(free, place))
        random = mix(random)
    return NO_POINT


def _drawn(places: Words, random: int) -> int:
    """One of the places, all as likely."""
    return nth(places, shift_right(random, 32) * count(places) >> 32)


def _eyes(own: Words, other: Words, empty: Words, size: int) -> Words:
    """Points that a player must not fill: stones of its own all round, not too many of the other's diagonally.

    One of the other's makes no difference in the middle of the board, but does at its edge.
    """
    board = union(union(own, other), empty)
    found = without(empty, around(union(other, empty), size))
    rest = found
    while not is_empty(rest):
        eye = single(rest, lowest(rest))
        rest = without(rest, eye)
        corners = common(diagonals(eye, size), board)
        allowed = 1 if count(corners) == 4 else 0
        if count(common(corners, other)) > allowed:
            found = without(found, eye)
    return found


def _urgent(state: GoState, own: Words, other: Words, size: int) -> Words:
    """Where the stone of the last move is captured, or a group beside it saved from being captured."""
    last = single(own, state.last)
    found = without(own, own)
    freedom = liberties(group_of(last, other, size), state.empty, size)
    if count(freedom) == 1 and lowest(freedom) != state.ko:
        found = freedom
    rest = common(around(last, size), own)
    while not is_empty(rest):
        group = group_of(single(rest, lowest(rest)), own, size)
        rest = without(rest, group)
        freedom = liberties(group, state.empty, size)
        if count(freedom) == 1 and lowest(freedom) != state.ko:
            found = union(found, _rescue(group, freedom, other, state.empty, size))
    return found


def _answer(state: GoState, own: Words, other: Words, size: int, random: int) -> int:
    """A point beside the last move, each as often as good players take it, or none; ``random`` has 16 bits."""
    last = single(own, state.last)
    rest = common(union(around(last, size), diagonals(last, size)), state.empty)
    if state.ko != NO_POINT:
        rest = without(rest, single(rest, state.ko))
    while not is_empty(rest):
        place = lowest(rest)
        stone = single(rest, place)
        rest = without(rest, stone)
        random -= int(ANSWERED[pattern_at(place, own, other, state.empty, size)]) * (65_536 // CERTAIN)
        if random < 0:
            left = without(state.empty, stone)
            group = group_of(stone, union(own, stone), size)
            if count(liberties(group, left, size)) > 1 or not is_empty(captured_by(stone, other, left, size)):
                return place
            return NO_POINT
    return NO_POINT


def _rescue(group: Words, escape: Words, other: Words, empty: Words, size: int) -> Words:
    """The last liberty of a group, if a stone there gives it more than one, or captures."""
    left = without(empty, escape)
    after = liberties(union(group, escape), left, size)
    if count(after) > 1 or not is_empty(captured_by(escape, other, left, size)):
        return escape
    return without(escape, escape)
