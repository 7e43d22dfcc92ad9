"""The compiled searches' transposition table, as Python sees it; its entries are explained in ``memory``."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.compiled.layout import Search

ACTION_SHIFT: Final = 17
INFINITE_DEPTH: Final = 8190
"""Deeper than any search goes (``core.recursion.MAX_PLIES``)."""
_ENTRIES_PER_STATE: Final = 2
_LARGE: Final = 1 << 15
"""Words that are sooner had anew than emptied."""


class CompiledTable:
    """A transposition table of at most so many MiB: a power of two of buckets that fits is taken.

    It is no larger than a search of ``most_states`` can use: emptying 64 MiB takes longer than a short search.
    ``score_words`` are an entry's words beyond its key and data, ``score_bits`` what the kernel needs of the data,
    above the action.
    """

    def __init__(
        self,
        megabytes: float,
        num_actions: int = 1,
        *,
        score_words: int = 0,
        score_bits: int = 0,
        most_states: float = float("inf"),
    ) -> None:
        self.entry_words = 2 + score_words
        entries = min(megabytes * (1 << 20) / (8 * self.entry_words), _ENTRIES_PER_STATE * most_states)
        self.bits = max(int(entries) // 2, 2).bit_length() - 1
        self.action_bits = min(num_actions.bit_length(), 64 - ACTION_SHIFT - score_bits)
        self.words = _zeros(2 * self.entry_words << self.bits)
        self.hits = self.stores = 0
        self._searches: Sequence[Search] = ()

    def serve(self, searches: Sequence[Search]) -> None:
        """Has the threads of a search use this table."""
        self._searches = searches
        for search in searches:
            search.hold("table", self.words)
            search.table_bits, search.entry_words = self.bits, self.entry_words
            search.action_bits = self.action_bits

    def clear(self) -> None:
        """Forgets everything; a large table gives its memory back to the system."""
        if len(self.words) < _LARGE:
            self.words[:] = 0
        else:
            self.words = _zeros(len(self.words))
            self.serve(self._searches)


def _zeros(count: int) -> npt.NDArray[np.int64]:
    """Words of zeros, in ordinary pages of memory where they can be had.

    NumPy asks for huge pages, and the first touch of each clears two MiB: for 64 MiB that took 0.1 s of a search
    of 8,000 nodes, which itself takes 0.01 s. One of 50 million nodes is no faster for them.
    """
    if not hasattr(mmap, "MAP_PRIVATE") or count < _LARGE:  # not on Windows
        return np.zeros(count, np.int64)
    memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, np.int64)
