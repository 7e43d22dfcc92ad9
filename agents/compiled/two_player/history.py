"""Move ordering of the selective search: killers, history with gravity, countermoves, continuation history.

History is learned at every cut by a quiet action, which gains, while the quiet ones tried before it lose; values
stay within ``MOST`` of 0, as each step takes some of what there is ("gravity"). Continuation history is that of an
action after the one before it, in a table of hashes.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import MULTIPLIER
from zermelo.agents.compiled.two_player.search import CONTINUATION_BITS, STACK_WORDS
from zermelo.agents.core.tree_search import HIGH_HINT
from zermelo.envs.jit.memory import load, store, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

MOST: Final = 1 << 14
_MIDDLE: Final = 1 << 20


def _before(search: Search, ply: int, back: int) -> int:
    """The action + 1 that was played so many plies before a node's own."""
    return load(search.stack + 8 * STACK_WORDS * (ply + 2 - back), 1)


def _pair(earlier: int, action: int) -> int:
    """The number of a pair of actions in the continuation history."""
    return shift_right(wrapped_product(earlier << 24 | action, MULTIPLIER), 64 - CONTINUATION_BITS)


def history_of(search: Search, mover: int, action: int, ply: int) -> int:
    """The history score of a quiet action: its own, and that of playing it after the previous action."""
    found = load(search.history + 8 * mover * search.choices, action)
    earlier = _before(search, ply, 1)
    if earlier != 0:
        found += load(search.continuation, _pair(earlier, action))
    return found


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
    """Writes the move scores: the table's action, high hints, killers, the countermove, hints, history."""
    killers = search.killers + 16 * ply
    first = load(killers, 0)
    second = load(killers, 1)
    earlier = _before(search, ply, 1)
    counter = load(search.counters, earlier) if earlier != 0 else 0
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
                score = (1 << 60) + 3
            elif action + 1 == second:
                score = (1 << 60) + 2
            elif action + 1 == counter:
                score = (1 << 60) + 1
            else:
                score = (max(hint, -(1 << 26)) << 33) + _MIDDLE + history_of(search, mover, action, ply)
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
    earlier = _before(search, ply, 1)
    _learn(history, action, gain)
    if earlier != 0:
        store(search.counters, earlier, action + 1)
        _learn(search.continuation, _pair(earlier, action), gain)
    for index in range(count):
        other = load(actions, index)
        if other != action and not (asks and rules.is_noisy(state, other)):
            _learn(history, other, -gain)
            if earlier != 0:
                _learn(search.continuation, _pair(earlier, other), -gain)
