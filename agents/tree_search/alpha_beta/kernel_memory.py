"""The table of alpha-beta's kernels, and what threads that search together mark.

In the table an entry's score lies above its action.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.kernels.layout import BUSY_BITS, Search
from zermelo.agents.kernels.memory import MULTIPLIER, line_of, row_of
from zermelo.agents.tree_search.alpha_beta.kernel_quiescence import UNKNOWN
from zermelo.agents.tree_search.compiled_table import ACTION_SHIFT
from zermelo.agents.tree_search.kernel_memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    is_proven,
    pack,
    replace,
    table_action_of,
)
from zermelo.envs.jit.memory import store, wrapped_product
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.protocol import Rules

SHARED_DEPTH: Final = 3
"""Threads stay out of each other's way at nodes at least this many moves above the horizon."""


def score_of(search: Search, data: int) -> int:
    """An entry's score."""
    return data >> ACTION_SHIFT + search.action_bits


def settled_score(search: Search, data: int, alpha: int, beta: int, ply: int) -> int:
    """An entry's score, with bit 0 set if it is proven; ``UNKNOWN`` if it is a bound inside the window."""
    score, bound, action = score_of(search, data), bound_of(data), table_action_of(search, data)
    if bound != EXACT and not (score >= beta if bound == LOWER else score <= alpha):
        return UNKNOWN
    if action >= 0:
        store(row_of(search, ply), 0, 1)
        store(line_of(search, ply), 0, action)
    return score | is_proven(data)


def bound_within(search: Search, score: int, alpha: int, beta: int) -> int:
    """What the score of a search in a window is."""
    if not search.lower_score < score < search.upper_score or alpha < score < beta:
        return EXACT
    return UPPER if score <= alpha else LOWER


def write_score(
    search: Search, key: int, depth: int, alpha: int, beta: int, score: int, proven: int, action: int
) -> None:
    """Stores what a search in a window has found."""
    data = pack(search, depth, bound_within(search, score, alpha, beta), proven, action)
    replace(search, key, score << ACTION_SHIFT + search.action_bits | data)


def mark_of(rules: Rules, state: Any, depth: int) -> int:
    """The mark of a thread that searches a state, which will leave its result in the table."""
    return (rules.key(state) << 1 | 1) ^ depth << 48


def spot_of(mark: int) -> int:
    """The place of a mark."""
    return shift_right(wrapped_product(mark, MULTIPLIER), 64 - BUSY_BITS)
