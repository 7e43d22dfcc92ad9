"""The root of every compiled search: one call looks so many moves ahead after each of the root's actions.

It does what ``PlainSearch.search_moves`` does in Python. Scores are pairs of floats at the root, value and mate
distance, for the seat that maximizes; each kernel has its own below. What is found of an action is written into a
slot: the action; bits, those that the kernel returns and ``IS_EXACT``; and the record of the state after it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.memory import enter
from zermelo.agents.tree_search.compiled.kernel_nodes import edge_for_child, order_moves, shift
from zermelo.agents.tree_search.compiled.record import TREE, TreeRecord
from zermelo.agents.tree_search.settings import MIN_REDUCED_DEPTH
from zermelo.envs.jit.memory import load, load_float, store, store_float
from zermelo.envs.rules.protocol import Rules

IS_EXACT: Final = 4
HEADER: Final = 2
"""Words of a slot before the record."""


def score_of(search: TreeRecord, slot: int) -> Score:
    """The score in a slot, as it reads at the root."""
    record = slot + 8 * HEADER
    distance = 0.0 if TREE.max_n else load_float(record, search.num_values)
    return load_float(record, search.own), distance


def visit_child(rules: Rules, child: Any, depth: int, low: Score, high: Score, slot: int, search: Any) -> int:
    """Writes the record of a state after a root action into its slot; what the kernel returns."""
    record = slot + 8 * HEADER
    if TREE.max_n:
        return TREE.visit_child(rules, child, depth, low, high, record, search)
    low, high = edge_for_child(search, low), edge_for_child(search, high)
    bits = TREE.visit_child(rules, child, depth, low, high, record, search)
    distance = load_float(record, search.num_values)
    store_float(record, search.num_values, distance + shift(search, load_float(record, search.own)))
    return bits


def reduction(rules: Rules, state: Any, action: int, child: Any, number: int, search: TreeRecord) -> int:
    """How much less deep a late root action is first searched."""
    if rules.to_move(child) == rules.to_move(state) or rules.is_noisy(state, action):
        return 0
    if rules.is_terminal(child) or rules.is_urgent(child):
        return 0
    less = load(search.reductions, min(search.depth, 63) << 6 | min(number, 63))
    return max((less >> 10) - 1, 0)


def search_root(rules: Rules, state: Any, search: Any) -> int:
    """Searches the root's actions in the order given; ``root_done`` slots are then filled.

    With ``exact`` every action gets the full window. Otherwise an action gets a window that only shows whether it
    is better than the best so far or, where the rule for ties could prefer it, as good.
    """
    if not enter(search, 0):
        return 0
    mover = rules.to_move(state)
    if search.orders_root != 0:
        actions, count = search.root_actions, search.root_count
        behind = actions + 8 * count
        order_moves(rules, state, mover, actions, count, behind, search.killers, search.minus_one, True, search)
        search.orders_root = 0
    maximizing = mover == search.root_seat
    alpha = search.root_alpha, search.root_alpha_distance
    beta = search.root_beta, search.root_beta_distance
    best = 0
    least_tied = 0
    done = 0
    for number in range(search.root_count):
        action = load(search.root_actions, number)
        low, high = alpha, beta
        if best != 0 and search.exact == 0:
            # 1. An action must beat the best, or may tie.
            edge = score_of(search, best)
            if search.sees_ties == 2 or (search.sees_ties == 1 and action < least_tied):
                edge = edge[0], edge[1] - 0.5 if maximizing else edge[1] + 0.5
            if maximizing:
                low = edge if low < edge else low
            else:
                high = edge if edge < high else high
            if not low < high:
                continue
        slot = search.root_slots + 8 * search.slot_words * done
        child = rules.result(state, action)
        # 2. A selective search asks first whether the action is better than the best, maybe less deep.
        narrow = search.selective != 0 and best != 0 and search.exact == 0
        less = 0
        if narrow and done >= search.lmr_after and search.depth > MIN_REDUCED_DEPTH:
            less = reduction(rules, state, action, child, done, search)
        while True:
            floor, ceiling = low, high
            if narrow and maximizing:
                ceiling = low[0], math.floor(low[1] + 0.5) + 0.5
            elif narrow:
                floor = high[0], math.ceil(high[1] - 0.5) - 0.5
            bits = visit_child(rules, child, search.depth - 1 - less, floor, ceiling, slot, search)
            if search.stop != 0:
                return done
            score = score_of(search, slot)
            beyond = floor < score if maximizing else score < ceiling
            if less != 0 and beyond:
                less = 0
                continue
            inside = score < ceiling if maximizing else floor < score
            if not narrow or not beyond or inside:
                break
            narrow = False
        # 3. Outside the window a score is a bound; it is the value all the same if nothing lies beyond it.
        above = low < score
        below = score < high
        is_exact = (above and below) or (not above and score[0] <= search.lower_value)
        is_exact = is_exact or (not below and score[0] >= search.upper_value)
        store(slot, 0, action)
        store(slot, 1, bits | IS_EXACT if is_exact else bits)
        done += 1
        search.root_done = done
        # 4. The best so far, and the least action that is as good.
        if best == 0:
            best, least_tied = slot, action
            continue
        best_score = score_of(search, best)
        if best_score < score if maximizing else score < best_score:
            best, least_tied = slot, action
        elif is_exact and score == best_score:
            least_tied = min(least_tied, action)
    return done
