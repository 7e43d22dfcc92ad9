"""The recursion of minimax and alpha-beta, as it is compiled over a game's rules.

Without a table it visits the nodes that ``search.tree.alpha_beta`` visits; what ``SELECTIVE`` and ``SHARES`` add
exists only here.

Scores are whole numbers (``scores``). Mate distances move in steps of 2, so that a window's edge can lie between
two scores, and what ``visit`` returns has bit 0 set if the score is proven. In the table an entry's score lies
above its action. A ply's row has the length of its principal variation, its actions and their move scores.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.endgame_tables import may_be_undone, table_score
from zermelo.agents.compiled.layout import BUSY_BITS, Search
from zermelo.agents.compiled.memory import (
    EXACT,
    LOWER,
    MULTIPLIER,
    UPPER,
    bound_of,
    depth_of,
    enter,
    is_proven,
    line_of,
    pack,
    probe,
    replace,
    row_of,
    serves,
    table_action_of,
    update_history,
    update_pv,
)
from zermelo.agents.compiled.nodes import order_moves
from zermelo.agents.compiled.table import ACTION_SHIFT
from zermelo.agents.compiled.two_player.scores import (
    evaluate,
    in_units,
    known_outcome,
    outcome,
    to_child,
    to_parent,
    to_score,
    unit,
    value_of,
)
from zermelo.agents.compiled.two_player.search import SCALE
from zermelo.agents.core.endgame_tables import ABSENT
from zermelo.agents.core.options import (
    MAX_STATIC_DEPTH,
    MIN_REDUCED_DEPTH,
    MIN_SINGULAR_DEPTH,
    reduction,
)
from zermelo.envs.jit.history import back_to_end, back_to_illegal, has_been_before
from zermelo.envs.jit.memory import load, store, store_float, words, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

PRUNES = True
"""Whether anything is left out: minimax visits every node."""
NOISY = True
"""Whether the rules have noisy actions. Front ends set it, as the next one, for each kernel that they compile."""
SELECTIVE = True
"""Whether late move reductions, null moves, futility pruning and singular extensions may be asked for.

What rests on them is not proven, and a search to the end of the game uses none of them. C. Donninger, "Null move
and deep search", ICCA Journal 16 (1993); J. Schaeffer, "Experiments in search and knowledge" (1986); E. Heinz,
"Extended futility pruning", ICCA Journal 21 (1998); T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions:
adding selectivity to brute-force searching", Artificial Intelligence 43 (1990).
"""
SHARES = True
"""Whether positions share their table entries whatever was before them, in rules in which that matters: then the
value of a node does not enter the table if the repetition of an earlier position has counted in it."""
TABLES = False
"""True if there is an endgame table, whose positions are proven leaves."""
SHARED_DEPTH: Final = 3
"""Threads stay out of each other's way at nodes at least this many moves above the horizon."""


def visit_and_record(
    rules: Rules,
    state: Any,
    depth: int,
    low: float,
    low_distance: float,
    high: float,
    high_distance: float,
    ply: int,
    record: int,
    search: Search,
) -> int:
    """Searches a state in a window for the first seat, and writes its record; whether it is proven, 0 or 1."""
    alpha = to_score(low, low_distance, search)
    beta = to_score(high, high_distance, search)
    sign = 1 if rules.to_move(state) == 0 else -1
    found = visit(rules, state, depth, min(sign * alpha, sign * beta), max(sign * alpha, sign * beta), ply, search)
    score = found & -2
    value = value_of(score)
    store_float(record, 0, sign * value / unit() + search.middle)
    store_float(record, 1, sign * (score - value * SCALE) / 2)
    length = load(row_of(search, ply), 0)
    store(record, 2, length)
    for index in range(length):
        store(record, 3 + index, load(line_of(search, ply), index))
    return found & 1


def visit(rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, search: Search) -> int:
    """Alpha-beta, fail-soft: exact between alpha and beta, else a bound. Depths below 0 are in quiescence."""
    # 1. Count the node; a finished game, or the depth limit.
    row = row_of(search, ply)
    store(row, 0, 0)
    if not enter(search, ply):
        return 0
    mover = rules.to_move(state)
    if rules.is_terminal(state):
        if SHARES:
            search.repetition_ply = min(search.repetition_ply, ply - back_to_end(rules, state))
        return outcome(rules, state, mover, search) | 1
    if TABLES:
        known = table_score(rules, state, search.tables)
        if known != ABSENT:
            best = known_outcome(known, search)
            is_bound = may_be_undone(rules, state, known, search.tables)
            if not is_bound or (known > 0 and best <= alpha) or (known < 0 and best >= beta):
                return best | 1
    actions = row + 8
    later = actions + 8 * search.width
    killers = search.killers + 16 * ply
    if SELECTIVE and depth >= 0 and ply < search.last_ply and rules.is_urgent(state):
        depth += 1
    if depth <= 0:
        # Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.
        best = evaluate(rules, state, mover, search)
        if NOISY:
            low = max(alpha, best)
            if search.quiescence + depth <= 0 or low >= beta:
                return best
            count = rules.noisy_actions(state, words(actions, search.width))
            if SHARES:
                search.repetition_ply = min(search.repetition_ply, ply - back_to_illegal(rules))
            order_moves(rules, state, mover, actions, count, later, killers, search.nothing, True, search)
            for index in range(count):
                action = load(actions, index)
                child = rules.result(state, action)
                child_low = to_child(search, low)
                child_high = to_child(search, beta)
                if rules.to_move(child) == mover:
                    score = visit(rules, child, depth - 1, child_low, child_high, ply + 1, search) & -2
                else:
                    score = -(visit(rules, child, depth - 1, -child_high, -child_low, ply + 1, search) & -2)
                if search.stop != 0:
                    return 0
                score = to_parent(search, score)
                if score > best:
                    best = score
                    update_pv(search, ply, action)
                low = max(low, best)
                if low >= beta:
                    break
        return best
    # 2. Nobody gets more than the greatest utility, one ply from here.
    highest = search.upper_score
    lowest = search.lower_score
    if PRUNES:
        if alpha >= highest:
            return highest | 1
        if beta <= lowest:
            return lowest | 1
    # 3. The table.
    key = 0
    table_action = -1
    data = 0
    if PRUNES and search.table != 0:
        key = rules.key(state)
        _, data = probe(search, key)
        if data != 0:
            table_action = table_action_of(search, data)
            if SHARES and has_been_before(rules, state):
                data = 0  # what was found of it before knew nothing of the repetition
            if serves(data, depth) or (SHARES and depth_of(data) >= depth):
                score = data >> ACTION_SHIFT + search.action_bits
                bound = bound_of(data)
                if bound == EXACT or (score >= beta if bound == LOWER else score <= alpha):
                    if table_action >= 0:
                        store(row, 0, 1)
                        store(line_of(search, ply), 0, table_action)
                    return score | is_proven(data)
    # 4. A null move: who keeps beta without moving, keeps it. Never a proof, so not for the table.
    outer_ply = 0
    if SHARES:
        outer_ply = search.repetition_ply
        search.repetition_ply = ply
    if SELECTIVE and search.futility != 0 and depth <= MAX_STATIC_DEPTH and not rules.is_urgent(state):
        # Or the evaluation lies so far above beta that a few moves will hardly change it.
        value = value_of(beta)
        if value_of(lowest) < value < value_of(highest):
            margin = in_units(search.futility * (depth + 1) >> 1)
            if value_of(evaluate(rules, state, mover, search)) - margin >= value:
                if SHARES:
                    search.repetition_ply = min(search.repetition_ply, outer_ply)
                return (beta + 1) & -2
    null_move = search.null_move if SELECTIVE else 0
    if SELECTIVE and null_move != 0 and null_move < depth and search.passed_ply != ply:
        value = value_of(beta)
        if value_of(lowest) < value < value_of(highest):
            after = rules.pass_turn(state)
            if rules.to_move(after) != mover:
                child_low = to_child(search, beta - 1)
                child_high = to_child(search, beta)
                search.passed_ply = ply + 1
                found = visit(rules, after, depth - 1 - null_move, -child_high, -child_low, ply + 1, search)
                search.passed_ply = 0
                if search.stop != 0:
                    return 0
                if to_parent(search, -(found & -2)) >= beta:
                    if SHARES:
                        search.repetition_ply = min(search.repetition_ply, outer_ply)
                    return (beta + 1) & -2
    # 5. The actions, most promising first.
    count = rules.legal_actions(state, words(actions, search.width))
    if SHARES:
        search.repetition_ply = min(search.repetition_ply, ply - back_to_illegal(rules))
    extended = -1
    if SELECTIVE:
        # A singular extension: the table's action is so much better than all others that it is searched deeper.
        margin = in_units(search.singular)
        if (
            margin > 0
            and depth >= MIN_SINGULAR_DEPTH
            and ply < search.last_ply
            and count > 1
            and table_action >= 0
        ):
            if is_proven(data) == 0 and depth_of(data) >= depth - 3 and bound_of(data) != UPPER:
                edge = (value_of(data >> ACTION_SHIFT + search.action_bits) - margin) * SCALE
                extended = table_action
                for index in range(count):
                    action = load(actions, index)
                    if action == table_action:
                        continue
                    child = rules.result(state, action)
                    child_low = to_child(search, edge - 1)
                    child_high = to_child(search, edge)
                    if rules.to_move(child) == mover:
                        score = visit(rules, child, (depth >> 1) - 1, child_low, child_high, ply + 1, search) & -2
                    else:
                        found = visit(rules, child, (depth >> 1) - 1, -child_high, -child_low, ply + 1, search)
                        score = -(found & -2)
                    if search.stop != 0:
                        return 0
                    if to_parent(search, score) >= edge:
                        extended = -1
                        break
            store(row, 0, 0)
    order_moves(rules, state, mover, actions, count, later, killers, table_action, True, search)
    # 6. The textbook's loop; late moves are first searched less deep, where that was asked for.
    low = alpha
    high = beta
    if PRUNES:
        low = max(alpha, lowest)
        high = min(beta, highest)
    best = -(1 << 60)
    best_action = -1
    best_proven = 0
    all_proven = 1
    cut = False
    busy = search.busy if depth >= SHARED_DEPTH else 0
    first = 0
    put_off = 0
    rounds = 1 if busy == 0 else 2
    late = 1 << 20
    futile = 0
    is_futile = False
    if SELECTIVE:
        if depth >= MIN_REDUCED_DEPTH:
            late = search.late_moves
        if depth == 1 and search.futility != 0:
            # Futility: quiet actions are taken to add no more than so much to the evaluation.
            value = value_of(evaluate(rules, state, mover, search)) + in_units(search.futility)
            futile = value * SCALE
            is_futile = value_of(lowest) < value < value_of(highest) and futile <= low
    for turn in range(rounds):
        if turn == 1:
            first, count, actions = 0, put_off, later
        for index in range(first, count):
            action = load(actions, index)
            child = rules.result(state, action)
            mark = 0
            if PRUNES and busy != 0:
                # Another thread is in there: it will have left its result in the table when we come back.
                mark = (rules.key(child) << 1 | 1) ^ depth << 48
                place = shift_right(wrapped_product(mark, MULTIPLIER), 64 - BUSY_BITS)
                if turn == 0 and index > 0 and load(busy, place) == mark:
                    store(later, put_off, action)
                    put_off += 1
                    continue
                store(busy, place, mark)
            sign = 1 if rules.to_move(child) == mover else -1
            edge = high
            if best_action >= 0 and search.null_windows != 0 and low + 1 < high:
                edge = low + 1
            less = 0
            if SELECTIVE:
                may_be_late = is_futile or index + turn >= late
                if may_be_late and index + turn > 0 and sign < 0 and not rules.is_noisy(state, action):
                    less = reduction(index + turn, late, depth)
                if is_futile and less != 0 and not rules.is_terminal(child):
                    all_proven = 0
                    if futile > best:
                        best = futile
                        best_action = action
                        best_proven = 0
                        store(row, 0, 1)
                        store(line_of(search, ply), 0, action)
                    continue
                if depth < MIN_REDUCED_DEPTH:
                    less = 0
            ahead = depth - 1 + (1 if SELECTIVE and action == extended else 0)
            score = 0
            found = 0
            while True:
                child_low = to_child(search, low)
                child_high = to_child(search, edge)
                if sign > 0:
                    found = visit(rules, child, ahead, child_low, child_high, ply + 1, search)
                else:
                    found = visit(rules, child, ahead - less, -child_high, -child_low, ply + 1, search)
                if search.stop != 0:
                    return 0
                score = to_parent(search, sign * (found & -2))
                if SELECTIVE and less != 0 and score > low and found & 1 == 0:
                    less = 0
                    continue
                if edge == high or score < edge or score >= high:
                    break
                edge = high
            if PRUNES and busy != 0:
                store(busy, shift_right(wrapped_product(mark, MULTIPLIER), 64 - BUSY_BITS), 0)
            proven = found & 1
            all_proven &= proven
            if score > best:
                best = score
                best_action = action
                best_proven = proven
                update_pv(search, ply, action)
            if not PRUNES:
                continue
            low = max(low, score)
            if low >= high:
                update_history(search, action, mover, killers, depth)
                cut = True
                break
        if cut:
            break
    # 7. One action proves a cut, or a greatest value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and value_of(best) == value_of(highest):
        all_proven = 1
    # 8. The table.
    if PRUNES and search.table != 0:
        bound = EXACT
        if lowest < best < highest and not alpha < best < beta:
            bound = UPPER if best <= alpha else LOWER
        data = pack(search, depth, bound, all_proven, best_action)
        if SHARES:
            data = pack(search, depth if search.repetition_ply >= ply else -1, bound, 0, best_action)
        replace(search, key, best << ACTION_SHIFT + search.action_bits | data)
    if SHARES:
        search.repetition_ply = min(search.repetition_ply, outer_ply)
    return best | all_proven
