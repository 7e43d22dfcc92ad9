"""Which action a simulation of a compiled Monte Carlo tree search follows."""

from __future__ import annotations

import math

from zermelo.agents.kernels.layout import COUNTED, Search
from zermelo.agents.monte_carlo.interface import PRIOR_DRAWS
from zermelo.agents.monte_carlo.kernel_nodes import (
    AMAF_TOTAL,
    AMAF_VISITS,
    CHILD,
    COUNT,
    EDGES,
    HAS_PROVEN_CHILD,
    INVERSE,
    LOWER,
    MEAN,
    MOVER,
    PRIOR,
    PUCT,
    TOTALS,
    TRIED,
    UCT,
    UPPER,
    VIRTUAL,
    VISITED,
    VISITS,
    for_mover,
    scaled,
)
from zermelo.envs.jit.memory import load, load_acquire, load_float, store, take


def is_dominated(edge: int, node: int, mover: int) -> bool:
    """True if an action can at best equal the proven bound."""
    child = load_acquire(edge, CHILD)
    if child == 0:
        return False
    if mover == 0:
        return load_float(child, UPPER) <= load_float(node, LOWER)
    return load_float(child, LOWER) >= load_float(node, UPPER)


def value_of(edge: int, mover: int, search: Search) -> float:
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


def bonus(visits: int, search: Search) -> float:
    """The exploration factor of a node: sqrt(log(visits + 1))."""
    if visits < COUNTED:
        return load_float(search.weights, visits)
    return math.sqrt(math.log(visits + 1))


def uct_bonus(edge: int, log_visits: float, search: Search) -> float:
    """The bonus of UCB1, with sqrt(log(visits + 1)) of the node."""
    return search.exploration * log_visits * (load_float(edge, INVERSE) if load(edge, VISITED) > 0 else 1.0)


def puct_bonus(edge: int, root_visits: float, search: Search) -> float:
    """The bonus in proportion to a prior probability, with sqrt(visits + 1) of the node."""
    prior = load_float(edge + 8 * search.more, PRIOR)
    return search.exploration * prior * root_visits / (1 + load(edge, VISITED))


def select(node: int, search: Search) -> int:
    """The place of the action to follow; -1 where the children, proven by other ways, settle the node."""
    count, tried = load(node, COUNT), load(node, TRIED)
    if search.tries_first != 0 and tried < count:
        if search.counts_losses == 0:
            store(node, TRIED, tried + 1)
            return tried
        tried = take(node + 8 * TRIED, -1)
        if tried < count:
            return tried
    if search.selection == UCT and search.is_plain != 0:
        return select_by_means(node, search)
    mover, edges, visits = load(node, MOVER), load(node, EDGES), load(node, VISITS)
    best, has_proven_child = -math.inf, load(node, HAS_PROVEN_CHILD) != 0
    chosen = -1 if has_proven_child else 0
    log_visits, root_visits = math.sqrt(math.log(visits + 1)), math.sqrt(visits + 1)
    for place in range(count):
        edge = edges + 8 * search.edge_words * place
        if has_proven_child and is_dominated(edge, node, mover):
            continue
        value = value_of(edge, mover, search)
        if search.selection == UCT:
            value += uct_bonus(edge, log_visits, search)
        elif search.selection == PUCT:
            value += puct_bonus(edge, root_visits, search)
        if value > best:
            best = value
            chosen = place
    return chosen


def select_by_means(node: int, search: Search) -> int:
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
