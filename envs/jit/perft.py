"""``perft`` at native speed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.rules_game import RulesGame

_POLL = 0.05


def leaves_kernel() -> Kernel:
    """What counts leaves, to be compiled."""
    from zermelo.envs.jit import perft_kernel

    return Kernel(perft_kernel.leaves, ("int64",) * 4)


def count_leaves(game: RulesGame, state: Any, depth: int) -> int:
    """The number of states exactly ``depth`` moves below one; Ctrl-C is answered at once.

    Args:
        game: A game of rules without chance.
        state: Where to start.
        depth: At least 0.
    """
    if depth == 0:
        return 1
    if game.is_terminal(state):
        return 0
    kernel = build(game.rules, leaves_kernel())
    start = starter(game.rules, depth)
    size = game.max_legal_actions
    memory = np.empty(depth * size, np.int64)
    stop = np.zeros(1, np.int64)
    if depth < 4:
        return int(kernel(*start(state), depth, memory.ctypes.data, size, stop.ctypes.data))
    found: list[int] = []
    failed: list[BaseException] = []

    def count() -> None:
        try:
            found.append(int(kernel(*start(state), depth, memory.ctypes.data, size, stop.ctypes.data)))
        except BaseException as error:  # handed to the thread that waits
            failed.append(error)

    worker = threading.Thread(target=count, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_POLL)
    finally:
        stop[0] = 1
        worker.join()
    if failed:
        raise failed[0]
    return found[0]
