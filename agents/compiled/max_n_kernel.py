"""The recursion of max^n, as it is compiled over a game's rules: ``search.max_n``, node for node.

Values are floats in points of utility, as there: whole numbers and 1024ths of them, or averages over chance that
are rounded once. So the two find the same numbers, the same ties and the same actions.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.compiled.context import ACTIONS, ORDERED, SOONER, STOP, TABLE
from zermelo.agents.compiled.max_n_memory import (
    BOUND,
    EXACT,
    INFINITE_DEPTH,
    LOWER,
    NOBODY,
    PROVEN,
    SEATS,
    close_record,
    enter,
    exact_sum,
    find,
    insert_sorted,
    keep,
    move_record,
    record_words,
    remember_cut,
)
from zermelo.envs.rules.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

__all__ = [
    "EVALUATED",
    "FIRST",
    "FRIENDLY",
    "GENEROUS",
    "GREATEST",
    "LEAST",
    "MIDDLE",
    "PARANOID",
    "PRUNES",
    "ROOT_SEAT",
    "RULE",
    "SCRATCH",
    "SHARES",
    "SPITEFUL",
    "SUM",
    "SUM_NOT_CONSTANT",
    "WRONG_VALUES",
    "max_n",
]

# Words of the context that only max^n uses.
RULE: Final = 48
ROOT_SEAT: Final = 49
PRUNES: Final = 50
LEAST: Final = 51
GREATEST: Final = 52
"""The utility bounds, in points."""
SUM: Final = 53
"""What utilities add up to, in points."""
EVALUATED: Final = 54
"""Whether the rules' evaluation counts at the depth limit; otherwise the word ``MIDDLE`` does."""
MIDDLE: Final = 55
"""A float: what every seat is taken to expect."""
SHARES: Final = 56
"""A float: what a seat gets that neither wins nor loses."""
SCRATCH: Final = 57
"""The address of two words for each seat."""
WRONG_VALUES: Final = 58
"""The address of evaluations that do not add up."""

SUM_NOT_CONSTANT: Final = 11
"""Why a kernel stopped: evaluations do not add up, so it must not prune."""

FIRST: Final = 0
PARANOID: Final = 1
FRIENDLY: Final = 2
SPITEFUL: Final = 3
GENEROUS: Final = 4

_UNIT: Final = 1024.0
_TOLERANCE: Final = 1e-9
_HEADER: Final = 2
"""Words before a candidate's record: its smallest action (-1 once it is out), and the action that is played."""


def judge(rules: Rules, state: Any, top: int, context: int) -> int:
    """Writes what the evaluation says of an unfinished state."""
    seats = load(context, SEATS)
    total = 0.0
    for seat in range(seats):
        value = load_float(context, MIDDLE)
        if load(context, EVALUATED) != 0:
            least, greatest = load(context, LEAST) * 1024 + 1, load(context, GREATEST) * 1024 - 1
            value = min(max(rules.evaluation(state, seat), least), greatest) / _UNIT
        store_float(top, seat, value)
        total += value
    close_record(top, seats, 0.0)
    if load(context, PRUNES) != 0 and abs(total - load(context, SUM)) > _TOLERANCE:
        store(context, WRONG_VALUES, top)
        store(context, STOP, SUM_NOT_CONSTANT)
    return 0


def arrange(
    rules: Rules, state: Any, count: int, mover: int, ply: int, action: int, top: int, context: int
) -> None:
    """Orders the actions at ``top``, most promising first."""
    if load(context, ORDERED) == 0 or count < 2:
        return
    promises = top + 8 * load(context, ACTIONS)
    for index in range(count):
        hint = rules.ordering_hint(state, load(top, index))
        insert_sorted(context, top, promises, index, hint, mover, ply, action)


def tie_key(record: int, mover: int, context: int) -> float:
    """What the player to move minimizes among actions that are as good for itself."""
    rule = load(context, RULE)
    if rule == FIRST:
        return 0.0
    if rule == PARANOID:
        return load_float(record, load(context, ROOT_SEAT))
    if rule == FRIENDLY:
        return -load_float(record, load(context, ROOT_SEAT))
    scratch = load(context, SCRATCH)
    seats = load(context, SEATS)
    others = 0
    for seat in range(seats):
        if seat != mover:
            store_float(scratch, others, load_float(record, seat))
            others += 1
    total = exact_sum(scratch, others, scratch + 8 * seats)
    return total if rule == SPITEFUL else -total


def haste(record: int, mover: int, context: int) -> float:
    """What a player minimizes of actions that are the same for everybody: wins come sooner, losses later."""
    if load(context, SOONER) == 0:
        return 0.0
    value, middle = load_float(record, mover), load_float(context, SHARES)
    plies = load_float(record, load(context, SEATS)) + 1.0
    return plies if value > middle else -plies if value < middle else 0.0


def same_values(record: int, other: int, context: int) -> bool:
    """Whether two records are worth the same for everybody."""
    different = 0
    for seat in range(load(context, SEATS)):
        different += load_float(record, seat) != load_float(other, seat)
    return different == 0


def join(first: int, end: int, action: int, mover: int, context: int) -> int:
    """Takes the record behind ``end`` among the candidates; where they end now.

    Of candidates that are worth the same for everybody only one stays: the sooner win, the later loss, else the
    smaller action.
    """
    record = end + 8 * _HEADER
    after = record + 8 * record_words(record, load(context, SEATS))
    least = action
    other = first
    while other < end:
        theirs = other + 8 * _HEADER
        if load(other, 0) >= 0 and same_values(record, theirs, context):
            least = min(least, load(other, 0))
            mine, hurry = haste(record, mover, context), haste(theirs, mover, context)
            if mine > hurry or (mine == hurry and action > load(other, 1)):
                store(other, 0, least)
                return end
            store(other, 0, load(context, NOBODY))
            break
        other = theirs + 8 * record_words(theirs, load(context, SEATS))
    store(end, 0, least)
    store(end, 1, action)
    return after


def bring_down(source: int, first: int, context: int) -> int:
    """Makes the record the only candidate's, and says where that is."""
    target = first + 8 * _HEADER
    if source != target:
        for index in range(record_words(source, load(context, SEATS))):
            store(target, index, load(source, index))
    return target


def max_n(rules: Rules, state: Any, depth: int, parent: int, kept: float, ply: int, top: int, context: int) -> int:
    """Writes the record of a state at ``top``; with ``BOUND`` it only says what the parent has at most.

    Args:
        rules: The rules.
        state: The state.
        depth: Moves to look ahead.
        parent: The seat that moved here, or -1.
        kept: What that seat can already get elsewhere, or minus infinity.
        ply: Moves below the root.
        top: Where to write, and to work behind.
        context: The search.
    """
    # 1. Count the node; a finished game.
    if not enter(context, ply, top):
        return 0
    seats = load(context, SEATS)
    size = load(context, ACTIONS)
    if rules.is_terminal(state):
        for seat in range(seats):
            store_float(top, seat, float(rules.utility(state, seat)))
        close_record(top, seats, 0.0)
        return PROVEN
    mover = rules.to_move(state)
    # 2. Chance: the average of every component, and of the length.
    if mover < 0:
        count = rules.chance_outcomes(state, words(top, size), floats(top + 8 * size, size))
        terms = top + 16 * size
        partials = terms + 8 * (seats + 1) * count
        below = partials + 8 * count
        all_proven = PROVEN
        for index in range(count):
            outcome = rules.result(state, load(top, index))
            found = max_n(rules, outcome, depth, load(context, NOBODY), -math.inf, ply, below, context)
            if load(context, STOP) != 0:
                return 0
            all_proven &= found
            for row in range(seats + 1):
                term = load_float(top, size + index) * load_float(below, row)
                store_float(terms, row * count + index, term)
        for row in range(seats + 1):
            store_float(top, row, exact_sum(terms + 8 * row * count, count, partials))
        store(top, seats + 1, 0)
        return all_proven
    # 3. The depth limit.
    if depth <= 0:
        return judge(rules, state, top, context)
    # 4. The table.
    least, total = float(load(context, LEAST)), float(load(context, SUM))
    may_cut = load(context, PRUNES) != 0 and parent >= 0 and parent != mover and kept > -math.inf
    asked = min(depth, INFINITE_DEPTH)
    key = 0
    table_action = -1
    if load(context, TABLE) != 0:
        key = rules.key(state)
        entry = find(context, key, load(context, NOBODY))
        if entry != 0:
            data = load(entry, 1)
            table_action = (data >> 21 & (1 << 23) - 1) - 1
            entry_depth, proven = data >> 5 & 0xFFFF, data >> 2 & 1
            if entry_depth == asked or (proven != 0 and entry_depth <= asked):
                if data >> 3 & 3 == EXACT:
                    for seat in range(seats):
                        store_float(top, seat, load_float(entry, 4 + seat))
                    store_float(top, seats, load_float(entry, 2))
                    store(top, seats + 1, 1)
                    store(top, seats + 2, table_action)
                    return proven
                most = total - load_float(entry, 4) - (seats - 2) * least
                if may_cut and most < kept - _TOLERANCE:
                    for seat in range(seats):
                        store_float(top, seat, math.nan)
                    store_float(top, parent, most)
                    close_record(top, seats, 0.0)
                    return proven | BOUND
    # 5. The actions, most promising first.
    count = rules.legal_actions(state, words(top, size))
    arrange(rules, state, count, mover, ply, table_action, top, context)
    greatest = math.inf
    if load(context, PRUNES) != 0 and load(context, RULE) == FIRST:
        greatest = min(float(load(context, GREATEST)), total - (seats - 1) * least)
    # 6. The best for the mover; among those, all that the rule for ties does not tell apart.
    first = top + 16 * size
    end = first
    best = -math.inf
    best_key = 0.0
    least_action = -1
    least_plies = 0.0
    all_proven = PROVEN
    for index in range(count):
        action = load(top, index)
        settled = least_action >= 0 and best >= greatest and action > least_action
        if settled and (load(context, SOONER) == 0 or least_plies <= 1.0):
            continue
        record = end + 8 * _HEADER
        child = rules.result(state, action)
        found = max_n(rules, child, depth - 1, mover, best, ply + 1, record, context)
        if load(context, STOP) != 0:
            return 0
        all_proven &= found
        own = load_float(record, mover)
        plies = load_float(record, seats) + 1.0
        if own > best:
            best = own
            least_action, least_plies = action, plies
            record = bring_down(record, first, context)
            # 7. Shallow pruning: what is left for the parent is less than it has elsewhere.
            most = total - best - (seats - 2) * least
            if may_cut and most < kept - _TOLERANCE:
                remember_cut(context, action, mover, ply, depth)
                move_record(record, top, seats, action)
                if load(context, TABLE) != 0:
                    entry = keep(context, key, load(context, NOBODY), action, asked, LOWER, found & PROVEN)
                    store_float(entry, 4, best)
                for seat in range(seats):
                    store_float(top, seat, math.nan)
                store_float(top, parent, most)
                return found & PROVEN | BOUND
            best_key = tie_key(record, mover, context)
            end = join(first, first, action, mover, context)
        elif own == best:
            if action < least_action:
                least_action, least_plies = action, plies
            new_key = tie_key(record, mover, context)
            if new_key < best_key:
                best_key = new_key
                record = bring_down(record, first, context)
                end = join(first, first, action, mover, context)
            elif new_key == best_key:
                end = join(first, end, action, mover, context)
    # 8. Of what is left, the candidate with the smallest action.
    chosen = first
    other = first
    while other < end:
        if load(other, 0) >= 0 and (load(chosen, 0) < 0 or load(other, 0) < load(chosen, 0)):
            chosen = other
        other += 8 * (_HEADER + record_words(other + 8 * _HEADER, seats))
    action = load(chosen, 1)
    move_record(chosen + 8 * _HEADER, top, seats, action)
    if load(context, TABLE) != 0:
        entry = keep(context, key, load(context, NOBODY), action, asked, EXACT, all_proven & PROVEN)
        store_float(entry, 2, load_float(top, seats))
        for seat in range(seats):
            store_float(entry, 4 + seat, load_float(top, seat))
    return all_proven & PROVEN
