"""Memory of the compiled search through chance: killers, the table, and the bounds of outcomes (Star1, Star2).

A chance event's outcomes lie in blocks of ``count`` words each, one behind the other: the outcomes; their
probabilities, lower and upper bounds; then what was found by probing: the action (-1 for none), value, distance,
and whether it is proven.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import Score
from zermelo.agents.tree_search.compiled.kernel_memory import (
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
from zermelo.agents.tree_search.compiled.kernel_nodes import clear_line, read_entry, write_bound, write_entry
from zermelo.agents.tree_search.compiled.record import GeneralRecord
from zermelo.agents.tree_search.compiled.table import ACTION_SHIFT, INFINITE_DEPTH
from zermelo.envs.jit.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

PROVEN: Final = 1
VALUES: Final = 2
NO_TAG: Final = 0
"""The tag of a state in which no opponent chooses and chance does not move."""
PLACES: Final = 64
"""Plies that have killers of their own after each outcome of chance; later ones share the last."""


def killers_of(search: GeneralRecord, ply: int, outcome: int) -> int:
    """The address of the killers of a ply; after an outcome of chance (-1 for none) they are others."""
    if outcome < 0:
        return search.killers + 16 * ply
    return search.killers + 16 * (MAX_PLIES + 2 + min(ply, PLACES - 1) * search.actions + outcome)


def entry_serves(search: GeneralRecord, data: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would; without pruning, after as many nodes."""
    if search.prunes == 0 and depth_of(data) != min(depth, INFINITE_DEPTH):
        return False
    return serves(data, depth)


def above_action(search: GeneralRecord, data: int) -> int:
    """The bits above an entry's action."""
    return shift_right(data, ACTION_SHIFT + search.action_bits)


def entry_of(key: int, tag: int, search: GeneralRecord) -> tuple[int, int]:
    """The address and the data of the entry of a key and a tag; data 0 if there is none."""
    entry, data = probe(search, key)
    return entry, data if above_action(search, data) >> 1 == tag else 0


def look_up(
    key: int, tag: int, depth: int, alpha: Score, beta: Score, top: int, search: GeneralRecord
) -> tuple[int, int]:
    """The table's action of a state, -1 for none, and the bits of its record if the entry settles it, else -1."""
    entry, data = entry_of(key, tag, search)
    if data == 0:
        return search.minus_one, search.minus_one
    action = table_action_of(search, data)
    if not entry_serves(search, data, depth):
        return action, search.minus_one
    score, bound = (load_float(entry, 3 + search.own), load_float(entry, 2)), bound_of(data)
    settled = bound == EXACT
    if bound == LOWER:
        settled = not score < beta
    elif bound == UPPER:
        settled = not alpha < score
    if not settled:
        return action, search.minus_one
    read_entry(entry, top, search.num_values, action)
    return action, is_proven(data) | (above_action(search, data) & 1) << 1


def write_to_table(
    key: int, tag: int, depth: int, bound: int, bits: int, action: int, top: int, search: GeneralRecord
) -> None:
    """Stores the record at ``top``."""
    data = pack(search, depth, bound, bits & PROVEN, action)
    data |= (tag << 1 | bits >> 1) << ACTION_SHIFT + search.action_bits
    write_entry(replace(search, key, data), top, search.num_values)


def write_limit(limit: Score, top: int, search: GeneralRecord) -> int:
    """Writes the record of a state that is worth no more, or no less, than the game can give."""
    write_bound(top, search.num_values, search.own, limit[0])
    clear_line(top, search.num_values, limit[1])
    return PROVEN


BLOCKS: Final = 8


def list_outcomes(rules: Rules, state: Any, outcomes: int, search: GeneralRecord) -> int:
    """Writes a chance state's outcomes into blocks, each worth what the game can give; how many."""
    size = search.width
    listed = outcomes + 8 * size
    drawn = rules.chance_outcomes(state, words(outcomes, size), floats(listed, size))
    count = 0
    for index in range(drawn):
        p = load_float(listed, index)
        if p > 0.0:
            store(outcomes, count, load(outcomes, index))
            store_float(listed, count, p)
            count += 1
    block = 8 * count
    probabilities = outcomes + block
    for index in range(count):
        store_float(probabilities, index, load_float(listed, index))
    for index in range(count):
        store_float(probabilities + block, index, search.lower_value)
        store_float(probabilities + 2 * block, index, search.upper_value)
        store(probabilities + 3 * block, index, search.minus_one)
    return count


def tighten(outcomes: int, count: int, index: int, value: float, bound: float, side: int) -> float:
    """A bound of the average, ``LOWER`` or ``UPPER``, once an outcome is known to be worth no less, or no more."""
    bounds = outcomes + 8 * count * (1 + side)
    before = load_float(bounds, index)
    if value > before if side == LOWER else value < before:
        bound += load_float(outcomes + 8 * count, index) * (value - before)
        store_float(bounds, index, value)
    return bound


def floor_of(search: GeneralRecord, outcomes: int, count: int, index: int, alpha: float, high: float) -> float:
    """The value that an outcome needs for the average to reach alpha; at most ``high``."""
    p = load_float(outcomes + 8 * count, index)
    others = high - p * load_float(outcomes + 24 * count, index)
    return (alpha - search.slack - others) / p


def ceiling_of(search: GeneralRecord, outcomes: int, count: int, index: int, beta: float, low: float) -> float:
    """The upper bound of an outcome's value for which the average stays below beta; ``low`` or more."""
    p = load_float(outcomes + 8 * count, index)
    others = low - p * load_float(outcomes + 16 * count, index)
    return (beta + search.slack - others) / p


def outside(search: GeneralRecord, low: float, high: float, alpha: float, beta: float) -> int:
    """Which bound of an average lies outside the window: ``UPPER``, ``LOWER``, or 0."""
    slack = search.slack / 2
    if high < alpha - slack:
        return UPPER
    if low > beta + slack:
        return LOWER
    return 0


def store_probe(outcomes: int, count: int, index: int, action: int, record: int, proven: int) -> None:
    """Writes down what a visit has found of an action in an outcome."""
    block = 8 * count
    store(outcomes + 4 * block, index, action)
    store(outcomes + 5 * block, index, load(record, 0))
    store(outcomes + 6 * block, index, load(record, 1))
    store(outcomes + 7 * block, index, proven)


def pass_probe_down(search: GeneralRecord, outcomes: int, count: int, index: int) -> None:
    """Tells the visit of an outcome, which comes next, what a probe has found there."""
    block = 8 * count
    search.known = load(outcomes + 4 * block, index)
    search.known_value = load_float(outcomes + 5 * block, index)
    search.known_distance = load_float(outcomes + 6 * block, index)
    search.known_proven = load(outcomes + 7 * block, index)
