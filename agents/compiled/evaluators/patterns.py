"""Evaluations that were fitted to patterns, as they are compiled over a game's rules.

They say what ``evaluators.fitted`` says, to the last bit: weights are multiples of 2 ** -16, so that no sum of
them is rounded. The words behind an address are those of ``evaluators.pattern_tables``.
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.core.options import FITTED_UNIT
from zermelo.envs.jit.memory import load, load_float, store
from zermelo.envs.rules.protocol import Rules


def log_odds(share: float, least: float) -> float:
    """Of a share of the utility, a little inside all and nothing."""
    share = min(max(share, least), 1.0 - least)
    return math.log(share / (1.0 - share))


def fitted_log_odds(rules: Rules, state: Any, tables: int) -> float:
    """How likely the player to move in an unfinished state is to win, as log odds."""
    # 1. The kind of each cell: the first of the planes whose bit of the state is set. Cells turned for the seat.
    seat = rules.to_move(state)
    cells = load(tables, 0)
    planes = load(tables, 1)
    fields = load(tables, 2)
    kinds = load(tables, 3)
    for field in range(len(state)):
        store(fields, field, state[field])
    places = load(tables, 4) + 16 * seat * cells * planes
    order = load(tables, 5) + 8 * seat * cells
    filled = 0
    for cell in range(cells):
        kind = 0
        for plane in range(planes):
            place = 2 * (cell * planes + plane)
            if kind == 0 and load(fields, load(places, place)) >> load(places, place + 1) & 1 != 0:
                kind = plane + 1
                filled += 1
        store(kinds, load(order, cell), kind)
    # 2. The weights of what each window holds, for all of the game and for the phase.
    phase = 0
    phases = load(tables, 6)
    for number in range(phases):
        if filled >= load(load(tables, 7), number):
            phase += 1
    above = (1 + phase) * load(tables, 8) if phases != 0 else -1
    weights = load(tables, 9) + 8 * seat * load(tables, 10)
    window = load(tables, 12)
    total = 0.0
    for _ in range(load(tables, 11)):
        pattern = load(window, 1)
        length = load(window, 0)
        for place in range(length):
            pattern += load(kinds, load(window, 2 + 2 * place)) * load(window, 3 + 2 * place)
        total += load_float(weights, pattern)
        if above >= 0:
            total += load_float(weights, pattern + above)
        window += 8 * (2 + 2 * length)
    # 3. The written evaluation.
    own = load_float(tables, 15)
    if own != 0.0:
        lower = load(tables, 13)
        upper = load(tables, 14)
        written = min(max(rules.evaluation(state, seat), 1024 * lower + 1), 1024 * upper - 1)
        odds = log_odds((written / 1024.0 - lower) / (upper - lower), load_float(tables, 16))
        total += own * (math.floor(load_float(tables, 17) * odds + 0.5) / 1024.0)
    return total


def value_of_odds(odds: float, mover: int, lower: int, upper: int) -> int:
    """The value for the first seat, in units of 2 ** -16 of utility, strictly inside its bounds."""
    share = 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))
    value = math.floor((lower + (upper - lower) * share) * FITTED_UNIT + 0.5)
    value = min(max(value, lower * FITTED_UNIT + 1), upper * FITTED_UNIT - 1)
    return value if mover != 1 else (lower + upper) * FITTED_UNIT - value


def fitted_value(rules: Rules, state: Any, tables: int) -> int:
    """The value of an unfinished state for the first seat, in units of 2 ** -16 of utility."""
    odds = fitted_log_odds(rules, state, tables)
    return value_of_odds(odds, rules.to_move(state), load(tables, 13), load(tables, 14))
