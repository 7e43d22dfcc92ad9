"""The recursion of selective alpha-beta, which reduces and prunes some moves, as it is compiled.

What rests on pruning is not proven, and a search to the end of the game prunes nothing. Margins are in the game's
utility, compared as if evaluations were ``score / (score + constant)``, or fitted ones chances of winning
(``linear``): near a win a pawn changes the evaluation less. Scores, rows and the table are as in ``kernel``.

C. Donninger, "Null move and deep search", ICCA Journal 16 (1993); J. Schaeffer, "The history heuristic and
alpha-beta search enhancements in practice", IEEE PAMI 11 (1989); E. Heinz, "Extended futility pruning", ICCA
Journal 21 (1998); T. Romstad and others, Stockfish (``search.cpp``).
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.memory import enter, row_of
from zermelo.agents.tree_search.alpha_beta.kernel_memory import (
    SHARED_DEPTH,
    bound_within,
    history_of,
    mark_slot,
    score_moves,
    score_of,
    search_mark,
    select_best,
    settled_score,
    update_histories,
    write_score,
)
from zermelo.agents.tree_search.alpha_beta.kernel_quiescence import ended, quiesce
from zermelo.agents.tree_search.alpha_beta.kernel_scores import (
    NOTHING,
    UNKNOWN,
    evaluate,
    in_units,
    linear,
    to_child,
    to_parent,
    value_of,
)
from zermelo.agents.tree_search.compiled.kernel_memory import (
    LOWER,
    UPPER,
    bound_of,
    bucket_of,
    depth_of,
    probe,
    table_action_of,
    update_pv,
)
from zermelo.agents.tree_search.compiled.record import WITH, TwoPlayerRecord
from zermelo.agents.tree_search.settings import MIN_REDUCED_DEPTH
from zermelo.envs.jit.history import back_to_illegal, forbids_repetition, has_been_before
from zermelo.envs.jit.memory import load, prefetch, store, words
from zermelo.envs.rules.protocol import Rules

MAX_STATIC_DEPTH: Final = 8
MAX_LATE_DEPTH: Final = 8
MAX_FUTILE_DEPTH: Final = 6
MAX_LOSING_DEPTH: Final = 3
MIN_NULL_DEPTH: Final = 2
MIN_INTERNAL_DEPTH: Final = 6


def has_improved(mover: int, static: int, place: int) -> int:
    """0 if the evaluation is no better for the mover than at its last move; it is stored at ``place``."""
    signed = static if mover == 0 else -static
    store(place, 0, signed)
    before = load(place, -2)
    if before != NOTHING and (signed <= before if mover == 0 else signed >= before):
        return 0
    return 1


def judge(
    rules: Rules, state: Any, mover: int, data: int, place: int, ply: int, search: TwoPlayerRecord
) -> tuple[int, int, int]:
    """The static evaluation, what the table's data make of it, and whether the mover has improved (1 or 0)."""
    static = evaluate(rules, state, mover, ply, search)
    improving = has_improved(mover, static, place)
    score = score_of(search, data)
    if data != 0 and depth_of(data) >= 0 and (score > static if bound_of(data) == LOWER else score < static):
        return static, score, improving
    return static, static, improving


def list_moves(
    rules: Rules, state: Any, mover: int, actions: int, later: int, done: int, ply: int, table_action: int,
    search: TwoPlayerRecord,
) -> int:  # fmt: skip
    """Writes the legal actions, the table's first if it is ``done``, and their move scores; how many there are."""
    count = rules.legal_actions(state, words(actions, search.width))
    if WITH.shares:
        search.repetition_ply = min(search.repetition_ply, ply - back_to_illegal(rules))
    score_moves(rules, state, mover, actions, count, later, ply, table_action, search)
    if done == 1:
        select_best(actions, later, 0, count)
    return count


def is_left_out(
    rules: Rules, state: Any, action: int, depth: int, ahead: int, tried: int, most: int, lack: int, unit: int
) -> bool:
    """Whether a quiet action is left out: a late one, one that gains too little, or one that loses material."""
    if depth <= MAX_LATE_DEPTH and tried >= most:
        return True
    if ahead <= MAX_FUTILE_DEPTH and 2 * lack >= unit * (3 + 3 * ahead):
        return True
    return ahead <= MAX_LOSING_DEPTH and rules.is_losing(state, action)


def moves_less(rules: Rules, child: Any, less: int, merit: int, improving: int, is_open: bool, depth: int) -> int:
    """How many moves less deep an opponent's reply to a late action is first searched, from 1024ths of a move."""
    less -= merit >> 3
    less += 512 if improving == 0 else 0
    less -= 1024 if is_open else 0
    less = less >> 10
    if depth < MIN_REDUCED_DEPTH:
        return 0
    if less > 0 and not rules.is_terminal(child) and rules.is_urgent(child):
        less -= 1
    return min(max(less, 0), max(depth - 2, 0))


def visit_selective(
    rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, search: TwoPlayerRecord
) -> int:
    """Alpha-beta in which late and hopeless moves are searched less deep, or not at all."""
    # 1. Quiescence at the depth limit. Else count the node; a finished game.
    if depth <= 0:
        return quiesce(rules, state, 0, alpha, beta, ply, search)
    row = row_of(search, ply)
    store(row, 0, 0)
    if not enter(search, ply):
        return 0
    key = 0
    if search.table != 0:
        key = rules.key(state)
        prefetch(bucket_of(search, key), 0)
    mover = rules.to_move(state)
    found = ended(rules, state, mover, alpha, beta, ply, search)
    if found != UNKNOWN:
        return found
    # 2. Nobody gets more than the greatest utility, one ply from here.
    highest = search.upper_score
    lowest = search.lower_score
    if alpha >= highest:
        return highest | 1
    if beta <= lowest:
        return lowest | 1
    # 3. The table.
    table_action = -1
    data = 0
    if search.table != 0:
        _, data = probe(search, key)
        if data != 0:
            table_action = table_action_of(search, data)
            if WITH.shares and has_been_before(rules, state):
                data = 0  # what was found of it before knew nothing of the repetition
            if depth_of(data) >= depth:
                found = settled_score(search, data, alpha, beta, ply)
                if found != UNKNOWN:
                    return found
    outer_ply = 0
    if WITH.shares:
        outer_ply = search.repetition_ply
        search.repetition_ply = ply
    is_open = beta - alpha > 2
    is_urgent = rules.is_urgent(state)
    in_range = value_of(lowest) < value_of(beta) < value_of(highest)
    unit = in_units(search.futility)
    # 4. The static evaluation, and what the table says of it; whether it is better than the mover's last one.
    static = NOTHING
    improving = 1
    guess = alpha
    static_place = search.static_values + 8 * (ply + 2)
    store(static_place, 0, NOTHING)
    if not is_urgent:
        static, guess, improving = judge(rules, state, mover, data, static_place, ply, search)
    if not is_urgent and not is_open and in_range:
        lead = linear(value_of(guess), search) - linear(value_of(beta), search)
        # 5. A state that lies so far above beta that a few moves will hardly change it.
        is_far = unit != 0 and lead >= 0 and 2 * lead >= unit * (depth * 3 - improving)
        if is_far and depth <= MAX_STATIC_DEPTH:
            if WITH.shares:
                search.repetition_ply = min(search.repetition_ply, outer_ply)
            return guess & -2
        # 6. A null move: who keeps beta without moving, keeps it. Never a proof, so not for the table.
        less = search.null_move
        if less != 0 and depth >= MIN_NULL_DEPTH and search.passed_ply != ply and guess >= beta:
            after = rules.pass_turn(state)
            if rules.to_move(after) != mover:
                less += 1 + (depth >> 2) + (min(lead // (3 * unit), 3) if unit != 0 else 0)
                child_low = to_child(search, beta - 1)
                child_high = to_child(search, beta)
                search.passed_ply = ply + 1
                found = visit_selective(rules, after, depth - 1 - less, -child_high, -child_low, ply + 1, search)
                search.passed_ply = 0
                if search.stop != 0:
                    return 0
                if to_parent(search, -(found & -2)) >= beta:
                    if WITH.shares:
                        search.repetition_ply = min(search.repetition_ply, outer_ply)
                    return (beta + 1) & -2
    # 7. Without the table's action the order is poor: such a node waits for the next iteration.
    if search.lmr_after < depth and table_action < 0 and depth >= MIN_INTERNAL_DEPTH:
        depth -= 1
    # 8. The actions, most promising first; they are listed once the table's has not cut off.
    actions = row + 8
    later = actions + 8 * search.width
    low = max(alpha, lowest)
    high = min(beta, highest)
    count = 0
    is_listed = False
    if table_action >= 0 and search.ordered != 0 and not (WITH.shares and forbids_repetition(rules)):
        count = 1
        store(actions, 0, table_action)
    may_prune = unit != 0 and not is_urgent and value_of(lowest) < value_of(low) < value_of(highest)
    lack = 0
    if may_prune:
        lack = linear(value_of(low), search) - linear(value_of(static), search)
    most = (3 + depth * depth) << improving
    best = NOTHING
    best_action = -1
    best_proven = 0
    all_proven = 1
    cut = False
    left_out = False
    tried = 0
    busy = search.in_search if depth >= SHARED_DEPTH else 0
    put_off = 0
    turn = 0
    index = 0
    while True:
        if index == count:
            if turn == 0 and not is_listed:
                count = list_moves(rules, state, mover, actions, later, index, ply, table_action, search)
                is_listed = True
                continue
            if turn == 1 or put_off == 0:
                break
            turn, index, count, actions = 1, 0, put_off, later
        if turn == 0 and is_listed:
            select_best(actions, later, index, count)
        action = load(actions, index)
        index += 1
        # 9. Which actions are left out, or first searched less deep.
        less = 0
        merit = 0
        is_noisy = WITH.noisy and rules.is_noisy(state, action)
        if tried > 0 and not is_noisy:
            merit = history_of(search, mover, action)
            if tried >= search.lmr_after:
                less = load(search.reductions, min(depth, 63) << 6 | min(tried, 63))
            if may_prune and value_of(best) > value_of(lowest):
                ahead = max(depth - (less >> 10), 0)
                if is_left_out(rules, state, action, depth, ahead, tried, most, lack, unit):
                    all_proven = 0
                    left_out = True
                    continue
        child = rules.result(state, action)
        mark = 0
        if busy != 0:
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
        if less != 0:
            less = 0 if sign > 0 else moves_less(rules, child, less, merit, improving, is_open, depth)
        tried += 1
        # 10. The textbook's loop.
        while True:
            child_low = to_child(search, low)
            child_high = to_child(search, edge)
            if sign > 0:
                found = visit_selective(rules, child, depth - 1, child_low, child_high, ply + 1, search)
            else:
                found = visit_selective(rules, child, depth - 1 - less, -child_high, -child_low, ply + 1, search)
            if search.stop != 0:
                return 0
            score = to_parent(search, sign * (found & -2))
            if less != 0 and score > low and found & 1 == 0:
                less = 0
                continue
            if edge == high or score < edge or score >= high:
                break
            edge = high
        if busy != 0:
            store(busy, mark_slot(mark), 0)
        all_proven &= found
        if score > best:
            best = score
            best_action = action
            best_proven = found & 1
            if score > low:
                update_pv(search, ply, action)
        low = max(low, score)
        if low >= high:
            if not is_noisy and search.ordered != 0:
                update_histories(rules, state, mover, action, actions, index - 1, depth, ply, WITH.noisy, search)
            cut = True
            break
    if left_out and best < alpha:
        best = alpha & -2  # what was left out is taken to be no better than that
    # 11. One action proves a cut, or the maximum value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and value_of(best) == value_of(highest):
        all_proven = 1
    # 12. The table.
    if search.table != 0:
        if table_action >= 0 and bound_within(search, best, alpha, beta) == UPPER:
            best_action = table_action
        stored, proven = depth, all_proven
        if WITH.shares:
            stored, proven = depth if search.repetition_ply >= ply else -1, 0
        write_score(search, key, stored, alpha, beta, best, proven, best_action)
    if WITH.shares:
        search.repetition_ply = min(search.repetition_ply, outer_ply)
    return best | all_proven
