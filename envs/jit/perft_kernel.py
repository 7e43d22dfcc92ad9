"""``perft`` at native speed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from zermelo.envs.jit.build import build
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.jit.memory import load, words
from zermelo.envs.rules.protocol import Rules
from zermelo.envs.rules.rules_game import RulesGame

_POLL = 0.05


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


def leaves_kernel() -> Kernel:
    """The kernel that counts leaves."""
    return Kernel(leaves, ("int64",) * 4)


def count_leaves(game: RulesGame, state: Any, depth: int) -> int:
    """The number of states exactly ``depth`` moves (at least 1) below one; Ctrl-C is answered at once.

    The game has no chance.
    """
    if game.is_terminal(state):
        return 0
    kernel = build(game.rules, leaves_kernel())
    start = argument_maker(game.rules, depth)
    size = game.max_legal_actions
    memory, stop = np.empty(depth * size, np.int64), np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        counting = pool.submit(kernel, *start(state), depth, memory.ctypes.data, size, stop.ctypes.data)
        try:
            while not counting.done():
                wait([counting], _POLL)
        finally:
            stop[0] = 1
    return int(counting.result())
