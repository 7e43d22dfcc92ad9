"""The expected score still to come on 4x4 boards, learned from self-play.

An n-tuple network: Szubert and Jaskowski, "Temporal difference learning of n-tuple networks for the game 2048",
CIG 2014. There is a number for each way to fill a shape of six squares, and what a board is worth is the sum over
all shapes; mirrors and turns share their numbers. They are of boards after a move, before the new tile comes.
Boards with a tile of 2 ** 14 have numbers of their own (I-C. Wu and others, "Multi-stage temporal difference
learning for 2048", TAAI 2014).

``scripts/fit_2048.py`` learns them in five and a half hours on one processor: each stage from games, again after
rarely used numbers were removed (``--least 175000``, in the second stage 250000), and at last with smaller steps
(``--rate 0.2``).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.games.twenty_forty_eight.packed import mirrored, turned
from zermelo.envs.rules.arrays import large_table, load_short

FILES: Final = tuple(Path(__file__).with_name(f"weights_{stage}.npz") for stage in (1, 2))
"""The numbers of both stages: of boards without a tile of 2 ** 14, and with one."""
SHAPES: Final = 4
"""Four and two squares of the upper two rows and of the middle two, and three and three."""
SIZE: Final = 1 << 24
"""The ways to fill a shape."""
UNIT: Final = 40
"""Points of score in which the numbers are."""
POINTS: Final = (16, UNIT)
"""Points that a unit counts in each stage.

With large tiles halved a game seems to go on: where the second stage begins the first promised 2.5 times as much.
"""


def read(*paths: Path) -> npt.NDArray[np.int16]:
    """The numbers in some files, one shape after the other; files have those that are not zero."""
    numbers = np.empty((len(paths), SHAPES * SIZE // 8, 8), np.int16)  # in huge pages, which zeros are not
    with ThreadPoolExecutor() as pool:
        list(pool.map(_read, numbers, paths))
    return numbers.ravel()


def _read(stage: npt.NDArray[np.int16], path: Path) -> None:
    with np.load(path) as file:
        known, twice = file["known"], file["high"].astype(np.int16) << 8 | file["low"]
    some = np.flatnonzero(known)
    eights = np.zeros((len(some), 8), np.int16)
    eights[np.unpackbits(known[some, None], axis=1).view(bool)] = twice >> 1 ^ -(twice & 1)
    stage[:] = 0
    stage[some] = eights


_numbers = large_table("twenty_forty_eight", lambda: read(*FILES))


def place(board: int, shape: int) -> int:
    """Where the number for a shape's first place is; turns and mirrors bring its other places there."""
    if shape == 1 or shape == 3:
        board = board >> 16
    if shape < 2:
        return shape * SIZE + (board & 0xFFFFFF)
    return shape * SIZE + (board & 0xFFF | (board >> 4 & 0xFFF000))


def has_tile(board: int, exponent: int) -> bool:
    """True if there is a tile of ``2 ** exponent`` or more, for an exponent of 14 or 15."""
    large = board >> 1 & board >> 2 & board >> 3 & 0x1111111111111111
    return (large if exponent == 14 else large & board) != 0


def stage_of(board: int) -> int:
    """1 where there is a tile of 2 ** 14, else 0."""
    return 1 if has_tile(board, 14) else 0


def downgraded(board: int, stage: int) -> int:
    """A board whose largest tile is below 2 ** (14 + stage), as in nearly all from which a stage learned.

    As long as it is not, all tiles above the largest size that is missing are halved: H. Guei, L.-P. Chen and
    I-C. Wu, "Optimistic temporal difference learning for 2048", IEEE Transactions on Games, 2021.
    """
    while has_tile(board, 14 + stage):
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
    """An estimate of the score still to come, in points; in the first stage games bring more (see ``POINTS``)."""
    stage = stage_of(board)
    board = downgraded(board, stage)
    numbers, first = _numbers(), stage * SHAPES * SIZE
    total = 0
    for _ in range(4):
        for _ in range(2):
            for shape in range(SHAPES):
                total += load_short(numbers, first + place(board, shape))
            board = mirrored(board)
        board = turned(board)
    return POINTS[stage] * total
