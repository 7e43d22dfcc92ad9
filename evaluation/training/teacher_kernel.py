"""Whole games of a shallow search against itself, as they are compiled over a game's rules.

Leaves are evaluated as the rules say, or by fitted patterns (``evaluators.pattern_tables``), whose words are
at an address.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.patterns import fitted_log_odds, log_odds
from zermelo.envs.jit.memory import load, store, words
from zermelo.envs.rules.bits import mix, shift_right
from zermelo.envs.rules.protocol import Rules

QUIESCENCE: Final = 8
"""How many noisy moves the search follows beyond its depth."""
_STEP: Final = -7046029254386353131
"""What SplitMix64 adds to its state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
_INFINITY: Final = 1 << 60
UNKNOWN: Final = 1 << 50
_SURE: Final = 1e-13
"""No share of the utility is held to be closer to all or nothing than this."""


def draw(dice: int, below: int) -> int:
    """A number from 0 on; the state of the generator (SplitMix64) is at the address."""
    store(dice, 0, load(dice, 0) + _STEP)
    return shift_right(mix(load(dice, 0)), 1) % below


def ended(rules: Rules, state: Any, tables: int) -> int:
    """What the first seat got, in 1024ths: of utility, or of log odds where patterns evaluate."""
    utility = rules.utility(state, 0)
    if tables == 0:
        return 1024 * utility
    lower = load(tables, 13)
    upper = load(tables, 14)
    return round(1024.0 * log_odds((utility - lower) / (upper - lower), _SURE))


def evaluate(rules: Rules, state: Any, tables: int) -> int:
    """What an unfinished state is worth to the first seat, in the same units."""
    if tables == 0:
        return rules.evaluation(state, 0)
    value = round(1024.0 * min(max(fitted_log_odds(rules, state, tables), -29.0), 29.0))
    return value if rules.to_move(state) == 0 else -value


def value_of(
    rules: Rules, state: Any, depth: int, low: int, high: int, memory: int, size: int, tables: int
) -> int:
    """What a state is worth to the first seat: alpha-beta, fail-soft, with quiescence below depth 0."""
    if rules.is_terminal(state):
        return ended(rules, state, tables)
    maximizes = rules.to_move(state) == 0
    best = -_INFINITY if maximizes else _INFINITY
    if depth > 0:
        count = rules.legal_actions(state, words(memory, size))
    else:
        best = evaluate(rules, state, tables)
        if maximizes:
            low = max(low, best)
        else:
            high = min(high, best)
        if low >= high or depth <= -QUIESCENCE:
            return best
        count = rules.noisy_actions(state, words(memory, size))
    if depth != 1:
        sort_by_hint(rules, state, memory, count)
    for index in range(count):
        child = rules.result(state, load(memory, index))
        value = value_of(rules, child, depth - 1, low, high, memory + 8 * size, size, tables)
        if maximizes:
            best = max(best, value)
            low = max(low, value)
        else:
            best = min(best, value)
            high = min(high, value)
        if low >= high:
            break
    return best


def sort_by_hint(rules: Rules, state: Any, actions: int, count: int) -> None:
    """The actions that the rules hint at come first."""
    for index in range(1, count):
        action = load(actions, index)
        hint = rules.ordering_hint(state, action)
        place = index
        while place > 0 and rules.ordering_hint(state, load(actions, place - 1)) < hint:
            store(actions, place, load(actions, place - 1))
            place -= 1
        store(actions, place, action)


def best_of(rules: Rules, state: Any, depth: int, memory: int, size: int, tables: int, dice: int) -> int:
    """The best action for the player to move, of several one that is drawn; its value is left behind the dice.

    Else games from one position would be the same game, and those kept apart would be no others.
    """
    count = rules.legal_actions(state, words(memory, size))
    maximizes = rules.to_move(state) == 0
    best = -_INFINITY if maximizes else _INFINITY
    chosen = load(memory, 0)
    ties = 0
    for index in range(count):
        action = load(memory, index)
        child = rules.result(state, action)
        low = best - 1 if maximizes else -_INFINITY  # so that what is just as good is not only bounded
        high = _INFINITY if maximizes else best + 1
        value = value_of(rules, child, depth - 1, low, high, memory + 8 * size, size, tables)
        if value > best if maximizes else value < best:
            best = value
            ties = 0
        if value == best:
            ties += 1
            if draw(dice, ties) == 0:
                chosen = action
    store(dice, 2, best)
    return chosen


def play(
    rules: Rules,
    state: Any,
    depth: int,
    memory: int,
    size: int,
    dice: int,
    rows: int,
    longest: int,
    explore: int,
    until: int,
    first: int,
    second: int,
) -> int:
    """Plays to the end and writes down the positions that no random move comes after.

    Args:
        rules: The rules.
        state: Where to start.
        depth: How many moves the search looks ahead, at least 1.
        memory: The address of ``(depth + QUIESCENCE + 2) * size`` words.
        size: How many actions a state can have.
        dice: The address of three words: the state of the generator, what the first seat got in the end, and one
            to work with.
        rows: The address of ``longest`` rows: for the numbers of a state each, and what the search with patterns
            said of it, or ``UNKNOWN``.
        longest: After how many moves the game is given up.
        explore: Of 1024 moves, how many are drawn, and
        until: after how many moves none is any more.
        first: The address of the patterns by which the first seat evaluates; 0 for the rules' evaluation.
        second: Likewise, for the second seat.

    Returns:
        How many positions were written down, or -1 if the game was too long.
    """
    moves = 0
    written = 0
    while not rules.is_terminal(state):
        if moves == longest:
            return -1
        if moves < until and draw(dice, 1024) < explore:
            count = rules.legal_actions(state, words(memory, size))
            action = load(memory, draw(dice, count))
        else:
            tables = first if rules.to_move(state) == 0 else second
            action = best_of(rules, state, depth, memory, size, tables, dice)
            if moves >= until:
                row = rows + 8 * written * (len(state) + 1)
                for field in range(len(state)):
                    store(row, field, state[field])
                store(row, len(state), load(dice, 2) if tables != 0 else UNKNOWN)
                written += 1
        state = rules.result(state, action)
        moves += 1
    store(dice, 1, rules.utility(state, 0))
    return written
