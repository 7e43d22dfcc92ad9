"""How often a good player answers the last move at a point beside it, by the 3x3 points around.

``patterns.npz``, made by ``scripts/fit_go.py``, has one number for each pattern, in 256ths.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.rules.words import Words, union, window

__all__ = ["ANSWERED", "CERTAIN", "FILE", "PATTERNS", "pattern_at"]

PATTERNS: Final = 1 << 16
CERTAIN: Final = 256
FILE: Final = Path(__file__).with_name("patterns.npz")


def _read() -> npt.NDArray[np.int64]:
    """The numbers, by pattern."""
    if not FILE.exists():  # while they are made
        return np.zeros(PATTERNS, np.int64)
    with np.load(FILE) as arrays:
        found: npt.NDArray[np.int64] = arrays["answered"].astype(np.int64)
    return found


ANSWERED: Final = _read()


def pattern_at(place: int, own: Words, other: Words, empty: Words, size: int) -> int:
    """The eight places around one, as 16 bits: the mover's stones, then the other's; off the board both."""
    mine = theirs = 0
    board = union(union(own, other), empty)
    for row in range(3):
        start = place + (row - 1) * (size + 1) - 1
        off = 7 & ~window(board, start, 3)
        mine |= (window(own, start, 3) | off) << 3 * row
        theirs |= (window(other, start, 3) | off) << 3 * row
    return _without_middle(mine) | _without_middle(theirs) << 8


def _without_middle(square: int) -> int:
    return square & 15 | square >> 5 << 4
