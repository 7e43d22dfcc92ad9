"""Records, which kernels write of the states they visit, one behind the other in an arena.

A record is what is known of a state, in words at an address: the values of so many seats as the kernel wants, as
floats; a float that says how far the end is; the length of the principal variation; and that. A node writes its
record where its parent says, and works in the memory behind.
"""

from __future__ import annotations

import math

from zermelo.agents.compiled.layout import Search
from zermelo.envs.jit.memory import load, store, store_float


def record_words(record: int, seats: int) -> int:
    """The length of a record in words."""
    return seats + 2 + load(record, seats + 1)


def clear_line(record: int, seats: int, distance: float) -> None:
    """Writes all of a record that comes after the values; its principal variation is empty."""
    store_float(record, seats, distance)
    store(record, seats + 1, 0)


def write_bound(record: int, seats: int, seat: int, value: float) -> None:
    """Writes a lower or an upper bound on what one seat gets."""
    for other in range(seats):
        store_float(record, other, math.nan)
    store_float(record, seat, value)


def copy_record(source: int, target: int, seats: int) -> int:
    """Copies a record down in memory; the address behind the copy."""
    count = record_words(source, seats)
    if source != target:
        for index in range(count):
            store(target, index, load(source, index))
    return target + 8 * count


def to_parent_record(source: int, target: int, seats: int, action: int, distance: float) -> None:
    """Copies a child's record down in memory as its parent's: with the action first, and another distance."""
    length = load(source, seats + 1)
    for index in range(seats):
        store(target, index, load(source, index))
    store_float(target, seats, distance)
    store(target, seats + 1, length + 1)
    store(target, seats + 2, action)
    for index in range(length):
        store(target, seats + 3 + index, load(source, seats + 2 + index))


def read_entry(entry: int, record: int, seats: int, action: int) -> None:
    """Writes the record of a table's entry: a distance and values behind its data, and its action, -1 for none."""
    for seat in range(seats):
        store(record, seat, load(entry, 3 + seat))
    store(record, seats, load(entry, 2))
    store(record, seats + 1, 1 if action >= 0 else 0)
    store(record, seats + 2, action)


def write_entry(entry: int, record: int, seats: int) -> None:
    """Writes a record's values and distance into a table's entry."""
    store(entry, 2, load(record, seats))
    for seat in range(seats):
        store(entry, 3 + seat, load(record, seat))


def is_less(value: float, distance: float, than: float, than_distance: float) -> bool:
    """The order of scores."""
    return value < than or (value == than and distance < than_distance)


def shift(search: Search, value: float) -> float:
    """How the distance of a child's score changes on the way to its parent."""
    if search.sooner == 0:
        return 0.0
    middle = search.middle
    return -1.0 if value > middle else 1.0 if value < middle else 0.0
