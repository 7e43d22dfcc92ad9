"""Bit tricks for rules that keep a board in 64-bit integers: the same in plain Python and compiled.

A compiled integer has 64 bits and a sign; a Python one has as many bits as it likes. These functions see both as
64 bits in two's complement, so a board that uses the highest bit (a negative number when compiled) works.
"""

from __future__ import annotations

__all__ = ["bit_index", "popcount", "shift_right"]

_MASK = (1 << 64) - 1


def popcount(bits: int) -> int:
    """How many of the 64 bits are set."""
    return (bits & _MASK).bit_count()


def bit_index(bits: int) -> int:
    """The place of the lowest set bit, 0 to 63; 64 if none is set."""
    low = bits & -bits & _MASK
    return low.bit_length() - 1 if low else 64


def shift_right(bits: int, places: int) -> int:
    """The 64 bits moved down by ``places`` (0 to 63), zeros coming in at the top, whatever the sign."""
    moved = (bits & _MASK) >> places
    return moved - (1 << 64) if moved >> 63 else moved
