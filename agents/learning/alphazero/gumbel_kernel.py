"""Action selection at the root in self-play: Gumbel AlphaZero, in compiled code.

A few actions are drawn without replacement, by adding Gumbel noise to the logarithms of their priors, and
sequential halving shares the simulations out among them. What is learned is the prior policy, improved by what is
known of each action's value; below the root it is PUCT. With few simulations this improves the policy where visits
counts would not. Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", ICLR
(2022).

Values are those of the root's player, from 0 to 1.
"""

from __future__ import annotations

import math
from typing import Final

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import compiled_into_kernels
from zermelo.agents.compiled.monte_carlo.nodes import (
    ACTION,
    CHILD,
    COUNT,
    EDGES,
    LOWER,
    MEAN,
    MOVER,
    PRIOR,
    UPPER,
    VIRTUAL,
    VISITED,
    for_mover,
    random_uniform,
    scaled,
)
from zermelo.agents.learning.alphazero.layout import Trees
from zermelo.envs.jit.memory import load, load_float, store, store_float

NOISY: Final = VIRTUAL
"""Field of the root's edges for the logarithm of the prior plus noise: PUCT has no virtual visits."""
TINY: Final = 1e-12


@compiled_into_kernels
def add_noise(root: int, search: Search) -> None:
    """Draws the Gumbel noise of the root's edges."""
    step = 8 * search.edge_words
    for place in range(load(root, COUNT)):
        more = load(root, EDGES) + step * place + 8 * search.more
        noise = -math.log(-math.log(max(random_uniform(search), TINY)))
        store_float(more, NOISY, noise + math.log(max(load_float(more, PRIOR), TINY)))


@compiled_into_kernels
def is_proven(edge: int) -> bool:
    """True if the value of an action is proven."""
    child = load(edge, CHILD)
    return child != 0 and load_float(child, LOWER) == load_float(child, UPPER)


@compiled_into_kernels
def value_of(edge: int, mover: int, otherwise: float, search: Search) -> float:
    """The value of an action: proven, else its mean, else ``default``."""
    if is_proven(edge):
        return scaled(for_mover(load_float(load(edge, CHILD), LOWER), mover, search), search)
    return load_float(edge, MEAN) if load(edge, VISITED) > 0 else otherwise


@compiled_into_kernels
def mixed_value(root: int, value: float, search: Search) -> float:
    """The value of actions without visits: the root's value, mixed with those of the other actions."""
    step, visits, share, total = 8 * search.edge_words, 0, 0.0, 0.0
    mover = load(root, MOVER)
    for place in range(load(root, COUNT)):
        edge = load(root, EDGES) + step * place
        if load(edge, VISITED) > 0:
            prior = max(load_float(edge + 8 * search.more, PRIOR), TINY)
            visits += load(edge, VISITED)
            share += prior
            total += prior * value_of(edge, mover, value, search)
    return value if visits == 0 else (value + visits * total / share) / (1 + visits)


@compiled_into_kernels
def weight_of(root: int, trees: Trees, search: Search) -> float:
    """The weight of values against the logarithms of priors; it grows with visits."""
    most = 0
    for place in range(load(root, COUNT)):
        most = max(most, load(load(root, EDGES) + 8 * search.edge_words * place, VISITED))
    return trees.value_weight * (trees.visit_weight + most)


@compiled_into_kernels
def considered_edge(root: int, number: int, done: int, trees: Trees, search: Search) -> int:
    """The root's edge that the next simulation takes: of those whose turn it is, that which looks best."""
    step, count, mover = 8 * search.edge_words, load(root, COUNT), load(root, MOVER)
    row = trees.visits_due + 8 * trees.simulations * min(count, trees.considered)
    mean = mixed_value(root, load_float(trees.values, number), search)
    weight, due = weight_of(root, trees, search), load(row, done)
    chosen, best = load(root, EDGES), -math.inf
    for place in range(count):
        edge = load(root, EDGES) + step * place
        if load(edge, VISITED) == due:
            score = load_float(edge + 8 * search.more, NOISY) + weight * value_of(edge, mover, mean, search)
            if score > best:
                best, chosen = score, edge
    return chosen


@compiled_into_kernels
def best_edge(root: int, number: int, trees: Trees, search: Search) -> int:
    """The edge to play: of those visited most the one that looks best, or one that is proven best."""
    step, mover = 8 * search.edge_words, load(root, MOVER)
    mean = mixed_value(root, load_float(trees.values, number), search)
    weight = weight_of(root, trees, search)
    solved = search.solves != 0 and load_float(root, LOWER) == load_float(root, UPPER)
    chosen, most, best = load(root, EDGES), -1, -math.inf
    for place in range(load(root, COUNT)):
        edge = load(root, EDGES) + step * place
        if solved and not (is_proven(edge) and load_float(load(edge, CHILD), LOWER) == load_float(root, LOWER)):
            continue
        visits = load(edge, VISITED)
        score = load_float(edge + 8 * search.more, NOISY) + weight * value_of(edge, mover, mean, search)
        if visits > most or (visits == most and score > best):
            chosen, most, best = edge, visits, score
    return chosen


@compiled_into_kernels
def write_policy(root: int, number: int, trees: Trees, search: Search) -> None:
    """Writes the improved policy of the root, and the value under it, as a sample to learn from."""
    step, count, mover = 8 * search.edge_words, load(root, COUNT), load(root, MOVER)
    mean = mixed_value(root, load_float(trees.values, number), search)
    weight = weight_of(root, trees, search)
    actions = trees.sample_actions + 8 * trees.width * number
    policy = trees.sample_policies + 8 * trees.width * number
    top, total, value = -math.inf, 0.0, 0.0
    for place in range(count):
        edge = load(root, EDGES) + step * place
        logit = math.log(max(load_float(edge + 8 * search.more, PRIOR), TINY))
        logit += weight * value_of(edge, mover, mean, search)
        store(actions, place, load(edge, ACTION))
        store_float(policy, place, logit)
        top = max(top, logit)
    for place in range(count):
        share = math.exp(load_float(policy, place) - top)
        store_float(policy, place, share)
        total += share
    for place in range(count):
        share = load_float(policy, place) / total
        store_float(policy, place, share)
        value += share * value_of(load(root, EDGES) + step * place, mover, mean, search)
    for place in range(count, trees.width):
        store(actions, place, -1)
        store_float(policy, place, 0.0)
    store_float(trees.sample_values, number, 2 * value - 1)
    store(trees.sample_movers, number, mover)
