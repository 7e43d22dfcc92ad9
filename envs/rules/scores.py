"""Scores: what a proof search keeps of a position, from the mover's side.

``WIN - plies`` is a win that takes ``plies`` more moves under best play, 0 a draw, ``plies - WIN`` a loss. Where
the utility is a margin, the score is the mover's utility less the opponent's, and says nothing of how soon.
"""

from __future__ import annotations

from typing import Final

WIN: Final = 1 << 11
"""The score of a won position, before the moves to its end are subtracted: more than any game has moves."""
LOSS: Final = -WIN
"""The score of a lost position, before the moves to its end are added."""


def win_in(plies: int) -> int:
    """The score of a position whose mover wins after ``plies`` more moves, its own included."""
    return WIN - plies


def loss_in(plies: int) -> int:
    """The score of a position whose mover loses after ``plies`` more moves."""
    return plies - WIN
