"""Simulations of self-play's tree search, whose leaves a network is asked about, in compiled code.

A simulation goes down to a leaf and ends there; what the network says of it is given back later, so that many
leaves can wait for one batch. The tree is that of ``mcts``, compiled, and below the root PUCT chooses. A leaf that
has been answered has its edges, with their priors and in ascending order, at the negative of the address in
``EDGES``: they are put in the order in which they are tried when a simulation comes by again, as in
``search.monte_carlo``.
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import compiled_into_kernels
from zermelo.agents.compiled.monte_carlo.kernel import state_below
from zermelo.agents.compiled.monte_carlo.nodes import (
    ACTION,
    CHILD,
    COUNT,
    EDGES,
    LOWER,
    MOVER,
    PRIOR,
    UPPER,
    allocate,
    expand,
    make_node,
    random_below,
    random_outcome,
)
from zermelo.agents.compiled.monte_carlo.selection import select
from zermelo.envs.jit.memory import load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules


@compiled_into_kernels
def is_settled(node: int, search: Search) -> bool:
    """True if a node is the end of a game, or proven."""
    return load(node, COUNT) < 0 or (search.solves != 0 and load_float(node, LOWER) == load_float(node, UPPER))


@compiled_into_kernels
def give_edges(rules: Rules, state: Any, node: int, logits: int, search: Search) -> bool:
    """Gives a leaf its actions, with the softmax of their ``logits`` as priors; false where memory is out."""
    actions, step, prior = search.rows, search.edge_words, search.more + PRIOR
    count = rules.legal_actions(state, words(actions, search.width))
    edges = allocate(search, count * step)
    if edges == 0:
        return False
    top, total = -math.inf, 0.0
    for index in range(count):
        top = max(top, load_float(logits, load(actions, index)))
    for index in range(count):
        edge = edges + 8 * step * index
        for word in range(step):
            store(edge, word, 0)
        action = load(actions, index)
        store(edge, ACTION, action)
        weight = math.exp(load_float(logits, action) - top)
        store_float(edge, prior, weight)
        total += weight
    for index in range(count):
        edge = edges + 8 * step * index
        store_float(edge, prior, load_float(edge, prior) / total)
    store(node, COUNT, count)
    store(node, EDGES, -edges)
    return True


@compiled_into_kernels
def order_edges(node: int, search: Search) -> None:
    """Puts the edges of an answered leaf in a random order: that in which equal ones are tried."""
    edges, step, prior = -load(node, EDGES), search.edge_words, search.more + PRIOR
    for last in range(load(node, COUNT) - 1, 0, -1):
        here = edges + 8 * step * last
        there = edges + 8 * step * random_below(search, last + 1)
        action, weight = load(here, ACTION), load_float(here, prior)
        store(here, ACTION, load(there, ACTION))
        store_float(here, prior, load_float(there, prior))
        store(there, ACTION, action)
        store_float(there, prior, weight)
    store(node, EDGES, edges)


@compiled_into_kernels
def descend(rules: Rules, state: Any, root: int, first: int, search: Search) -> int:
    """Goes from the root by its edge ``first`` to a leaf, or a settled node; how many edges lead there.

    The path is in ``search.lines``: node and edge of every step, then the leaf, or 0 where memory is out.
    """
    node, ply, known, step, path = root, 0, 0, search.edge_words, search.lines
    while node != 0:
        if ply > 0 and is_settled(node, search):
            break
        edges, mover = load(node, EDGES), load(node, MOVER)
        if edges <= 0:
            if mover >= 0 and edges == 0:
                break
            if mover >= 0:
                order_edges(node, search)
            else:
                state, known = state_below(rules, state, known, ply, search), ply
                if not expand(rules, state, node, search):
                    break
            edges = load(node, EDGES)
        if mover < 0:
            place = random_outcome(search, load(node, COUNT), edges + 8 * (search.more + PRIOR), step)
            edge = edges + 8 * step * place
        elif ply == 0:
            edge = first
        else:
            edge = edges + 8 * step * select(node, search)
        store(path, 2 * ply, node)
        store(path, 2 * ply + 1, edge)
        ply += 1
        node = load(edge, CHILD)
        if node == 0:
            state, known = state_below(rules, state, known, ply, search), ply
            node = make_node(rules, state, search)
            store(edge, CHILD, node)
    store(path, 2 * ply, node)
    return ply
