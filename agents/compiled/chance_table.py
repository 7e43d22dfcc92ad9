"""The transposition table of the compiled searches through chance, as Python sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.agents.compiled.table import CompiledTable, KnownAction
from zermelo.agents.core.tree_search import Bound
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.defaults import DEFAULTS

__all__ = ["ChanceTable"]

_MASK = (1 << 64) - 1
_ENTRY = 4
_BUCKET = 2 * _ENTRY


class ChanceTable(CompiledTable):
    """Memory for entries of the layout that ``chance_kernel`` explains, and a way to read them.

    Args:
        megabytes: The most memory to take, in MiB; a power of two of entries that fits is taken.
    """

    def __init__(self, megabytes: float) -> None:
        buckets = max(int(megabytes * (1 << 20)) // (8 * _BUCKET), 2)
        self.bits = buckets.bit_length() - 1
        self.words = np.zeros(_BUCKET << self.bits, np.int64)
        self.hits = 0
        self.stores = 0

    def get(self, key: Any, depth: float) -> KnownAction | None:
        """The best action of a position, if it was searched to that depth or is proven.

        Args:
            key: As ``RulesGame.key`` gives it.
            depth: How many moves ahead.
        """
        from zermelo.agents.compiled.chance_memory import INFINITE_DEPTH, action_of, depth_of

        number = key if isinstance(key, int) else DEFAULTS["key"](None, key)
        number = ((number + (1 << 63)) & _MASK) - (1 << 63)
        mixed = (number ^ shift_right(number, 32)) * -7046029254386353131 & _MASK
        bucket = _BUCKET * (mixed >> (64 - self.bits))
        for place in (bucket, bucket + _ENTRY):
            about = int(self.words[place + 1])
            if about != 0 and int(self.words[place]) == number:
                if not about >> 1 & 1 and depth_of(about) != min(depth, INFINITE_DEPTH):
                    return None
                return KnownAction(Bound(about >> 2 & 3), action_of(about)) if action_of(about) >= 0 else None
        return None
