"""The function that the root loop calls: searches a state and writes its record."""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import line_of, row_of
from zermelo.agents.compiled.two_player.kernel import visit
from zermelo.agents.compiled.two_player.scores import to_score, unit, value_of
from zermelo.agents.compiled.two_player.search import SCALE
from zermelo.agents.compiled.two_player.selective import visit_selectively
from zermelo.envs.jit.memory import load, store, store_float
from zermelo.envs.rules.protocol import Rules

SELECTIVE = True
"""Whether the selective search is used. The front end sets it."""


def visit_and_record(
    rules: Rules,
    state: Any,
    depth: int,
    low: float,
    low_distance: float,
    high: float,
    high_distance: float,
    ply: int,
    record: int,
    search: Search,
) -> int:
    """Searches a state in a window for the first seat, and writes its record; whether it is proven, 0 or 1."""
    alpha = to_score(low, low_distance, search)
    beta = to_score(high, high_distance, search)
    sign = 1 if rules.to_move(state) == 0 else -1
    least, most = min(sign * alpha, sign * beta), max(sign * alpha, sign * beta)
    if SELECTIVE:
        found = visit_selectively(rules, state, depth, least, most, ply, search)
    else:
        found = visit(rules, state, depth, least, most, ply, search)
    score = found & -2
    value = value_of(score)
    store_float(record, 0, sign * value / unit() + search.middle)
    store_float(record, 1, sign * (score - value * SCALE) / 2)
    length = load(row_of(search, ply), 0)
    store(record, 2, length)
    for index in range(length):
        store(record, 3 + index, load(line_of(search, ply), index))
    return found & 1
