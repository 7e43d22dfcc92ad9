"""Tables of the moves of each line of four tiles in 2048.

A line is a number of 16 bits: the exponent of each of its tiles, 0 for none, in four bits, from the side to which
it is pushed. Tiles of more than 2 ** 15 do not fit, and lines that would get one have no entry.
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
        """Moves tiles to the free places before them."""
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
