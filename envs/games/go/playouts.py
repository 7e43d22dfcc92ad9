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
from zermelo.envs.rules.words import Words, count, is_empty, lowest, nth, single

_RARELY: Final = 7
"""One in so many and one moves that put several own stones into atari is played: some kill, as a throw-in does."""
_ROOM: Final = 5  # the most points of an eye that has one vital point


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
    free = state.empty - own_eyes(own, other, state.empty, size)
    if state.ko != NO_POINT:
        free = free - single(free, state.ko)
    while not is_empty(free):
        place = _drawn(free, random)
        if is_allowed(place, own, other, state.empty, size) and (
            random & _RARELY == 0 or stones_in_atari(place, own, other, state.empty, size) <= 1
        ):
            return place
        free = free - single(free, place)
        random = mix(random)
    return NO_POINT


def _drawn(places: Words, random: int) -> int:
    return nth(places, shift_right(random, 32) * count(places) >> 32)


def own_eyes(own: Words, other: Words, empty: Words, size: int) -> Words:
    """Points that a player must not fill: stones of its own all round, not too many of the other's diagonally.

    One of the other's makes no difference in the middle of the board, but does at its edge.
    """
    board = own | other | empty
    found = empty - around(other | empty, size)
    rest = found
    while not is_empty(rest):
        eye = single(rest, lowest(rest))
        rest = rest - eye
        corners = diagonals(eye, size) & board
        allowed = 1 if count(corners) == 4 else 0
        if count(corners & other) > allowed:
            found = found - eye
    return found


def _urgent(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The points that capture the last stone, or save a group beside it."""
    last = single(own, state.last)
    found = own - own
    freedom = liberties(group_of(last, other, size), state.empty, size)
    if count(freedom) == 1 and lowest(freedom) != state.ko:
        found = freedom
    rest = around(last, size) & own
    while not is_empty(rest):
        group = group_of(single(rest, lowest(rest)), own, size)
        rest = rest - group
        freedom = liberties(group, state.empty, size)
        if count(freedom) == 1:
            found = found | rescues(group, freedom, other, state.empty, size)
    if state.ko != NO_POINT:
        found = found - single(found, state.ko)
    return found


def rescues(group: Words, escape: Words, other: Words, empty: Words, size: int) -> Words:
    """The moves that save a group in atari: its last liberty, if it gains more there, and captures around it."""
    found = escape - escape
    left = empty - escape
    gets_away = count(liberties(group | escape, left, size)) > 1
    if gets_away or not is_empty(captured_by(escape, other, left, size)):
        found = escape
    rest = around(group, size) & other
    while not is_empty(rest):
        near = group_of(single(rest, lowest(rest)), other, size)
        rest = rest - near
        freedom = liberties(near, empty, size)
        if count(freedom) == 1:
            found = found | freedom
    return found


def _vital(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The middle of a small room beside the last move, from where it is one eye or can be made two (nakade)."""
    last = single(own, state.last)
    found = own - own
    rest = around(last, size) & state.empty
    while not is_empty(rest):
        room = single(rest, lowest(rest))
        wider = (room | around(room, size)) & state.empty
        while wider != room and count(wider) <= _ROOM:
            room = wider
            wider = (room | around(room, size)) & state.empty
        rest = rest - wider
        if wider != room or count(room) < 3:
            continue
        walls = around(room, size)
        if not is_empty(walls & own) and not is_empty(walls & other):
            continue
        points = room
        while not is_empty(points):
            point = single(points, lowest(points))
            points = points - point
            if count(around(point, size) & room) == count(room) - 1:
                found = found | point
    return found


def _fitting(state: GoState, own: Words, other: Words, size: int) -> Words:
    """The points beside the last move where a stone makes a good shape, and is not in atari."""
    last = single(own, state.last)
    rest = (around(last, size) | diagonals(last, size)) & state.empty
    if state.ko != NO_POINT:
        rest = rest - single(rest, state.ko)
    found = rest - rest
    while not is_empty(rest):
        place = lowest(rest)
        stone = single(rest, place)
        rest = rest - stone
        is_good = fits(place, own, other, state.empty, size)
        if is_good and stones_in_atari(place, own, other, state.empty, size) == 0:
            found = found | stone
    return found
