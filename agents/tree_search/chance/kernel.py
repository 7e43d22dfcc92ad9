"""Alpha-beta of one seat against all others, through chance nodes, as it is compiled over a game's rules.

It does what ``search.tree.alpha_beta`` does, node for node and in the same order of floating-point operations:
paranoid search, best reply, and for one or two players expectiminimax, Star1 and Star2.

A score is a pair of floats for the seat that maximizes, value and mate distance. A visit writes a record
(``records``) with its own value, or every seat's, and returns bits: ``PROVEN``, and ``VALUES`` if the record has
every seat's value. A table's entry has the distance and those values; in its data, above the action, is ``VALUES``
and the state's tag: which opponent chooses, and whether chance moves.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.kernels.layout import CHANCE_KEY, Search
from zermelo.agents.kernels.memory import enter, has_memory, has_room
from zermelo.agents.tree_search.chance.kernel_bounds import (
    BLOCKS,
    ceiling_of,
    floor_of,
    list_outcomes,
    outside,
    pass_probe_down,
    store_probe,
    tighten,
)
from zermelo.agents.tree_search.chance.kernel_replies import choose_reply, list_replies, play_on
from zermelo.agents.tree_search.compiled_table import ACTION_SHIFT, INFINITE_DEPTH
from zermelo.agents.tree_search.kernel_memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    depth_of,
    is_proven,
    pack,
    probe,
    replace,
    serves,
    table_action_of,
    update_history,
)
from zermelo.agents.tree_search.kernel_nodes import (
    clear_line,
    copy_record,
    is_less,
    move_best_first,
    order_moves,
    read_entry,
    shift,
    to_parent_record,
    write_bound,
    write_entry,
    write_evaluation,
    write_outcome,
)
from zermelo.envs.jit.memory import load, load_float, store, store_float, words
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

PROVEN: Final = 1
VALUES: Final = 2
PLACES: Final = 64
"""Plies that have killers of their own after each outcome of chance; later ones share the last."""
CHANCE: Final = -1
HAS_CHANCE = True
"""Whether the rules have chance. Front ends set it, as the next one, for each kernel that they compile."""
REPLIES = True
"""Whether only one opponent answers (best reply)."""


def killers_of(search: Search, ply: int, outcome: int) -> int:
    """The address of the killers of a ply; after an outcome of chance (-1 for none) they are others."""
    if outcome < 0:
        return search.killers + 16 * ply
    return search.killers + 16 * (MAX_PLIES + 2 + min(ply, PLACES - 1) * search.actions + outcome)


def entry_serves(search: Search, data: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would; without pruning, after as many nodes."""
    if search.prunes == 0 and depth_of(data) != min(depth, INFINITE_DEPTH):
        return False
    return serves(data, depth)


def visit(
    rules: Rules,
    state: Any,
    depth: int,
    alpha: float,
    alpha_distance: float,
    beta: float,
    beta_distance: float,
    ply: int,
    outcome: int,
    top: int,
    search: Search,
) -> int:
    """Writes the record of a state at ``top``: exact between alpha and beta, else a bound (fail-soft).

    It looks ``depth`` moves ahead, ``ply`` moves below the root; ``outcome`` is that of the chance event that led
    here, or -1. Behind ``top`` is the memory to work in.
    """
    # 1. Count the node; a finished game, or the depth limit.
    if not enter(search, ply) or not has_memory(search, top):
        return 0
    if rules.is_terminal(state):
        write_outcome(rules, state, top, search)
        return PROVEN | VALUES
    mover = rules.to_move(state)
    if HAS_CHANCE and not REPLIES and rules.continues_move(state):
        depth += 1
    if depth <= 0 and (mover != CHANCE or search.at_chance != 0):
        write_evaluation(rules, state, ply, top, search)
        return VALUES
    probability = search.probability
    probability_cut = HAS_CHANCE and search.min_probability > 0.0
    if probability_cut and (mover == CHANCE) == (search.at_chance != 0) and probability < search.min_probability:
        write_evaluation(rules, state, ply, top, search)
        return VALUES
    seats = search.num_values
    own = search.own
    chooser = search.chooser
    nothing = search.nothing
    # What a probe has found of one action here; it probes no node at the depth limit.
    known = search.known
    search.known = nothing
    pruned = search.prunes != 0
    lowest = search.lower_value
    lowest_distance = search.lower_distance
    highest = search.upper_value
    highest_distance = search.upper_distance
    # 2. Nobody gets more than the upper bound on utility, one ply from here.
    if pruned and mover != CHANCE:
        if not is_less(alpha, alpha_distance, highest, highest_distance):
            write_bound(top, seats, own, highest)
            clear_line(top, seats, highest_distance)
            return PROVEN
        if not is_less(lowest, lowest_distance, beta, beta_distance):
            write_bound(top, seats, own, lowest)
            clear_line(top, seats, lowest_distance)
            return PROVEN
    # 3. The table.
    tag = 2 * (chooser + 1) + (1 if mover == CHANCE else 0)
    key = 0
    first = known
    if search.table != 0:
        key = rules.key(state) ^ tag * CHANCE_KEY
        entry, data = probe(search, key)
        above = shift_right(data, ACTION_SHIFT + search.action_bits)
        if data != 0 and above >> 1 == tag:
            action = table_action_of(search, data)
            if first < 0:
                first = action
            if entry_serves(search, data, depth):
                value, distance, bound = load_float(entry, 3 + own), load_float(entry, 2), bound_of(data)
                settled = bound == EXACT
                if bound == LOWER:
                    settled = not is_less(value, distance, beta, beta_distance)
                elif bound == UPPER:
                    settled = not is_less(alpha, alpha_distance, value, distance)
                if probability_cut:
                    settled = settled and load_float(entry, 3 + seats) == probability
                if settled:
                    read_entry(entry, top, seats, action)
                    return is_proven(data) | (above & 1) << 1
    if HAS_CHANCE and mover == CHANCE:
        # 4. The bounds of the average, from those of the game.
        if not has_room(search):
            return 0
        outcomes = top + 8 * (seats + 2)
        count = list_outcomes(rules, state, outcomes, search)
        below = outcomes + 8 * BLOCKS * count
        total = 0.0
        for index in range(count):
            total += load_float(outcomes + 8 * count, index)
        low = total * lowest
        high = total * highest
        # 5. Star2: one action in every outcome; what its player can get there bounds the outcome from one side.
        side = 0
        bounds_proven = PROVEN
        rises = beta < highest
        falls = alpha > lowest
        if depth > 0 and search.probes != 0 and (rises or falls):
            for index in range(count):
                child = rules.result(state, load(outcomes, index))
                if rules.is_terminal(child):
                    continue
                player = rules.to_move(child)
                maximizing = player == search.root_seat
                if player == CHANCE or not (rises if maximizing else falls):
                    continue
                reply = -1
                if search.table != 0:
                    entry, data = probe(search, rules.key(child))
                    if data != 0 and shift_right(data, ACTION_SHIFT + search.action_bits) >> 1 == 0:
                        reply = table_action_of(search, data)
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
                if not enter(search, ply) or not has_memory(search, below):
                    return 0
                number = rules.legal_actions(child, words(below, search.width))
                killers = killers_of(search, ply, load(outcomes, index))
                order_moves(rules, child, player, below, number, below + 8 * number, killers, reply, True, search)
                reply = load(below, 0)
                floor = -math.inf
                ceiling = math.inf
                if maximizing:
                    ceiling = ceiling_of(search, outcomes, count, index, beta, low)
                else:
                    floor = floor_of(search, outcomes, count, index, alpha, high)
                tried = rules.result(child, reply)
                found = visit(
                    rules, tried, depth - 1, floor, -math.inf, ceiling, math.inf, ply + 1, nothing, below, search
                )
                if search.stop != 0:
                    return 0
                value = load_float(below, 0)
                store_probe(outcomes, count, index, reply, below, found & PROVEN)
                bounds_proven &= found
                if maximizing:
                    low = tighten(outcomes, count, index, value, low, LOWER)
                else:
                    high = tighten(outcomes, count, index, value, high, UPPER)
                side = outside(search, low, high, alpha, beta)
                if side != 0:
                    break
        # 6. Star1: every outcome in the window that leaves the average inside its own.
        average = 0.0
        distance = 0.0
        all_found = PROVEN | VALUES
        for seat in range(seats):
            store_float(top, seat, 0.0)
        index = 0
        while side == 0 and index < count:
            p = load_float(outcomes + 8 * count, index)
            floor = -math.inf
            ceiling = math.inf
            if pruned:
                floor = floor_of(search, outcomes, count, index, alpha, high)
                ceiling = ceiling_of(search, outcomes, count, index, beta, low)
            drawn = load(outcomes, index)
            child = rules.result(state, drawn)
            if search.probes != 0:
                pass_probe_down(search, outcomes, count, index)
            if REPLIES:
                child, next_chooser = play_on(rules, child, chooser, search)
                search.chooser = next_chooser
            search.probability = probability * p
            found = visit(rules, child, depth, floor, -math.inf, ceiling, math.inf, ply, drawn, below, search)
            if search.stop != 0:
                return 0
            value = load_float(below, own)
            average += p * value
            distance += p * load_float(below, seats)
            all_found &= found
            if seats > 1:
                for seat in range(seats):
                    store_float(top, seat, load_float(top, seat) + p * load_float(below, seat))
            if pruned:
                if value >= floor:
                    low = tighten(outcomes, count, index, value, low, LOWER)
                if value <= ceiling:
                    high = tighten(outcomes, count, index, value, high, UPPER)
                side = outside(search, low, high, alpha, beta)
            index += 1
        if side != 0:
            average = high if side == UPPER else low
            distance = math.inf if side == UPPER else -math.inf
            write_bound(top, seats, own, average)
            all_found &= bounds_proven
        store_float(top, own, average)
        clear_line(top, seats, distance)
        if search.table != 0:
            data = pack(search, depth, side, all_found & PROVEN, nothing)
            data |= (tag << 1 | all_found >> 1) << ACTION_SHIFT + search.action_bits
            entry = replace(search, key, data)
            write_entry(entry, top, seats)
            if probability_cut:
                store_float(entry, 3 + seats, probability)
        return all_found
    # 7. The actions, or the opponents' choices, most promising first.
    maximizing = mover == search.root_seat
    codes = top + 16 * search.width
    if REPLIES and not maximizing:
        count = list_replies(rules, state, chooser, codes, search)
        for index in range(count):
            store(top, index, index)
        best_record = codes + 8 * count
    else:
        count = rules.legal_actions(state, words(top, search.width))
        best_record = top + 16 * count
    killers = killers_of(search, ply, outcome)
    order_moves(rules, state, mover, top, count, top + 8 * count, killers, first, not REPLIES, search)
    beam_width = search.beam_width
    is_cut_short = HAS_CHANCE and 0 < beam_width < count and depth > 1
    if is_cut_short:
        scores = top + 8 * count
        for index in range(count):
            search.probability = probability
            search.chooser = nothing
            child = rules.result(state, load(top, index))
            visit(rules, child, 0, -math.inf, -math.inf, math.inf, math.inf, ply + 1, nothing, best_record, search)
            if search.stop != 0:
                return 0
            value = load_float(best_record, own)
            store_float(scores, index, value if maximizing else -value)
        move_best_first(top, scores, count, beam_width)
        count = beam_width
    # 8. The textbook's loop. The best record lies first, that of the next child behind it.
    low = alpha
    low_distance = alpha_distance
    high = beta
    high_distance = beta_distance
    if pruned:
        if is_less(low, low_distance, lowest, lowest_distance):
            low = lowest
            low_distance = lowest_distance
        if is_less(highest, highest_distance, high, high_distance):
            high = highest
            high_distance = highest_distance
    record = best_record
    best = 0.0
    best_distance = 0.0
    best_action = -1
    best_found = 0
    all_proven = PROVEN
    cut = False
    known_value = search.known_value
    known_distance = search.known_distance
    known_proven = search.known_proven
    for index in range(count):
        action = load(top, index)
        if HAS_CHANCE and action == known:
            store_float(record, 0, known_value)
            clear_line(record, seats, known_distance)
            found = known_proven
        else:
            if REPLIES and not maximizing:
                child, next_chooser = choose_reply(rules, state, load(codes, action), search)
                search.chooser = next_chooser
            else:
                child = rules.result(state, action)
                search.chooser = nothing
            search.probability = probability
            low_at = low_distance - shift(search, low)
            high_at = high_distance - shift(search, high)
            found = visit(rules, child, depth - 1, low, low_at, high, high_at, ply + 1, nothing, record, search)
            if search.stop != 0:
                return 0
        value = load_float(record, own)
        distance = load_float(record, seats) + shift(search, value)
        all_proven &= found
        better = best_action < 0
        if maximizing:
            better = better or is_less(best, best_distance, value, distance)
        else:
            better = better or is_less(value, distance, best, best_distance)
        if better:
            best = value
            best_distance = distance
            best_action = action
            best_found = found
            record = copy_record(record, best_record, seats)
        if pruned:
            if maximizing:
                if is_less(low, low_distance, value, distance):
                    low = value
                    low_distance = distance
            elif is_less(value, distance, high, high_distance):
                high = value
                high_distance = distance
            if not is_less(low, low_distance, high, high_distance):
                cut = True
                break
    # 9. One action proves a cut, or a value at the upper bound; otherwise all of them together do.
    if is_cut_short:
        all_proven = 0
    if cut or best == (highest if maximizing else lowest):
        all_proven = all_proven & PROVEN if not cut else 0
        all_proven |= best_found & PROVEN
    found = all_proven & PROVEN | best_found & VALUES
    above_alpha = is_less(alpha, alpha_distance, best, best_distance)
    below_beta = is_less(best, best_distance, beta, beta_distance)
    if above_alpha if maximizing else below_beta:
        update_history(search, best_action, mover, killers, depth)
    to_parent_record(best_record, top, seats, best_action, best_distance)
    # 10. The table.
    if search.table != 0:
        bound = EXACT
        if pruned and not (above_alpha and below_beta):
            inside = is_less(lowest, lowest_distance, best, best_distance)
            if inside and is_less(best, best_distance, highest, highest_distance):
                bound = LOWER if above_alpha else UPPER
        data = pack(search, depth, bound, found & PROVEN, best_action)
        data |= (tag << 1 | found >> 1) << ACTION_SHIFT + search.action_bits
        entry = replace(search, key, data)
        write_entry(entry, top, seats)
        if probability_cut:
            store_float(entry, 3 + seats, probability)
    return found
