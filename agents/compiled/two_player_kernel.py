"""The recursions of minimax and alpha-beta, as they are compiled over a game's rules.

They do what ``search.alpha_beta`` and ``search.full_width`` do, node for node, so that
those are their oracle. Each function here is compiled anew for every rules class (``zermelo.envs.rules.build``).

Scores are integers, for the player to move: ``value * SCALE + 2 * promptness``, where ``value`` is in 1024ths of
a point of utility above the middle between the players. Promptness moves in steps of 2 so that a window's edge
can lie between two scores. What ``visit`` returns has bit 0 set if the score is proven (scores are even).

The table has buckets of two entries of two words: the key, exclusive-or the data, and the data. Threads write
without locks; an entry torn by two of them, or of another position, does not give back the key. With a game's
own 64-bit key no position is ever taken for another; with the default key, a hash of 64 bits, a probe that
should miss hits with a probability below 2 ** -62 (two entries compared). The entry of the smaller depth, or of
an earlier iteration, is replaced.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.context import (
    ACTIONS,
    AGE,
    BUSY,
    BUSY_BITS,
    DEEPEST,
    GREATEST_EVALUATION,
    HIGHEST,
    HISTORY,
    KILLERS,
    LATE_MOVES,
    LEAST_EVALUATION,
    LOWEST,
    MAX_PLY,
    MOST_NODES,
    NODES,
    NULL_MOVE,
    NULL_WINDOWS,
    ORDERED,
    OUT_OF_NODES,
    PASSED_PLY,
    QUIESCENCE,
    ROW,
    SOONER,
    STOP,
    SYMMETRIES,
    TABLE,
    TABLE_BITS,
    TABLE_HITS,
    TABLE_STORES,
    TOO_DEEP,
    TOTAL,
    WORK,
)
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.memory import load, store, words
from zermelo.envs.rules.protocol import Rules

__all__ = ["LEAST_REDUCED_DEPTH", "full_width", "visit"]

SCALE: Final = 1 << 13
HALF: Final = SCALE >> 1
UNIT: Final = 1024
INFINITE_DEPTH: Final = 1023
EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2
# How an entry's data are packed: score (38 bits), action + 1 (12), depth (10), bound (2), proven (1), age (1).
_NO_ACTION: Final = 4094
LEAST_REDUCED_DEPTH: Final = 3
SHARED_DEPTH: Final = 3
"""Threads stay out of each other's way at nodes at least this many moves above the horizon."""


def delayed(context: int, score: int) -> int:
    """A child's score, as it counts one ply earlier."""
    if load(context, SOONER) == 0:
        return score
    if score > HALF:
        return score - 2
    if score < -HALF:
        return score + 2
    return score


def hastened(context: int, edge: int) -> int:
    """A window's edge, as a child sees it."""
    if load(context, SOONER) == 0:
        return edge
    if edge > HALF:
        return edge + 2
    if edge < -HALF:
        return edge - 2
    return edge


def outcome(rules: Rules, state: Any, mover: int, context: int) -> int:
    """The score of a finished state for a seat."""
    return (2 * rules.utility(state, mover) - load(context, TOTAL)) * (UNIT // 2) * SCALE


def estimate(rules: Rules, state: Any, mover: int, context: int) -> int:
    """The score of an unfinished state for a seat, as seat 0's evaluation has it."""
    value = rules.evaluation(state, 0)
    value = min(max(value, load(context, LEAST_EVALUATION)), load(context, GREATEST_EVALUATION))
    value -= load(context, TOTAL) * (UNIT // 2)
    return (value if mover == 0 else -value) * SCALE


def enter(context: int, ply: int) -> bool:
    """Counts a node, unless a limit forbids it."""
    if load(context, STOP) != 0:
        return False
    nodes = load(context, NODES)
    if nodes >= load(context, MOST_NODES):
        store(context, STOP, OUT_OF_NODES)
        return False
    store(context, NODES, nodes + 1)
    if ply > load(context, DEEPEST):
        store(context, DEEPEST, ply)
        if ply >= load(context, MAX_PLY):
            store(context, STOP, TOO_DEEP)
            return False
    return True


def row_of(context: int, ply: int) -> int:
    """The address of a ply's workspace: its line of best play (length first), its actions, their promise."""
    return load(context, WORK) + 8 * ply * load(context, ROW)


def keep_line(context: int, ply: int, action: int) -> None:
    """The ply's line becomes this action and the line below."""
    here = row_of(context, ply)
    below = row_of(context, ply + 1)
    length = load(below, 0)
    store(here, 0, length + 1)
    store(here, 1, action)
    for index in range(length):
        store(here, index + 2, load(below, index + 1))


def position_key(rules: Rules, state: Any, context: int) -> int:
    """The key of the position, or the least among those of its symmetric ones."""
    key = rules.key(state)
    for symmetry in range(1, load(context, SYMMETRIES)):
        key = min(key, rules.key(rules.symmetric_state(state, symmetry)))
    return key


def bucket_of(context: int, key: int) -> int:
    """The address of a key's bucket, four words."""
    mixed = (key ^ shift_right(key, 32)) * -7046029254386353131
    return load(context, TABLE) + 32 * shift_right(mixed, 64 - load(context, TABLE_BITS))


def find(context: int, key: int) -> int:
    """The data kept for a key; 0 if none are."""
    bucket = bucket_of(context, key)
    for entry in range(2):
        data = load(bucket, 2 * entry + 1)
        if data != 0 and load(bucket, 2 * entry) ^ data == key:
            store(context, TABLE_HITS, load(context, TABLE_HITS) + 1)
            return data
    return 0


def keep(context: int, key: int, depth: int, bound: int, score: int, action: int, proven: int) -> None:
    """Keeps what a search found: in the place of the same position, else of what is older or less deep."""
    bucket = bucket_of(context, key)
    age = load(context, AGE)
    chosen = 0
    least = 1 << 20
    for entry in range(2):
        data = load(bucket, 2 * entry + 1)
        if data == 0 or load(bucket, 2 * entry) ^ data == key:
            chosen = entry
            break
        worth = (data >> 4 & 1023) + (2048 if data & 1 == age else 0)
        if worth < least:
            least = worth
            chosen = entry
    if action >= _NO_ACTION:
        action = -1
    data = score << 26 | (action + 1) << 14 | depth << 4 | bound << 2 | proven << 1 | age
    if data != 0:
        store(bucket, 2 * chosen, key ^ data)
        store(bucket, 2 * chosen + 1, data)
        store(context, TABLE_STORES, load(context, TABLE_STORES) + 1)


def arrange(rules: Rules, state: Any, mover: int, count: int, ply: int, table_action: int, context: int) -> None:
    """Orders the ply's actions: the table's, killers, the rules' hint, history; ties as they are."""
    if load(context, ORDERED) == 0 or count < 2:
        return
    size = load(context, ACTIONS)
    actions = row_of(context, ply) + 8 * (load(context, MAX_PLY) + 2)
    promises = actions + 8 * size
    killers = load(context, KILLERS) + 16 * ply
    history = load(context, HISTORY) + 8 * mover * size
    for index in range(count):
        action = load(actions, index)
        hint = min(max(rules.ordering_hint(state, action), -(1 << 27)), 1 << 27)
        promise = hint << 33 | min(load(history, action), (1 << 32) - 1)
        if action == load(killers, 0) or action == load(killers, 1):
            promise += 1 << 61
        if action == table_action:
            promise += 1 << 62
        place = index
        while place > 0 and load(promises, place - 1) < promise:
            store(promises, place, load(promises, place - 1))
            store(actions, place, load(actions, place - 1))
            place -= 1
        store(promises, place, promise)
        store(actions, place, action)


def remember_cut(context: int, action: int, mover: int, ply: int, depth: int) -> None:
    """An action that made its siblings needless is tried earlier elsewhere."""
    if load(context, ORDERED) == 0:
        return
    killers = load(context, KILLERS) + 16 * ply
    first = load(killers, 0)
    if action != first and action != load(killers, 1):
        store(killers, 1, first)
        store(killers, 0, action)
    weight = min(depth, 16)
    history = load(context, HISTORY) + 8 * mover * load(context, ACTIONS)
    store(history, action, load(history, action) + weight * weight)


def full_width(rules: Rules, state: Any, depth: int, ply: int, context: int) -> int:
    """Minimax: every node down to the depth."""
    if not enter(context, ply):
        return 0
    row = row_of(context, ply)
    store(row, 0, 0)
    mover = rules.to_move(state)
    if rules.is_terminal(state):
        return outcome(rules, state, mover, context) | 1
    if depth <= 0:
        return estimate(rules, state, mover, context)
    actions = row + 8 * (load(context, MAX_PLY) + 2)
    count = rules.legal_actions(state, words(actions, load(context, ACTIONS)))
    best = -(1 << 60)
    all_proven = 1
    best_proven = 0
    for index in range(count):
        action = load(actions, index)
        child = rules.result(state, action)
        found = full_width(rules, child, depth - 1, ply + 1, context)
        if load(context, STOP) != 0:
            return 0
        proven = found & 1
        score = found & -2
        if rules.to_move(child) != mover:
            score = -score
        score = delayed(context, score)
        all_proven &= proven
        if score > best:
            best = score
            best_proven = proven
            keep_line(context, ply, action)
    if best_proven != 0 and (best + HALF) >> 13 == (load(context, HIGHEST) + HALF) >> 13:
        all_proven = 1
    return best | all_proven


def visit(rules: Rules, state: Any, depth: int, alpha: int, beta: int, ply: int, context: int) -> int:
    """Alpha-beta, fail-soft: exact between alpha and beta, else a bound. Depths below 0 are in quiescence."""
    # 1. Count the node; a finished game, or the depth limit.
    row = row_of(context, ply)
    store(row, 0, 0)
    if not enter(context, ply):
        return 0
    mover = rules.to_move(state)
    if rules.is_terminal(state):
        return outcome(rules, state, mover, context) | 1
    actions = row + 8 * (load(context, MAX_PLY) + 2)
    if depth <= 0:
        # Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.
        best = estimate(rules, state, mover, context)
        low = max(alpha, best)
        if load(context, QUIESCENCE) + depth <= 0 or low >= beta:
            return best
        legal = rules.legal_actions(state, words(actions, load(context, ACTIONS)))
        count = 0
        for index in range(legal):
            action = load(actions, index)
            if rules.is_noisy(state, action):
                store(actions, count, action)
                count += 1
        arrange(rules, state, mover, count, ply, -1, context)
        for index in range(count):
            action = load(actions, index)
            child = rules.result(state, action)
            child_low = hastened(context, low)
            child_high = hastened(context, beta)
            if rules.to_move(child) == mover:
                score = visit(rules, child, depth - 1, child_low, child_high, ply + 1, context) & -2
            else:
                score = -(visit(rules, child, depth - 1, -child_high, -child_low, ply + 1, context) & -2)
            if load(context, STOP) != 0:
                return 0
            score = delayed(context, score)
            if score > best:
                best = score
                keep_line(context, ply, action)
            low = max(low, best)
            if low >= beta:
                break
        return best
    # 2. Nobody gets more than the greatest utility, one ply from here.
    highest = load(context, HIGHEST)
    lowest = load(context, LOWEST)
    if alpha >= highest:
        return highest | 1
    if beta <= lowest:
        return lowest | 1
    # 3. The table.
    key = 0
    table_action = -1
    if load(context, TABLE) != 0:
        key = position_key(rules, state, context)
        data = find(context, key)
        if data != 0:
            if load(context, SYMMETRIES) < 2:
                table_action = (data >> 14 & 4095) - 1
            entry_depth = data >> 4 & 1023
            proven = data >> 1 & 1
            asked = min(depth, INFINITE_DEPTH)
            if entry_depth == asked or (proven != 0 and entry_depth <= asked):
                score = data >> 26
                bound = data >> 2 & 3
                if bound == EXACT or (score >= beta if bound == LOWER else score <= alpha):
                    if table_action >= 0:
                        store(row, 0, 1)
                        store(row, 1, table_action)
                    return score | proven
    # 4. A null move: who keeps beta without moving, keeps it. Never a proof, so not for the table.
    null_move = load(context, NULL_MOVE)
    if null_move != 0 and null_move < depth and load(context, PASSED_PLY) != ply:
        value = (beta + HALF) >> 13
        if (lowest + HALF) >> 13 < value < (highest + HALF) >> 13:
            after = rules.pass_turn(state)
            if rules.to_move(after) != mover:
                child_low = hastened(context, beta - 1)
                child_high = hastened(context, beta)
                store(context, PASSED_PLY, ply + 1)
                found = visit(rules, after, depth - 1 - null_move, -child_high, -child_low, ply + 1, context)
                store(context, PASSED_PLY, 0)
                if load(context, STOP) != 0:
                    return 0
                if delayed(context, -(found & -2)) >= beta:
                    return (beta + 1) & -2
    # 5. The actions, most promising first.
    count = rules.legal_actions(state, words(actions, load(context, ACTIONS)))
    arrange(rules, state, mover, count, ply, table_action, context)
    # 6. The textbook's loop; late moves are first searched less deep, where that was asked for.
    low = max(alpha, lowest)
    high = min(beta, highest)
    best = -(1 << 60)
    best_action = -1
    best_proven = 0
    all_proven = 1
    cut = False
    busy = load(context, BUSY) if depth >= SHARED_DEPTH else 0
    later = actions + 8 * load(context, ACTIONS)
    first = 0
    put_off = 0
    rounds = 1 if busy == 0 else 2
    late = load(context, LATE_MOVES) if depth >= LEAST_REDUCED_DEPTH else 1 << 20
    for turn in range(rounds):
        if turn == 1:
            first, count, actions = 0, put_off, later
        for index in range(first, count):
            action = load(actions, index)
            child = rules.result(state, action)
            mark = 0
            if busy != 0:
                # Another thread is in there: it will have left its result in the table when we come back.
                mark = rules.key(child) * 2 + 1 ^ depth << 48
                place = shift_right(mark * -7046029254386353131, 64 - BUSY_BITS)
                if turn == 0 and index > 0 and load(busy, place) == mark:
                    store(later, put_off, action)
                    put_off += 1
                    continue
                store(busy, place, mark)
            sign = 1 if rules.to_move(child) == mover else -1
            edge = high
            if best_action >= 0 and load(context, NULL_WINDOWS) != 0 and low + 1 < high:
                edge = low + 1
            less = 0
            if index + turn >= late and sign < 0 and not rules.is_noisy(state, action):
                less = 1
            score = 0
            found = 0
            while True:
                child_low = hastened(context, low)
                child_high = hastened(context, edge)
                if sign > 0:
                    found = visit(rules, child, depth - 1, child_low, child_high, ply + 1, context)
                else:
                    found = visit(rules, child, depth - 1 - less, -child_high, -child_low, ply + 1, context)
                if load(context, STOP) != 0:
                    return 0
                score = delayed(context, sign * (found & -2))
                if less != 0 and score > low and found & 1 == 0:
                    less = 0
                    continue
                if edge == high or score < edge or score >= high:
                    break
                edge = high
            if busy != 0:
                store(busy, shift_right(mark * -7046029254386353131, 64 - BUSY_BITS), 0)
            proven = found & 1
            all_proven &= proven
            if score > best:
                best = score
                best_action = action
                best_proven = proven
                keep_line(context, ply, action)
            low = max(low, score)
            if low >= high:
                remember_cut(context, action, mover, ply, depth)
                cut = True
                break
        if cut:
            break
    # 7. One action proves a cut, or a greatest value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and (best + HALF) >> 13 == (highest + HALF) >> 13:
        all_proven = 1
    # 8. The table.
    if load(context, TABLE) != 0:
        bound = EXACT
        if lowest < best < highest and not alpha < best < beta:
            bound = UPPER if best <= alpha else LOWER
        keep(context, key, min(depth, INFINITE_DEPTH), bound, best, best_action, all_proven)
    return best | all_proven
