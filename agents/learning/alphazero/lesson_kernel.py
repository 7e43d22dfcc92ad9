"""Positions to learn from, as the network is to see them, in compiled code."""

from __future__ import annotations

from typing import Any

from zermelo.agents.learning.alphazero.layout import Batch
from zermelo.agents.learning.states_kernel import observe
from zermelo.envs.jit.memory import load, load_float, load_state, store_float
from zermelo.envs.rules.protocol import Rules


def present(rules: Rules, state: Any, first: int, last: int, batch: Batch) -> int:
    """Writes positions as the network sees them, each through a symmetry, with the policies to learn."""
    for number in range(first, last):
        symmetry = load(batch.symmetries, number)
        kept = load_state(state, batch.states + 8 * batch.state_words * number)
        seen = rules.symmetric_state(kept, symmetry)
        spare = batch.states + 8 * batch.state_words * number
        observe(rules, seen, rules.to_move(seen), batch.observations, number, spare, batch)
        targets = batch.targets + 8 * batch.choices * number
        for action in range(batch.choices):
            store_float(targets, action, -1.0)
        for place in range(batch.width):
            action = load(batch.actions, batch.width * number + place)
            if action >= 0:
                share = load_float(batch.policies, batch.width * number + place)
                store_float(targets, rules.symmetric_action(action, symmetry), share)
    return 0
