"""The rules at a node, for kernels: outcome, evaluation, order of actions. Only kernels import it, and Numba.

Records of states lie one behind the other in an arena: values, distance, length of the principal variation,
actions.
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.scores import FITTED_UNIT, Score
from zermelo.agents.evaluators.network_kernel import network_value
from zermelo.agents.tree_search.compiled.kernel_memory import insert_sorted
from zermelo.agents.tree_search.compiled.record import TREE, TreeRecord
from zermelo.envs.jit.memory import load, load_float, store, store_float
from zermelo.envs.rules.protocol import Rules


def write_outcome(rules: Rules, state: Any, record: int, search: TreeRecord) -> None:
    """Writes the record of a finished state."""
    seats = search.num_values
    for seat in range(seats):
        utility = rules.utility(state, search.root_seat if seats == 1 else seat)
        store_float(record, seat, float(utility))
    clear_line(record, seats, 0.0)


def write_evaluation(rules: Rules, state: Any, ply: int, record: int, search: TreeRecord) -> float:
    """Writes what the evaluation, in 1024ths, says of an unfinished state; the sum over the seats."""
    seats = search.num_values
    total = 0.0
    clear_line(record, seats, 0.0)
    if TREE.network:
        first = network_value(rules, state, ply, search.fitted) / FITTED_UNIT
        store_float(record, 0, first if search.root_seat == 0 else search.total - first)
        return total
    for seat in range(seats):
        value = search.expected
        if search.evaluated != 0:
            evaluation = rules.evaluation(state, search.root_seat if seats == 1 else seat)
            value = min(max(evaluation, search.lower_evaluation), search.upper_evaluation) / 1024.0
        store_float(record, seat, value)
        total += value
    return total


def move_best_first(actions: int, scores: int, count: int, wanted: int) -> None:
    """Moves the actions of the highest scores to the front; of equal ones the first comes first."""
    for place in range(wanted):
        best = place
        for index in range(place + 1, count):
            if load_float(scores, index) > load_float(scores, best):
                best = index
        action = load(actions, best)
        score = load_float(scores, best)
        for index in range(best, place, -1):
            store(actions, index, load(actions, index - 1))
            store_float(scores, index, load_float(scores, index - 1))
        store(actions, place, action)
        store_float(scores, place, score)


def order_moves(
    rules: Rules,
    state: Any,
    mover: int,
    actions: int,
    count: int,
    scores: int,
    killers: int,
    first: int,
    hints: bool,
    search: TreeRecord,
) -> None:
    """Orders actions: the one to try first (-1 for none), killers, the rules' hints, if asked, and history."""
    if search.ordered == 0 or count < 2:
        return
    for index in range(count):
        hint = rules.ordering_hint(state, load(actions, index)) if hints else 0
        insert_sorted(search, actions, scores, index, hint, mover, killers, first)


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


def score_for_parent(search: TreeRecord, score: Score) -> Score:
    """A child's score, as it counts one ply earlier."""
    return score[0], score[1] + shift(search, score[0])


def edge_for_child(search: TreeRecord, edge: Score) -> Score:
    """A window's edge, as a child sees it."""
    return edge[0], edge[1] - shift(search, edge[0])


def shift(search: TreeRecord, value: float) -> float:
    """How the distance of a child's score changes on the way to its parent."""
    if search.prefer_short_wins == 0:
        return 0.0
    middle = search.middle
    return -1.0 if value > middle else 1.0 if value < middle else 0.0
