"""What the compiled searches for many players share: records of values by seat, a table, exact sums, ordering.

A record is what is known of a state, in words at an address: every seat's value as a float; the moves to the end,
as a float; the length of the line of best play; and the line. A node writes its record where its parent says, and
works in the memory behind. So records lie one behind the other, each as long as it is, and a node takes as much
memory as it has something to remember.

The table has buckets of two entries: the key; the entry's data; two numbers as the search likes, and every seat's
value. An entry of a smaller depth, or of an earlier iteration, is replaced.

Importing this module imports Numba: only kernels do.
"""

from __future__ import annotations

from typing import Final

from numba.extending import register_jitable

from zermelo.agents.compiled.context import (
    AGE,
    DEEPEST,
    HISTORY,
    KILLERS,
    MAX_PLY,
    MOST_NODES,
    NODES,
    ORDERED,
    OUT_OF_NODES,
    STOP,
    TABLE,
    TABLE_BITS,
    TABLE_HITS,
    TABLE_STORES,
    TOO_DEEP,
)
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.memory import load, load_float, store, store_float

__all__ = [
    "ARENA_END",
    "BOUND",
    "CHOICES",
    "EXACT",
    "INFINITE_DEPTH",
    "LOWER",
    "NOBODY",
    "OUT_OF_MEMORY",
    "PROVEN",
    "ROOM",
    "SEATS",
    "UPPER",
    "close_record",
    "enter",
    "exact_sum",
    "find",
    "insert_sorted",
    "keep",
    "move_record",
    "record_words",
    "remember_cut",
]

# Words of the context that only these searches use.
SEATS: Final = 40
NOBODY: Final = 41
"""Holds -1: a recursive kernel takes no constants as arguments."""
ARENA_END: Final = 42
"""The address behind the memory for records."""
ROOM: Final = 43
"""Bytes that a node may use before it visits another."""
CHOICES: Final = 44
"""How many choices a node can have."""

OUT_OF_MEMORY: Final = 10
"""Why a kernel stopped: there is no room for more records."""

PROVEN: Final = 1
BOUND: Final = 2
"""What a visit returns, as bits: no evaluation entered the values; the values are only a bound."""

EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2
INFINITE_DEPTH: Final = 65_535
_MULTIPLIER: Final = -7046029254386353131


def enter(context: int, ply: int, top: int) -> bool:
    """Counts a node, unless a limit forbids it; and sees that there is room for what it will remember."""
    if load(context, STOP) != 0:
        return False
    nodes = load(context, NODES)
    if nodes >= load(context, MOST_NODES):
        store(context, STOP, OUT_OF_NODES)
        return False
    if top + load(context, ROOM) > load(context, ARENA_END):
        store(context, STOP, OUT_OF_MEMORY)
        return False
    store(context, NODES, nodes + 1)
    if ply > load(context, DEEPEST):
        store(context, DEEPEST, ply)
        if ply >= load(context, MAX_PLY):
            store(context, STOP, TOO_DEEP)
            return False
    return True


def record_words(record: int, seats: int) -> int:
    """How many words a record has."""
    return seats + 2 + load(record, seats + 1)


def close_record(record: int, seats: int, plies: float) -> None:
    """Ends a record whose line is empty."""
    store_float(record, seats, plies)
    store(record, seats + 1, 0)


def move_record(source: int, target: int, seats: int, action: int) -> None:
    """Copies a record down, with an action before its line, one move further from the end."""
    length = load(source, seats + 1)
    for index in range(seats):
        store_float(target, index, load_float(source, index))
    store_float(target, seats, load_float(source, seats) + 1.0)
    store(target, seats + 1, length + 1)
    store(target, seats + 2, action)
    for index in range(length):
        store(target, seats + 3 + index, load(source, seats + 2 + index))


def exact_sum(terms: int, count: int, partials: int) -> float:
    """The sum of floats, rounded once: what ``math.fsum`` gives.

    Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", Discrete and
    Computational Geometry 18 (1997).

    Args:
        terms: The address of the floats.
        count: How many.
        partials: The address of as many words to work in.
    """
    used = 0
    for number in range(count):
        rest = load_float(terms, number)
        kept = 0
        for index in range(used):
            part = load_float(partials, index)
            if abs(rest) < abs(part):
                rest, part = part, rest
            high = rest + part
            low = part - (high - rest)
            if low != 0.0:
                store_float(partials, kept, low)
                kept += 1
            rest = high
        if rest != 0.0:
            store_float(partials, kept, rest)
            kept += 1
        used = kept
    if used == 0:
        return 0.0
    used -= 1
    total = load_float(partials, used)
    low = 0.0
    while used > 0:
        before = total
        used -= 1
        part = load_float(partials, used)
        total = before + part
        low = part - (total - before)
        if low != 0.0:
            break
    if used > 0:  # halfway between two floats the parts left decide
        below = load_float(partials, used - 1)
        if (low < 0.0 and below < 0.0) or (low > 0.0 and below > 0.0):
            twice = low * 2.0
            moved = total + twice
            if twice == moved - total:
                total = moved
    return total


def insert_sorted(
    context: int, actions: int, promises: int, index: int, hint: int, mover: int, ply: int, table_action: int
) -> None:
    """Moves action number ``index`` to its place among those before it; ties as they are.

    First comes the table's action, then killers, then the rules' hint, then history.
    """
    action = load(actions, index)
    killers = load(context, KILLERS) + 16 * ply
    history = load(context, HISTORY) + 8 * mover * load(context, CHOICES)
    hint = min(max(hint, -(1 << 27)), 1 << 27)
    promise = hint << 33 | min(load(history, action), (1 << 32) - 1)
    if action == load(killers, 0) or action == load(killers, 1):
        promise += 1 << 61
    if action == table_action:
        promise += 1 << 62
    place = index
    while place > 0 and load(promises, place - 1) < promise:
        store(promises, place, load(promises, place - 1))
        store(actions, place, load(actions, place - 1))
        place -= 1
    store(promises, place, promise)
    store(actions, place, action)


def remember_cut(context: int, action: int, mover: int, ply: int, depth: int) -> None:
    """An action that made its siblings needless is tried earlier elsewhere."""
    if load(context, ORDERED) == 0:
        return
    killers = load(context, KILLERS) + 16 * ply
    first = load(killers, 0)
    if action != first and action != load(killers, 1):
        store(killers, 1, first)
        store(killers, 0, action)
    weight = min(depth, 16)
    history = load(context, HISTORY) + 8 * mover * load(context, CHOICES)
    store(history, action, load(history, action) + weight * weight)


def _bucket(context: int, key: int, chooser: int) -> int:
    size = 8 * (4 + load(context, SEATS))
    mixed = (key ^ shift_right(key, 32) ^ chooser + 1) * _MULTIPLIER
    return load(context, TABLE) + 2 * size * shift_right(mixed, 64 - load(context, TABLE_BITS))


def find(context: int, key: int, chooser: int) -> int:
    """The address of the entry kept for a key; 0 if none is.

    The entry's data, in its second word, from the lowest bit: one that is set, the iteration's age, whether it is
    proven, the bound (2 bits), the depth (16), the action plus one (23) and who chooses plus one.
    """
    size = 8 * (4 + load(context, SEATS))
    bucket = _bucket(context, key, chooser)
    for number in range(2):
        entry = bucket + number * size
        data = load(entry, 1)
        if data & 1 and load(entry, 0) == key and (shift_right(data, 44) & 0xFFFF) == chooser + 1:
            store(context, TABLE_HITS, load(context, TABLE_HITS) + 1)
            return entry
    return 0


def keep(context: int, key: int, chooser: int, action: int, depth: int, bound: int, proven: int) -> int:
    """Makes an entry, in the place of the one that is worth least; its address, for the values."""
    size = 8 * (4 + load(context, SEATS))
    bucket = _bucket(context, key, chooser)
    age = load(context, AGE)
    chosen = bucket
    least = 1 << 60
    for number in range(2):
        entry = bucket + number * size
        data = load(entry, 1)
        if data & 1 == 0 or (load(entry, 0) == key and (shift_right(data, 44) & 0xFFFF) == chooser + 1):
            chosen = entry
            break
        worth = (shift_right(data, 5) & 0xFFFF) + (1 << 20 if (data >> 1 & 1) == age else 0)
        if worth < least:
            least = worth
            chosen = entry
    store(chosen, 0, key)
    store(chosen, 1, chooser + 1 << 44 | action + 1 << 21 | depth << 5 | bound << 3 | proven << 2 | age << 1 | 1)
    store(context, TABLE_STORES, load(context, TABLE_STORES) + 1)
    return chosen


for _function in (
    enter,
    record_words,
    close_record,
    move_record,
    exact_sum,
    insert_sorted,
    remember_cut,
    _bucket,
    find,
    keep,
):
    register_jitable(_function)
