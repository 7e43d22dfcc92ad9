"""Monte Carlo tree search, as it is compiled over a game's rules: ``PlainMonteCarlo``, node for node.

Several threads share one tree without locks, each with an arena of its own for what it adds. Whoever goes down an
edge counts a loss there until it has the outcome. Enzenberger and Mueller, "A lock-free multithreaded Monte-Carlo
tree search algorithm", Advances in Computer Games (2009).
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.kernels.layout import COUNTED, TOO_DEEP
from zermelo.agents.kernels.memory import claim_nodes
from zermelo.agents.kernels.random_numbers import random_outcome
from zermelo.agents.monte_carlo.compiled.kernel_nodes import (
    evaluate_leaf,
    expand,
    for_mover,
    link_child,
    make_node,
    scaled,
    select,
)
from zermelo.agents.monte_carlo.compiled.record import (
    ACTION,
    AMAF_TOTAL,
    AMAF_VISITS,
    BELOW,
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
    UPPER,
    VISITED,
    VISITS,
    MonteCarloRecord,
)
from zermelo.agents.monte_carlo.selection_rules import RULE
from zermelo.envs.jit.memory import (
    add_float,
    compare_and_swap_float,
    load,
    load_acquire,
    load_float,
    prefetch,
    store,
    store_float,
    take,
)
from zermelo.envs.rules.protocol import Rules


def refresh(edge: int, mover: int, search: MonteCarloRecord) -> None:
    """Brings up to date what is made of an edge's visits and outcomes."""
    count = load(edge, VISITED)
    if count > 0:
        seat = 0 if search.num_values == 1 else mover
        mean = load_float(edge, TOTALS + seat) / count
        store_float(edge, MEAN, scaled(for_mover(mean, mover, search), search))
        inverse = load_float(search.weights, COUNTED + count) if count < COUNTED else 1.0 / math.sqrt(count)
        store_float(edge, INVERSE, inverse)


def loss_of(mover: int, search: MonteCarloRecord) -> float:
    """The outcome that a virtual loss of the mover adds to an edge; 0 where the worst outcome may change."""
    if mover < 0 or search.adapts != 0:  # what was added could not be taken back
        return 0.0
    return float(search.high if search.num_values == 1 and mover == 1 else search.low)


def count_loss(node: int, edge: int, sign: int, search: MonteCarloRecord) -> None:
    """Counts a loss that is not known yet, or takes it back, so that other threads go elsewhere meanwhile."""
    take(node + 8 * VISITS, -sign)
    take(edge + 8 * VISITED, -sign)
    mover = load(node, MOVER)
    if mover >= 0:
        seat = 0 if search.num_values == 1 else mover
        add_float(edge + 8 * (TOTALS + seat), sign * loss_of(mover, search))
        refresh(edge, mover, search)


def count_outcome(mover: int, edge: int, search: MonteCarloRecord) -> None:
    """Puts the outcome in the place of the loss that ``count_loss`` has counted; the visit stays counted."""
    kept = search.num_values
    for seat in range(kept):
        outcome = load_float(search.scratch, seat)
        if kept == 1 or seat == mover:
            outcome -= loss_of(mover, search)
        add_float(edge + 8 * (TOTALS + seat), outcome)


def tighten_to(bound: int, value: float, sign: int) -> bool:
    """Raises a lower bound (``sign`` 1) or lowers an upper one (-1) to a value; whether that changed it."""
    while True:
        before = load_float(bound, 0)
        if sign * value <= sign * before:
            return False
        if compare_and_swap_float(bound, before, value):
            return True


def tighten(node: int, search: MonteCarloRecord) -> bool:
    """Brings the proven bounds of a node up to date; whether that changed them."""
    mover, edges, step = load(node, MOVER), load(node, EDGES), search.edge_words
    store(node, HAS_PROVEN_CHILD, 1)
    lower = 0.0 if mover < 0 else -math.inf if mover == 0 else math.inf
    upper = lower
    for place in range(load(node, COUNT)):
        edge = edges + 8 * step * place
        child = load_acquire(edge, CHILD)
        low, high = search.lower_value, search.upper_value
        if child != 0:
            low, high = load_float(child, LOWER), load_float(child, UPPER)
        if mover < 0:
            probability = load_float(edge, search.more + PRIOR)
            lower += probability * low
            upper += probability * high
        elif mover == 0:
            lower, upper = max(lower, low), max(upper, high)
        else:
            lower, upper = min(lower, low), min(upper, high)
    if search.counts_losses != 0:
        raised = tighten_to(node + 8 * LOWER, lower, 1)
        return tighten_to(node + 8 * UPPER, upper, -1) or raised
    changed = lower != load_float(node, LOWER) or upper != load_float(node, UPPER)
    store_float(node, LOWER, lower)
    store_float(node, UPPER, upper)
    return changed


def back_up_amaf(node: int, edge: int, outcome: float, search: MonteCarloRecord) -> None:
    """All moves as first: every action that the player took later counts as if it had been taken here.

    ``search.history`` has for each action who was first to take it in which simulation.
    """
    marks, mark = search.history, search.stamp * search.seats + load(node, MOVER)
    store(marks, load(edge, ACTION), mark)
    step, edges = search.edge_words, load(node, EDGES)
    for place in range(load(node, COUNT)):
        other = edges + 8 * step * place
        if load(marks, load(other, ACTION)) == mark:
            more = other + 8 * search.more
            if search.counts_losses != 0:
                take(more + 8 * AMAF_VISITS, -1)
                add_float(more + 8 * AMAF_TOTAL, outcome)
            else:
                store(more, AMAF_VISITS, load(more, AMAF_VISITS) + 1)
                store_float(more, AMAF_TOTAL, load_float(more, AMAF_TOTAL) + outcome)


def widen(search: MonteCarloRecord) -> None:
    """Notes the outcome in ``search.scratch`` among the worst and best so far."""
    for seat in range(search.num_values):
        value = load_float(search.scratch, seat)
        search.low, search.high = min(search.low, value), max(search.high, value)
    if search.num_values < search.seats:
        value = float(search.total) - load_float(search.scratch, 0)
        search.low, search.high = min(search.low, value), max(search.high, value)
    search.unit = 1.0 / (search.high - search.low) if search.high > search.low else 0.0


def back_up_plainly(ply: int, changed: bool, search: MonteCarloRecord) -> None:
    """``back_up`` for one thread that chooses by UCT alone, as one short loop."""
    path, weights, outcome = search.lines, search.weights, load_float(search.scratch, 0)
    total, low, unit = float(search.total), search.low, search.unit
    while ply > 0:
        ply -= 1
        node, edge = load(path, 2 * ply), load(path, 2 * ply + 1)
        mover, count = load(node, MOVER), load(edge, VISITED) + 1
        value = load_float(edge, TOTALS) + outcome
        store(node, VISITS, load(node, VISITS) + 1)
        store(edge, VISITED, count)
        store_float(edge, TOTALS, value)
        if mover >= 0:
            mean = value / count
            mean = total - mean if mover == 1 else mean
            store_float(edge, MEAN, (mean - low) * unit)
            inverse = load_float(weights, COUNTED + count) if count < COUNTED else 1.0 / math.sqrt(count)
            store_float(edge, INVERSE, inverse)
        if changed:
            changed = tighten(node, search)


def back_up(leaf: int, ply: int, search: MonteCarloRecord) -> None:
    """Takes the outcome in ``search.scratch``, and what is newly proven, from a leaf to the root."""
    kept, scratch, path = search.num_values, search.scratch, search.lines
    changed = False
    if search.adapts != 0:
        widen(search)
    if leaf != 0:
        if search.counts_losses != 0:
            take(leaf + 8 * VISITS, -1)
        else:
            store(leaf, VISITS, load(leaf, VISITS) + 1)
        if search.solves != 0:
            bounds = load_float(leaf, LOWER), load_float(leaf, UPPER)
            changed = bounds[0] != search.lower_value or bounds[1] != search.upper_value
    if RULE.by_means and search.is_plain != 0 and search.counts_losses == 0 and kept == 1:
        back_up_plainly(ply, changed, search)
        return
    while ply > 0:
        ply -= 1
        node, edge = load(path, 2 * ply), load(path, 2 * ply + 1)
        mover = load(node, MOVER)
        if search.counts_losses != 0:
            count_outcome(mover, edge, search)
        else:
            store(node, VISITS, load(node, VISITS) + 1)
            store(edge, VISITED, load(edge, VISITED) + 1)
            for seat in range(kept):
                store_float(edge, TOTALS + seat, load_float(edge, TOTALS + seat) + load_float(scratch, seat))
        if mover >= 0:
            refresh(edge, mover, search)
            outcome = load_float(scratch, 0 if kept == 1 else mover)
            if search.rave > 0:
                back_up_amaf(node, edge, outcome, search)
        changed = changed and tighten(node, search)


def state_below(rules: Rules, state: Any, above: int, ply: int, search: MonteCarloRecord) -> Any:
    """The state that the path leads to at ``ply``, from that at ``above``."""
    while above < ply:
        state = rules.result(state, load(load(search.lines, 2 * above + 1), ACTION))
        above += 1
    return state


def go_down(rules: Rules, root_state: Any, root: int, search: MonteCarloRecord) -> bool:
    """One simulation; false where a limit came, and then it is forgotten.

    States are worked out where they are asked for, so ways that end in the tree need none.
    """
    state, node, ply, known, edge = root_state, root, 0, 0, 0
    scratch, path, step = search.scratch, search.lines, search.edge_words
    completed = True
    while True:
        is_over = load(node, COUNT) < 0
        if is_over or (search.solves != 0 and load_float(node, LOWER) == load_float(node, UPPER)):
            if search.nodes >= search.node_limit and not claim_nodes(search):
                completed = False
                break
            search.nodes += 1
            if search.num_values == 1:
                store_float(scratch, 0, load_float(node, LOWER))
            else:
                for seat in range(search.num_values):
                    store_float(scratch, seat, load_float(node, search.node_words + seat))
            break
        edges = load_acquire(node, EDGES)
        if edges == 0 or edges == EXPANDING:
            state, known = state_below(rules, state, known, ply, search), ply
            is_leaf = (load(node, VISITS) == 0 and load(node, MOVER) >= 0) or ply >= search.max_ply
            if is_leaf or edges == EXPANDING or not expand(rules, state, node, search):
                completed = evaluate_leaf(rules, state, search)
                break
            edges = load(node, EDGES)
            if edge != 0:
                store(edge, BELOW, edges)
        if load(node, MOVER) < 0:
            place = random_outcome(search, load(node, COUNT), edges + 8 * (search.more + PRIOR), step)
        else:
            place = select(node, search)
            if place < 0:
                tighten(node, search)
                if load_float(node, LOWER) == load_float(node, UPPER):
                    continue
                place = 0
        edge = edges + 8 * step * place
        store(path, 2 * ply, node)
        store(path, 2 * ply + 1, edge)
        if search.counts_losses != 0:
            count_loss(node, edge, 1, search)
        ply += 1
        if ply > search.max_ply:
            search.stop = TOO_DEEP
        if search.stop != 0:
            completed = False
            break
        below = load(edge, BELOW)
        if below != 0:  # asked for now, not only once the child has said where they are
            prefetch(below, 0)
            prefetch(below, 8)
            prefetch(below, 16)
        node = load_acquire(edge, CHILD)
        if node == 0:
            state, known = state_below(rules, state, known, ply, search), ply
            if search.nodes >= search.node_limit and not claim_nodes(search):
                completed = False
                break
            search.nodes += 1
            node = make_node(rules, state, search)
            if node != 0:
                node = link_child(edge, node, search)
        if node == 0:  # memory is out
            completed = evaluate_leaf(rules, state, search)
            break
    if completed:
        search.deepest = max(search.deepest, ply)
        back_up(node, ply, search)
    elif search.counts_losses != 0:
        for passed in range(ply):
            count_loss(load(path, 2 * passed), load(path, 2 * passed + 1), -1, search)
    return completed


def simulate(rules: Rules, state: Any, root: int, count: int, search: MonteCarloRecord) -> int:
    """Runs simulations from the root; returns how many were made before it was proven or a limit came.

    With ``root`` 0 the root is made, and its address returned.
    """
    if root == 0:
        search.nodes += 1
        made = make_node(rules, state, search)
        if made == 0 or not expand(rules, state, made, search):
            return 0
        return made
    done = 0
    while done < count and search.stop == 0 and search.nodes < search.pause:
        if search.solves != 0 and load_float(root, LOWER) == load_float(root, UPPER):
            break
        search.stamp += search.threads
        if not go_down(rules, state, root, search):
            break
        done += 1
    return done
