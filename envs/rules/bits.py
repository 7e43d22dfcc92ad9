"""Bit tricks for rules that keep a board in 64-bit integers: the same in plain Python and compiled.

All numbers are seen as 64 bits in two's complement, so that a board that uses the highest bit works.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1


def popcount(bits: int) -> int:
    """The number of bits that are set, of 64."""
    return (bits & _MASK).bit_count()


def bit_index(bits: int) -> int:
    """The place of the lowest set bit, 0 to 63; 64 if none is set."""
    low = bits & -bits & _MASK
    return low.bit_length() - 1 if low else 64


def shift_right(bits: int, places: int) -> int:
    """The 64 bits moved down by ``places`` (0 to 63), zeros coming in at the top, whatever the sign."""
    moved = (bits & _MASK) >> places
    return moved - (1 << 64) if moved >> 63 else moved


def mix(bits: int) -> int:
    """The 64 bits scrambled, one to one: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    bits = (bits + 0x9E3779B97F4A7C15) & _MASK
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _MASK
    bits ^= bits >> 31
    return bits - (1 << 64) if bits >> 63 else bits


def swapped_bytes(bits: int) -> int:
    """The eight bytes in reverse: a board of eight rows of eight squares, seen from the other side."""
    return int.from_bytes((bits & _MASK).to_bytes(8, "little"), "big", signed=True)


def wrapped_difference(first: int, second: int) -> int:
    """The low 64 bits of a difference; that of ``-`` may not have more, or the compiler makes something up."""
    return shift_right(first - second, 0)
