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
    mover, edges = load(node, MOVER), load(node, EDGES)
    visits, step = load(node, VISITS), 8 * search.edge_words
    best, has_proven_child = -math.inf, load(node, HAS_PROVEN_CHILD) != 0
    chosen = -1 if has_proven_child else 0
    if search.selection == UCT and search.is_plain != 0:
        weight = search.exploration * bonus(visits, search)
        for place in range(count):
            edge = edges + step * place
            if has_proven_child and is_dominated(edge, node, mover):
                continue
            value = load_float(edge, MEAN) + weight * load_float(edge, INVERSE)
            if value > best:
                best = value
                chosen = place
        return chosen
    weight, root = search.exploration * math.sqrt(math.log(visits + 1)), math.sqrt(visits + 1)
    for place in range(count):
        edge = edges + step * place
        if has_proven_child and is_dominated(edge, node, mover):
            continue
        more, visited = edge + 8 * search.more, load(edge, VISITED)
        value = value_of(edge, mover, search)
        if search.selection == UCT:
            value += weight * (load_float(edge, INVERSE) if visited > 0 else 1.0)
        elif search.selection == PUCT:
            value += search.exploration * load_float(more, PRIOR) * root / (1 + visited)
        if value > best:
            best = value
            chosen = place
    return chosen
