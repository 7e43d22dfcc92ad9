"""The compiled searches' transposition table, as Python sees it; its entries are explained in ``memory``.

The first touch of fresh memory takes longer than a short search, so a table takes over the memory of the last one
that was let go, of which only the entries that journals say were filled are emptied. Measured on 64 MiB: 53 ms for
alpha-beta of Connect Four to depth 12, 149 ms with fresh memory; 6 and 12 ms for alpha-beta of chess to depth 5.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Final

from zermelo.agents.kernels.blocks import MOST_SPARE, WordArray, release, reuse_block, zeros
from zermelo.agents.tree_search.compiled.record import TreeRecord

ACTION_SHIFT: Final = 17
INFINITE_DEPTH: Final = 8190
"""Deeper than any search goes (``core.recursion.MAX_PLIES``)."""
_ENTRIES_PER_STATE: Final = 2
_JOURNALED: Final = 16
"""A journal has room for one in so many of the table's entries; beyond that fresh memory is the cheaper."""


class CompiledTable:
    """A transposition table of at most so many MiB: a power of two of buckets that fits is taken.

    It is no larger than a search of ``most_states`` can use. ``score_words`` are an entry's words beyond its key
    and data, ``score_bits`` what the kernel needs of the data, above the action.
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
        size = 2 * self.entry_words << self.bits
        spare = reuse_block("table", size)
        self.words: WordArray = zeros(size) if spare is None else spare
        self.hits = self.stores = 0
        self._searches: Sequence[TreeRecord] = ()

    def serve(self, searches: Sequence[TreeRecord]) -> None:
        """Has the threads of a search use this table; each writes what it fills into a journal."""
        room = (2 << self.bits) // _JOURNALED
        for search in searches:
            search.attach("table", self.words)
            search.attach("journal", zeros(1 + room))
            search.table_bits, search.entry_words = self.bits, self.entry_words
            search.action_bits, search.journal_room = self.action_bits, room
        self._searches = searches
        if 8 * len(self.words) <= MOST_SPARE:
            weakref.finalize(self, _let_table_go, searches).atexit = False

    def clear(self) -> None:
        self.words = _emptied(self._searches)


def _emptied(searches: Sequence[TreeRecord]) -> WordArray:
    """The table of some searches, emptied; a new one, if more was filled than is on record."""
    words = searches[0].arrays["table"]
    for search in searches:
        journal = search.arrays["journal"]
        if journal[0] >= len(journal):
            words = zeros(len(words))
            break
        filled = (journal[1 : 1 + journal[0]] - search.table) // 8
        for word in range(search.entry_words):
            words[filled + word] = 0
    for search in searches:
        search.arrays["journal"][0] = 0
        if search.arrays["table"] is not words:
            search.attach("table", words)
    return words


def _let_table_go(searches: Sequence[TreeRecord]) -> None:
    release("table", _emptied(searches))
