"""The expected score still to come on 4x4 boards, learned from self-play.

An n-tuple network: Szubert and Jaskowski, "Temporal difference learning of n-tuple networks for the game 2048",
CIG 2014. There is a number for each way to fill a shape of six squares, and what a board is worth is the sum over
all shapes; mirrors and turns share their numbers. They are of boards after a move, before the new tile comes.

``scripts/fit_2048.py`` learned them on one processor in about four and a half hours. Each run continued the one
before it:

1. 80 minutes of games from the start;
2. 11 minutes after removing rarely used numbers (7 with ``--least 120000``, 4 with ``--least 190000``);
3. 4 minutes of smaller steps (``--rate 0.2``);
4. 157 minutes of games that are played again from their middle (``--restarts``). Each number began it as if its
   errors so far had been 100,000 points in size and 10,000 in sum;
5. 11 minutes after removing more rarely used numbers (``--restarts --least 76000``);
6. 4 minutes of smaller steps (``--restarts --rate 0.2``).

The best move one ahead scores 238,000 on average.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.games.twenty_forty_eight.packed import mirrored, turned
from zermelo.envs.rules.tables import large_table, load_short

_FILE: Final = Path(__file__).with_name("weights.npz")
SHAPES: Final = 4
"""Four and two squares of the upper two rows and of the middle two, and three and three."""
SIZE: Final = 1 << 24
"""The ways to fill a shape."""
UNIT: Final = 40
"""Points of score in which the numbers are."""


def _read() -> npt.NDArray[np.int16]:
    """The numbers of all shapes, one shape after the other; the file has those that are not zero."""
    numbers = np.zeros(SHAPES * SIZE, np.int16)
    with np.load(_FILE) as file:
        twice = file["high"].astype(np.int16) << 8 | file["low"]
        numbers[np.unpackbits(file["known"]).view(bool)] = twice >> 1 ^ -(twice & 1)
    return numbers


_numbers = large_table("twenty_forty_eight", _read)


def place(board: int, shape: int) -> int:
    """Where the number for a shape's first place is; turns and mirrors bring its other places there."""
    if shape == 1 or shape == 3:
        board = board >> 16
    if shape < 2:
        return shape * SIZE + (board & 0xFFFFFF)
    return shape * SIZE + (board & 0xFFF | (board >> 4 & 0xFFF000))


def downgraded(board: int) -> int:
    """A board whose largest tile is below 2 ** 14, as in nearly all from which the numbers were learned.

    As long as it is not, all tiles above the largest size that is missing are halved: H. Guei, L.-P. Chen and
    I-C. Wu, "Optimistic temporal difference learning for 2048", IEEE Transactions on Games, 2021.
    """
    while board >> 1 & board >> 2 & board >> 3 & 0x1111111111111111 != 0:
        sizes = 0
        for square in range(16):
            sizes |= 1 << (board >> 4 * square & 15)
        missing = 14 if sizes >> 15 & 1 == 1 else 13
        while missing > 0 and sizes >> missing & 1 == 1:
            missing -= 1
        if missing == 0:
            break
        lower = board
        for square in range(16):
            if board >> 4 * square & 15 > missing:
                lower -= 1 << 4 * square
        board = lower
    return board


def expected(board: int) -> int:
    """The score still to come, in points."""
    board = downgraded(board)
    numbers = _numbers()
    total = 0
    for _ in range(4):
        for _ in range(2):
            for shape in range(SHAPES):
                total += load_short(numbers, place(board, shape))
            board = mirrored(board)
        board = turned(board)
    return UNIT * total
