"""The compiled searches' transposition table, as Python sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.core.tree_search import Bound
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.defaults import DEFAULTS

__all__ = ["CompiledTable"]

_MASK = (1 << 64) - 1


class KnownAction(NamedTuple):
    """The best action found in a position, and what its score says."""

    bound: Bound
    action: int


class CompiledTable:
    """Memory for entries of the layout that ``tree_kernel`` explains, and a way to read them.

    Args:
        megabytes: The most memory to take, in MiB; a power of two of entries that fits is taken.
    """

    def __init__(self, megabytes: float) -> None:
        buckets = max(int(megabytes * (1 << 20)) // 32, 2)
        self.bits = buckets.bit_length() - 1
        self.words: npt.NDArray[np.int64] = np.zeros(4 << self.bits, np.int64)
        self.hits = 0
        self.stores = 0

    def clear(self) -> None:
        """Forgets everything."""
        self.words[:] = 0

    def get(self, key: Any) -> KnownAction | None:
        """The best action of a position whose exact value is kept.

        Args:
            key: As ``RulesGame.key`` gives it.
        """
        number = key if isinstance(key, int) else DEFAULTS["key"](None, key)
        number = ((number + (1 << 63)) & _MASK) - (1 << 63)
        mixed = (number ^ shift_right(number, 32)) * -7046029254386353131 & _MASK
        bucket = 4 * (mixed >> (64 - self.bits))
        for place in (bucket, bucket + 2):
            check, data = int(self.words[place]), int(self.words[place + 1])
            if data != 0 and check ^ data == number:
                action = (data >> 14 & 4095) - 1
                return KnownAction(Bound(data >> 2 & 3), action) if action >= 0 else None
        return None
