"""The compiled searches' transposition table, as Python sees it; its entries are explained in ``memory``.

Fresh memory has to be emptied by the system, which for 64 MiB takes longer than a short search. So the memory of a
table that is let go is kept for the next one of its size, and only the entries that journals say were filled are
emptied.
"""

from __future__ import annotations

import mmap
import weakref
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from zermelo.agents.compiled.layout import Search

ACTION_SHIFT: Final = 17
INFINITE_DEPTH: Final = 8190
"""Deeper than any search goes (``core.recursion.MAX_PLIES``)."""
_MOST_KEPT: Final = 1 << 23
"""No more words of memory than that are kept while no table uses them: 64 MiB."""
_LEAST_KEPT: Final = 1 << 17
_JOURNALED: Final = 64
"""A journal has room for one in so many of the table's entries; beyond that fresh memory is the cheaper."""

_Words: TypeAlias = npt.NDArray[np.int64]
_kept: dict[int, _Words] = {}
"""The memory that is kept, by its size; one piece at a time."""


class CompiledTable:
    """A transposition table of at most so many MiB: a power of two of buckets that fits is taken.

    ``score_words`` are an entry's words beyond its key and data, ``score_bits`` what the kernel needs of the data,
    above the action.
    """

    def __init__(
        self, megabytes: float, num_actions: int = 1, *, score_words: int = 0, score_bits: int = 0
    ) -> None:
        self.entry_words = 2 + score_words
        buckets = max(int(megabytes * (1 << 20)) // (16 * self.entry_words), 2)
        self.bits = buckets.bit_length() - 1
        self.action_bits = min(num_actions.bit_length(), 64 - ACTION_SHIFT - score_bits)
        size = 2 * self.entry_words << self.bits
        kept = _kept.pop(size, None)
        self.words: _Words = _zeros(size) if kept is None else kept
        self.hits = 0
        self.stores = 0
        self._journals: list[_Words] = []
        if _LEAST_KEPT <= size <= _MOST_KEPT:
            weakref.finalize(self, _keep, self.words, self.entry_words, self._journals).atexit = False

    def serve(self, searches: Sequence[Search]) -> None:
        """Has the threads of a search use this table; each goes on with the journal of its predecessor."""
        room = len(self.words) // self.entry_words // _JOURNALED
        while len(self._journals) < len(searches):
            self._journals.append(_zeros(1 + room))
        for search, journal in zip(searches, self._journals, strict=False):
            search.hold("table", self.words)
            search.table_bits, search.entry_words = self.bits, self.entry_words
            search.action_bits = self.action_bits
            search.journal_room = room
            search.hold("journal", journal)

    def clear(self) -> None:
        """Forgets everything."""
        if not _empty(self.words, self.entry_words, self._journals):
            self.words[:] = 0


def _zeros(count: int) -> _Words:
    """Words of zeros, in ordinary pages of memory where they can be had.

    NumPy asks for huge pages, and the first touch of each clears two MiB: for 64 MiB that took 0.1 s of a search
    of 8,000 nodes, which itself takes 0.01 s. One of 50 million nodes is no faster for them.
    """
    if not hasattr(mmap, "MAP_PRIVATE") or 8 * count < mmap.PAGESIZE:  # not on Windows
        return np.zeros(count, np.int64)
    memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, np.int64)


def _empty(words: _Words, entry_words: int, journals: Sequence[_Words]) -> bool:
    """Empties the entries that are on record; False if not all of them are."""
    complete = True
    for journal in journals:
        filled = journal[1 : 1 + journal[0]]
        complete = complete and len(filled) == journal[0]
        for word in range(entry_words):
            words[(filled - words.ctypes.data) // 8 + word] = 0
        journal[0] = 0
    return complete


def _keep(words: _Words, entry_words: int, journals: Sequence[_Words]) -> None:
    """Keeps the memory of a table that is let go, in place of what was kept before."""
    if _empty(words, entry_words, journals):
        _kept.clear()
        _kept[len(words)] = words
