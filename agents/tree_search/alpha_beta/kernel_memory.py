"""Memory of alpha-beta's kernels: the table, marks of threads that search together, killers and history.

In the table an entry's score lies above its action. The selective search learns history at every cut by a quiet
action, which gains, while the quiet ones tried before it lose ("gravity" keeps values within ``MOST`` of 0).
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.layout import BUSY_BITS
from zermelo.agents.kernels.memory import MULTIPLIER, line_of, row_of
from zermelo.agents.tree_search.alpha_beta.kernel_scores import UNKNOWN
from zermelo.agents.tree_search.compiled.kernel_memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    is_proven,
    pack,
    replace,
    table_action_of,
)
from zermelo.agents.tree_search.compiled.record import TwoPlayerRecord
from zermelo.agents.tree_search.compiled.table import ACTION_SHIFT
from zermelo.agents.tree_search.interface import HIGH_HINT
from zermelo.envs.jit.memory import load, store, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

SHARED_DEPTH: Final = 3
"""At this depth or more a thread puts off actions below which another one is searching."""


def score_of(search: TwoPlayerRecord, data: int) -> int:
    """An entry's score."""
    return data >> ACTION_SHIFT + search.action_bits


def settled_score(search: TwoPlayerRecord, data: int, alpha: int, beta: int, ply: int) -> int:
    """An entry's score, with bit 0 set if it is proven; ``UNKNOWN`` if it is a bound inside the window."""
    score, bound, action = score_of(search, data), bound_of(data), table_action_of(search, data)
    if bound != EXACT and not (score >= beta if bound == LOWER else score <= alpha):
        return UNKNOWN
    if action >= 0:
        store(row_of(search, ply), 0, 1)
        store(line_of(search, ply), 0, action)
    return score | is_proven(data)


def bound_within(search: TwoPlayerRecord, score: int, alpha: int, beta: int) -> int:
    """What the score of a search in a window is."""
    if not search.lower_score < score < search.upper_score or alpha < score < beta:
        return EXACT
    return UPPER if score <= alpha else LOWER


def write_score(
    search: TwoPlayerRecord, key: int, depth: int, alpha: int, beta: int, score: int, proven: int, action: int
) -> None:
    """Stores what a search in a window has found."""
    data = pack(search, depth, bound_within(search, score, alpha, beta), proven, action)
    replace(search, key, score << ACTION_SHIFT + search.action_bits | data)


def search_mark(rules: Rules, state: Any, depth: int) -> int:
    """The mark of a thread that searches a state, which will leave its result in the table."""
    return (rules.key(state) << 1 | 1) ^ depth << 48


def mark_slot(mark: int) -> int:
    """The place of a mark."""
    return shift_right(wrapped_product(mark, MULTIPLIER), 64 - BUSY_BITS)


MOST: Final = 1 << 14
_MIDDLE: Final = 1 << 20


def history_of(search: TwoPlayerRecord, mover: int, action: int) -> int:
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
    search: TwoPlayerRecord,
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
    search: TwoPlayerRecord,
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
