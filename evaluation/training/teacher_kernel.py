"""Whole games of a shallow search against itself, as they are compiled over a game's rules."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.jit.memory import load, store, words
from zermelo.envs.rules.bits import mix, shift_right
from zermelo.envs.rules.protocol import Rules

__all__ = ["play"]

_STEP: Final = -7046029254386353131
"""What SplitMix64 adds to its state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
_INFINITY: Final = 1 << 60


def draw(dice: int, below: int) -> int:
    """A number from 0 on; the state of the generator (SplitMix64) is at the address."""
    store(dice, 0, load(dice, 0) + _STEP)
    return shift_right(mix(load(dice, 0)), 1) % below


def value_of(rules: Rules, state: Any, depth: int, low: int, high: int, memory: int, size: int) -> int:
    """What a state is worth to the first seat, in 1024ths: alpha-beta, fail-soft, actions as they come."""
    if rules.is_terminal(state):
        return 1024 * rules.utility(state, 0)
    if depth == 0:
        return rules.evaluation(state, 0)
    count = rules.legal_actions(state, words(memory, size))
    maximizes = rules.to_move(state) == 0
    best = -_INFINITY if maximizes else _INFINITY
    for index in range(count):
        child = rules.result(state, load(memory, index))
        value = value_of(rules, child, depth - 1, low, high, memory + 8 * size, size)
        if maximizes:
            best = max(best, value)
            low = max(low, value)
        else:
            best = min(best, value)
            high = min(high, value)
        if low >= high:
            break
    return best


def play(
    rules: Rules, state: Any, depth: int, memory: int, size: int, dice: int, rows: int, longest: int, explore: int
) -> int:
    """Plays to the end and writes every position down; how many there are, or -1 if the game was too long.

    Args:
        rules: The rules.
        state: Where to start.
        depth: How many moves the search looks ahead, at least 1.
        memory: The address of ``depth * size`` words.
        size: How many actions a state can have.
        dice: The address of the state of the generator, which follows what the first seat got in the end.
        rows: The address of ``longest`` rows, for the numbers of a state each.
        longest: After how many moves the game is given up.
        explore: Of 1024 moves, how many are drawn.
    """
    length = 0
    while not rules.is_terminal(state):
        if length == longest:
            return -1
        for field in range(len(state)):
            store(rows, length * len(state) + field, state[field])
        length += 1
        count = rules.legal_actions(state, words(memory, size))
        chosen = load(memory, draw(dice, count))
        if draw(dice, 1024) >= explore:
            maximizes = rules.to_move(state) == 0
            low = -_INFINITY
            high = _INFINITY
            for index in range(count):
                action = load(memory, index)
                value = value_of(rules, rules.result(state, action), depth - 1, low, high, memory + 8 * size, size)
                if maximizes and value > low:
                    low = value
                    chosen = action
                if not maximizes and value < high:
                    high = value
                    chosen = action
        state = rules.result(state, chosen)
    store(dice, 1, rules.utility(state, 0))
    return length
