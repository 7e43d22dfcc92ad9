"""The recursion of minimax and alpha-beta, as it is compiled over a game's rules.

Without a table it visits the nodes that ``search.tree.alpha_beta`` visits; what ``SHARES`` adds
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
    known_outcome,
    outcome,
    to_child,
    to_parent,
    value_of,
)
from zermelo.agents.core.endgame_tables import ABSENT
from zermelo.envs.jit.history import back_to_end, back_to_illegal, has_been_before
from zermelo.envs.jit.memory import load, store, words, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

PRUNES = True
"""Whether anything is left out: minimax visits every node."""
NOISY = True
"""Whether the rules have noisy actions. Front ends set it, as the next one, for each kernel that they compile."""
SHARES = True
"""Whether positions share their table entries whatever was before them, in rules in which that matters: then the
value of a node does not enter the table if the repetition of an earlier position has counted in it."""
TABLES = False
"""True if there is an endgame table, whose positions are proven leaves."""
UNKNOWN: Final = 1 << 61
SHARED_DEPTH: Final = 3
"""Threads stay out of each other's way at nodes at least this many moves above the horizon."""


def ended(rules: Rules, state: Any, mover: int, alpha: int, beta: int, ply: int, search: Search) -> int:
    """The score of a finished state, or of one that an endgame table knows, with bit 0 set; else ``UNKNOWN``."""
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
    return UNKNOWN


def visit(rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, search: Search) -> int:
    """Alpha-beta, fail-soft: exact between alpha and beta, else a bound. Depths below 0 are in quiescence."""
    # 1. Count the node; a finished game, or the depth limit.
    row = row_of(search, ply)
    store(row, 0, 0)
    if not enter(search, ply):
        return 0
    mover = rules.to_move(state)
    best = ended(rules, state, mover, alpha, beta, ply, search)
    if best != UNKNOWN:
        return best
    actions = row + 8
    later = actions + 8 * search.width
    killers = search.killers + 16 * ply
    if depth <= 0:
        # Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.
        best = evaluate(rules, state, mover, ply, search)
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
    outer_ply = 0
    if SHARES:
        outer_ply = search.repetition_ply
        search.repetition_ply = ply
    # 4. The actions, most promising first.
    count = rules.legal_actions(state, words(actions, search.width))
    if SHARES:
        search.repetition_ply = min(search.repetition_ply, ply - back_to_illegal(rules))
    order_moves(rules, state, mover, actions, count, later, killers, table_action, True, search)
    # 5. The textbook's loop.
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
            score = 0
            found = 0
            while True:
                child_low = to_child(search, low)
                child_high = to_child(search, edge)
                if sign > 0:
                    found = visit(rules, child, depth - 1, child_low, child_high, ply + 1, search)
                else:
                    found = visit(rules, child, depth - 1, -child_high, -child_low, ply + 1, search)
                if search.stop != 0:
                    return 0
                score = to_parent(search, sign * (found & -2))
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
    # 6. One action proves a cut, or a greatest value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and value_of(best) == value_of(highest):
        all_proven = 1
    # 7. The table.
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
