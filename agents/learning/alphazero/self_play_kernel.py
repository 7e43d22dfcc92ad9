"""Self-play of many games at once by Gumbel AlphaZero: all that happens between two answers of the network.

Each game has one leaf that waits. A step takes the network's answer to it up the tree and goes on, through moves
and new games, until the next leaf. Each game depends on its own random numbers alone. The tree is that of
``mcts``, compiled, and below the root PUCT chooses. A leaf that has been answered has its edges, with their priors
and in ascending order, at the negative of the address in ``EDGES``: they are put in the order in which they are
tried when a simulation comes by again, as in ``search.monte_carlo``.

At the root a few actions are drawn without replacement, by adding Gumbel noise to the logarithms of their priors,
and sequential halving shares the simulations out among them. The network learns the prior policy, improved by what
is known of each action's value. With few simulations this improves the policy where visits counts would not.
Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", ICLR (2022). Values are
those of the root's player, from 0 to 1.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.monte_carlo.kernel import back_up, state_below
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
    allocate,
    expand,
    for_mover,
    make_node,
    random_below,
    random_outcome,
    random_uniform,
    scaled,
)
from zermelo.agents.compiled.monte_carlo.selection import select
from zermelo.agents.compiled.observing import observe
from zermelo.agents.learning.layout import ROOT, Batch, Trees
from zermelo.agents.learning.states_kernel import is_over, keep, past_chance, state_of
from zermelo.envs.jit.memory import int8s, load, load_float, load_state, store, store_float, words
from zermelo.envs.rules.protocol import Rules

NOISY: Final = VIRTUAL
"""Field of the root's edges for the logarithm of the prior plus noise: PUCT has no virtual visits."""
TINY: Final = 1e-12
TRIES: Final = 1_000
"""Games without a decision after which the rules are taken to have none."""


# -- the tree


def is_settled(node: int, search: Search) -> bool:
    """True if a node is the end of a game, or proven."""
    return load(node, COUNT) < 0 or (search.solves != 0 and load_float(node, LOWER) == load_float(node, UPPER))


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


def add_noise(root: int, search: Search) -> None:
    """Draws the Gumbel noise of the root's edges."""
    step = 8 * search.edge_words
    for place in range(load(root, COUNT)):
        more = load(root, EDGES) + step * place + 8 * search.more
        noise = -math.log(-math.log(max(random_uniform(search), TINY)))
        store_float(more, NOISY, noise + math.log(max(load_float(more, PRIOR), TINY)))


def is_proven(edge: int) -> bool:
    """True if the value of an action is proven."""
    child = load(edge, CHILD)
    return child != 0 and load_float(child, LOWER) == load_float(child, UPPER)


def value_of(edge: int, mover: int, otherwise: float, search: Search) -> float:
    """The value of an action: proven, else its mean, else ``default``."""
    if is_proven(edge):
        return scaled(for_mover(load_float(load(edge, CHILD), LOWER), mover, search), search)
    return load_float(edge, MEAN) if load(edge, VISITED) > 0 else otherwise


def weighed(root: int, number: int, trees: Trees, search: Search) -> tuple[float, float]:
    """The value of actions without visits, and the weight of values against the logarithms of priors.

    The former is the root's value, mixed with those of the other actions; the latter grows with visits.
    """
    step, visits, most, share, total = 8 * search.edge_words, 0, 0, 0.0, 0.0
    mover, value = load(root, MOVER), load_float(trees.values, number)
    for place in range(load(root, COUNT)):
        edge = load(root, EDGES) + step * place
        count = load(edge, VISITED)
        if count > 0:
            prior = max(load_float(edge + 8 * search.more, PRIOR), TINY)
            visits, most = visits + count, max(most, count)
            share += prior
            total += prior * value_of(edge, mover, value, search)
    mean = value if visits == 0 else (value + visits * total / share) / (1 + visits)
    return mean, trees.value_weight * (trees.visit_weight + most)


def considered_edge(root: int, number: int, done: int, trees: Trees, search: Search) -> int:
    """The root's edge that the next simulation takes: of those whose turn it is, that which looks best."""
    step, count, mover = 8 * search.edge_words, load(root, COUNT), load(root, MOVER)
    row = trees.visits_due + 8 * trees.simulations * min(count, trees.considered)
    mean, weight = weighed(root, number, trees, search)
    due, chosen, best = load(row, done), load(root, EDGES), -math.inf
    for place in range(count):
        edge = load(root, EDGES) + step * place
        if load(edge, VISITED) == due:
            score = load_float(edge + 8 * search.more, NOISY) + weight * value_of(edge, mover, mean, search)
            if score > best:
                best, chosen = score, edge
    return chosen


def best_edge(root: int, number: int, trees: Trees, search: Search) -> int:
    """The edge to play: of those visited most the one that looks best, or one that is proven best."""
    step, mover = 8 * search.edge_words, load(root, MOVER)
    mean, weight = weighed(root, number, trees, search)
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


def write_policy(root: int, number: int, trees: Trees, search: Search) -> None:
    """Writes the improved policy of the root, and the value under it, as a sample to learn from."""
    step, count, mover = 8 * search.edge_words, load(root, COUNT), load(root, MOVER)
    mean, weight = weighed(root, number, trees, search)
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


# -- the network's answers


def utility_of(rules: Rules, state: Any, answer: float, search: Search) -> float:
    """The network's answer as the first seat's utility, strictly inside the bounds: it proves nothing."""
    margin = 1e-9 * (search.high - search.low)
    value = search.low + (answer + 1.0) / 2.0 * (search.high - search.low)
    value = min(max(value, search.low + margin), search.high - margin)
    return for_mover(value, rules.to_move(state), search)


def take_answer(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Gives the leaf that waits what the network says of it, and takes its value up."""
    ply = load(trees.plies, number)
    logits = trees.logits + 8 * trees.choices * number
    answer = load_float(trees.answers, number)
    root = load(trees.roots, number)
    if ply == ROOT:
        give_edges(rules, state, root, logits, search)
        order_edges(root, search)
        add_noise(root, search)
        store_float(trees.values, number, (min(max(answer, -1.0), 1.0) + 1.0) / 2.0)
        return
    leaf = load(search.lines, 2 * ply)
    below = state_below(rules, state, 0, ply, search)
    give_edges(rules, below, leaf, logits, search)
    store_float(search.scratch, 0, utility_of(rules, below, answer, search))
    back_up(leaf, ply, search)
    store(trees.done, number, load(trees.done, number) + 1)


def ask(rules: Rules, state: Any, number: int, trees: Trees) -> None:
    """Shows the network a state, as the player to move sees it."""
    spare = trees.spares + 8 * trees.state_words * number
    observe(rules, state, rules.to_move(state), trees.observations, number, spare, trees)


# -- games


def play_on(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> Any:
    """The next state with something to decide: the moves before it are random or forced."""
    state = past_chance(rules, state, search.rows, trees.width, search)
    while not is_over(rules, state, number, trees):
        count = rules.legal_actions(state, words(search.rows, trees.width))
        opening = load(trees.openings, number)
        if count > 1 and opening <= 0:
            break
        action = load(search.rows, random_below(search, count) if count > 1 else 0)
        store(trees.openings, number, opening - 1)
        store(trees.moves, number, load(trees.moves, number) + 1)
        state = past_chance(rules, rules.result(state, action), search.rows, trees.width, search)
    return state


def new_game(rules: Rules, start: Any, number: int, trees: Trees, search: Search) -> Any:
    """A new game's first state with something to decide; one that has none is played again."""
    state = start
    for _ in range(TRIES):
        store(trees.moves, number, 0)
        store(trees.openings, number, random_below(search, trees.random_plies + 1))
        state = play_on(rules, start, number, trees, search)
        if not is_over(rules, state, number, trees):
            break
    return state


def begin_search(rules: Rules, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Makes a state the root of a new tree, and asks about it; nothing where there is nothing to decide."""
    if is_over(rules, state, number, trees):
        store(trees.roots, number, 0)
        return
    keep(rules, state, number, trees)
    search.arena_top = search.arena
    store(trees.roots, number, make_node(rules, state, search))
    store(trees.done, number, 0)
    store(trees.plies, number, ROOT)
    ask(rules, state, number, trees)


def decide(rules: Rules, start: Any, state: Any, number: int, trees: Trees, search: Search) -> None:
    """Plays the move that the search has found, and begins the search of the next one."""
    root = load(trees.roots, number)
    int8s(trees.decided, number + 1)[number] = 1
    write_policy(root, number, trees, search)
    own, sample = trees.states + 8 * trees.state_words * number, trees.sample_states
    for place in range(trees.state_words):
        store(sample, trees.state_words * number + place, load(own, place))
    state = rules.result(state, load(best_edge(root, number, trees, search), ACTION))
    store(trees.moves, number, load(trees.moves, number) + 1)
    state = play_on(rules, state, number, trees, search)
    if is_over(rules, state, number, trees):
        int8s(trees.ended, number + 1)[number] = 1
        outcome = 0.0
        if rules.is_terminal(state):
            outcome = 2.0 * (float(rules.utility(state, 0)) - search.low) * search.unit - 1.0
        store_float(trees.outcomes, number, outcome)
        state = new_game(rules, start, number, trees, search)
    begin_search(rules, state, number, trees, search)


def step_one(rules: Rules, start: Any, number: int, trees: Trees, search: Search) -> None:
    """Takes the network's answer to a game's leaf, and goes on to the next one."""
    state = state_of(rules, start, number, trees)
    take_answer(rules, state, number, trees, search)
    root = load(trees.roots, number)
    while True:
        done = load(trees.done, number)
        if done >= trees.simulations or is_settled(root, search):
            decide(rules, start, state, number, trees, search)
            return
        first = considered_edge(root, number, done, trees, search)
        ply = descend(rules, state, root, first, search)
        leaf = load(search.lines, 2 * ply)
        if leaf != 0 and is_settled(leaf, search):
            store_float(search.scratch, 0, load_float(leaf, LOWER))
        else:
            below = state_below(rules, state, 0, ply, search)
            if leaf != 0 and rules.to_move(below) >= 0:
                store(trees.plies, number, ply)
                ask(rules, below, number, trees)
                return
            store_float(search.scratch, 0, search.expected)  # memory is out
        back_up(leaf, ply, search)
        store(trees.done, number, done + 1)


def play(rules: Rules, state: Any, first: int, last: int, begin: int, trees: Trees, search: Search) -> int:
    """A step of the games from ``first`` up to ``last``, which is excluded; counts those with no decision.

    ``begin`` is 0 for a step, 1 to begin the searches of all games' moves anew, 2 to begin all games anew.
    """
    empty = 0
    for number in range(first, last):
        search.random = load(trees.random, number)
        search.arena = trees.arenas + 8 * trees.arena_words * number
        search.arena_end = search.arena + 8 * trees.arena_words
        search.arena_top = load(trees.tops, number)
        search.lines = trees.paths + 8 * trees.path_words * number
        int8s(trees.decided, number + 1)[number] = 0
        int8s(trees.ended, number + 1)[number] = 0
        if begin == 2:
            begin_search(rules, new_game(rules, state, number, trees, search), number, trees, search)
        elif begin == 1:
            begin_search(rules, state_of(rules, state, number, trees), number, trees, search)
        else:
            step_one(rules, state, number, trees, search)
        if load(trees.roots, number) == 0:
            empty += 1
        store(trees.random, number, search.random)
        store(trees.tops, number, search.arena_top)
    return empty


def present(rules: Rules, state: Any, first: int, last: int, batch: Batch) -> int:
    """Writes positions as the network sees them, each through a symmetry, with the policies to learn."""
    for number in range(first, last):
        symmetry = load(batch.symmetries, number)
        kept = load_state(state, batch.states + 8 * batch.state_words * number)
        seen = rules.symmetric_state(kept, symmetry)
        spare = batch.states + 8 * batch.state_words * number
        observe(rules, seen, rules.to_move(seen), batch.observations, number, spare, batch)
        targets = batch.targets + 8 * batch.choices * number
        for action in range(batch.choices):
            store_float(targets, action, -1.0)
        for place in range(batch.width):
            action = load(batch.actions, batch.width * number + place)
            if action >= 0:
                share = load_float(batch.policies, batch.width * number + place)
                store_float(targets, rules.symmetric_action(action, symmetry), share)
    return 0
