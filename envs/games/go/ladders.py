"""Ladders: whether a chain of stones with one liberty gets away when it runs."""

from __future__ import annotations

from zermelo.envs.games.go.board import around, group_of, liberties
from zermelo.envs.rules.words import Words, count, is_empty, lowest, single


def is_caught(group: Words, own: Words, other: Words, empty: Words, size: int) -> bool:
    """True if a group in atari is captured in a ladder: each time it has two liberties, it is in atari again.

    It counts as safe where it could capture on the way. The opponent takes the liberty that leaves it fewer.
    """
    for _ in range(2 * size):
        escape = liberties(group, empty, size)
        if is_empty(escape):
            return True
        own, empty = own | escape, empty - escape
        group = group_of(escape, own, size)
        freedom = liberties(group, empty, size)
        if count(freedom) > 2:
            return False
        if count(freedom) < 2:
            return True
        best, chosen = 3, freedom
        attack = single(freedom, lowest(freedom))
        for _ in range(2):
            run, attack = attack, freedom - attack
            after = count(liberties(group | run, empty - freedom, size))
            if after < best:
                best, chosen = after, attack
        if best == 3:
            return False
        other, empty = other | chosen, empty - chosen
        if can_capture(group, other, empty, size):
            return False
    return False


def can_capture(group: Words, other: Words, empty: Words, size: int) -> bool:
    """True if one of the opponent's groups beside this one is in atari, or was never allowed."""
    rest = around(group, size) & other
    while not is_empty(rest):
        near = group_of(single(rest, lowest(rest)), other, size)
        rest = rest - near
        if count(liberties(near, empty, size)) <= 1:
            return True
    return False
