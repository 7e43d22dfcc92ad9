"""A position of Kalah."""

from __future__ import annotations

from typing import NamedTuple


class KalahState(NamedTuple):
    """Houses and stores of the player to move and of the opponent, and the seat to move.

    Eight bits a house from the lowest (house 0); opposite to house ``i`` is the opponent's ``houses - 1 - i``.
    """

    mover: int
    other: int
    mover_store: int
    other_store: int
    seat: int
