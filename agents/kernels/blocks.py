"""Large blocks of memory, kept for the next search."""

from __future__ import annotations

import contextlib
import mmap
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

MOST_SPARE: Final = 1 << 26
"""Blocks in which more bytes were used go back to the system."""
WordArray: TypeAlias = npt.NDArray[np.int64]
_spare: dict[str, WordArray] = {}  # by use; who takes a block asks for its size
"""For each use, the last block of memory that was let go."""


def reuse_block(use: str, size: int) -> WordArray | None:
    """A block of so many words that was used so before and is free, or None."""
    block = _spare.pop(use, None)
    return block if block is not None and len(block) == size else None


def release(use: str, block: WordArray) -> None:
    """Keeps a block of memory for the next one who asks for it."""
    _spare[use] = block


def zeros(count: int, huge_pages: bool = False) -> WordArray:
    """Words of zeros, in ordinary or in huge pages of memory, where these can be had.

    NumPy asks for huge pages, and the first touch of each clears two MiB: for 64 MiB that took 0.1 s of a search
    of 8,000 nodes, which itself takes 0.01 s. One of 50 million nodes is no faster for them; proofs are, which use
    their table more.
    """
    if not hasattr(mmap, "MAP_PRIVATE") or 8 * count < 1 << 18:  # not on Windows
        return np.zeros(count, np.int64)
    memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if huge_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system without them
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.int64)
