"""Boards of up to 124 squares in two integers of 62 bits, so that neither needs its sign.

Square ``row * columns + column`` is that bit of the lower integer, or from 62 on, less 62, of the higher one. The
functions that rules call run compiled as well as in plain Python.
"""

from __future__ import annotations

from typing import Final

from zermelo.envs.rules.bits import bit_index, popcount

HALF: Final = 62
"""Squares in either integer."""
MOST_SQUARES: Final = 2 * HALF


def low_bit(square: int) -> int:
    """The bit of a square in the lower integer; 0 if it is in the other."""
    return 1 << square if square < HALF else 0


def high_bit(square: int) -> int:
    """The bit of a square in the higher integer; 0 if it is in the other."""
    return 0 if square < HALF else 1 << (square - HALF)


def has(low: int, high: int, square: int) -> int:
    """1 if the square is on the board, else 0."""
    return low >> square & 1 if square < HALF else high >> (square - HALF) & 1


def board_of(squares: int) -> tuple[int, int]:
    """The lowest ``squares`` squares."""
    return (1 << min(squares, HALF)) - 1, (1 << max(squares - HALF, 0)) - 1


def pop_square(low: int, high: int) -> tuple[int, int, int]:
    """Returns the lowest square of a board that has one, and the board without it."""
    if low:
        return bit_index(low), low & low - 1, high
    return HALF + bit_index(high), low, high & high - 1


def list_squares(low: int, high: int, actions: list[int]) -> int:
    """Writes the squares of a board, ascending, and returns how many."""
    lower = popcount(low)
    count = lower + popcount(high)
    for number in range(lower):
        actions[number] = bit_index(low)
        low &= low - 1
    for number in range(lower, count):
        actions[number] = HALF + bit_index(high)
        high &= high - 1
    return count
