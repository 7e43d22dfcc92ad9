"""The block of integers that a kernel and the Python around it share.

One address of it travels down the recursion: settings, counters, the addresses of the other memory, and the stop
flag, which Python may set at any time while the kernel runs without the interpreter's lock.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Context"]

# Both: why to stop (0 goes on), nodes so far, nodes allowed, the deepest ply.
STOP: Final = 0
NODES: Final = 1
MOST_NODES: Final = 2
DEEPEST: Final = 3
# Both: the transposition table's address (0 for none) and the logarithm of its number of buckets.
TABLE: Final = 4
TABLE_BITS: Final = 5
TABLE_HITS: Final = 6
TABLE_STORES: Final = 7
# Both: workspace, a row of words for each ply.
WORK: Final = 8
ROW: Final = 9
ACTIONS: Final = 10
MAX_PLY: Final = 11
# Alpha-beta: what scores mean.
SOONER: Final = 12
LOWEST: Final = 13
HIGHEST: Final = 14
LEAST_EVALUATION: Final = 15
GREATEST_EVALUATION: Final = 16
TOTAL: Final = 17
# Alpha-beta: how to search.
ORDERED: Final = 18
KILLERS: Final = 19
HISTORY: Final = 20
QUIESCENCE: Final = 21
NULL_WINDOWS: Final = 22
SYMMETRIES: Final = 23
AGE: Final = 24
# Proof: the key's width, and whether scores count moves.
KEY_BITS: Final = 25
DISTANCES: Final = 26
# Threads searching one tree: an address of the positions being searched now (0 for one thread).
BUSY: Final = 27
BUSY_BITS: Final = 14
# Proof: what is known of the root when the search ends.
ROOT_LEAST: Final = 28
ROOT_GREATEST: Final = 29
# Alpha-beta, selective: how many moves before late ones, how much less deep a null move is, where one led to.
LATE_MOVES: Final = 30
NULL_MOVE: Final = 31
PASSED_PLY: Final = 32

SIZE: Final = 64

# Why a kernel stopped.
GOING: Final = 0
OUT_OF_NODES: Final = 1
ASKED: Final = 2
TOO_DEEP: Final = 3


_PAGE: Final = 512
_APART: Final = 40


class Context:
    """One search's block of shared integers, and the arrays whose addresses it holds.

    Args:
        num_actions: How many actions a node can have.
        max_ply: How many plies deep the search may go.
        row: Words of workspace for each ply.
    """

    def __init__(self, num_actions: int, max_ply: int, row: int) -> None:
        # Rows that lay a page apart would compete for the same few lines of the cache.
        row = (row + _PAGE - 1) // _PAGE * _PAGE + _APART if row > _PAGE // 8 else row
        self.words: npt.NDArray[np.int64] = np.zeros(SIZE, np.int64)
        self._held: list[Any] = []
        self.words[ACTIONS] = num_actions
        self.words[MAX_PLY] = max_ply
        self.words[ROW] = row
        self.words[MOST_NODES] = np.iinfo(np.int64).max
        self.workspace: npt.NDArray[np.int64] = np.empty((max_ply + 2) * row, np.int64)
        self.words[WORK] = self.hold(self.workspace)

    def hold(self, array: npt.NDArray[Any]) -> int:
        """Keeps an array alive as long as the context; its address."""
        self._held.append(array)
        return int(array.ctypes.data)

    @property
    def address(self) -> int:
        """What the kernel is given."""
        return int(self.words.ctypes.data)

    def stop(self) -> None:
        """Asks the kernel to return soon."""
        self.words[STOP] = ASKED
