"""The compiled searches' transposition table, as Python sees it; its entries are explained in ``memory``.

Fresh memory has to be emptied by the system, which for 64 MiB takes longer than a short search. So a table that is
let go leaves its memory to the next one; what it has written is on record in journals, and only that is emptied.
Every search so begins with an empty table of the size that was asked for.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.compiled.layout import Search
from zermelo.agents.core.tree_search import Bound
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.defaults import DEFAULTS

__all__ = ["ACTION_SHIFT", "INFINITE_DEPTH", "CompiledTable", "KnownAction"]

ACTION_SHIFT: Final = 17
INFINITE_DEPTH: Final = 8190
"""Deeper than any search goes (``core.recursion.MAX_PLIES``)."""
_MASK: Final = (1 << 64) - 1


class KnownAction(NamedTuple):
    """The best action found in a position, and what its score says."""

    bound: Bound
    action: int


class CompiledTable:
    """A transposition table.

    Args:
        megabytes: The most memory to take, in MiB; a power of two of buckets that fits is taken.
        num_actions: How many action numbers there are.
        score_words: Words of an entry beyond its key and data.
        score_bits: Bits of its data that the kernel needs for itself, above the action.
    """

    def __init__(
        self, megabytes: float, num_actions: int = 1, *, score_words: int = 0, score_bits: int = 0
    ) -> None:
        self.entry_words = 2 + score_words
        buckets = max(int(megabytes * (1 << 20)) // (16 * self.entry_words), 2)
        self.bits = buckets.bit_length() - 1
        self.action_bits = min(num_actions.bit_length(), 64 - ACTION_SHIFT - score_bits)
        self.words: npt.NDArray[np.int64] = np.zeros(2 * self.entry_words << self.bits, np.int64)
        self.hits = 0
        self.stores = 0

    def serve(self, search: Search) -> None:
        """Has a search use this table."""
        search.hold("table", self.words)
        search.table_bits, search.entry_words, search.action_bits = self.bits, self.entry_words, self.action_bits

    def clear(self) -> None:
        """Forgets everything."""
        self.words[:] = 0

    def get(self, key: Any, depth: float, mark: int = 0) -> KnownAction | None:
        """The best action of a position, as a search so many moves deep would find it.

        Args:
            key: As ``RulesGame.key`` gives it.
            depth: How many moves ahead; an entry that did not look as far serves if it is proven.
            mark: Exclusive-or this the kernel makes its key of that.
        """
        number = (key if isinstance(key, int) else DEFAULTS["key"](None, key)) ^ mark
        number = ((number + (1 << 63)) & _MASK) - (1 << 63)
        mixed = (number ^ shift_right(number, 32)) * -7046029254386353131 & _MASK
        bucket = 2 * self.entry_words * (mixed >> (64 - self.bits))
        for place in (bucket, bucket + self.entry_words):
            check, data = int(self.words[place]), int(self.words[place + 1])
            if data != 0 and check ^ data == number:
                asked, entry_depth = min(depth, INFINITE_DEPTH), (data >> 4 & 8191) - 1
                if entry_depth != asked and not (data >> 1 & 1 and entry_depth <= asked):
                    return None
                action = (data >> ACTION_SHIFT & (1 << self.action_bits) - 1) - 1
                return KnownAction(Bound(data >> 2 & 3), action) if action >= 0 else None
        return None
