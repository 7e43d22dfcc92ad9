"""The recursion that counts leaves, as it is compiled over a game's rules."""

from __future__ import annotations

from typing import Any

from zermelo.envs.jit.memory import load, words
from zermelo.envs.rules.protocol import Rules


def leaves(rules: Rules, state: Any, depth: int, memory: int, size: int, stop: int) -> int:
    """The number of states exactly ``depth`` moves below one that goes on; the last move is counted, not made.

    Args:
        rules: The rules.
        state: Where to start; not finished.
        depth: At least 1.
        memory: The address of ``depth * size`` words.
        size: How many actions a state can have.
        stop: The address of a word that is not zero once the count should end.
    """
    actions = words(memory, size)
    if depth == 1:
        return rules.count_legal(state, actions)
    count = rules.legal_actions(state, actions)
    if load(stop, 0) != 0:
        return 0
    total = 0
    for index in range(count):
        child = rules.result(state, load(memory, index))
        if not rules.is_terminal(child):
            total += leaves(rules, child, depth - 1, memory + 8 * size, size, stop)
    return total
