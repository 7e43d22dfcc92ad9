"""The recursion through chance nodes, unpruned, Star1 and Star2, as it is compiled over a game's rules.

It does what ``search.alpha_beta`` and ``search.full_width`` do, node for node and in the same
order of floating-point operations, so that those are its oracle.

A score is a pair of floats for seat 0, value and promptness (``core.mate_distance``). ``visit`` returns the
value; the rest of its answer is in the row of its level (``compiled.chance_memory``).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from zermelo.agents.compiled.chance_memory import (
    AT_CHANCE,
    CHANCE_KEY,
    EVALUATED,
    EXACT,
    HEAD,
    HIGHEST,
    HIGHEST_PROMPTNESS,
    KNOWN,
    KNOWN_PROMPTNESS,
    KNOWN_PROVEN,
    KNOWN_VALUE,
    LENGTH,
    LOWER,
    LOWEST,
    LOWEST_PROMPTNESS,
    NOTHING,
    PROBING,
    PROMPTNESS,
    PROVEN,
    PRUNED,
    REST,
    UPPER,
    action_of,
    answer,
    block_of,
    bound_of,
    delayed,
    enter,
    find,
    goes_on,
    greatest_of,
    hand_down_probe,
    hastened,
    is_less,
    keep,
    keep_line,
    keep_probe,
    least_of,
    lower_high,
    outside_of,
    place_of,
    raise_low,
    remember,
    row_of,
    serves,
    settles,
)
from zermelo.agents.compiled.context import (
    ACTIONS,
    GREATEST_EVALUATION,
    HISTORY,
    LEAST_EVALUATION,
    ORDERED,
    STOP,
    TABLE,
)
from zermelo.envs.rules.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

__all__ = ["visit"]

CHANCE: Final = -1
UNIT: Final = 1024.0


def estimate(rules: Rules, state: Any, context: int) -> float:
    """The value of an unfinished state for seat 0."""
    if load(context, EVALUATED) == 0:
        return load_float(context, REST)
    value = rules.evaluation(state, 0)
    return min(max(value, load(context, LEAST_EVALUATION)), load(context, GREATEST_EVALUATION)) / UNIT


def arrange(
    rules: Rules, state: Any, mover: int, count: int, place: int, first: int, level: int, context: int
) -> None:
    """Orders the level's actions: the first, killers, the rules' hint, history; ties as they are."""
    if load(context, ORDERED) == 0 or count < 2:
        return
    size = load(context, ACTIONS)
    actions = block_of(context, level, 0)
    promises = block_of(context, level, 1)
    history = load(context, HISTORY) + 8 * mover * size
    for index in range(count):
        action = load(actions, index)
        hint = min(max(rules.ordering_hint(state, action), -(1 << 27)), 1 << 27)
        promise = hint << 33 | min(load(history, action), (1 << 32) - 1)
        if action == load(place, 0) or action == load(place, 1):
            promise += 1 << 61
        if action == first:
            promise += 1 << 62
        spot = index
        while spot > 0 and load(promises, spot - 1) < promise:
            store(promises, spot, load(promises, spot - 1))
            store(actions, spot, load(actions, spot - 1))
            spot -= 1
        store(promises, spot, promise)
        store(actions, spot, action)


def draw(rules: Rules, state: Any, level: int, context: int) -> int:
    """Writes a chance state's outcomes into the level's blocks, worth what the game can give; how many."""
    outcomes = block_of(context, level, 0)
    probabilities = block_of(context, level, 1)
    size = load(context, ACTIONS)
    drawn = rules.chance_outcomes(state, words(outcomes, size), floats(probabilities, size))
    count = 0
    for index in range(drawn):
        p = load_float(probabilities, index)
        if p > 0.0:
            store(outcomes, count, load(outcomes, index))
            store_float(probabilities, count, p)
            store_float(block_of(context, level, 2), count, load_float(context, LOWEST))
            store_float(block_of(context, level, 3), count, load_float(context, HIGHEST))
            store(block_of(context, level, 4), count, -1)
            count += 1
    return count


def visit(
    rules: Rules,
    state: Any,
    depth: int,
    alpha: float,
    alpha_promptness: float,
    beta: float,
    beta_promptness: float,
    ply: int,
    level: int,
    rolled: int,
    context: int,
) -> float:
    """Fail-soft: exact between alpha and beta, else a bound. ``rolled`` is the outcome that led here, or -1."""
    # 1. Count the node; a finished game, or the depth limit.
    row = row_of(context, level)
    store(row, LENGTH, 0)
    if not enter(context, ply):
        return 0.0
    if rules.is_terminal(state):
        answer(context, level, 0.0, 1)
        return float(rules.utility(state, 0))
    mover = rules.to_move(state)
    if depth <= 0 and (mover != CHANCE or load(context, AT_CHANCE) != 0):
        answer(context, level, 0.0, 0)
        return estimate(rules, state, context)
    if not goes_on(context, level):
        return 0.0
    # What a probe has found of one action here; it probes no node at the depth limit.
    known = load(context, KNOWN)
    known_value = load_float(context, KNOWN_VALUE)
    known_promptness = load_float(context, KNOWN_PROMPTNESS)
    known_proven = load(context, KNOWN_PROVEN)
    nothing = load(context, NOTHING)
    store(context, KNOWN, nothing)
    pruned = load(context, PRUNED) != 0
    lowest = load_float(context, LOWEST)
    highest = load_float(context, HIGHEST)
    # 2. Nobody gets more than the greatest utility, one ply from here.
    if pruned and mover != CHANCE:
        promptness = load_float(context, HIGHEST_PROMPTNESS)
        if not is_less(alpha, alpha_promptness, highest, promptness):
            answer(context, level, promptness, 1)
            return highest
        promptness = load_float(context, LOWEST_PROMPTNESS)
        if not is_less(lowest, promptness, beta, beta_promptness):
            answer(context, level, promptness, 1)
            return lowest
    # 3. The table.
    key = 0
    first = known
    if load(context, TABLE) != 0:
        key = rules.key(state)
        if mover == CHANCE:
            key ^= CHANCE_KEY
        entry = find(context, key)
        if entry != 0:
            about = load(entry, 1)
            action = action_of(about)
            if first < 0:
                first = action
            settled = serves(context, entry, depth)
            if settled and settles(entry, alpha, alpha_promptness, beta, beta_promptness):
                if action >= 0:
                    store(row, LENGTH, 1)
                    store(row, HEAD, action)
                answer(context, level, load_float(entry, 3), about >> 1 & 1)
                return load_float(entry, 2)
    size = load(context, ACTIONS)
    actions = block_of(context, level, 0)
    if mover == CHANCE:
        # 4. The bounds of the average, from those of the game.
        count = draw(rules, state, level, context)
        total = 0.0
        for index in range(count):
            total += load_float(block_of(context, level, 1), index)
        low = total * lowest
        high = total * highest
        # 5. Star2: one action in every outcome; what its player can get there bounds the outcome from one side.
        outside = 0
        bounds_proven = 1
        rises = beta < highest
        falls = alpha > lowest
        if depth > 0 and load(context, PROBING) != 0 and (rises or falls):
            for index in range(count):
                outcome = load(actions, index)
                child = rules.result(state, outcome)
                if rules.is_terminal(child):
                    continue
                player = rules.to_move(child)
                if player == CHANCE or not (rises if player == 0 else falls):
                    continue
                reply = -1
                if load(context, TABLE) != 0:
                    entry = find(context, rules.key(child))
                    if entry != 0:
                        about = load(entry, 1)
                        reply = action_of(about)
                        if serves(context, entry, depth):
                            bound = about >> 2 & 3
                            bounds_proven &= about >> 1 & 1
                            if bound != UPPER:
                                low = raise_low(context, level, index, load_float(entry, 2), low)
                            if bound != LOWER:
                                high = lower_high(context, level, index, load_float(entry, 2), high)
                            outside = outside_of(context, low, high, alpha, beta)
                            if outside != 0:
                                break
                            if bound == EXACT:
                                continue
                below = level + 1
                if not enter(context, ply):
                    return 0.0
                replies = block_of(context, below, 0)
                number = rules.legal_actions(child, words(replies, size))
                arrange(rules, child, player, number, place_of(context, ply, outcome), reply, below, context)
                reply = load(replies, 0)
                least = -np.inf
                least_promptness = 0.0
                greatest = np.inf
                greatest_promptness = 0.0
                if player == 0:
                    greatest = greatest_of(context, level, index, beta, low)
                    greatest_promptness = np.inf
                else:
                    least = least_of(context, level, index, alpha, high)
                    least_promptness = -np.inf
                value = visit(
                    rules,
                    rules.result(child, reply),
                    depth - 1,
                    least,
                    least_promptness,
                    greatest,
                    greatest_promptness,
                    ply + 1,
                    level + 2,
                    nothing,
                    context,
                )
                if load(context, STOP) != 0:
                    return 0.0
                keep_probe(context, level, index, reply, value)
                bounds_proven &= load(row_of(context, level + 2), PROVEN)
                if player == 0:
                    low = raise_low(context, level, index, value, low)
                else:
                    high = lower_high(context, level, index, value, high)
                outside = outside_of(context, low, high, alpha, beta)
                if outside != 0:
                    break
        # 6. Star1: every outcome in the window that leaves the average inside its own.
        average = 0.0
        promptness = 0.0
        all_proven = 1
        index = 0
        while outside == 0 and index < count:
            p = load_float(block_of(context, level, 1), index)
            least = -np.inf
            greatest = np.inf
            if pruned:
                least = least_of(context, level, index, alpha, high)
                greatest = greatest_of(context, level, index, beta, low)
            outcome = load(actions, index)
            hand_down_probe(context, level, index)
            value = visit(
                rules,
                rules.result(state, outcome),
                depth,
                least,
                -np.inf,
                greatest,
                np.inf,
                ply,
                level + 1,
                outcome,
                context,
            )
            if load(context, STOP) != 0:
                return 0.0
            average += p * value
            promptness += p * load_float(row_of(context, level + 1), PROMPTNESS)
            all_proven &= load(row_of(context, level + 1), PROVEN)
            if pruned:
                if value >= least:
                    low = raise_low(context, level, index, value, low)
                if value <= greatest:
                    high = lower_high(context, level, index, value, high)
                outside = outside_of(context, low, high, alpha, beta)
            index += 1
        if outside != 0:
            average = high if outside == UPPER else low
            promptness = np.inf if outside == UPPER else -np.inf
            all_proven &= bounds_proven
        store(row, LENGTH, 0)
        answer(context, level, promptness, all_proven)
        if load(context, TABLE) != 0:
            keep(context, key, depth, outside, average, promptness, nothing, all_proven)
        return average
    # 7. The actions, most promising first, and the textbook's loop over them.
    count = rules.legal_actions(state, words(actions, size))
    place = place_of(context, ply, rolled)
    arrange(rules, state, mover, count, place, first, level, context)
    maximizing = mover == 0
    low = alpha
    low_promptness = alpha_promptness
    high = beta
    high_promptness = beta_promptness
    if pruned:
        promptness = load_float(context, LOWEST_PROMPTNESS)
        if is_less(low, low_promptness, lowest, promptness):
            low = lowest
            low_promptness = promptness
        promptness = load_float(context, HIGHEST_PROMPTNESS)
        if is_less(highest, promptness, high, high_promptness):
            high = highest
            high_promptness = promptness
    best = 0.0
    best_promptness = 0.0
    best_action = -1
    best_proven = 0
    all_proven = 1
    cut = False
    for index in range(count):
        action = load(actions, index)
        if action == known:
            store(row_of(context, level + 1), LENGTH, 0)
            value = known_value
            promptness = known_promptness
            proven = known_proven
        else:
            value = visit(
                rules,
                rules.result(state, action),
                depth - 1,
                low,
                hastened(context, low, low_promptness),
                high,
                hastened(context, high, high_promptness),
                ply + 1,
                level + 1,
                nothing,
                context,
            )
            if load(context, STOP) != 0:
                return 0.0
            promptness = load_float(row_of(context, level + 1), PROMPTNESS)
            proven = load(row_of(context, level + 1), PROVEN)
        promptness = delayed(context, value, promptness)
        all_proven &= proven
        better = best_action < 0
        if maximizing:
            better = better or is_less(best, best_promptness, value, promptness)
        else:
            better = better or is_less(value, promptness, best, best_promptness)
        if better:
            best = value
            best_promptness = promptness
            best_action = action
            best_proven = proven
            keep_line(context, level, action)
        if pruned:
            if maximizing:
                if is_less(low, low_promptness, value, promptness):
                    low = value
                    low_promptness = promptness
            elif is_less(value, promptness, high, high_promptness):
                high = value
                high_promptness = promptness
            if not is_less(low, low_promptness, high, high_promptness):
                cut = True
                break
    # 8. One action proves a cut, or a greatest value; otherwise all of them together do.
    if cut:
        all_proven = best_proven
    elif best_proven != 0 and best == (highest if maximizing else lowest):
        all_proven = 1
    above = is_less(alpha, alpha_promptness, best, best_promptness)
    below_beta = is_less(best, best_promptness, beta, beta_promptness)
    if above if maximizing else below_beta:
        remember(context, best_action, mover, place, depth)
    # 9. The table.
    answer(context, level, best_promptness, all_proven)
    if load(context, TABLE) != 0:
        bound = bound_of(context, best, best_promptness, above, below_beta)
        keep(context, key, depth, bound, best, best_promptness, best_action, all_proven)
    return best
