"""The recursion of minimax and alpha-beta, as it is compiled over a game's rules.

Without ``WITH.shares`` and a table it visits the nodes that ``alpha_beta.plain`` visits.

Scores are whole numbers (``kernel_scores``). Mate distances move in steps of 2, so that a window's edge can lie
between two scores, and what ``visit`` returns has bit 0 set if the score is proven. A ply's row has the length of
its principal variation, its actions and their move scores.
"""

from __future__ import annotations

from typing import Any

from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.memory import enter, line_of, row_of
from zermelo.agents.tree_search.alpha_beta.kernel_memory import (
    SHARED_DEPTH,
    mark_slot,
    search_mark,
    settled_score,
    write_score,
)
from zermelo.agents.tree_search.alpha_beta.kernel_quiescence import ended, quiesce
from zermelo.agents.tree_search.alpha_beta.kernel_scores import (
    NOTHING,
    SCALE,
    UNKNOWN,
    evaluate,
    to_child,
    to_parent,
    to_score,
    unit,
    value_of,
)
from zermelo.agents.tree_search.alpha_beta.kernel_selective import visit_selective
from zermelo.agents.tree_search.compiled.kernel_memory import (
    depth_of,
    probe,
    serves,
    table_action_of,
    update_history,
    update_pv,
)
from zermelo.agents.tree_search.compiled.kernel_nodes import order_moves
from zermelo.agents.tree_search.compiled.record import WITH, TwoPlayerRecord
from zermelo.envs.jit.history import back_to_illegal, has_been_before
from zermelo.envs.jit.memory import load, store, store_float, words
from zermelo.envs.rules.protocol import Rules


def visit_child(rules: Rules, child: Any, depth: int, low: Score, high: Score, record: int, search: Any) -> int:
    """``TreeVariant.visit_child`` of two players."""
    ply = search.minus_one + 2
    alpha, beta = to_score(low, search), to_score(high, search)
    sign = 1 if rules.to_move(child) == 0 else -1
    least, most = min(sign * alpha, sign * beta), max(sign * alpha, sign * beta)
    found = visit(rules, child, depth, least, most, ply, search)
    score = found & -2
    value = value_of(score)
    store_float(record, 0, sign * value / unit() + search.middle)
    store_float(record, 1, sign * (score - value * SCALE) / 2)
    length = load(row_of(search, ply), 0)
    store(record, 2, length)
    for index in range(length):
        store(record, 3 + index, load(line_of(search, ply), index))
    return found & 1


def visit(rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, search: TwoPlayerRecord) -> int:
    """Alpha-beta, fail-soft: exact between alpha and beta, else a bound."""
    if WITH.selective:
        return visit_selective(rules, state, depth, alpha, beta, ply, search)
    # 1. Quiescence at the depth limit. Else count the node; a finished game; or just the evaluation.
    if WITH.noisy and depth <= 0:
        return quiesce(rules, state, 0, alpha, beta, ply, search)
    row = row_of(search, ply)
    store(row, 0, 0)
    if not enter(search, ply):
        return 0
    mover = rules.to_move(state)
    found = ended(rules, state, mover, alpha, beta, ply, search)
    if found != UNKNOWN:
        return found
    if depth <= 0:
        return evaluate(rules, state, mover, ply, search)
    # 2. Nobody gets more than the greatest utility, one ply from here.
    highest = search.upper_score
    lowest = search.lower_score
    if WITH.prunes:
        if alpha >= highest:
            return highest | 1
        if beta <= lowest:
            return lowest | 1
    # 3. The table.
    table_action = -1
    key = 0
    if WITH.prunes and search.table != 0:
        key = rules.key(state)
        _, data = probe(search, key)
        if data != 0:
            table_action = table_action_of(search, data)
            is_deep = serves(data, depth) or (WITH.shares and depth_of(data) >= depth)
            # What was found of a position before knew nothing of its repetition.
            if is_deep and not (WITH.shares and has_been_before(rules, state)):
                found = settled_score(search, data, alpha, beta, ply)
                if found != UNKNOWN:
                    return found
    # 4. The actions, most promising first.
    actions = row + 8
    later = actions + 8 * search.width
    killers = search.killers + 16 * ply
    count = rules.legal_actions(state, words(actions, search.width))
    outer_ply = 0
    if WITH.shares:
        outer_ply = search.repetition_ply
        search.repetition_ply = min(ply, ply - back_to_illegal(rules))
    order_moves(rules, state, mover, actions, count, later, killers, table_action, True, search)
    # 5. The textbook's loop. Where another thread is below an action, that has its turn later.
    low = alpha
    high = beta
    if WITH.prunes:
        low = max(alpha, lowest)
        high = min(beta, highest)
    best = NOTHING
    best_action = -1
    best_proven = 0
    all_proven = 1
    cut = False
    busy = search.in_search if depth >= SHARED_DEPTH else 0
    put_off = 0
    turn = 0
    index = 0
    while True:
        if index == count:
            if turn == 1 or put_off == 0:
                break
            turn, index, count, actions = 1, 0, put_off, later
        action = load(actions, index)
        index += 1
        child = rules.result(state, action)
        mark = 0
        if WITH.prunes and busy != 0:
            mark = search_mark(rules, child, depth)
            if turn == 0 and index > 1 and load(busy, mark_slot(mark)) == mark:
                store(later, put_off, action)
                put_off += 1
                continue
            store(busy, mark_slot(mark), mark)
        sign = 1 if rules.to_move(child) == mover else -1
        edge = high
        if best_action >= 0 and search.null_windows != 0 and low + 1 < high:
            edge = low + 1
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
        if WITH.prunes and busy != 0:
            store(busy, mark_slot(mark), 0)
        proven = found & 1
        all_proven &= proven
        if score > best:
            best = score
            best_action = action
            best_proven = proven
            update_pv(search, ply, action)
        if WITH.prunes:
            low = max(low, score)
            if low >= high:
                update_history(search, action, mover, killers, depth)
                cut = True
                break
    # 6. One action proves a cut, or the maximum value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and value_of(best) == value_of(highest):
        all_proven = 1
    # 7. The table.
    if WITH.prunes and search.table != 0:
        if WITH.shares:
            stored = depth if search.repetition_ply >= ply else -1
            write_score(search, key, stored, alpha, beta, best, 0, best_action)
        else:
            write_score(search, key, depth, alpha, beta, best, all_proven, best_action)
    if WITH.shares:
        search.repetition_ply = min(search.repetition_ply, outer_ply)
    return best | all_proven
