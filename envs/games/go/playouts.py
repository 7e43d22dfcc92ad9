"""Playouts of Go: beside the last move where something is urgent or a pattern fits, else anywhere sensible.

S. Gelly, Y. Wang, R. Munos and O. Teytaud, *Modification of UCT with patterns in Monte-Carlo Go*, INRIA RR-6062,
2006.
"""

from __future__ import annotations

from typing import Final

from zermelo.envs.games.go.board import (
    NO_POINT,
    GoState,
    around,
    captured_by,
    diagonals,
    group_of,
    is_allowed,
    liberties,
    stones_in_atari,
)
from zermelo.envs.games.go.patterns import fits
from zermelo.envs.rules.bits import mix, shift_right
from zermelo.envs.rules.words import Words, count, difference, intersection, is_empty, lowest, nth, single, union

_RARELY: Final = 7
"""One in so many and one moves that put several own stones into atari is played: some kill, as a throw-in does."""
_ROOM: Final = 5
"""The most points of an eye that has one vital point."""


def playout_point(state: GoState, size: int, random: int) -> int:
    """The place of a playout's next stone, or ``NO_POINT`` for a pass."""
    own, other = (state.white, state.black) if state.turn & 1 else (state.black, state.white)
    if state.last != NO_POINT:
        found = _urgent(state, own, other, size)
        if is_empty(found):
            found = _vital(state, own, other, size)
        if is_empty(found):
            found = _fitting(state, own, other, size)
        if not is_empty(found):
            return _drawn(found, random)
    free = difference(state.empty, own_eyes(own, other, state.empty, size))
    if state.ko != NO_POINT:
        free = difference(free, single(free, state.ko))
    while not is_empty(free):
        place = _drawn(free, random)
        if is_allowed(place, own, other, state.empty, size) and (
            random & _RARELY == 0 or stones_in_atari(place, own, other, state.empty, size) <= 1
        ):
            return place
        free = difference(free, single(free, place))
        random = mix(random)
    return NO_POINT


def _drawn(places: Words, random: int) -> int:
    return nth(places, shift_right(random, 32) * count(places) >> 32)


def own_eyes(own: Words, other: Words, empty: Words, size: int) -> Words:
    """Points that a player must not fill: stones of its own all round, not too many of the other's diagonally.

    One of the other's makes no difference in the middle of the board, but does at its edge.
    """
    board = union(union(own, other), empty)
    found = difference(empty, around(union(other, empty), size))
    rest = found
    while not is_empty(rest):
        eye = single(rest, lowest(rest))
        rest = difference(rest, eye)
        corners = intersection(diagonals(eye, size), board)
        allowed = 1 if count(corners) == 4 else 0
        if count(intersection(corners, other)) > allowed:
            found = difference(found, eye)
    return found


def _urgent(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The points that capture the last stone, or save a group beside it."""
    last = single(own, state.last)
    found = difference(own, own)
    freedom = liberties(group_of(last, other, size), state.empty, size)
    if count(freedom) == 1 and lowest(freedom) != state.ko:
        found = freedom
    rest = intersection(around(last, size), own)
    while not is_empty(rest):
        group = group_of(single(rest, lowest(rest)), own, size)
        rest = difference(rest, group)
        freedom = liberties(group, state.empty, size)
        if count(freedom) == 1:
            found = union(found, rescues(group, freedom, other, state.empty, size))
    if state.ko != NO_POINT:
        found = difference(found, single(found, state.ko))
    return found


def rescues(group: Words, escape: Words, other: Words, empty: Words, size: int) -> Words:
    """The moves that save a group in atari: its last liberty, if it gains more there, and captures around it."""
    found = difference(escape, escape)
    left = difference(empty, escape)
    gets_away = count(liberties(union(group, escape), left, size)) > 1
    if gets_away or not is_empty(captured_by(escape, other, left, size)):
        found = escape
    rest = intersection(around(group, size), other)
    while not is_empty(rest):
        near = group_of(single(rest, lowest(rest)), other, size)
        rest = difference(rest, near)
        freedom = liberties(near, empty, size)
        if count(freedom) == 1:
            found = union(found, freedom)
    return found


def _vital(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The middle of a small room beside the last move, from where it is one eye or can be made two (nakade)."""
    last = single(own, state.last)
    found = difference(own, own)
    rest = intersection(around(last, size), state.empty)
    while not is_empty(rest):
        room = single(rest, lowest(rest))
        wider = intersection(union(room, around(room, size)), state.empty)
        while wider != room and count(wider) <= _ROOM:
            room = wider
            wider = intersection(union(room, around(room, size)), state.empty)
        rest = difference(rest, wider)
        if wider != room or count(room) < 3:
            continue
        walls = around(room, size)
        if not is_empty(intersection(walls, own)) and not is_empty(intersection(walls, other)):
            continue
        points = room
        while not is_empty(points):
            point = single(points, lowest(points))
            points = difference(points, point)
            if count(intersection(around(point, size), room)) == count(room) - 1:
                found = union(found, point)
    return found


def _fitting(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The points beside the last move where a stone makes a good shape, and is not in atari."""
    last = single(own, state.last)
    rest = intersection(union(around(last, size), diagonals(last, size)), state.empty)
    if state.ko != NO_POINT:
        rest = difference(rest, single(rest, state.ko))
    found = difference(rest, rest)
    while not is_empty(rest):
        place = lowest(rest)
        stone = single(rest, place)
        rest = difference(rest, stone)
        is_good = fits(place, own, other, state.empty, size)
        if is_good and stones_in_atari(place, own, other, state.empty, size) == 0:
            found = union(found, stone)
    return found
