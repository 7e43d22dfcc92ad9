"""Alpha-beta of one seat against all others, as it is compiled over a game's rules without chance.

It does what ``search.alpha_beta`` does in such games, node for node: paranoid search, and with
``REPLIES`` best-reply search over what ``search.best_reply`` makes of a game. Scores are pairs of
floats, as there: a value for the seat that searches, and its promptness, which a record has where the plies are.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.compiled.context import ACTIONS, ORDERED, SOONER, STOP, TABLE, TOO_DEEP
from zermelo.agents.compiled.max_n_memory import (
    CHOICES,
    EXACT,
    INFINITE_DEPTH,
    LOWER,
    PROVEN,
    SEATS,
    UPPER,
    close_record,
    enter,
    find,
    insert_sorted,
    keep,
    move_record,
    record_words,
    remember_cut,
)
from zermelo.envs.rules.memory import load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

__all__ = [
    "EVALUATED",
    "EXPECTED",
    "GREATEST",
    "HIGHEST",
    "HIGHEST_PROMPTNESS",
    "LEAST",
    "LOWEST",
    "LOWEST_PROMPTNESS",
    "MIDDLE",
    "PASSES",
    "REPLIES",
    "ROOT_SEAT",
    "SCRATCH",
    "VALUES",
    "visit",
]

# Words of the context that only these searches use.
ROOT_SEAT: Final = 48
"""The seat that maximizes."""
REPLIES: Final = 49
"""Whether only one opponent answers."""
PASSES: Final = 50
"""Whether opponents that do not choose skip their turn."""
SCRATCH: Final = 51
"""The address of as many words as there are actions."""
LEAST: Final = 52
GREATEST: Final = 53
"""The utility bounds, in points."""
EVALUATED: Final = 54
"""Whether the rules' evaluation counts at the depth limit; otherwise ``EXPECTED`` does."""
EXPECTED: Final = 55
"""A float: what every seat is taken to expect."""
MIDDLE: Final = 56
"""A float: the value that is neither a win nor a loss."""
LOWEST: Final = 57
LOWEST_PROMPTNESS: Final = 58
HIGHEST: Final = 59
HIGHEST_PROMPTNESS: Final = 60
"""Floats: between these scores is that of every unfinished state."""

VALUES: Final = 4
"""What a visit returns, as a bit: the record has every seat's value, not only the score."""

LAST_PLACE: Final = 63
"""From this ply on all plies learn together which actions cut."""
_UNIT: Final = 1024.0
_LONGEST: Final = 5000
"""Opponents that do not choose move so often in a row at most."""


def is_less(value: float, promptness: float, than: float, than_promptness: float) -> bool:
    """The order of scores."""
    return value < than or (value == than and promptness < than_promptness)


def slower(value: float, context: int) -> float:
    """How the promptness of a score changes one ply earlier."""
    if load(context, SOONER) == 0:
        return 0.0
    middle = load_float(context, MIDDLE)
    return -1.0 if value > middle else 1.0 if value < middle else 0.0


def estimate(rules: Rules, state: Any, top: int, context: int) -> int:
    """Writes what the evaluation says of an unfinished state."""
    seats = load(context, SEATS)
    for seat in range(seats):
        value = load_float(context, EXPECTED)
        if load(context, EVALUATED) != 0:
            least, greatest = load(context, LEAST) * 1024 + 1, load(context, GREATEST) * 1024 - 1
            value = min(max(rules.evaluation(state, seat), least), greatest) / _UNIT
        store_float(top, seat, value)
    close_record(top, seats, 0.0)
    return VALUES


def write_bound(top: int, value: float, promptness: float, context: int) -> int:
    """Writes a score that follows from the rules' bounds alone."""
    seats = load(context, SEATS)
    for seat in range(seats):
        store_float(top, seat, math.nan)
    store_float(top, load(context, ROOT_SEAT), value)
    close_record(top, seats, promptness)
    return PROVEN


def is_settled(rules: Rules, state: Any, context: int) -> bool:
    """Whether no opponent is to move."""
    return rules.is_terminal(state) or rules.to_move(state) == load(context, ROOT_SEAT)


def usual(rules: Rules, state: Any, context: int) -> int:
    """What an opponent plays that does not choose."""
    scratch = load(context, SCRATCH)
    count = rules.legal_actions(state, words(scratch, load(context, ACTIONS)))
    chosen = load(scratch, 0)
    most = rules.ordering_hint(state, chosen)
    for index in range(1, count):
        hint = rules.ordering_hint(state, load(scratch, index))
        if hint > most:
            most = hint
            chosen = load(scratch, index)
    return chosen


def step(rules: Rules, state: Any, context: int) -> Any:
    """One opponent that does not choose moves as usual, or skips its turn."""
    if load(context, PASSES) != 0:
        return rules.pass_turn(state)
    return rules.result(state, usual(rules, state, context))


def played_out(rules: Rules, state: Any, chooser: int, context: int) -> tuple[Any, int]:
    """Where the others come, and who chooses there: the same opponent if it is to move again, else -1."""
    steps = 0
    while not is_settled(rules, state, context):
        mover = rules.to_move(state)
        if mover == chooser:
            return state, chooser
        if load(context, PASSES) != 0 and steps == load(context, SEATS):
            return state, mover
        state = step(rules, state, context)
        steps += 1
        if steps > _LONGEST:
            store(context, STOP, TOO_DEEP)
            break
    return state, -1


def list_choices(rules: Rules, state: Any, chooser: int, codes: int, context: int) -> int:
    """Writes what the opponents can choose, as steps before the choice times ``ACTIONS``, plus the action."""
    size = load(context, ACTIONS)
    legal = codes + 8 * load(context, CHOICES)
    passing = load(context, PASSES) != 0
    count = steps = passed = 0
    while not is_settled(rules, state, context) and steps <= _LONGEST:
        mover = rules.to_move(state)
        if passed >> mover & 1 != 0:
            if passing:
                break
        else:
            number = rules.legal_actions(state, words(legal, size))
            skipped = -1 if passing else usual(rules, state, context)
            for index in range(number):
                action = load(legal, index)
                # Once one of them could have played as usual, that of the next ones is the same choice, unless it
                # can choose again.
                if action == skipped and passed != 0:
                    after = played_out(rules, rules.result(state, action), mover, context)
                    if after[1] < 0:
                        continue
                store(codes, count, steps * size + action)
                count += 1
            if chooser >= 0:
                break
            passed |= 1 << mover
        state = step(rules, state, context)
        steps += 1
    if steps > _LONGEST:
        store(context, STOP, TOO_DEEP)
    return count


def chosen(rules: Rules, state: Any, code: int, context: int) -> tuple[Any, int]:
    """Where a choice leads, and who chooses there."""
    size = load(context, ACTIONS)
    for _ in range(code // size):
        state = step(rules, state, context)
    mover = rules.to_move(state)
    return played_out(rules, rules.result(state, code % size), mover, context)


def visit(
    rules: Rules,
    state: Any,
    depth: int,
    alpha: float,
    alpha_promptness: float,
    beta: float,
    beta_promptness: float,
    chooser: int,
    ply: int,
    top: int,
    context: int,
) -> int:
    """Writes the record of a state at ``top``: exact between alpha and beta, else a bound.

    Args:
        rules: The rules.
        state: The state.
        depth: Moves to look ahead.
        alpha: The window's lower edge, its value.
        alpha_promptness: And its promptness.
        beta: The window's upper edge, its value.
        beta_promptness: And its promptness.
        chooser: Which opponent chooses until the seat moves again; -1 for none yet.
        ply: Moves below the root.
        top: Where to write, and to work behind.
        context: The search.
    """
    # 1. Count the node; a finished game, or the depth limit.
    if not enter(context, ply, top):
        return 0
    seats = load(context, SEATS)
    if rules.is_terminal(state):
        for seat in range(seats):
            store_float(top, seat, float(rules.utility(state, seat)))
        close_record(top, seats, 0.0)
        return PROVEN | VALUES
    if depth <= 0:
        return estimate(rules, state, top, context)
    # 2. Nobody gets more than the greatest utility, one ply from here.
    lowest, lowest_promptness = load_float(context, LOWEST), load_float(context, LOWEST_PROMPTNESS)
    highest, highest_promptness = load_float(context, HIGHEST), load_float(context, HIGHEST_PROMPTNESS)
    if not is_less(alpha, alpha_promptness, highest, highest_promptness):
        return write_bound(top, highest, highest_promptness, context)
    if not is_less(lowest, lowest_promptness, beta, beta_promptness):
        return write_bound(top, lowest, lowest_promptness, context)
    # 3. The table.
    me = load(context, ROOT_SEAT)
    mover = rules.to_move(state)
    asked = min(depth, INFINITE_DEPTH)
    key = 0
    table_action = -1
    if load(context, TABLE) != 0:
        key = rules.key(state)
        entry = find(context, key, chooser)
        if entry != 0:
            data = load(entry, 1)
            table_action = (data >> 21 & (1 << 23) - 1) - 1
            entry_depth, proven = data >> 5 & 0xFFFF, data >> 2 & 1
            if entry_depth == asked or (proven != 0 and entry_depth <= asked):
                value, promptness = load_float(entry, 4 + me), load_float(entry, 2)
                bound = data >> 3 & 3
                serves = bound == EXACT
                if bound == LOWER:
                    serves = not is_less(value, promptness, beta, beta_promptness)
                elif bound == UPPER:
                    serves = not is_less(alpha, alpha_promptness, value, promptness)
                if serves:
                    for seat in range(seats):
                        store_float(top, seat, load_float(entry, 4 + seat))
                    store_float(top, seats, promptness)
                    store(top, seats + 1, 1)
                    store(top, seats + 2, table_action)
                    return proven | load(entry, 3)
    # 4. The actions, or the opponents' choices, most promising first.
    size = load(context, CHOICES)
    promises = top + 8 * size
    codes = promises + 8 * size
    replying = load(context, REPLIES) != 0 and mover != me
    if replying:
        count = list_choices(rules, state, chooser, codes, context)
        for index in range(count):
            store(top, index, index)
    else:
        count = rules.legal_actions(state, words(top, load(context, ACTIONS)))
    place = min(ply, LAST_PLACE)
    if load(context, ORDERED) != 0 and count > 1:
        for index in range(count):
            hint = 0
            if load(context, REPLIES) == 0:
                hint = rules.ordering_hint(state, load(top, index))
            insert_sorted(context, top, promises, index, hint, mover, place, table_action)
    # 5. The textbook's loop. The best record lies first, that of the next child behind it.
    first = codes + 8 * (size + load(context, ACTIONS))
    record = first
    maximizing = mover == me
    low, low_promptness, high, high_promptness = alpha, alpha_promptness, beta, beta_promptness
    if is_less(low, low_promptness, lowest, lowest_promptness):
        low, low_promptness = lowest, lowest_promptness
    if is_less(highest, highest_promptness, high, high_promptness):
        high, high_promptness = highest, highest_promptness
    best, best_promptness = 0.0, 0.0
    best_action = -1
    best_found = 0
    all_proven = PROVEN
    for index in range(count):
        action = load(top, index)
        if replying:
            child, next_chooser = chosen(rules, state, load(codes, action), context)
        else:
            child, next_chooser = rules.result(state, action), -1
        found = visit(
            rules,
            child,
            depth - 1,
            low,
            low_promptness - slower(low, context),
            high,
            high_promptness - slower(high, context),
            next_chooser,
            ply + 1,
            record,
            context,
        )
        if load(context, STOP) != 0:
            return 0
        value = load_float(record, me)
        promptness = load_float(record, seats) + slower(value, context)
        all_proven &= found
        better = best_action < 0
        if not better and maximizing:
            better = is_less(best, best_promptness, value, promptness)
        elif not better:
            better = is_less(value, promptness, best, best_promptness)
        if better:
            best, best_promptness, best_action, best_found = value, promptness, action, found
            length = record_words(record, seats)
            if record != first:
                for word in range(length):
                    store(first, word, load(record, word))
            record = first + 8 * length
        if maximizing and is_less(low, low_promptness, value, promptness):
            low, low_promptness = value, promptness
        elif not maximizing and is_less(value, promptness, high, high_promptness):
            high, high_promptness = value, promptness
        if not is_less(low, low_promptness, high, high_promptness):
            all_proven = best_found & PROVEN
            break
    # 6. What improved on what was known is tried earlier elsewhere.
    above_alpha = is_less(alpha, alpha_promptness, best, best_promptness)
    below_beta = is_less(best, best_promptness, beta, beta_promptness)
    if above_alpha if maximizing else below_beta:
        remember_cut(context, best_action, mover, place, depth)
    # 7. All actions together prove a value; one alone does if nothing can be better.
    proven = all_proven & PROVEN
    if best == (highest if maximizing else lowest):
        proven |= best_found & PROVEN
    move_record(first, top, seats, best_action)
    store_float(top, seats, best_promptness)
    # 8. The table.
    if load(context, TABLE) != 0:
        inside = is_less(lowest, lowest_promptness, best, best_promptness)
        inside = inside and is_less(best, best_promptness, highest, highest_promptness)
        bound = EXACT
        if inside and not (above_alpha and below_beta):
            bound = LOWER if above_alpha else UPPER
        entry = keep(context, key, chooser, best_action, asked, bound, proven)
        store_float(entry, 2, best_promptness)
        store(entry, 3, best_found & VALUES)
        for seat in range(seats):
            store_float(entry, 4 + seat, load_float(top, seat))
    return proven | best_found & VALUES
