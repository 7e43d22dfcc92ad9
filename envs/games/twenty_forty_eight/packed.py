"""Boards of four by four as one integer of 64 bits: row by row, four bits a tile, from the upper left corner.

Moves are looked up for each line of four tiles: 16 bits, from the side to which it is pushed. Tiles of more than
2 ** 15 do not fit, and lines that would get one have no entry.

All of it runs compiled as it runs uncompiled: numbers are masked after each shift to the right, as the last tile
may make them negative there.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_LARGEST: Final = 15


def _tables() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    lines = np.arange(1 << 16, dtype=np.int32)
    first, second, third, fourth = (lines >> shift & 15 for shift in (0, 4, 8, 12))
    gains = np.zeros_like(lines)

    def close(near: npt.NDArray[np.int32], far: npt.NDArray[np.int32]) -> None:
        free = near == 0
        near[free], far[free] = far[free], 0

    def join(near: npt.NDArray[np.int32], far: npt.NDArray[np.int32]) -> None:
        """Joins equal neighbours; the free place stays free until all have joined."""
        equal = (near == far) & (near > 0)
        near[equal] += 1
        far[equal] = 0
        gains[equal] += 1 << near[equal]

    for _ in range(3):
        close(first, second)
        close(second, third)
        close(third, fourth)
    join(first, second)
    join(second, third)
    join(third, fourth)
    too_large = np.maximum(np.maximum(first, second), np.maximum(third, fourth)) > _LARGEST
    for _ in range(2):
        close(first, second)
        close(second, third)
        close(third, fourth)
    pushed = first | second << 4 | third << 8 | fourth << 12
    moves = (pushed != lines) | too_large
    pushed[too_large] = -1
    back = (lines & 15) << 12 | (lines & 240) << 4 | lines >> 4 & 240 | lines >> 12
    return pushed, gains, moves.astype(np.int8) | moves[back].astype(np.int8) << 1


PUSHED, GAINS, MOVES = _tables()
"""What each line becomes, or -1; what that scores; and whether it moves: bit 0 to its start, bit 1 to its end."""
_FIFTHS: Final = sum(16 << 5 * square for square in range(12))


def fits(low: int, high: int) -> bool:
    """True if no tile is above 2 ** 15, on a board in words of twelve squares with five bits each."""
    return (low | high) & _FIFTHS == 0


def pack(low: int, high: int) -> int:
    """A board of such words; larger tiles become 2 ** 15."""
    large = low & _FIFTHS
    low = (low | large >> 1 | large >> 2 | large >> 3 | large >> 4) & ~large
    large = high & _FIFTHS
    high = (high | large >> 1 | large >> 2 | large >> 3 | large >> 4) & ~large
    return _four(low) | _four(low >> 20) << 16 | _four(low >> 40) << 32 | _four(high) << 48


def unpack(board: int) -> tuple[int, int]:
    """The two words again."""
    return _five(board) | _five(board >> 16) << 20 | _five(board >> 32) << 40, _five(board >> 48)


def push(board: int, action: int) -> tuple[int, int]:
    """The board after a move, and by how much the score grows: -1 if a tile became larger than fits."""
    aside = board if action & 1 else transposed(board)
    aside = mirrored(aside) if action == 1 or action == 2 else aside
    after = gain = 0
    for shift in range(0, 64, 16):
        line = aside >> shift & 65535
        pushed = int(PUSHED[line])
        if pushed < 0:
            return board, -1
        after |= pushed << shift
        gain += int(GAINS[line])
    after = mirrored(after) if action == 1 or action == 2 else after
    return after if action & 1 else transposed(after), gain


def moves_of(board: int) -> int:
    """The moves that change something: bit 0 for up, 1 right, 2 down, 3 left."""
    across, along, aside = 0, 0, transposed(board)
    for shift in range(0, 64, 16):
        across |= int(MOVES[board >> shift & 65535])
        along |= int(MOVES[aside >> shift & 65535])
    return along & 1 | across & 2 | (along & 2) << 1 | (across & 1) << 3


def mirrored(board: int) -> int:
    """Left and right exchanged."""
    board = board >> 8 & 0x00FF00FF00FF00FF | (board & 0x00FF00FF00FF00FF) << 8
    return board >> 4 & 0x0F0F0F0F0F0F0F0F | (board & 0x0F0F0F0F0F0F0F0F) << 4


def transposed(board: int) -> int:
    """Rows and columns exchanged."""
    differ = (board ^ board >> 12) & 0x0000F0F00000F0F0
    board ^= differ ^ differ << 12
    differ = (board ^ board >> 24) & 0x00000000FF00FF00
    return board ^ differ ^ differ << 24


def turned(board: int) -> int:
    """A quarter turn."""
    return mirrored(transposed(board))


def _four(word: int) -> int:
    return word & 15 | word >> 1 & 240 | word >> 2 & 3840 | word >> 3 & 61440


def _five(line: int) -> int:
    return line & 15 | (line & 240) << 1 | (line & 3840) << 2 | (line & 61440) << 3
