"""The recursion of max^n, as it is compiled over a game's rules: ``PlainMaxN``, node for node and sum for sum."""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.layout import SUM_NOT_CONSTANT
from zermelo.agents.kernels.memory import enter, has_memory, has_room
from zermelo.agents.tree_search.compiled.kernel_memory import (
    EXACT,
    LOWER,
    bound_of,
    is_proven,
    pack,
    probe,
    replace,
    serves,
    table_action_of,
    update_history,
)
from zermelo.agents.tree_search.compiled.kernel_nodes import (
    clear_line,
    copy_record,
    order_moves,
    read_entry,
    record_words,
    to_parent_record,
    write_bound,
    write_entry,
    write_evaluation,
    write_outcome,
)
from zermelo.agents.tree_search.compiled.record import TREE, MaxNRecord
from zermelo.envs.jit.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

FIRST, PARANOID, FRIENDLY, SPITEFUL, GENEROUS = range(5)  # the rules for ties, in the order of TieRule
PROVEN: Final = 1
BOUND: Final = 2
"""What a visit returns, as bits: no evaluation entered the values; the values are only a bound."""
_TOLERANCE: Final = 1e-9
_HEADER: Final = 2
"""Words before a candidate's record: its smallest action (-1 once it is out), and the action that is played."""


def tie_key(record: int, mover: int, search: MaxNRecord) -> float:
    """The number that the player to move minimizes among actions that are equally good for itself."""
    rule = search.tie_rule
    if rule == FIRST:
        return 0.0
    if rule == PARANOID:
        return load_float(record, search.root_seat)
    if rule == FRIENDLY:
        return -load_float(record, search.root_seat)
    total = 0.0
    for seat in range(search.seats):
        if seat != mover:
            total += load_float(record, seat)
    return total if rule == SPITEFUL else -total


def haste(record: int, mover: int, search: MaxNRecord) -> float:
    """The number that breaks ties of actions with equal values: wins come sooner, losses later."""
    if search.prefer_short_wins == 0:
        return 0.0
    value, middle = load_float(record, mover), search.middle
    plies = load_float(record, search.seats) + 1.0
    return plies if value > middle else -plies if value < middle else 0.0


def same_values(record: int, other: int, search: MaxNRecord) -> bool:
    """Whether two records are worth the same for everybody."""
    different = 0
    for seat in range(search.seats):
        different += load_float(record, seat) != load_float(other, seat)
    return different == 0


def join(first: int, end: int, action: int, mover: int, search: MaxNRecord) -> int:
    """Takes the record behind ``end`` among the candidates; where they end now.

    Of candidates that are worth the same for everybody only one stays: the sooner win, the later loss, else the
    smaller action.
    """
    record = end + 8 * _HEADER
    after = record + 8 * record_words(record, search.seats)
    least = action
    other = first
    while other < end:
        theirs = other + 8 * _HEADER
        if load(other, 0) >= 0 and same_values(record, theirs, search):
            least = min(least, load(other, 0))
            mine, hurry = haste(record, mover, search), haste(theirs, mover, search)
            if mine > hurry or (mine == hurry and action > load(other, 1)):
                store(other, 0, least)
                return end
            store(other, 0, search.minus_one)
            break
        other = theirs + 8 * record_words(theirs, search.seats)
    store(end, 0, least)
    store(end, 1, action)
    return after


def smallest(first: int, end: int, search: MaxNRecord) -> int:
    """The candidate with the smallest action."""
    chosen = first
    other = first
    while other < end:
        if load(other, 0) >= 0 and (load(chosen, 0) < 0 or load(other, 0) < load(chosen, 0)):
            chosen = other
        other += 8 * (_HEADER + record_words(other + 8 * _HEADER, search.seats))
    return chosen


def visit_child(rules: Rules, child: Any, depth: int, low: Score, high: Score, record: int, search: Any) -> int:
    """``TreeVariant.visit_child`` of max^n: what others may get bounds nothing from above."""
    bits = max_n(rules, child, depth, search.root_seat, low[0], search.minus_one + 2, search.arena, search)
    if search.stop == 0:
        copy_record(search.arena, record, search.num_values)
    return bits


def max_n(
    rules: Rules, state: Any, depth: int, parent: int, enough: float, ply: int, top: int, search: MaxNRecord
) -> int:
    """Writes the record of a state at ``top``; with ``BOUND`` it only says what the parent has at most.

    ``parent`` is the seat that moved here, or -1, and ``enough`` what that seat can already get elsewhere, or
    minus infinity. Behind ``top`` is the memory to work in.
    """
    # 1. Count the node; a finished game.
    if not enter(search, ply) or not has_memory(search, top):
        return 0
    seats = search.seats
    size = search.width
    if rules.is_terminal(state):
        write_outcome(rules, state, top, search)
        return PROVEN
    mover = rules.to_move(state)
    # 2. Chance: the average of every component, and of the length.
    if TREE.chance and mover < 0:
        if not has_room(search):
            return 0
        count = rules.chance_outcomes(state, words(top, size), floats(top + 8 * size, size))
        sums = top + 16 * size
        below = sums + 8 * (seats + 1)
        for row in range(seats + 1):
            store_float(sums, row, 0.0)
        all_proven = PROVEN
        for index in range(count):
            outcome = rules.result(state, load(top, index))
            bits = max_n(rules, outcome, depth, search.minus_one, -math.inf, ply, below, search)
            if search.stop != 0:
                return 0
            all_proven &= bits
            p = load_float(top, size + index)
            for row in range(seats + 1):
                store_float(sums, row, load_float(sums, row) + p * load_float(below, row))
        for row in range(seats + 1):
            store_float(top, row, load_float(sums, row))
        store(top, seats + 1, 0)
        return all_proven
    # 3. The depth limit.
    if depth <= 0:
        total = write_evaluation(rules, state, ply, top, search)
        if search.prunes != 0 and abs(total - search.total) > _TOLERANCE:
            search.wrong_values = top
            search.stop = SUM_NOT_CONSTANT
        return 0
    # 4. The table.
    lower, total = float(search.lower_utility), float(search.total)
    may_cut = search.prunes != 0 and parent >= 0 and parent != mover and enough > -math.inf
    key = 0
    table_action = -1
    if search.table != 0:
        key = rules.key(state)
        entry, data = probe(search, key)
        if data != 0:
            table_action = table_action_of(search, data)
            if serves(data, depth):
                if bound_of(data) == EXACT:
                    read_entry(entry, top, seats, table_action)
                    return is_proven(data)
                most = total - load_float(entry, 3) - (seats - 2) * lower
                if may_cut and most < enough - _TOLERANCE:
                    write_bound(top, seats, parent, most)
                    clear_line(top, seats, 0.0)
                    return is_proven(data) | BOUND
    # 5. The actions, most promising first.
    count = rules.legal_actions(state, words(top, size))
    killers = search.killers + 16 * ply
    order_moves(rules, state, mover, top, count, top + 8 * count, killers, table_action, True, search)
    upper = math.inf
    if search.prunes != 0 and search.tie_rule == FIRST:
        upper = min(float(search.upper_utility), total - (seats - 1) * lower)
    # 6. The best for the mover; among those, all that the rule for ties does not tell apart.
    first = top + 16 * count
    end = first
    best = -math.inf
    best_key = 0.0
    least_action = -1
    least_plies = 0.0
    all_proven = PROVEN
    for index in range(count):
        action = load(top, index)
        settled = least_action >= 0 and best >= upper and action > least_action
        if settled and (search.prefer_short_wins == 0 or least_plies <= 1.0):
            continue
        record = end + 8 * _HEADER
        child = rules.result(state, action)
        bits = max_n(rules, child, depth - 1, mover, best, ply + 1, record, search)
        if search.stop != 0:
            return 0
        all_proven &= bits
        own = load_float(record, mover)
        plies = load_float(record, seats) + 1.0
        if own > best:
            best = own
            least_action, least_plies = action, plies
            record = first + 8 * _HEADER
            copy_record(end + 8 * _HEADER, record, seats)
            # 7. Shallow pruning: what is left for the parent is less than it has elsewhere.
            most = total - best - (seats - 2) * lower
            if may_cut and most < enough - _TOLERANCE:
                update_history(search, action, mover, killers, depth)
                if search.table != 0:
                    entry = replace(search, key, pack(search, depth, LOWER, bits & PROVEN, action))
                    store_float(entry, 3, best)
                to_parent_record(record, top, seats, action, load_float(record, seats) + 1.0)
                write_bound(top, seats, parent, most)
                return bits & PROVEN | BOUND
            best_key = tie_key(record, mover, search)
            end = join(first, first, action, mover, search)
        elif own == best:
            if action < least_action:
                least_action, least_plies = action, plies
            new_key = tie_key(record, mover, search)
            if new_key < best_key:
                best_key = new_key
                copy_record(record, first + 8 * _HEADER, seats)
                end = join(first, first, action, mover, search)
            elif new_key == best_key:
                end = join(first, end, action, mover, search)
    # 8. Of what is left, the candidate with the smallest action.
    chosen = smallest(first, end, search)
    action = load(chosen, 1)
    record = chosen + 8 * _HEADER
    to_parent_record(record, top, seats, action, load_float(record, seats) + 1.0)
    if search.table != 0:
        data = pack(search, depth, EXACT, all_proven & PROVEN, action)
        write_entry(replace(search, key, data), top, seats)
    return all_proven & PROVEN
