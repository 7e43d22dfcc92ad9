"""Features of positions of backgammon, which its networks read (``zermelo.envs.games.backgammon.network``).

The features, most of them once for the player to move and once for the other one; all numbers are whole:

    =============  ===============================================================================================
    ``blot``       whether there is exactly one checker, for each of the own points 1 to 24
    ``point``      whether there are two or more: a made point; on 20 to 24 an anchor
    ``spare``      how many there are beyond two
    ``bar``        checkers on the bar
    ``shut_out``   with a checker on the bar, of the 36 rolls those by which it cannot enter
    ``off``        checkers borne off
    ``shots``      over all blots, how many of the 36 rolls hit, as far as distances tell
    ``at_risk``    the same, each times the pips that would be lost, in sixteenths
    ``home_risk``  the same, each times the points that the other player has made at home
    ``prime``      whether the longest row of made points is three, four, five, or six and more long
    ``trapped``    the other player's checkers behind a row of three and more, times its length
    ``stuck``      checkers on the rearmost point, times the rolls of 36 that do not carry one on in full
    ``hit``        of 36 rolls those that hit a blot, with closed points and the bar in the way
    ``two_hit``    those that reach two blots and more
    ``blocked``    over all checkers on points from 13 on with some of the other player's before them, the rolls of
                   36 that do not carry it on in full, in eighths
    ``contact``    the pips until no checker has one of the other player's before it
    ``barred``     as ``stuck``, whatever the number of checkers
    ``barrier``    the most rolls that do not carry a checker on from any point from 13 to the rearmost one: all of
                   them, those beyond 18 and those beyond 27
    ``count``      in a race: how many checkers, for each of the own points 1 to 24
    ``lead``       the pips ahead, beside what dice make of them: 4 more, divided by the root of all pips on the
                   board, in 32nds
    ``to_move``    1: what it is worth to be the one to roll
    =============  ===============================================================================================

After the roll, ``lead`` counts how far its numbers are above the average.

Source: shots and primes, and what is lost with them: Magriel, *Backgammon* (1976).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

_BAR: Final = 25
_OF_SIDE: Final = (
    *(("blot", 24), ("point", 24), ("spare", 24), ("bar", 1), ("shut_out", 1), ("off", 1), ("shots", 1)),
    *(("at_risk", 1), ("home_risk", 1), ("prime", 4), ("trapped", 1), ("stuck", 1)),
    *(("hit", 1), ("two_hit", 1), ("blocked", 1), ("contact", 1), ("barred", 1), ("barrier", 3)),
)
_SIZES: Final = (
    *((f"{who} {name}", size) for who in ("own", "other's") for name, size in _OF_SIDE),
    *(("lead", 1), ("to_move", 1)),
    *(("race, own count", 24), ("race, other's count", 24), ("race, lead", 1), ("race, to_move", 1)),
)
_STARTS: Final = (0, *itertools.accumulate(size for _, size in _SIZES))
BLOCKS: Final = tuple((name, start, size) for start, (name, size) in zip(_STARTS, _SIZES, strict=False))
"""The names of the features, each with the first one's number and how many there are."""
FEATURES: Final = _STARTS[-1]
"""How many features there are, those of races included."""
_, _POINT, _SPARE, _BAR_COUNT, _SHUT_OUT, _OFF, _SHOTS, _AT_RISK, _HOME_RISK = _STARTS[:9]
_PRIME, _TRAPPED, _STUCK, _HIT, _TWO_HIT, _BLOCKED, _CONTACT, _BARRED, _BARRIER = _STARTS[9:18]
_SIDE: Final = _STARTS[18]
_LEAD, _TO_MOVE, RACE, _, _RACE_LEAD = _STARTS[36:41]
MOST_ENTRIES: Final = 96
"""No position has more features than that which are not zero."""


def _rolls(holds: Callable[[Any, int, int], Any]) -> npt.NDArray[np.int64]:
    """For each set of distances 1 to 12 (bit 0 is 1), for how many of 36 rolls a function is true."""
    sets = np.arange(1 << 12)
    found = np.zeros(len(sets), np.int64)
    for high in range(1, 7):
        for low in range(1, high + 1):
            found += np.where(holds(sets, high, low), 1 if high == low else 2, 0)
    return found


def _reaches(sets: Any, high: int, low: int) -> Any:
    """True if a roll can be played so that a checker at one of the distances arrives."""
    steps = [low, 2 * low, 3 * low, 4 * low] if high == low else [high, low, high + low]
    return sets & sum(1 << step - 1 for step in steps if step <= 12) != 0


def _is_stopped(sets: Any, high: int, low: int) -> Any:
    """True if no checker can move by either number, as those distances are closed."""
    either = (sets >> high - 1 & sets >> low - 1) & 1
    return (sets >> high + low - 1 & 1) | either != 0


SHOTS: Final = _rolls(_reaches)
"""How many of 36 rolls hit a blot that has checkers before it at a set of distances, if no points are closed."""
STOPS: Final = _rolls(_is_stopped)
"""How many of 36 rolls do not take a checker the whole way, with a set of distances closed to it."""


def count_at(low: int, high: int, place: int) -> int:
    """The number of a player's checkers on a point."""
    return low >> 4 * place & 15 if place < 13 else high >> 4 * (place - 13) & 15


def _hits(attackers: int, on_bar: int, blots: int, made: int) -> tuple[int, int]:
    """Of 36 rolls those that hit a blot, and those that reach two.

    Bit ``p`` of the sets is point ``p`` of who is hit; ``on_bar`` of the attackers' checkers must enter first.
    """
    hit = two = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            reached = 0
            if high == low:
                at = attackers
                for step in range(4):
                    at = (1 << high if step < on_bar else at << high) & ~made
                    reached |= at
                    if step + 1 < on_bar and at == 0:
                        break
                    if step + 1 == on_bar and at != 0:
                        at |= attackers
            elif on_bar > 1:
                reached = 1 << high | 1 << low
            elif on_bar:
                reached = 1 << high | 1 << low
                if made >> high & 1 == 0:
                    reached |= (attackers | 1 << high) << low
                if made >> low & 1 == 0:
                    reached |= (attackers | 1 << low) << high
            else:
                by_high, by_low = attackers << high, attackers << low
                reached = by_high | by_low | (by_high & ~made) << low | (by_low & ~made) << high
            reached &= blots
            rolls = 1 if high == low else 2
            hit += rolls if reached else 0
            two += rolls if reached & reached - 1 else 0
    return hit, two


def _put(indices: Any, values: Any, count: int, index: int, value: int) -> int:
    if value == 0:
        return count
    indices[count] = index
    values[count] = value
    return count + 1


def _race(low: int, high: int, start: int, indices: Any, values: Any, count: int) -> int:
    for place in range(1, _BAR):
        count = _put(indices, values, count, start + place - 1, count_at(low, high, place))
    return count


class _Side(NamedTuple):
    """A player's checkers on places 0 to 12 and 13 to 25, in four bits each, and sets of points.

    Bit ``p`` of a set is the player's own point ``p``, of ``turned`` the other player's.
    """

    low: int
    high: int
    made: int
    blots: int
    turned: int
    rear: int
    pips: int


def _side_of(low: int, high: int) -> _Side:
    made = blots = turned = rear = pips = 0
    for place in range(1, _BAR + 1):
        number = count_at(low, high, place)
        if number:
            pips += number * place
            rear = place
            turned |= 1 << _BAR - place
            if number > 1:
                made |= 1 << place
            else:
                blots |= 1 << place
    return _Side(low, high, made, blots, turned, rear, pips)


def _stops(side: _Side, place: int) -> int:
    """Of 36 rolls those whose whole number a checker of the other player, on its own point, cannot move."""
    return int(STOPS[side.made >> 26 - place & 4095])


def _write_side(side: _Side, other: _Side, start: int, indices: Any, values: Any, count: int) -> int:
    low, high, made, blots = side.low, side.high, side.made, side.blots
    # 1. What stands where; the blots that can be hit; the longest row of made points.
    other_home = 0
    for place in range(1, 7):
        other_home += other.made >> place & 1
    other_all = other.made | other.blots
    shots = at_risk = home_risk = 0
    row = longest = longest_from = 0
    for place in range(1, _BAR):
        if made >> place & 1:
            number = count_at(low, high, place)
            count = _put(indices, values, count, start + _POINT + place - 1, 1)
            count = _put(indices, values, count, start + _SPARE + place - 1, number - 2)
            row += 1
            if row > longest:
                longest, longest_from = row, place - row + 1
            continue
        row = 0
        if blots >> place & 1:
            count = _put(indices, values, count, start + place - 1, 1)
            hits = int(SHOTS[other_all >> 26 - place & 4095])
            shots += hits
            at_risk += hits * (_BAR - place)
            home_risk += hits * other_home
    # 2. The bar, and what has been borne off.
    on_bar = high >> 4 * (_BAR - 13) & 15
    if on_bar:
        count = _put(indices, values, count, start + _BAR_COUNT, on_bar)
        count = _put(indices, values, count, start + _SHUT_OUT, other_home * other_home)
    count = _put(indices, values, count, start + _OFF, low & 15)
    # 3. Shots.
    count = _put(indices, values, count, start + _SHOTS, shots)
    count = _put(indices, values, count, start + _AT_RISK, at_risk >> 4)
    count = _put(indices, values, count, start + _HOME_RISK, home_risk)
    # 4. Primes, and who is behind them.
    if longest >= 3:
        count = _put(indices, values, count, start + _PRIME + min(longest, 6) - 3, 1)
        trapped = 0
        for place in range(_BAR - longest_from + 1, _BAR + 1):
            trapped += count_at(other.low, other.high, place)
        count = _put(indices, values, count, start + _TRAPPED, trapped * min(longest, 6))
    # 5. Shots as they are, with closed points between.
    if blots:
        hit, two = _hits(other.turned & ~1, other.high >> 4 * (_BAR - 13) & 15, blots & ~(1 << _BAR), made)
        count = _put(indices, values, count, start + _HIT, hit)
        count = _put(indices, values, count, start + _TWO_HIT, two)
    # 6. Those that do not get on, and pips to go until all are past one another.
    barred = _stops(other, side.rear)
    count = _put(indices, values, count, start + _STUCK, count_at(low, high, side.rear) * barred)
    count = _put(indices, values, count, start + _BARRED, barred)
    blocked = contact = barrier = 0
    last = _BAR - other.rear
    for place in range(last + 1, side.rear + 1):
        number = count_at(low, high, place)
        contact += number * (place - last)
        if place > 12:
            stops = _stops(other, place)
            blocked += number * stops
            barrier = max(barrier, stops)
    count = _put(indices, values, count, start + _BLOCKED, blocked >> 3)
    count = _put(indices, values, count, start + _CONTACT, contact)
    count = _put(indices, values, count, start + _BARRIER, barrier)
    count = _put(indices, values, count, start + _BARRIER + 1, max(barrier - 18, 0))
    return _put(indices, values, count, start + _BARRIER + 2, max(barrier - 27, 0))


def features(low: int, high: int, other_low: int, other_high: int, rolled: int, indices: Any, values: Any) -> int:
    """Writes the features that are not zero and returns how many there are.

    Args:
        low: The mover's checkers on places 0 to 12, in four bits each.
        high: Those on 13 to 25.
        other_low: The other player's, from its own side.
        other_high: The other player's.
        rolled: How many pips of the roll, if it is known, are more than the average.
        indices: A buffer of ``MOST_ENTRIES`` for the features' numbers.
        values: A buffer as long for their values.
    """
    side, other = _side_of(low, high), _side_of(other_low, other_high)
    lead = int(32.0 * (other.pips - side.pips + rolled + 4) / math.sqrt(side.pips + other.pips + 8))
    if side.rear + other.rear < _BAR:
        count = _race(low, high, RACE, indices, values, 0)
        count = _race(other_low, other_high, RACE + 24, indices, values, count)
        count = _put(indices, values, count, _RACE_LEAD, lead)
        return _put(indices, values, count, _RACE_LEAD + 1, 1)
    count = _write_side(side, other, 0, indices, values, 0)
    count = _write_side(other, side, _SIDE, indices, values, count)
    count = _put(indices, values, count, _LEAD, lead)
    return _put(indices, values, count, _TO_MOVE, 1)
