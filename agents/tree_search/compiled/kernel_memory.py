"""Memory of compiled tree searches: principal variations, move scores and the transposition table.

The table has buckets of two entries. An entry is a key, exclusive-or the data; the data; and words for scores.
Threads write without locks: an entry torn by two of them, or of another position, does not give back the key
(kernels that use the words behind the data run in one thread). With a game's own 64-bit key no position is ever
taken for another; with the default key, a hash, a probe that should miss hits with a probability below 2 ** -62.
The entry of the smaller depth, or of an earlier iteration, is replaced.

The data are, from the lowest bit: age (1 bit), proven (1), bound (2), depth + 1 (13), action + 1
(``search.action_bits``), and what the kernel likes above that.
"""

from __future__ import annotations

from typing import Final

from zermelo.agents.kernels.memory import MULTIPLIER, line_of, row_of
from zermelo.agents.tree_search.compiled.record import TreeRecord
from zermelo.agents.tree_search.compiled.table import ACTION_SHIFT, INFINITE_DEPTH
from zermelo.agents.tree_search.interface import HIGH_HINT
from zermelo.envs.jit.memory import load, store, wrapped_product
from zermelo.envs.rules.bits import shift_right

EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2


def update_pv(search: TreeRecord, ply: int, action: int) -> None:
    """The ply's principal variation becomes this action and the one below."""
    here = line_of(search, ply)
    below = line_of(search, ply + 1)
    length = load(row_of(search, ply + 1), 0)
    store(row_of(search, ply), 0, length + 1)
    store(here, 0, action)
    for index in range(length):
        store(here, index + 1, load(below, index))


def insert_sorted(
    search: TreeRecord,
    actions: int,
    scores: int,
    index: int,
    hint: int,
    mover: int,
    killers: int,
    table_action: int,
) -> None:
    """Moves action number ``index`` to its place among those before it; ties as they are.

    First comes the table's action, then the rules' hint if it is high, killers (as action + 1), the hint, history.
    """
    action = load(actions, index)
    history = search.history + 8 * mover * search.choices
    hint = min(max(hint, -(1 << 27) + 1), (1 << 27) - 1)
    score = hint << 33 | min(load(history, action), (1 << 32) - 1)
    if hint >= HIGH_HINT:
        score += 1 << 61
    elif action + 1 == load(killers, 0) or action + 1 == load(killers, 1):
        score += (1 << 60) + (1 << 59)
    if action == table_action:
        score += 1 << 62
    place = index
    while place > 0 and load(scores, place - 1) < score:
        store(scores, place, load(scores, place - 1))
        store(actions, place, load(actions, place - 1))
        place -= 1
    store(scores, place, score)
    store(actions, place, action)


def update_history(search: TreeRecord, action: int, mover: int, killers: int, depth: int) -> None:
    """An action that made its siblings needless is tried earlier elsewhere."""
    if search.ordered == 0:
        return
    first = load(killers, 0)
    if action + 1 != first and action + 1 != load(killers, 1):
        store(killers, 1, first)
        store(killers, 0, action + 1)
    weight = min(depth, 16)
    history = search.history + 8 * mover * search.choices
    store(history, action, load(history, action) + weight * weight)


def pack(search: TreeRecord, depth: int, bound: int, proven: int, action: int) -> int:
    """The data of an entry, without what the kernel puts above ``search.action_bits``; never 0."""
    if action + 1 >= 1 << search.action_bits:
        action = -1
    return (
        (action + 1) << ACTION_SHIFT | min(depth, INFINITE_DEPTH) + 1 << 4 | bound << 2 | proven << 1 | search.age
    )


def bound_of(data: int) -> int:
    """The bound that an entry's score is."""
    return data >> 2 & 3


def is_proven(data: int) -> int:
    """Whether an entry's score is proven, 0 or 1."""
    return data >> 1 & 1


def depth_of(data: int) -> int:
    """The depth to which an entry was searched."""
    return (data >> 4 & 8191) - 1


def table_action_of(search: TreeRecord, data: int) -> int:
    """An entry's action, or -1."""
    return (data >> ACTION_SHIFT & (1 << search.action_bits) - 1) - 1


def serves(data: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would: of that depth itself, or proven before."""
    depth = min(depth, INFINITE_DEPTH)
    entry_depth = depth_of(data)
    return entry_depth == depth or (is_proven(data) != 0 and entry_depth <= depth)


def bucket_of(search: TreeRecord, key: int) -> int:
    """The address of a key's bucket."""
    mixed = wrapped_product(key ^ shift_right(key, 32), MULTIPLIER)
    return search.table + 16 * search.entry_words * shift_right(mixed, 64 - search.table_bits)


def probe(search: TreeRecord, key: int) -> tuple[int, int]:
    """The address and the data of the entry of a key; data 0 if there is none."""
    entry = bucket_of(search, key)
    for _ in range(2):
        data = load(entry, 1)
        if data != 0 and load(entry, 0) ^ data == key:
            search.table_hits += 1
            return entry, data
        entry += 8 * search.entry_words
    return entry, 0


def replace(search: TreeRecord, key: int, data: int) -> int:
    """Makes an entry, in place of the same position's, else of what is older or less deep; its address."""
    entry = bucket_of(search, key)
    chosen = entry
    least = 1 << 20
    for _ in range(2):
        old = load(entry, 1)
        if old == 0:
            filled = load(search.journal, 0) + 1
            store(search.journal, 0, filled)
            if filled <= search.journal_room:
                store(search.journal, filled, entry)
            chosen = entry
            break
        if load(entry, 0) ^ old == key:
            chosen = entry
            break
        worth = depth_of(old) + (1 << 14 if old & 1 == search.age else 0)
        if worth < least:
            least = worth
            chosen = entry
        entry += 8 * search.entry_words
    store(chosen, 0, key ^ data)
    store(chosen, 1, data)
    search.table_stores += 1
    return chosen
