"""Evaluation by a network over the planes of a game, compiled; it gives the numbers of ``evaluators.network``.

``tables`` is the address of the words of ``evaluators.network.NetworkTables``. Each ply has a slot with the planes
of a position and its hidden values. Those of a new position are computed from the slot with the fewest different
bits: that of its ply, of the ply before, or of the empty board.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.scores import FITTED_UNIT, known_win
from zermelo.envs.jit.memory import load, load_short, store, store_short, store_state
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.protocol import Rules

_PLIES: Final = 64  # plies that have a slot of their own


def value_of_odds(odds: float, mover: int, lower: int, upper: int) -> int:
    """The value for the first seat, in units of 2 ** -16 of utility, strictly inside its bounds."""
    share = 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))
    value = math.floor((lower + (upper - lower) * share) * FITTED_UNIT + 0.5)
    value = min(max(value, lower * FITTED_UNIT + 1), upper * FITTED_UNIT - 1)
    return value if mover != 1 else (lower + upper) * FITTED_UNIT - value


def difference(one: int, other: int, count: int) -> int:
    """The number of bits that differ in so many words."""
    total = 0
    for word in range(count):
        total += popcount(load(one, word) ^ load(other, word))
    return total


def change_values(values: int, column: int, sign: int, hidden: int) -> None:
    """Adds a column to hidden values, or subtracts it."""
    if sign > 0:
        for index in range(hidden):
            store_short(values, index, load_short(values, index) + load_short(column, index))
    else:
        for index in range(hidden):
            store_short(values, index, load_short(values, index) - load_short(column, index))


def up_to_date(rules: Rules, state: Any, ply: int, tables: int) -> int:
    """The address of a slot with the planes and hidden values of a state."""
    # 1. The planes of both seats.
    count = load(tables, 0)
    both = 2 * count
    hidden = load(tables, 1)
    masks = load(tables, 3)
    fresh = load(tables, 8)
    store_state(rules.planes(state, 0), fresh)
    store_state(rules.planes(state, 1), fresh + 8 * count)
    for word in range(both):
        store(fresh, word, load(fresh, word) & load(masks, word))
    # 2. The slot with the fewest different bits.
    size = 8 * load(tables, 10)
    slots = load(tables, 9)
    here = slots + (ply & _PLIES - 1) * size
    base = here
    fewest = difference(fresh, here, both)
    for place in ((ply - 1) & _PLIES - 1, _PLIES):
        other = slots + place * size
        differing = difference(fresh, other, both)
        if differing < fewest:
            fewest = differing
            base = other
    values = here + 8 * both
    if base != here:
        for word in range(hidden >> 1):
            store(values, word, load(base + 8 * both, word))
    # 3. The columns of the bits that differ.
    for word in range(both):
        now = load(fresh, word)
        changed = now ^ load(base, word)
        of_seat = values + (2 * hidden if word >= count else 0)
        for _ in range(popcount(changed)):
            bit = bit_index(changed)
            column = load(tables, 2) + 2 * hidden * (64 * word + bit)
            change_values(of_seat, column, 1 if shift_right(now, bit) & 1 != 0 else -1, hidden)
            changed &= changed - 1
        store(here, word, now)
    return here


def output_sum(values: int, weights: int, hidden: int) -> int:
    """The weighted sum of the squares of one seat's hidden values."""
    total = 0
    for index in range(hidden):
        value = min(max(load_short(values, index), 0), 255)
        total += value * value * load_short(weights, index)
    return total


def network_log_odds(rules: Rules, state: Any, ply: int, tables: int) -> float:
    """How likely the player to move in an unfinished state is to win, as log odds."""
    here = up_to_date(rules, state, ply, tables)
    count = load(tables, 0)
    hidden = load(tables, 1)
    phase = 0
    phases = load(tables, 7)
    if phases != 0:
        filled = 0
        for word in range(count):
            filled += popcount(load(here, word))
        for number in range(phases):
            if filled >= load(load(tables, 6), number):
                phase += 1
    values = here + 16 * count
    weights = load(tables, 4) + 4 * hidden * phase
    mine = 2 * hidden if rules.to_move(state) == 1 else 0
    total = output_sum(values + mine, weights, hidden)
    total += output_sum(values + 2 * hidden - mine, weights + 2 * hidden, hidden)
    return (total / 255.0 + load(load(tables, 5), phase)) / 16320.0


def network_value(rules: Rules, state: Any, ply: int, tables: int) -> int:
    """The value of an unfinished state for the first seat, in units of 2 ** -16 of utility."""
    lower, upper = load(tables, 11), load(tables, 12)
    if rules.is_known_win(state):
        return math.floor(known_win(rules.evaluation(state, 0) / 1024.0, lower, upper) * FITTED_UNIT + 0.5)
    odds = network_log_odds(rules, state, ply, tables)
    return value_of_odds(odds, rules.to_move(state), lower, upper)
