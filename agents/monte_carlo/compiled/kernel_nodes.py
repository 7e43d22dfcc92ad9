"""The tree of a compiled Monte Carlo search: nodes, playouts, values, and the choice of actions.

The words of nodes and edges are in ``record``.
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.playouts import MAX_PLAYOUT_STEPS
from zermelo.agents.base.scores import FITTED_UNIT
from zermelo.agents.evaluators.network_kernel import network_value
from zermelo.agents.kernels.layout import COUNTED
from zermelo.agents.kernels.memory import claim_nodes
from zermelo.agents.kernels.random_numbers import random_below, random_bits, random_outcome
from zermelo.agents.monte_carlo.compiled.record import (
    ACTION,
    AMAF_TOTAL,
    AMAF_VISITS,
    CHILD,
    COUNT,
    EDGES,
    EXPANDING,
    HAS_PROVEN_CHILD,
    INVERSE,
    LOWER,
    MEAN,
    MOVER,
    PRIOR,
    TOTALS,
    TRIED,
    UPPER,
    VIRTUAL,
    VISITED,
    VISITS,
    WITH,
    MonteCarloRecord,
)
from zermelo.agents.monte_carlo.interface import PRIOR_DRAWS
from zermelo.agents.monte_carlo.selection_rules import RULE
from zermelo.envs.jit.memory import (
    compare_and_swap,
    floats,
    load,
    load_acquire,
    load_float,
    store,
    store_float,
    store_release,
    take,
    words,
)
from zermelo.envs.rules.protocol import Rules


def for_mover(value: float, mover: int, search: MonteCarloRecord) -> float:
    """A kept value as the player to move sees it."""
    if search.num_values == 1 and mover == 1:
        return float(search.total) - value
    return value


def scaled(value: float, search: MonteCarloRecord) -> float:
    """A utility, brought to 0 to 1: by the bounds, or by the outcomes so far."""
    return (value - search.low) * search.unit if search.unit != 0 else 0.5


def static_value(rules: Rules, state: Any, seat: int, search: MonteCarloRecord) -> float:
    """The evaluation of a state, or the middle value where there is none."""
    if rules.is_terminal(state):
        return float(rules.utility(state, seat))
    if WITH.network:
        first = network_value(rules, state, 0, search.fitted) / FITTED_UNIT
        return first if seat == 0 else search.total - first
    if search.has_evaluation != 0 and rules.to_move(state) >= 0:
        evaluation = rules.evaluation(state, seat)
        return min(max(evaluation, search.lower_evaluation), search.upper_evaluation) / 1024.0
    return search.expected


def expected_value(rules: Rules, state: Any, seat: int, search: MonteCarloRecord) -> float:
    """The evaluation of a state, averaged over chance if chance is to move."""
    if not rules.is_terminal(state) and rules.to_move(state) < 0:
        outcomes, probabilities = search.looks, search.looks + 8 * search.width
        count = rules.chance_outcomes(state, words(outcomes, search.width), floats(probabilities, search.width))
        total = 0.0
        for index in range(count):
            after = rules.result(state, load(outcomes, index))
            total += load_float(probabilities, index) * static_value(rules, after, seat, search)
        return total
    return static_value(rules, state, seat, search)


def play_out(rules: Rules, state: Any, search: MonteCarloRecord) -> bool:
    """Adds the outcome of a game at random to the words of ``search.scratch``; false where a limit came."""
    buffer, width, moves, ended = search.rows, search.width, 0, False
    for _ in range(MAX_PLAYOUT_STEPS):
        if rules.is_terminal(state):
            ended = True
            break
        if search.stop != 0:
            return False
        mover = rules.to_move(state)
        if mover < 0:
            count = rules.chance_outcomes(state, words(buffer, width), floats(buffer + 8 * width, width))
            action = load(buffer, random_outcome(search, count, buffer + 8 * width, 1))
        else:
            if moves >= search.playout_moves:
                break
            moves += 1
            action = -1
            if search.guides != 0:
                action = rules.playout_action(state, random_bits(search))
            if action < 0:
                count = rules.legal_actions(state, words(buffer, width))
                action = load(buffer, random_below(search, count))
            if search.rave > 0 and load(search.history, action) < search.stamp * search.seats:
                store(search.history, action, search.stamp * search.seats + mover)
        if search.nodes >= search.node_limit and not claim_nodes(search):
            return False
        search.nodes += 1
        state = rules.result(state, action)
    for seat in range(search.num_values):
        value = float(rules.utility(state, seat)) if ended else static_value(rules, state, seat, search)
        store_float(search.scratch, seat, load_float(search.scratch, seat) + value)
    return True


def evaluate_leaf(rules: Rules, state: Any, search: MonteCarloRecord) -> bool:
    """Writes what a leaf is worth to ``search.scratch``; false where a limit came."""
    kept, games = search.num_values, search.playouts
    for seat in range(kept):
        store_float(search.scratch, seat, 0.0)
    if search.evaluated != 0:
        for seat in range(kept):
            store_float(search.scratch, seat, expected_value(rules, state, seat, search))
        return True
    for _ in range(games):
        if not play_out(rules, state, search):
            return False
    if games > 1:
        for seat in range(kept):
            store_float(search.scratch, seat, load_float(search.scratch, seat) / games)
    return True


def allocate(search: MonteCarloRecord, size: int) -> int:
    """The address of so many words, or 0 where memory is out."""
    top = search.arena_top
    if top + 8 * size > search.arena_end:
        return 0
    search.arena_top = top + 8 * size
    return top


def make_node(rules: Rules, state: Any, search: MonteCarloRecord) -> int:
    """The address of a new node of a state; 0 where memory is out."""
    is_over = rules.is_terminal(state)
    kept, size = search.num_values, search.node_words
    node = allocate(search, size + kept if is_over and kept > 1 else size)
    if node == 0:
        return 0
    store(node, VISITS, 0)
    store(node, EDGES, 0)
    store(node, COUNT, -1 if is_over else 0)
    store(node, MOVER, 0 if is_over else rules.to_move(state))
    store_float(node, LOWER, search.lower_value)
    store_float(node, UPPER, search.upper_value)
    store(node, TRIED, 0)
    store(node, HAS_PROVEN_CHILD, 0)
    if is_over:
        value = float(rules.utility(state, 0))
        store_float(node, LOWER, value)
        store_float(node, UPPER, value)
        if kept > 1:
            for seat in range(kept):
                store_float(node, size + seat, float(rules.utility(state, seat)))
    search.tree_nodes += 1
    return node


def link_child(edge: int, node: int, search: MonteCarloRecord) -> int:
    """Puts a new node below an edge; the child, which is another one if another thread was faster."""
    if search.counts_losses == 0:
        store(edge, CHILD, node)
        return node
    if compare_and_swap(edge + 8 * CHILD, 0, node):
        return node
    search.arena_top = node  # it is the last thing in this thread's arena
    search.tree_nodes -= 1
    return load_acquire(edge, CHILD)


def expand(rules: Rules, state: Any, node: int, search: MonteCarloRecord) -> bool:
    """Gives a node its actions, in the order in which they are tried.

    False where memory is out, or where another thread does it or has done it.
    """
    if search.counts_losses != 0 and not compare_and_swap(node + 8 * EDGES, 0, EXPANDING):
        return False
    buffer, width = search.rows, search.width
    mover = load(node, MOVER)
    if mover < 0:
        count = rules.chance_outcomes(state, words(buffer, width), floats(buffer + 8 * width, width))
    else:
        count = rules.legal_actions(state, words(buffer, width))
    step, prior, priors = search.edge_words, search.more + PRIOR, buffer + 8 * width
    edges = allocate(search, count * step)
    if edges == 0:
        store(node, EDGES, 0)
        return False
    if mover >= 0:
        if search.has_prior != 0:
            for index in range(count):
                store_float(priors, index, 1.0 / count)
        for last in range(count - 1, 0, -1):
            other = random_below(search, last + 1)
            action, share = load(buffer, last), load(priors, last)
            store(buffer, last, load(buffer, other))
            store(priors, last, load(priors, other))
            store(buffer, other, action)
            store(priors, other, share)
    for index in range(count):
        edge = edges + 8 * step * index
        for word in range(step):
            store(edge, word, 0)
        store(edge, ACTION, load(buffer, index))
        if mover < 0 or search.has_prior != 0:
            store_float(edge, prior, load_float(priors, index))
    if mover >= 0 and search.has_priors != 0:
        for index in range(count):
            store(buffer, index, load(edges, step * index + ACTION))
        rules.action_priors(state, words(buffer, width), count, floats(buffer + 8 * width, width))
        for index in range(count):
            store_float(edges, step * index + search.more + VIRTUAL, load_float(buffer + 8 * width, index))
    store(node, COUNT, count)
    store_release(node, EDGES, edges)
    return True


def is_dominated(edge: int, node: int, mover: int) -> bool:
    """True if an action can at best equal the proven bound."""
    child = load_acquire(edge, CHILD)
    if child == 0:
        return False
    if mover == 0:
        return load_float(child, UPPER) <= load_float(node, LOWER)
    return load_float(child, LOWER) >= load_float(node, UPPER)


def value_of(edge: int, mover: int, search: MonteCarloRecord) -> float:
    """The estimated value of an action for the player to move, from 0 to 1."""
    count = load(edge, VISITED)
    value = load_float(edge, MEAN) if count > 0 else search.untried
    if count > 0 and search.adapts != 0:
        seat = 0 if search.num_values == 1 else mover
        value = scaled(for_mover(load_float(edge, TOTALS + seat) / count, mover, search), search)
    more, tries = edge + 8 * search.more, float(count)
    if search.has_priors != 0:
        prior = load_float(more, VIRTUAL)
        tries += PRIOR_DRAWS + abs(prior)
        value = (value * count + 0.5 * PRIOR_DRAWS + max(prior, 0.0)) / tries
    if search.rave > 0 and load(more, AMAF_VISITS) > 0:
        seen = float(load(more, AMAF_VISITS))
        weight = seen / (seen + tries + seen * tries / search.rave)
        others = load_float(more, AMAF_TOTAL) / load(more, AMAF_VISITS)
        value = (1.0 - weight) * value + weight * scaled(for_mover(others, mover, search), search)
    return value


def bonus(visits: int, search: MonteCarloRecord) -> float:
    """The exploration factor of a node: sqrt(log(visits + 1))."""
    if visits < COUNTED:
        return load_float(search.weights, visits)
    return math.sqrt(math.log(visits + 1))


def select(node: int, search: MonteCarloRecord) -> int:
    """The place of the action to follow; -1 where the children, proven by other ways, settle the node."""
    count, tried = load(node, COUNT), load(node, TRIED)
    if search.tries_first != 0 and tried < count:
        if search.counts_losses == 0:
            store(node, TRIED, tried + 1)
            return tried
        tried = take(node + 8 * TRIED, -1)
        if tried < count:
            return tried
    if RULE.by_means and search.is_plain != 0:
        return select_by_means(node, search)
    mover, edges, visits = load(node, MOVER), load(node, EDGES), load(node, VISITS)
    best, has_proven_child = -math.inf, load(node, HAS_PROVEN_CHILD) != 0
    chosen = -1 if has_proven_child else 0
    weight = RULE.weight(visits)
    for place in range(count):
        edge = edges + 8 * search.edge_words * place
        if has_proven_child and is_dominated(edge, node, mover):
            continue
        value = value_of(edge, mover, search) + RULE.bonus(edge, weight, search)
        if value > best:
            best = value
            chosen = place
    return chosen


def select_by_means(node: int, search: MonteCarloRecord) -> int:
    """UCB1 over the means alone, where no prior and no other simulation counts: as ``select``, but faster."""
    mover, edges, step = load(node, MOVER), load(node, EDGES), 8 * search.edge_words
    best, has_proven_child = -math.inf, load(node, HAS_PROVEN_CHILD) != 0
    chosen = -1 if has_proven_child else 0
    weight = search.exploration * bonus(load(node, VISITS), search)
    for place in range(load(node, COUNT)):
        edge = edges + step * place
        if has_proven_child and is_dominated(edge, node, mover):
            continue
        value = load_float(edge, MEAN) + weight * load_float(edge, INVERSE)
        if value > best:
            best = value
            chosen = place
    return chosen
