"""Alpha-beta of one seat against all others, through chance nodes, as it is compiled over a game's rules.

It does what ``alpha_beta.plain`` does, node for node and in the same order of floating-point operations: paranoid
search, best reply, and for one or two players expectiminimax, Star1 and Star2.

A score is a pair of floats for the seat that maximizes, value and mate distance. ``visit`` writes the record
(``kernel_nodes``) of a state at ``top``, exact between alpha and beta, else a bound (fail-soft); memory to work in
lies behind. It returns bits: ``PROVEN``, and ``VALUES`` if the record has every seat's value. ``depth`` counts the
moves to look ahead, ``ply`` those from the root. A table's entry has the distance and those values; in its data,
above the action, are ``VALUES`` and the state's tag: which opponent chooses, and whether chance moves.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.layout import CHANCE_KEY
from zermelo.agents.kernels.memory import enter, has_memory, has_room
from zermelo.agents.tree_search.chance.kernel_memory import (
    BLOCKS,
    NO_TAG,
    PROVEN,
    VALUES,
    ceiling_of,
    entry_of,
    entry_serves,
    floor_of,
    killers_of,
    list_outcomes,
    look_up,
    outside,
    pass_probe_down,
    store_probe,
    tighten,
    write_limit,
    write_to_table,
)
from zermelo.agents.tree_search.chance.kernel_replies import choose_reply, codes_of, list_replies, play_on
from zermelo.agents.tree_search.compiled.kernel_memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    is_proven,
    table_action_of,
    update_history,
)
from zermelo.agents.tree_search.compiled.kernel_nodes import (
    clear_line,
    copy_record,
    edge_for_child,
    move_best_first,
    order_moves,
    score_for_parent,
    to_parent_record,
    write_bound,
    write_evaluation,
    write_outcome,
)
from zermelo.agents.tree_search.compiled.record import TREE, GeneralRecord
from zermelo.envs.jit.memory import load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

CHANCE: Final = -1


def list_choices(
    rules: Rules, state: Any, ply: int, outcome: int, first: int, top: int, search: GeneralRecord
) -> int:
    """Writes the actions, or the opponents' choices, at ``top``, most promising first; how many there are."""
    mover = rules.to_move(state)
    killers = killers_of(search, ply, outcome)
    if TREE.replies and mover != search.root_seat:
        count = list_replies(rules, state, search.chooser, codes_of(top, search), search)
        for index in range(count):
            store(top, index, index)
    else:
        count = rules.legal_actions(state, words(top, search.width))
    order_moves(rules, state, mover, top, count, top + 8 * count, killers, first, not TREE.replies, search)
    return count


def visit_child(rules: Rules, child: Any, depth: int, low: Score, high: Score, record: int, search: Any) -> int:
    """``TreeVariant.visit_child`` of this kernel."""
    minus_one = search.chooser = search.minus_one
    bits = visit(rules, child, depth, low, high, minus_one + 2, minus_one, search.arena, search)
    if search.stop == 0:
        copy_record(search.arena, record, search.num_values)
    return bits


def visit(
    rules: Rules,
    state: Any,
    depth: int,
    alpha: Score,
    beta: Score,
    ply: int,
    outcome: int,
    top: int,
    search: GeneralRecord,
) -> int:
    """The best action of the seat that maximizes, or the worst for it of another one, by alpha-beta.

    ``outcome`` is that of the chance event that led here, or -1.
    """
    # 1. Count the node; a finished game, or the depth limit.
    if not enter(search, ply) or not has_memory(search, top):
        return 0
    if rules.is_terminal(state):
        write_outcome(rules, state, top, search)
        return PROVEN | VALUES
    mover = rules.to_move(state)
    is_chance = mover == CHANCE
    if TREE.chance and not TREE.replies and rules.continues_move(state):
        depth += 1
    is_limit = depth <= 0 and (not is_chance or search.at_chance != 0)
    if is_limit:
        write_evaluation(rules, state, ply, top, search)
        return VALUES
    if TREE.chance and is_chance:
        return visit_chance(rules, state, depth, alpha, beta, ply, top, search)
    # 2. Nobody gets more than the upper bound on utility, one ply from here.
    seats, own, minus_one = search.num_values, search.own, search.minus_one
    chooser = search.chooser
    known = search.known  # what a probe has found of one action here; it probes no node at the depth limit
    search.known = minus_one
    pruned = search.prunes != 0
    lowest = search.lower_value, search.lower_distance
    highest = search.upper_value, search.upper_distance
    if pruned and not alpha < highest:
        return write_limit(highest, top, search)
    if pruned and not lowest < beta:
        return write_limit(lowest, top, search)
    # 3. The table.
    tag = 2 * (chooser + 1)
    key = 0
    first = known
    if search.table != 0:
        key = rules.key(state) ^ tag * CHANCE_KEY
        action, bits = look_up(key, tag, depth, alpha, beta, top, search)
        if bits >= 0:
            return bits
        if first < 0:
            first = action
    # 4. The actions; of many, those after which the evaluation is best.
    maximizing = mover == search.root_seat
    count = list_choices(rules, state, ply, outcome, first, top, search)
    best_record = top + 16 * count
    if TREE.replies and not maximizing:
        best_record = codes_of(top, search) + 8 * count
    is_cut_short = TREE.chance and 0 < search.beam_width < count and depth > 1
    if is_cut_short:
        scores = top + 8 * count
        for index in range(count):
            search.chooser = minus_one
            child = rules.result(state, load(top, index))
            low, high = (-math.inf, -math.inf), (math.inf, math.inf)
            visit(rules, child, 0, low, high, ply + 1, minus_one, best_record, search)
            if search.stop != 0:
                return 0
            value = load_float(best_record, own)
            store_float(scores, index, value if maximizing else -value)
        move_best_first(top, scores, count, search.beam_width)
        count = search.beam_width
    # 5. The textbook's loop. The best record lies first, that of the next child behind it.
    low = alpha
    high = beta
    if pruned:
        low = lowest if alpha < lowest else alpha
        high = highest if highest < beta else beta
    record = best_record
    best = 0.0, 0.0
    best_action = -1
    best_bits = 0
    all_proven = PROVEN
    cut = False
    known_score = search.known_value, search.known_distance
    known_proven = search.known_proven
    for index in range(count):
        action = load(top, index)
        if TREE.chance and action == known:
            store_float(record, 0, known_score[0])
            clear_line(record, seats, known_score[1])
            bits = known_proven
        else:
            if TREE.replies and not maximizing:
                child, next_chooser = choose_reply(rules, state, load(codes_of(top, search), action), search)
                search.chooser = next_chooser
            else:
                child = rules.result(state, action)
                search.chooser = minus_one
            child_low, child_high = edge_for_child(search, low), edge_for_child(search, high)
            bits = visit(rules, child, depth - 1, child_low, child_high, ply + 1, minus_one, record, search)
            if search.stop != 0:
                return 0
        score = score_for_parent(search, (load_float(record, own), load_float(record, seats)))
        all_proven &= bits
        if best_action < 0 or (best < score if maximizing else score < best):
            best = score
            best_action = action
            best_bits = bits
            record = copy_record(record, best_record, seats)
        if pruned:
            if maximizing:
                low = score if low < score else low
            else:
                high = score if score < high else high
            if not low < high:
                cut = True
                break
    # 6. One action proves a cut, or a value at the upper bound; otherwise all of them together do.
    if cut:
        all_proven = best_bits
    elif is_cut_short:
        all_proven = 0
    if best[0] == (highest[0] if maximizing else lowest[0]):
        all_proven |= best_bits
    bits = all_proven & PROVEN | best_bits & VALUES
    above_alpha = alpha < best
    below_beta = best < beta
    if above_alpha if maximizing else below_beta:
        update_history(search, best_action, mover, killers_of(search, ply, outcome), depth)
    to_parent_record(best_record, top, seats, best_action, best[1])
    # 7. The table.
    if search.table != 0:
        bound = EXACT
        if pruned and not (above_alpha and below_beta) and lowest < best and best < highest:
            bound = LOWER if above_alpha else UPPER
        write_to_table(key, tag, depth, bound, bits, best_action, top, search)
    return bits


def visit_chance(
    rules: Rules, state: Any, depth: int, alpha: Score, beta: Score, ply: int, top: int, search: GeneralRecord
) -> int:
    """The average over what chance does, by Star1 and Star2."""
    seats, own, chooser = search.num_values, search.own, search.chooser
    pruned = search.prunes != 0
    search.known = search.minus_one
    # 1. The table.
    tag = 2 * (chooser + 1) + 1
    key = 0
    if search.table != 0:
        key = rules.key(state) ^ tag * CHANCE_KEY
        _, bits = look_up(key, tag, depth, alpha, beta, top, search)
        if bits >= 0:
            return bits
    if not has_room(search):
        return 0
    # 2. The bounds of the average, from those of the game; Star2 makes them narrower.
    outcomes = top + 8 * (seats + 2)
    count = list_outcomes(rules, state, outcomes, search)
    below = outcomes + 8 * BLOCKS * count
    total = 0.0
    for index in range(count):
        total += load_float(outcomes + 8 * count, index)
    low = total * search.lower_value
    high = total * search.upper_value
    side = 0
    bounds_proven = PROVEN
    may_tighten = beta[0] < search.upper_value or alpha[0] > search.lower_value
    if depth > 0 and search.probes != 0 and may_tighten:
        window = alpha[0], beta[0]
        low, high, side, bounds_proven = probe_outcomes(
            rules, state, depth, window, (low, high), ply, outcomes, count, search
        )
        if search.stop != 0:
            return 0
    # 3. Star1: every outcome in the window that leaves the average inside its own.
    average = 0.0
    distance = 0.0
    all_bits = PROVEN | VALUES
    for seat in range(seats):
        store_float(top, seat, 0.0)
    index = 0
    while side == 0 and index < count:
        p = load_float(outcomes + 8 * count, index)
        floor = -math.inf
        ceiling = math.inf
        if pruned:
            floor = floor_of(search, outcomes, count, index, alpha[0], high)
            ceiling = ceiling_of(search, outcomes, count, index, beta[0], low)
        outcome = load(outcomes, index)
        child = rules.result(state, outcome)
        if search.probes != 0:
            pass_probe_down(search, outcomes, count, index)
        if TREE.replies:
            child, next_chooser = play_on(rules, child, chooser, search)
            search.chooser = next_chooser
        bits = visit(rules, child, depth, (floor, -math.inf), (ceiling, math.inf), ply, outcome, below, search)
        if search.stop != 0:
            return 0
        value = load_float(below, own)
        average += p * value
        distance += p * load_float(below, seats)
        all_bits &= bits
        if seats > 1:
            for seat in range(seats):
                store_float(top, seat, load_float(top, seat) + p * load_float(below, seat))
        if pruned:
            if value >= floor:
                low = tighten(outcomes, count, index, value, low, LOWER)
            if value <= ceiling:
                high = tighten(outcomes, count, index, value, high, UPPER)
            side = outside(search, low, high, alpha[0], beta[0])
        index += 1
    if side != 0:
        average = high if side == UPPER else low
        distance = math.inf if side == UPPER else -math.inf
        write_bound(top, seats, own, average)
        all_bits &= bounds_proven
    store_float(top, own, average)
    clear_line(top, seats, distance)
    # 4. The table.
    if search.table != 0:
        write_to_table(key, tag, depth, side, all_bits, search.minus_one, top, search)
    return all_bits


def probe_outcomes(
    rules: Rules, state: Any, depth: int, window: Score, average: Score, ply: int, outcomes: int, count: int,
    search: GeneralRecord,
) -> tuple[float, float, int, int]:  # fmt: skip
    """Star2: one action in every outcome; what its player can get there bounds the outcome from one side.

    Takes and returns the bounds of the average; further, which of them lies outside the window (``outside``), and
    whether they are proven.
    """
    alpha, beta = window
    low, high = average
    below = outcomes + 8 * BLOCKS * count
    rises = beta < search.upper_value
    falls = alpha > search.lower_value
    side = 0
    bounds_proven = PROVEN
    for index in range(count):
        child = rules.result(state, load(outcomes, index))
        if rules.is_terminal(child):
            continue
        player = rules.to_move(child)
        maximizing = player == search.root_seat
        if player == CHANCE or not (rises if maximizing else falls):
            continue
        # 1. The table may bound the outcome, and else has the action to try.
        action = -1
        if search.table != 0:
            entry, data = entry_of(rules.key(child), NO_TAG, search)
            if data != 0:
                action = table_action_of(search, data)
                if entry_serves(search, data, depth):
                    bound = bound_of(data)
                    value = load_float(entry, 3)
                    bounds_proven &= is_proven(data)
                    if bound != UPPER:
                        low = tighten(outcomes, count, index, value, low, LOWER)
                    if bound != LOWER:
                        high = tighten(outcomes, count, index, value, high, UPPER)
                    side = outside(search, low, high, alpha, beta)
                    if side != 0:
                        break
                    if bound == EXACT:
                        continue
        # 2. Else the most promising one.
        if not enter(search, ply) or not has_memory(search, below):
            break
        number = rules.legal_actions(child, words(below, search.width))
        killers = killers_of(search, ply, load(outcomes, index))
        order_moves(rules, child, player, below, number, below + 8 * number, killers, action, True, search)
        action = load(below, 0)
        floor = -math.inf
        ceiling = math.inf
        if maximizing:
            ceiling = ceiling_of(search, outcomes, count, index, beta, low)
        else:
            floor = floor_of(search, outcomes, count, index, alpha, high)
        tried = rules.result(child, action)
        minus_one = search.minus_one
        bits = visit(
            rules, tried, depth - 1, (floor, -math.inf), (ceiling, math.inf), ply + 1, minus_one, below, search
        )
        if search.stop != 0:
            break
        value = load_float(below, 0)
        store_probe(outcomes, count, index, action, below, bits & PROVEN)
        bounds_proven &= bits
        if maximizing:
            low = tighten(outcomes, count, index, value, low, LOWER)
        else:
            high = tighten(outcomes, count, index, value, high, UPPER)
        side = outside(search, low, high, alpha, beta)
        if side != 0:
            break
    return low, high, side, bounds_proven
