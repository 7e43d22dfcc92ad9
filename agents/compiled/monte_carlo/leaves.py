"""Values of the leaves of a compiled Monte Carlo tree: playouts, or the rules' own evaluation."""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.memory import claim_nodes
from zermelo.agents.compiled.monte_carlo.nodes import (
    expected_value,
    random_below,
    random_bits,
    random_outcome,
    static_value,
)
from zermelo.agents.core.monte_carlo import MAX_PLAYOUT_STEPS
from zermelo.envs.jit.memory import floats, load, load_float, store, store_float, words
from zermelo.envs.rules.protocol import Rules


def play_out(rules: Rules, state: Any, search: Search) -> bool:
    """Adds the outcome of a game at random to the words of ``search.scratch``; false where a limit came."""
    buffer, width, moves, ended = search.rows, search.width, 0, False
    for _ in range(MAX_PLAYOUT_STEPS):
        if rules.is_terminal(state):
            ended = True
            break
        if search.stop != 0:
            return False
        mover = rules.to_move(state)
        if mover < 0:
            count = rules.chance_outcomes(state, words(buffer, width), floats(buffer + 8 * width, width))
            action = load(buffer, random_outcome(search, count, buffer + 8 * width, 1))
        else:
            if moves >= search.playout_moves:
                break
            moves += 1
            action = -1
            if search.guides != 0:
                action = rules.playout_action(state, random_bits(search))
            if action < 0:
                count = rules.legal_actions(state, words(buffer, width))
                action = load(buffer, random_below(search, count))
            if search.rave > 0 and load(search.history, action) < search.stamp * search.seats:
                store(search.history, action, search.stamp * search.seats + mover)
        if search.nodes >= search.node_limit and not claim_nodes(search):
            return False
        search.nodes += 1
        state = rules.result(state, action)
    for seat in range(search.num_values):
        value = float(rules.utility(state, seat)) if ended else static_value(rules, state, seat, search)
        store_float(search.scratch, seat, load_float(search.scratch, seat) + value)
    return True


def evaluate(rules: Rules, state: Any, search: Search) -> bool:
    """Writes what a leaf is worth to ``search.scratch``; false where a limit came."""
    kept, games = search.num_values, search.playouts
    for seat in range(kept):
        store_float(search.scratch, seat, 0.0)
    if search.evaluated != 0:
        for seat in range(kept):
            store_float(search.scratch, seat, expected_value(rules, state, seat, search))
        return True
    for _ in range(games):
        if not play_out(rules, state, search):
            return False
    if games > 1:
        for seat in range(kept):
            store_float(search.scratch, seat, load_float(search.scratch, seat) / games)
    return True
