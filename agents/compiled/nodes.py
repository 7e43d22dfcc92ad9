"""The rules at a node, for kernels: outcome, evaluation, order of actions.

Importing this module imports Numba: only kernels do.
"""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.evaluators.network import network_value
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import insert_sorted
from zermelo.agents.compiled.records import clear_line
from zermelo.agents.core.options import FITTED_UNIT
from zermelo.envs.jit.memory import load, load_float, store, store_float
from zermelo.envs.rules.protocol import Rules

NETWORK = False
"""True if a network evaluates positions, in place of the rules. Front ends set it."""


def write_outcome(rules: Rules, state: Any, record: int, search: Search) -> None:
    """Writes the record of a finished state."""
    seats = search.num_values
    for seat in range(seats):
        utility = rules.utility(state, search.root_seat if seats == 1 else seat)
        store_float(record, seat, float(utility))
    clear_line(record, seats, 0.0)


def write_evaluation(rules: Rules, state: Any, ply: int, record: int, search: Search) -> float:
    """Writes what the evaluation, in 1024ths, says of an unfinished state; the sum over the seats."""
    seats = search.num_values
    total = 0.0
    if NETWORK:
        first = network_value(rules, state, ply, search.fitted) / FITTED_UNIT
        store_float(record, 0, first if search.root_seat == 0 else search.total - first)
        clear_line(record, seats, 0.0)
        return total
    for seat in range(seats):
        value = search.expected
        if search.evaluated != 0:
            evaluation = rules.evaluation(state, search.root_seat if seats == 1 else seat)
            value = min(max(evaluation, search.lower_evaluation), search.upper_evaluation) / 1024.0
        store_float(record, seat, value)
        total += value
    clear_line(record, seats, 0.0)
    return total


def move_best_first(actions: int, scores: int, count: int, wanted: int) -> None:
    """Moves the actions of the highest scores to the front; of equal ones the first comes first."""
    for place in range(wanted):
        best = place
        for index in range(place + 1, count):
            if load_float(scores, index) > load_float(scores, best):
                best = index
        action = load(actions, best)
        score = load_float(scores, best)
        for index in range(best, place, -1):
            store(actions, index, load(actions, index - 1))
            store_float(scores, index, load_float(scores, index - 1))
        store(actions, place, action)
        store_float(scores, place, score)


def order_moves(
    rules: Rules,
    state: Any,
    mover: int,
    actions: int,
    count: int,
    scores: int,
    killers: int,
    first: int,
    hints: bool,
    search: Search,
) -> None:
    """Orders actions: the one to try first (-1 for none), killers, the rules' hint, history; ties as they are.

    ``actions``, ``scores`` (room for as many move scores) and ``killers`` are addresses; ``hints`` says whether to
    ask the rules.
    """
    if search.ordered == 0 or count < 2:
        return
    for index in range(count):
        hint = 0
        if hints:
            hint = rules.ordering_hint(state, load(actions, index))
        insert_sorted(search, actions, scores, index, hint, mover, killers, first)
