"""The ways to play a roll in backgammon.

``own`` is everybody's checkers as the player to move sees them, and as states have them: its own on places 0 to 12
and 13 to 25, and the other player's in the same way. Actions are numbered as ``Backgammon`` says.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.backgammon.features import count_at

BAR: Final = 25
PLACES: Final = 26
ORDER: Final = 26 * 26
"""Actions from here on play the lower number first."""

Checkers = tuple[int, int, int, int]


def can_play(own: Checkers, place: int, die: int) -> bool:
    """True if a checker can be played from a point by a number."""
    low, high, other_low, other_high = own
    if not count_at(low, high, place) or (place != BAR and high >> 4 * (BAR - 13)):
        return False
    target = place - die
    if target >= 1:
        return count_at(other_low, other_high, 25 - target) < 2
    if high or low >> 4 * 7:  # somebody is not home
        return False
    return target == 0 or low >> 4 * (place + 1) == 0


def played(own: Checkers, place: int, die: int) -> Checkers:
    """Everybody's checkers after one is played; what it hits goes to the bar."""
    low, high, other_low, other_high = own
    if place < 13:
        low -= 1 << 4 * place
    else:
        high -= 1 << 4 * (place - 13)
    target = max(place - die, 0)
    if target < 13:
        low += 1 << 4 * target
    else:
        high += 1 << 4 * (target - 13)
    if target:
        there = 25 - target
        if there < 13 and other_low >> 4 * there & 15:
            other_low -= 1 << 4 * there
            other_high += 1 << 4 * (BAR - 13)
        elif there >= 13 and other_high >> 4 * (there - 13) & 15:
            other_high -= 1 << 4 * (there - 13)
            other_high += 1 << 4 * (BAR - 13)
    return low, high, other_low, other_high


def _is_hit(own: Checkers, place: int) -> bool:
    return count_at(own[2], own[3], 25 - place) == 1


def both_numbers(own: Checkers, high_die: int, low_die: int, actions: list[int]) -> int:
    """The ways to play both numbers, the higher one first."""
    count = 0
    for first in range(1, PLACES):
        if not can_play(own, first, high_die):
            continue
        after = played(own, first, high_die)
        for second in range(1, PLACES):
            if can_play(after, second, low_die):
                actions[count] = PLACES * first + second
                count += 1
    return count


def lower_number_first(own: Checkers, high_die: int, low_die: int, actions: list[int], start: int) -> int:
    """The ways to play the lower number first that give what the higher one first does not."""
    count = 0
    for first in range(1, PLACES):
        if not can_play(own, first, low_die):
            continue
        after = played(own, first, low_die)
        for second in range(1, PLACES):
            if not can_play(after, second, high_die):
                continue
            if can_play(own, second, high_die) and can_play(played(own, second, high_die), first, low_die):
                continue  # the same two checkers, the other way round
            if second == first - low_die and not _is_hit(own, second):  # one checker goes all the way
                stop = first - high_die
                open_way = stop >= 1 and can_play(own, first, high_die) and not _is_hit(own, stop)
                if open_way and can_play(played(own, first, high_die), stop, low_die):
                    continue  # it can go the other way, and hits nothing there either
            actions[start + count] = ORDER + PLACES * first + second
            count += 1
    return count


def doubles(own: Checkers, roll: int, actions: Any) -> int:
    """The ways to play half of a double: two checkers, or as many as can be played.

    No checker comes from a higher place than one before it: a play of several checkers can always be put in that
    order. Of two checkers in the first half only those count after which most can be played in the second.
    """
    die, is_first = roll & 7, roll < 64
    highest = BAR if is_first else roll >> 6
    count = most = 0
    for first in range(1, highest + 1):
        if not can_play(own, first, die):
            continue
        after = played(own, first, die)
        for second in range(1, first + 1):
            if not can_play(after, second, die):
                continue
            further = _most_more(played(after, second, die), second, die) if is_first else 0
            if further > most:
                most, count = further, 0
            if further == most:
                actions[count] = PLACES * first + second
                count += 1
    if count:
        return count
    for first in range(1, highest + 1):
        if can_play(own, first, die):
            actions[count] = PLACES * first
            count += 1
    if count == 0:
        actions[0] = 0
        count = 1
    return count


def _most_more(own: Checkers, highest: int, die: int) -> int:
    """The number of checkers, up to two, that can be played from points up to a given one."""
    most = 0
    for first in range(1, highest + 1):
        if can_play(own, first, die):
            most = 1
            after = played(own, first, die)
            for second in range(1, first + 1):
                if can_play(after, second, die):
                    return 2
    return most
