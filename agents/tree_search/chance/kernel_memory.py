"""Killers and the table of the search through chance, compiled."""

from __future__ import annotations

from typing import Final

from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.layout import Search
from zermelo.agents.tree_search.compiled_table import ACTION_SHIFT, INFINITE_DEPTH
from zermelo.agents.tree_search.kernel_memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    depth_of,
    is_proven,
    pack,
    probe,
    replace,
    serves,
    table_action_of,
)
from zermelo.agents.tree_search.kernel_nodes import clear_line, read_entry, write_bound, write_entry
from zermelo.envs.jit.memory import load_float, store_float
from zermelo.envs.rules.bits import shift_right

PROVEN: Final = 1
VALUES: Final = 2
NO_TAG: Final = 0
"""The tag of a state in which no opponent chooses and chance does not move."""
PLACES: Final = 64
"""Plies that have killers of their own after each outcome of chance; later ones share the last."""


def killers_of(search: Search, ply: int, outcome: int) -> int:
    """The address of the killers of a ply; after an outcome of chance (-1 for none) they are others."""
    if outcome < 0:
        return search.killers + 16 * ply
    return search.killers + 16 * (MAX_PLIES + 2 + min(ply, PLACES - 1) * search.actions + outcome)


def entry_serves(search: Search, data: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would; without pruning, after as many nodes."""
    if search.prunes == 0 and depth_of(data) != min(depth, INFINITE_DEPTH):
        return False
    return serves(data, depth)


def above_action(search: Search, data: int) -> int:
    """The bits above an entry's action."""
    return shift_right(data, ACTION_SHIFT + search.action_bits)


def entry_of(key: int, tag: int, search: Search) -> tuple[int, int]:
    """The address and the data of the entry of a key and a tag; data 0 if there is none."""
    entry, data = probe(search, key)
    return entry, data if above_action(search, data) >> 1 == tag else 0


def look_up(
    key: int, tag: int, depth: int, alpha: Score, beta: Score, top: int, search: Search
) -> tuple[int, int]:
    """The table's action of a state, -1 for none, and the bits of its record if the entry settles it, else -1."""
    entry, data = entry_of(key, tag, search)
    if data == 0:
        return search.nothing, search.nothing
    action = table_action_of(search, data)
    if not entry_serves(search, data, depth):
        return action, search.nothing
    score, bound = (load_float(entry, 3 + search.own), load_float(entry, 2)), bound_of(data)
    settled = bound == EXACT
    if bound == LOWER:
        settled = not score < beta
    elif bound == UPPER:
        settled = not alpha < score
    if search.min_probability > 0.0:
        settled = settled and load_float(entry, 3 + search.num_values) == search.probability
    if not settled:
        return action, search.nothing
    read_entry(entry, top, search.num_values, action)
    return action, is_proven(data) | (above_action(search, data) & 1) << 1


def write_to_table(
    key: int,
    tag: int,
    depth: int,
    bound: int,
    found: int,
    action: int,
    probability: float,
    top: int,
    search: Search,
) -> None:
    """Stores the record at ``top``."""
    data = pack(search, depth, bound, found & PROVEN, action)
    data |= (tag << 1 | found >> 1) << ACTION_SHIFT + search.action_bits
    entry = replace(search, key, data)
    write_entry(entry, top, search.num_values)
    if search.min_probability > 0.0:
        store_float(entry, 3 + search.num_values, probability)


def write_limit(limit: Score, top: int, search: Search) -> int:
    """Writes the record of a state that is worth no more, or no less, than the game can give."""
    write_bound(top, search.num_values, search.own, limit[0])
    clear_line(top, search.num_values, limit[1])
    return PROVEN
