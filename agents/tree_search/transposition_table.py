"""The transposition table: what is already known of positions that are reached again.

When the newer half of the memory is full it becomes the older half, and the older half before it is forgotten; an
entry that is used moves to the newer half. So the order of events, not the hash of a key, decides: the same search
meets the same table in every process.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any, Final, NamedTuple

from zermelo.agents.base.scores import Frame, Score
from zermelo.agents.tree_search.interface import Bound

_MIB = 1 << 20
_FILL = 0.8
"""The share of each half that is filled: a growing dictionary holds its old and new slots for a moment."""


_MEASURED: Final = 16
"""One of so many entries is measured, and the next ones count as much: measuring takes as long as a key."""


class Entry(NamedTuple):
    """The result of one search of a position, ``depth`` moves ahead (infinity: to the end).

    Attributes:
        score: For the seat that maximizes, rewards already received left out, as in ``values``.
        variance: Of the estimate, where chance was sampled.
        values: Every seat's, where the score does not say them.
    """

    depth: float
    bound: Bound
    score: Score
    action: int
    proven: bool
    variance: float = 0.0
    values: tuple[float, ...] = ()

    def serves(self, depth: float) -> bool:
        """True if it says what a search to that depth would: so deep itself, or proven and not deeper."""
        return self.depth == depth or (self.proven and self.depth <= depth)

    def settles(self, score: Score, alpha: Score, beta: Score) -> bool:
        """True if its score, as it reads at the state, answers a search with this window."""
        if self.bound is Bound.EXACT:
            return True
        return score >= beta if self.bound is Bound.LOWER else score <= alpha


def bound_of(score: Score, alpha: Score, beta: Score, frame: Frame) -> Bound:
    """The kind of bound that a score found with this window is; at the limits of the game it is exact."""
    if score <= frame.lowest or score >= frame.highest or alpha < score < beta:
        return Bound.EXACT
    return Bound.UPPER if score <= alpha else Bound.LOWER


# An entry with its score and the numbers in them (small integers and enumeration members are shared).
_ENTRY_BYTES = (
    sys.getsizeof(Entry(0, Bound.EXACT, (0.0, 0.0), 0, True)) + sys.getsizeof((0.0, 0.0)) + 6 * sys.getsizeof(0.5)
)


def _size(key: Any) -> int:
    """Bytes of a key with the parts of tuples and sets; attributes of objects are not counted."""
    parts = sum(map(_size, key)) if isinstance(key, tuple | frozenset) else 0
    return sys.getsizeof(key) + parts


class TranspositionTable:
    """A bounded map from positions to entries, in so many MiB; at 0 nothing is stored."""

    def __init__(self, megabytes: float) -> None:
        self._budget = megabytes * _MIB * _FILL / 2
        self._newer: dict[Hashable, Entry] = {}
        self._older: dict[Hashable, Entry] = {}
        self._charged = self._inserted = self._measured = self.hits = self.stores = 0

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def probe(self, key: Hashable) -> Entry | None:
        entry = self._newer.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is None:
                return None
            self._insert(key, entry)
        self.hits += 1
        return entry

    def store(self, key: Hashable, entry: Entry) -> None:
        self.stores += 1
        if key in self._newer:
            self._newer[key] = entry
            return
        self._older.pop(key, None)
        self._insert(key, entry)

    def clear(self) -> None:
        self._newer, self._older, self._charged = {}, {}, 0

    def _insert(self, key: Hashable, entry: Entry) -> None:
        if self._inserted % _MEASURED == 0:
            self._measured = _size(key) + _ENTRY_BYTES + (_size(entry.values) if entry.values else 0)
        self._inserted += 1
        self._charged += self._measured
        self._newer[key] = entry
        if self._charged + sys.getsizeof(self._newer) > self._budget:
            self._older, self._newer, self._charged = self._newer, {}, 0
