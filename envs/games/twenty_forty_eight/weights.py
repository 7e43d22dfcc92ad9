"""The expected score still to come on 4x4 boards, learned from self-play.

An n-tuple network: Szubert and Jaskowski, "Temporal difference learning of n-tuple networks for the game 2048",
CIG 2014. There is a number for each way to fill a straight line of four squares or two by two squares, and a
coarser one for each way to fill some shapes of five squares. What a board is worth is the sum over all of them;
mirrors and turns share their numbers. They are of boards after a move, before the new tile comes.

They were learned by TD(0) from 152,000 games of self-play, with the step of each weight by temporal coherence
(Beal and Smith, 1999); one game in two began with large tiles in a chain along the edge. The best move one ahead
then scores 78,000 on average.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.envs.games.twenty_forty_eight.packed import mirrored, turned

FOURS: Final = 5
"""The line on the edge, the one inside, and two by two squares in the corner, on the edge and in the middle."""
FOURS_SIZE: Final = 1 << 16
FIVES: Final = 3
"""Three and two squares in the corner and below it, and the line on the edge with a square below its end."""
FIVES_SIZE: Final = 15**5
"""Tiles of 2 and 4 are one kind there."""
UNIT: Final = 8
"""Points of score in which the numbers of four squares are."""


def _read() -> Any:
    with np.load(Path(__file__).with_name("weights.npz")) as file:
        return file["fours"].ravel(), *file["fives"]


# Apart, as compiled code holds a copy of each, and Numba keeps none with arrays of more than 10 ** 6 bytes.
_LINES_AND_SQUARES, _CORNER, _BELOW, _BENT = _read()


def four_at(board: int, shape: int) -> int:
    """The tiles in the first place of a shape of four squares; turns bring its other places there."""
    if shape < 2:
        return board >> 16 * shape & 65535
    shift = 0 if shape == 2 else 4 if shape == 3 else 20
    return board >> shift & 255 | board >> shift + 8 & 65280


def kinds_of(board: int) -> int:
    """The board with the kinds of its tiles: 1 less than the exponents of all but 2."""
    return board - ((board >> 1 | board >> 2 | board >> 3) & 0x1111111111111111)


def five_at(kinds: int, shape: int) -> int:
    """The tiles in the first place of a shape of five squares; turns and mirrors bring its other places there."""
    if shape == 1:
        kinds = kinds >> 16
    first = (kinds & 15) + 15 * (kinds >> 4 & 15) + 225 * (kinds >> 8 & 15) + 3375 * (kinds >> 16 & 15)
    return first + 50625 * (kinds >> (12 if shape == 2 else 20) & 15)


def points(number: int) -> int:
    """A number of five squares in points of score: quantisation is coarser away from 0."""
    return number * (8 + abs(number)) // 2


def expected(board: int) -> int:
    """The score still to come, in points."""
    fours = int(_LINES_AND_SQUARES[4 * FOURS_SIZE + four_at(board, 4)])
    fives = 0
    for _ in range(4):
        for shape in range(4):
            fours += int(_LINES_AND_SQUARES[shape * FOURS_SIZE + four_at(board, shape)])
        kinds = kinds_of(board)
        for _ in range(2):
            fives += points(int(_CORNER[five_at(kinds, 0)]))
            fives += points(int(_BELOW[five_at(kinds, 1)]))
            fives += points(int(_BENT[five_at(kinds, 2)]))
            kinds = mirrored(kinds)
        board = turned(board)
    return UNIT * fours + fives
