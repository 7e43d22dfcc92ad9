"""The bounds of an average through chance, from the bounds of its outcomes: Star1 and Star2, compiled.

A chance event's outcomes lie in blocks of ``count`` words each, one behind the other: the outcomes; their
probabilities, lower and upper bounds; then what was found by probing: the action (-1 for none), value, distance,
and whether it is proven.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.layout import Search
from zermelo.agents.tree_search.kernel_memory import LOWER, UPPER
from zermelo.envs.jit.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules

BLOCKS: Final = 8


def list_outcomes(rules: Rules, state: Any, outcomes: int, search: Search) -> int:
    """Writes a chance state's outcomes into blocks, each worth what the game can give; how many."""
    size = search.width
    listed = outcomes + 8 * size
    drawn = rules.chance_outcomes(state, words(outcomes, size), floats(listed, size))
    count = 0
    for index in range(drawn):
        p = load_float(listed, index)
        if p > 0.0:
            store(outcomes, count, load(outcomes, index))
            store_float(listed, count, p)
            count += 1
    block = 8 * count
    probabilities = outcomes + block
    for index in range(count):
        store_float(probabilities, index, load_float(listed, index))
    for index in range(count):
        store_float(probabilities + block, index, search.lower_value)
        store_float(probabilities + 2 * block, index, search.upper_value)
        store(probabilities + 3 * block, index, search.nothing)
    return count


def tighten(outcomes: int, count: int, index: int, value: float, bound: float, side: int) -> float:
    """A bound of the average, ``LOWER`` or ``UPPER``, once an outcome is known to be worth no less, or no more."""
    bounds = outcomes + 8 * count * (1 + side)
    before = load_float(bounds, index)
    if value > before if side == LOWER else value < before:
        bound += load_float(outcomes + 8 * count, index) * (value - before)
        store_float(bounds, index, value)
    return bound


def floor_of(search: Search, outcomes: int, count: int, index: int, alpha: float, high: float) -> float:
    """The value that an outcome needs for the average to reach alpha; at most ``high``."""
    p = load_float(outcomes + 8 * count, index)
    others = high - p * load_float(outcomes + 24 * count, index)
    return (alpha - search.slack - others) / p


def ceiling_of(search: Search, outcomes: int, count: int, index: int, beta: float, low: float) -> float:
    """The upper bound of an outcome's value for which the average stays below beta; ``low`` or more."""
    p = load_float(outcomes + 8 * count, index)
    others = low - p * load_float(outcomes + 16 * count, index)
    return (beta + search.slack - others) / p


def outside(search: Search, low: float, high: float, alpha: float, beta: float) -> int:
    """Which bound of an average lies outside the window: ``UPPER``, ``LOWER``, or 0."""
    slack = search.slack / 2
    if high < alpha - slack:
        return UPPER
    if low > beta + slack:
        return LOWER
    return 0


def store_probe(outcomes: int, count: int, index: int, action: int, record: int, proven: int) -> None:
    """Writes down what a visit has found of an action in an outcome."""
    block = 8 * count
    store(outcomes + 4 * block, index, action)
    store(outcomes + 5 * block, index, load(record, 0))
    store(outcomes + 6 * block, index, load(record, 1))
    store(outcomes + 7 * block, index, proven)


def pass_probe_down(search: Search, outcomes: int, count: int, index: int) -> None:
    """Tells the visit of an outcome, which comes next, what a probe has found there."""
    block = 8 * count
    search.known = load(outcomes + 4 * block, index)
    search.known_value = load_float(outcomes + 5 * block, index)
    search.known_distance = load_float(outcomes + 6 * block, index)
    search.known_proven = load(outcomes + 7 * block, index)
