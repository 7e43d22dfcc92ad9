"""Shapes of 3x3 points in whose middle a stone often fits, beside the last move.

Hanes, cuts, and moves at the edge, as in S. Gelly, Y. Wang, R. Munos and O. Teytaud, *Modification of UCT with
patterns in Monte-Carlo Go*, INRIA RR-6062, 2006. Both colours play them alike.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.rules.words import Words, window

_SHAPES: Final = """
    XOX ...  ???    hane that encloses
    XO. ...  ?.?    hane that does not cut
    XO? X..  x.?    turn
    .O. X..  ...    diagonal attachment
    XO? O.o  ?o?    cut
    XO? O.X  ???    cut, peeped at
    ?X? O.O  ooo    cut between
    OX? o.O  ???    cut of a keima
    X.? O.?  ###    chase
    OX? X.O  ###    cut from the side
    ?X? x.O  ###    connection from the side
    ?XO x.x  ###    descent
    ?OX X.O  ###    cut at the edge
"""
"""Three rows each: ``X`` and ``O`` stones, ``.`` empty, ``#`` outside; no ``X`` at ``x`` nor ``O`` at ``o``."""
_MEANT: Final = {".": (0,), "X": (1,), "O": (2,), "#": (3,), "x": (0, 2, 3), "o": (0, 1, 3), "?": (0, 1, 2, 3)}
"""What a point may be: empty, one's own, the other's, off the board."""
_TURN: Final = (5, 3, 0, 6, 1, 7, 4, 2)
_MIRROR: Final = (2, 1, 0, 4, 3, 7, 6, 5)
"""Which of the eight points around lies where after a quarter turn, or in the mirror."""


def _table() -> npt.NDArray[np.int64]:
    """A bit for each of the 65,536 surroundings (``_surroundings``)."""
    matches = np.zeros((4,) * 8, np.bool_)
    for line in _SHAPES.strip().splitlines():
        rows = "".join(line.split()[:3])
        matches[np.ix_(*(_MEANT[mark] for mark in rows[:4] + rows[5:]))] = True
    for moved in (_MIRROR, _TURN, tuple(_TURN[place] for place in _TURN)):
        matches |= matches.transpose(moved)
    matches |= matches[np.ix_(*[(0, 2, 1, 3)] * 8)]  # the colours reversed
    bits = matches.reshape((2,) * 16).transpose((*range(14, -1, -2), *range(15, 0, -2)))
    return np.packbits(bits.ravel(), bitorder="little").view(np.int64)


_FITS: Final = _table()


def fits(place: int, own: Words, other: Words, empty: Words, size: int) -> bool:
    """True if a stone on an empty point makes one of the shapes."""
    around = _surroundings(place, own | empty, other | empty, size)
    return bool(_FITS[around >> 6] >> (around & 63) & 1)


def _surroundings(place: int, not_other: Words, not_own: Words, size: int) -> int:
    """The eight points around one, as 16 bits: the mover's stones, then the other's; off the board both."""
    mine = theirs = 0
    for row in range(3):
        start = place + (row - 1) * (size + 1) - 1
        mine |= (7 & ~window(not_own, start, 3)) << 3 * row
        theirs |= (7 & ~window(not_other, start, 3)) << 3 * row
    return _without_middle(mine) | _without_middle(theirs) << 8


def _without_middle(square: int) -> int:
    return square & 15 | square >> 5 << 4
