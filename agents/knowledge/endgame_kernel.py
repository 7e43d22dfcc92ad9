"""Endgame tables in compiled searches: a position that a table knows is a proven leaf."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.jit.memory import load
from zermelo.envs.rules.protocol import Rules
from zermelo.envs.rules.scores import WIN

ABSENT: Final = -32768  # in place of the score of what is no position, or of one that is not known
SCORES, UPPERS, ENTRIES, KEYS, GAINS, MASK, PARTS = range(7)  # the words of a table's block; its parts come last


def table_score(rules: Rules, state: Any, table: int) -> int:
    """The score of an unfinished state for its mover, in a table's block of words; ``ABSENT`` if it has none."""
    place = 0
    if load(table, KEYS) != 0:
        key = rules.key(state)
        for symmetry in range(1, rules.symmetries()):
            key = min(key, rules.key(rules.symmetric_state(state, symmetry)))
        keys, above = load(table, KEYS), load(table, ENTRIES)
        while place < above:
            middle = (place + above) >> 1
            if load(keys, middle) < key:
                place = middle + 1
            else:
                above = middle
        if place == load(table, ENTRIES) or load(keys, place) != key:
            return ABSENT
    else:
        part = rules.table_part(state)
        if part < 0:
            return ABSENT
        slot = part & load(table, MASK)
        stored = load(table, PARTS + 3 * slot)
        while stored != part + 1:
            if stored == 0:
                return ABSENT
            slot = (slot + 1) & load(table, MASK)
            stored = load(table, PARTS + 3 * slot)
        index = rules.table_index(state)
        if index < 0 or index >= load(table, PARTS + 3 * slot + 2):  # beside the table there is other memory
            return ABSENT
        place = load(table, PARTS + 3 * slot + 1) + index
    score = short(load(table, SCORES), place)
    if score == ABSENT or load(table, GAINS) == 0:
        return score
    lower, upper = rules.utility_bounds()
    lead = rules.table_lead(state)
    value = min(max(score + lead, lower), upper)
    most = min(max(short(load(table, UPPERS), place) + lead, lower), upper)
    return value if value == most and rules.table_horizon(state) > 0 else ABSENT


def short(array: int, place: int) -> int:
    """The number at a place of an array of 16 bits each."""
    word = load(array, place >> 2) >> ((place & 3) << 4) & 0xFFFF
    return word - 0x10000 if word >= 0x8000 else word


def may_be_undone(rules: Rules, state: Any, score: int, table: int) -> bool:
    """True if the game's past, or another rule, might turn a win in the table into a draw."""
    return load(table, GAINS) == 0 and score != 0 and WIN - abs(score) > rules.table_horizon(state)
