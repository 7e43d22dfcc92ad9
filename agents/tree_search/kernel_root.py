"""The root of every compiled search: one call looks so many moves ahead after each of the root's actions.

It does what ``search.tree.plain_search`` does in Python. Scores are pairs of floats at the root, value and mate
distance, for the seat that maximizes; each kernel has its own below. What is found of an action is written into a
slot: the action; bits, those that the kernel returns and ``IS_EXACT``; and the record of the state after it.

Importing this module imports Numba: only the front end does.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.kernels.layout import Search
from zermelo.agents.kernels.memory import enter, line_of, row_of
from zermelo.agents.tree_search.alpha_beta.compiled import SCALE
from zermelo.agents.tree_search.alpha_beta.kernel import visit
from zermelo.agents.tree_search.alpha_beta.kernel_scores import to_score, unit, value_of
from zermelo.agents.tree_search.chance.kernel import visit as visit_general
from zermelo.agents.tree_search.config import MIN_REDUCED_DEPTH
from zermelo.agents.tree_search.kernel_nodes import copy_record, is_less, order_moves, shift
from zermelo.agents.tree_search.many_players.kernel import max_n
from zermelo.envs.jit.memory import load, load_float, store, store_float
from zermelo.envs.rules.protocol import Rules

GENERAL = False
"""Whether the general kernel is below. Front ends set it, as the next one; else that of two players is."""
MAX_N = False
IS_EXACT: Final = 4
HEADER: Final = 2
"""Words of a slot before the record."""


def bar_of(search: Search, count: int, maximizing: bool) -> int:
    """The slot of the last of the ``best_lines`` best exact scores; 0 while there are fewer of them."""
    for number in range(count):
        slot = search.root_slots + 8 * search.slot_words * number
        if load(slot, 1) & IS_EXACT == 0:
            continue
        better = 0
        for other in range(count):
            rival = search.root_slots + 8 * search.slot_words * other
            if load(rival, 1) & IS_EXACT == 0 or rival == slot:
                continue
            value, distance = score_of(search, slot)
            others_value, others_distance = score_of(search, rival)
            ahead = is_less(value, distance, others_value, others_distance)
            if not maximizing:
                ahead = is_less(others_value, others_distance, value, distance)
            equal = value == others_value and distance == others_distance
            if ahead or (equal and other < number):
                better += 1
        if better == search.best_lines - 1:
            return slot
    return 0


def score_of(search: Search, slot: int) -> tuple[float, float]:
    """The score in a slot, as it reads at the root."""
    record = slot + 8 * HEADER
    distance = 0.0 if MAX_N else load_float(record, search.num_values)
    return load_float(record, search.own), distance


def visit_child(
    rules: Rules,
    child: Any,
    depth: int,
    low: float,
    low_distance: float,
    high: float,
    high_distance: float,
    slot: int,
    search: Search,
) -> int:
    """Writes the record of a state after a root action into its slot; what the kernel returns."""
    ply = search.nothing + 2
    record = slot + 8 * HEADER
    seats = search.num_values
    if MAX_N:
        found = max_n(rules, child, depth, search.root_seat, low, ply, search.arena, search)
        if search.stop == 0:
            copy_record(search.arena, record, seats)
        return found
    low_distance -= shift(search, low)
    high_distance -= shift(search, high)
    if GENERAL:
        outcome = search.nothing
        found = visit_general(
            rules, child, depth, low, low_distance, high, high_distance, ply, outcome, search.arena, search
        )
        if search.stop != 0:
            return 0
        copy_record(search.arena, record, seats)
    else:
        alpha, beta = to_score(low, low_distance, search), to_score(high, high_distance, search)
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
        found &= 1
    distance = load_float(record, seats)
    store_float(record, seats, distance + shift(search, load_float(record, search.own)))
    return found


def reduction(rules: Rules, state: Any, action: int, child: Any, number: int, search: Search) -> int:
    """How much less deep a late root action is first searched."""
    if rules.to_move(child) == rules.to_move(state) or rules.is_noisy(state, action):
        return 0
    if rules.is_terminal(child) or rules.is_urgent(child):
        return 0
    less = load(search.reductions, min(search.depth, 63) << 6 | min(number, 63))
    return max((less >> 10) - 1, 0)


def search_root(rules: Rules, state: Any, search: Search) -> int:
    """Searches the root's actions in the order given; ``root_done`` slots are then filled.

    With ``exact`` every action gets the full window. Otherwise an action gets a window that only shows whether it
    is better than the best so far (than the last of the ``best_lines`` best) or, where the rule for ties could
    prefer it, as good.
    """
    if not enter(search, 0):
        return 0
    mover = rules.to_move(state)
    if search.orders_root != 0:
        actions, count = search.root_actions, search.root_count
        nobody = search.nothing
        order_moves(rules, state, mover, actions, count, actions + 8 * count, search.killers, nobody, True, search)
        search.orders_root = 0
    maximizing = mover == search.root_seat
    alpha, beta = search.root_alpha, search.root_beta
    best = 0
    least_tied = 0
    done = 0
    for number in range(search.root_count):
        action = load(search.root_actions, number)
        low, low_distance = alpha, search.root_alpha_distance
        high, high_distance = beta, search.root_beta_distance
        if best != 0 and search.exact == 0:
            bar = best if search.best_lines == 1 else bar_of(search, done, maximizing)
            if bar != 0:
                value, distance = score_of(search, bar)
                best_value, best_distance = score_of(search, best)
                may_tie = search.sees_ties == 2 or (search.sees_ties == 1 and action < least_tied)
                may_tie = may_tie and value == best_value and distance == best_distance
                if maximizing:
                    edge = distance - 0.5 if may_tie else distance
                    if is_less(low, low_distance, value, edge):
                        low, low_distance = value, edge
                else:
                    edge = distance + 0.5 if may_tie else distance
                    if is_less(value, edge, high, high_distance):
                        high, high_distance = value, edge
            if not is_less(low, low_distance, high, high_distance):
                continue
        slot = search.root_slots + 8 * search.slot_words * done
        child = rules.result(state, action)
        if GENERAL:
            search.chooser = search.nothing
            search.probability = 1.0
        # A selective search asks first whether the action is better than the best, maybe less deep.
        narrow = search.selective != 0 and best != 0 and search.exact == 0 and search.best_lines == 1
        less = 0
        if narrow and done >= search.late_moves and search.depth > MIN_REDUCED_DEPTH:
            less = reduction(rules, state, action, child, done, search)
        while True:
            floor, floor_distance, ceiling, ceiling_distance = low, low_distance, high, high_distance
            if narrow and maximizing:
                ceiling, ceiling_distance = low, math.floor(low_distance + 0.5) + 0.5
            elif narrow:
                floor, floor_distance = high, math.ceil(high_distance - 0.5) - 0.5
            depth = search.depth - 1 - less
            found = visit_child(
                rules, child, depth, floor, floor_distance, ceiling, ceiling_distance, slot, search
            )
            if search.stop != 0:
                return done
            value, distance = score_of(search, slot)
            beyond = is_less(floor, floor_distance, value, distance)
            if not maximizing:
                beyond = is_less(value, distance, ceiling, ceiling_distance)
            if less != 0 and beyond:
                less = 0
                continue
            inside = is_less(value, distance, ceiling, ceiling_distance)
            if not maximizing:
                inside = is_less(floor, floor_distance, value, distance)
            if not narrow or not beyond or inside:
                break
            narrow = False
        # Outside the window a score is a bound; it is the value all the same if nothing lies beyond it.
        above = is_less(low, low_distance, value, distance)
        below = is_less(value, distance, high, high_distance)
        is_exact = (above and below) or (not above and value <= search.lower_value)
        is_exact = is_exact or (not below and value >= search.upper_value)
        store(slot, 0, action)
        store(slot, 1, found | IS_EXACT if is_exact else found)
        done += 1
        search.root_done = done
        if best == 0:
            best, least_tied = slot, action
            continue
        best_value, best_distance = score_of(search, best)
        better = is_less(best_value, best_distance, value, distance)
        if not maximizing:
            better = is_less(value, distance, best_value, best_distance)
        if better:
            best, least_tied = slot, action
        elif is_exact and value == best_value and distance == best_distance:
            least_tied = min(least_tied, action)
    return done
