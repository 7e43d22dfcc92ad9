"""Move ordering of the selective search: killers, and history with gravity.

History is learned at every cut by a quiet action, which gains, while the quiet ones tried before it lose; values
stay within ``MOST`` of 0, as each step takes some of what there is ("gravity").
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.layout import Search
from zermelo.agents.tree_search.interface import HIGH_HINT
from zermelo.envs.jit.memory import load, store
from zermelo.envs.rules.protocol import Rules

MOST: Final = 1 << 14
_MIDDLE: Final = 1 << 20


def history_of(search: Search, mover: int, action: int) -> int:
    """The history score of a quiet action."""
    return load(search.history + 8 * mover * search.choices, action)


def score_moves(
    rules: Rules,
    state: Any,
    mover: int,
    actions: int,
    count: int,
    scores: int,
    ply: int,
    table_action: int,
    search: Search,
) -> None:
    """Writes the move scores: the table's action, high hints, killers, hints, history."""
    killers = search.killers + 16 * ply
    first = load(killers, 0)
    second = load(killers, 1)
    for index in range(count):
        action = load(actions, index)
        score = 1 << 62
        if search.ordered == 0:
            score = -index
        elif action != table_action:
            hint = rules.ordering_hint(state, action)
            if hint >= HIGH_HINT:
                score = (1 << 61) + (min(hint, (1 << 28) - 1) << 32)
            elif action + 1 == first:
                score = (1 << 60) + 2
            elif action + 1 == second:
                score = (1 << 60) + 1
            else:
                score = (max(hint, -(1 << 26)) << 33) + _MIDDLE + history_of(search, mover, action)
        store(scores, index, score)


def select_best(actions: int, scores: int, index: int, count: int) -> None:
    """Exchanges an action with the best of those behind it; the first of equals."""
    best = load(scores, index)
    place = index
    for other in range(index + 1, count):
        score = load(scores, other)
        if score > best:
            best = score
            place = other
    if place != index:
        action = load(actions, place)
        # The others move up, so that equals stay in order.
        while place > index:
            store(actions, place, load(actions, place - 1))
            store(scores, place, load(scores, place - 1))
            place -= 1
        store(actions, index, action)
        store(scores, index, best)


def _learn(table: int, index: int, gain: int) -> None:
    known = load(table, index)
    store(table, index, known + gain - known * abs(gain) // MOST)


def update_histories(
    rules: Rules,
    state: Any,
    mover: int,
    action: int,
    actions: int,
    count: int,
    depth: int,
    ply: int,
    asks: bool,
    search: Search,
) -> None:
    """A quiet action cut off; the ``count`` first of the actions were tried before. ``asks`` if some are noisy."""
    killers = search.killers + 16 * ply
    first = load(killers, 0)
    if action + 1 != first:
        store(killers, 1, first)
        store(killers, 0, action + 1)
    gain = min(160 * depth - 60, 1500)
    history = search.history + 8 * mover * search.choices
    _learn(history, action, gain)
    for index in range(count):
        other = load(actions, index)
        if other != action and not (asks and rules.is_noisy(state, other)):
            _learn(history, other, -gain)
