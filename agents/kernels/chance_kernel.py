"""The recursion through chance nodes, unpruned, Star1 and Star2, as it is compiled over a game's rules.

It does what ``zermelo.agents.star_search`` and ``zermelo.agents.full_width`` do, node for node and in the same
order of floating-point operations, so that those are its oracle.

A score is a pair of floats for seat 0, value and promptness (``zermelo.agents.scores``). ``visit`` returns the
value; the rest of its answer is in the row of its level, one row for each state on the path: promptness, whether
it is proven, and the line of best play. Levels count chance nodes, plies do not.

The table has buckets of two entries of four words: the key, what the entry is about, value and promptness. With a
game's own 64-bit key no position is ever taken for another; with the default key, a hash of 64 bits, a probe that
should miss hits with a probability below 2 ** -62 (two entries compared). The entry of the smaller depth, or of an
earlier iteration, is replaced. One thread searches at a time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from zermelo.agents.kernels.context import (
    ACTIONS,
    AGE,
    DEEPEST,
    GREATEST_EVALUATION,
    HISTORY,
    KILLERS,
    LEAST_EVALUATION,
    MAX_PLY,
    MOST_NODES,
    NODES,
    ORDERED,
    OUT_OF_NODES,
    ROW,
    SOONER,
    STOP,
    TABLE,
    TABLE_BITS,
    TABLE_HITS,
    TABLE_STORES,
    TOO_DEEP,
    WORK,
)
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

__all__ = ["visit"]

# In the context, beyond what other searches have there. The first three are whole numbers, the others are not.
PRUNED: Final = 40
PROBING: Final = 41
AT_CHANCE: Final = 42
EVALUATED: Final = 43
MAX_LEVEL: Final = 44
LINE: Final = 45
KNOWN: Final = 46
KNOWN_VALUE: Final = 47
KNOWN_PROMPTNESS: Final = 48
KNOWN_PROVEN: Final = 49
LOWEST: Final = 50
LOWEST_PROMPTNESS: Final = 51
HIGHEST: Final = 52
HIGHEST_PROMPTNESS: Final = 53
MIDDLE: Final = 54
REST: Final = 55
SLACK: Final = 56

# In a row: what a visit answers, then its line, then blocks of as many words as there are actions.
PROMPTNESS: Final = 0
PROVEN: Final = 1
LENGTH: Final = 2
HEAD: Final = 3

CHANCE: Final = -1
UNIT: Final = 1024.0
INFINITE_DEPTH: Final = 1023
PLACES: Final = 64
EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2
# How an entry's description is packed: action + 1 (from bit 15 up), used (1), depth (10), bound (2), proven, age.
_USED: Final = 1 << 14
_CHANCE_KEY: Final = 0x5DEECE66D


def enter(context: int, ply: int, level: int) -> bool:
    """Counts a node, unless a limit forbids it."""
    if load(context, STOP) != 0:
        return False
    nodes = load(context, NODES)
    if nodes >= load(context, MOST_NODES):
        store(context, STOP, OUT_OF_NODES)
        return False
    store(context, NODES, nodes + 1)
    if ply > load(context, DEEPEST):
        store(context, DEEPEST, ply)
    if ply >= load(context, MAX_PLY) or level + 2 >= load(context, MAX_LEVEL):
        store(context, STOP, TOO_DEEP)
        return False
    return True


def row_of(context: int, level: int) -> int:
    """The address of a level's workspace."""
    return load(context, WORK) + 8 * level * load(context, ROW)


def block_of(context: int, level: int, number: int) -> int:
    """The address of one of a level's blocks.

    A decision has its actions in block 0 and their promise in block 1. A chance event has its outcomes in block 0,
    their probabilities, least and greatest values in blocks 1 to 3, and in blocks 4 to 7 what was found by
    probing: the action (-1 for none), value, promptness, and whether it is proven.
    """
    return row_of(context, level) + 8 * (HEAD + load(context, LINE) + number * load(context, ACTIONS))


def answer(context: int, level: int, promptness: float, proven: int) -> None:
    """Writes all of a visit's answer but its value; its line is as it was."""
    row = row_of(context, level)
    store_float(row, PROMPTNESS, promptness)
    store(row, PROVEN, proven)


def keep_line(context: int, level: int, action: int) -> None:
    """The level's line becomes this action and the line below."""
    here = row_of(context, level)
    below = row_of(context, level + 1)
    length = min(load(below, LENGTH), load(context, LINE) - 1)
    store(here, LENGTH, length + 1)
    store(here, HEAD, action)
    for index in range(length):
        store(here, HEAD + 1 + index, load(below, HEAD + index))


def is_less(value: float, promptness: float, other: float, other_promptness: float) -> bool:
    """Whether a score is less than another."""
    return value < other or (value == other and promptness < other_promptness)


def delayed(context: int, value: float, promptness: float) -> float:
    """The promptness of a child's score, as it counts one ply earlier."""
    if load(context, SOONER) != 0:
        if value > load_float(context, MIDDLE):
            return promptness - 1.0
        if value < load_float(context, MIDDLE):
            return promptness + 1.0
    return promptness


def hastened(context: int, value: float, promptness: float) -> float:
    """The promptness of a window's edge, as a child sees it."""
    if load(context, SOONER) != 0:
        if value > load_float(context, MIDDLE):
            return promptness + 1.0
        if value < load_float(context, MIDDLE):
            return promptness - 1.0
    return promptness


def estimate(rules: Rules, state: Any, context: int) -> float:
    """The value of an unfinished state for seat 0."""
    if load(context, EVALUATED) == 0:
        return load_float(context, REST)
    value = rules.evaluation(state, 0)
    return min(max(value, load(context, LEAST_EVALUATION)), load(context, GREATEST_EVALUATION)) / UNIT


def bucket_of(context: int, key: int) -> int:
    """The address of a key's bucket, eight words."""
    mixed = (key ^ shift_right(key, 32)) * -7046029254386353131
    return load(context, TABLE) + 64 * shift_right(mixed, 64 - load(context, TABLE_BITS))


def find(context: int, key: int) -> int:
    """The address of the entry kept for a key; 0 if there is none."""
    bucket = bucket_of(context, key)
    for number in range(2):
        entry = bucket + 32 * number
        if load(entry, 0) == key and load(entry, 1) != 0:
            store(context, TABLE_HITS, load(context, TABLE_HITS) + 1)
            return entry
    return 0


def keep(
    context: int, key: int, depth: int, bound: int, value: float, promptness: float, action: int, proven: int
) -> None:
    """Keeps what a search found: in the place of the same position, else of what is older or less deep."""
    bucket = bucket_of(context, key)
    age = load(context, AGE)
    chosen = bucket
    least = 1 << 20
    for number in range(2):
        entry = bucket + 32 * number
        about = load(entry, 1)
        if about == 0 or load(entry, 0) == key:
            chosen = entry
            break
        worth = (about >> 4 & 1023) + (2048 if about & 1 == age else 0)
        if worth < least:
            least = worth
            chosen = entry
    store(chosen, 0, key)
    store(chosen, 1, (action + 1) << 15 | _USED | min(depth, INFINITE_DEPTH) << 4 | bound << 2 | proven << 1 | age)
    store_float(chosen, 2, value)
    store_float(chosen, 3, promptness)
    store(context, TABLE_STORES, load(context, TABLE_STORES) + 1)


def serves(context: int, entry: int, depth: int) -> bool:
    """Whether an entry says what a search to that depth would."""
    about = load(entry, 1)
    kept = about >> 4 & 1023
    asked = min(depth, INFINITE_DEPTH)
    if kept == asked:
        return True
    return load(context, PRUNED) != 0 and about >> 1 & 1 != 0 and kept <= asked


def place_of(context: int, ply: int, rolled: int) -> int:
    """The address of the killers of a ply after an outcome (-1 for none)."""
    return load(context, KILLERS) + 16 * (min(ply, PLACES - 1) * (load(context, ACTIONS) + 1) + rolled + 1)


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


def remember(context: int, action: int, mover: int, place: int, depth: int) -> None:
    """An action that was best is tried earlier elsewhere."""
    if load(context, ORDERED) == 0:
        return
    first = load(place, 0)
    if action != first and action != load(place, 1):
        store(place, 1, first)
        store(place, 0, action)
    weight = min(depth, 16)
    history = load(context, HISTORY) + 8 * mover * load(context, ACTIONS)
    store(history, action, load(history, action) + weight * weight)


def raise_low(context: int, level: int, index: int, value: float, low: float) -> float:
    """The least average, once an outcome is known to be worth at least that."""
    lows = block_of(context, level, 2)
    before = load_float(lows, index)
    if value > before:
        low += load_float(block_of(context, level, 1), index) * (value - before)
        store_float(lows, index, value)
    return low


def lower_high(context: int, level: int, index: int, value: float, high: float) -> float:
    """The greatest average, once an outcome is known to be worth at most that."""
    highs = block_of(context, level, 3)
    before = load_float(highs, index)
    if value < before:
        high -= load_float(block_of(context, level, 1), index) * (before - value)
        store_float(highs, index, value)
    return high


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
    # 1. What a probe has found of one action here; count the node; a finished game, or the depth limit.
    known = load(context, KNOWN)
    known_value = load_float(context, KNOWN_VALUE)
    known_promptness = load_float(context, KNOWN_PROMPTNESS)
    known_proven = load(context, KNOWN_PROVEN)
    store(context, KNOWN, -1)
    row = row_of(context, level)
    store(row, LENGTH, 0)
    if not enter(context, ply, level):
        return 0.0
    if rules.is_terminal(state):
        answer(context, level, 0.0, 1)
        return float(rules.utility(state, 0))
    mover = rules.to_move(state)
    if depth <= 0 and (mover != CHANCE or load(context, AT_CHANCE) != 0):
        answer(context, level, 0.0, 0)
        return estimate(rules, state, context)
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
            key ^= _CHANCE_KEY
        entry = find(context, key)
        if entry != 0:
            about = load(entry, 1)
            action = (about >> 15) - 1
            if first < 0:
                first = action
            if serves(context, entry, depth):
                value = load_float(entry, 2)
                promptness = load_float(entry, 3)
                bound = about >> 2 & 3
                settled = bound == EXACT
                if bound == LOWER:
                    settled = not is_less(value, promptness, beta, beta_promptness)
                if bound == UPPER:
                    settled = not is_less(alpha, alpha_promptness, value, promptness)
                if settled:
                    if action >= 0:
                        store(row, LENGTH, 1)
                        store(row, HEAD, action)
                    answer(context, level, promptness, about >> 1 & 1)
                    return value
    count = 0
    size = load(context, ACTIONS)
    actions = block_of(context, level, 0)
    if mover == CHANCE:
        # 4. The bounds of the average, from those of the game.
        probabilities = block_of(context, level, 1)
        lows = block_of(context, level, 2)
        highs = block_of(context, level, 3)
        probed = block_of(context, level, 4)
        drawn = rules.chance_outcomes(state, words(actions, size), floats(probabilities, size))
        total = 0.0
        for index in range(drawn):
            p = load_float(probabilities, index)
            if p > 0.0:
                store(actions, count, load(actions, index))
                store_float(probabilities, count, p)
                store_float(lows, count, lowest)
                store_float(highs, count, highest)
                store(probed, count, -1)
                total += p
                count += 1
        low = total * lowest
        high = total * highest
        slack = load_float(context, SLACK)
        # 5. Star2: one action in every outcome; what its player can get there bounds the outcome from one side.
        outside = 0
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
                p = load_float(probabilities, index)
                reply = -1
                if load(context, TABLE) != 0:
                    entry = find(context, rules.key(child))
                    if entry != 0:
                        about = load(entry, 1)
                        reply = (about >> 15) - 1
                        if serves(context, entry, depth):
                            bound = about >> 2 & 3
                            value = load_float(entry, 2)
                            if bound != UPPER:
                                low = raise_low(context, level, index, value, low)
                            if bound != LOWER:
                                high = lower_high(context, level, index, value, high)
                            if high < alpha - slack / 2:
                                outside = UPPER
                                break
                            if low > beta + slack / 2:
                                outside = LOWER
                                break
                            if bound == EXACT:
                                continue
                below = level + 1
                if not enter(context, ply, below):
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
                    others = low - p * load_float(lows, index)
                    greatest = (beta + slack - others) / p
                    greatest_promptness = np.inf
                else:
                    others = high - p * load_float(highs, index)
                    least = (alpha - slack - others) / p
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
                    -1 + 0 * level,
                    context,
                )
                if load(context, STOP) != 0:
                    return 0.0
                store(probed, index, reply)
                store_float(block_of(context, level, 5), index, value)
                store_float(block_of(context, level, 6), index, load_float(row_of(context, level + 2), PROMPTNESS))
                store(block_of(context, level, 7), index, load(row_of(context, level + 2), PROVEN))
                if player == 0:
                    low = raise_low(context, level, index, value, low)
                else:
                    high = lower_high(context, level, index, value, high)
                if high < alpha - slack / 2:
                    outside = UPPER
                    break
                if low > beta + slack / 2:
                    outside = LOWER
                    break
        # 6. Star1: every outcome in the window that leaves the average inside its own.
        average = 0.0
        promptness = 0.0
        all_proven = 1
        index = 0
        while outside == 0 and index < count:
            p = load_float(probabilities, index)
            least = -np.inf
            greatest = np.inf
            if pruned:
                least = (alpha - slack - (high - p * load_float(highs, index))) / p
                greatest = (beta + slack - (low - p * load_float(lows, index))) / p
            outcome = load(actions, index)
            store(context, KNOWN, load(probed, index))
            store_float(context, KNOWN_VALUE, load_float(block_of(context, level, 5), index))
            store_float(context, KNOWN_PROMPTNESS, load_float(block_of(context, level, 6), index))
            store(context, KNOWN_PROVEN, load(block_of(context, level, 7), index))
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
                if high < alpha - slack / 2:
                    outside = UPPER
                elif low > beta + slack / 2:
                    outside = LOWER
            index += 1
        if outside != 0:
            average = high if outside == UPPER else low
            promptness = np.inf if outside == UPPER else -np.inf
            if index == 0:
                all_proven = 1
        store(row, LENGTH, 0)
        answer(context, level, promptness, all_proven)
        if load(context, TABLE) != 0:
            keep(context, key, depth, outside, average, promptness, -1 + 0 * level, all_proven)
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
                -1 + 0 * level,
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
        bound = EXACT
        if pruned:
            inside = above and below_beta
            least_promptness = load_float(context, LOWEST_PROMPTNESS)
            greatest_promptness = load_float(context, HIGHEST_PROMPTNESS)
            inside = inside or not is_less(lowest, least_promptness, best, best_promptness)
            inside = inside or not is_less(best, best_promptness, highest, greatest_promptness)
            if not inside:
                bound = LOWER if above else UPPER
        keep(context, key, depth, bound, best, best_promptness, best_action, all_proven)
    return best
