"""Scores of chess engines as values between a loss (-1) and a win (1), and back."""

from __future__ import annotations

from typing import Final

_HALF_WAY: Final = 400
"""Centipawns that are half of a win, as in the evaluation of the rules."""
_MATE: Final = 1e-6  # what each move to mate takes off from a win
_LONGEST: Final = 1_000  # moves to mate; no evaluation comes that near to a win


def value_of_centipawns(score: float) -> float:
    """The value of a score of the same player, strictly inside the bounds."""
    return score / (abs(score) + _HALF_WAY)


def value_of_mate(moves: int) -> float:
    """The value of a mate in so many moves; of being mated, if there are 0 or fewer.

    It is strictly inside the bounds: what an engine says is no proof.
    """
    distance = 1.0 - _MATE * min(abs(moves), _LONGEST)
    return distance if moves > 0 else -distance


def score_text(value: float) -> str:
    """A value in pawns (``0.34``) or moves to mate (``#-3``), as PGN's ``[%eval]`` has it; nothing for a bound."""
    size = abs(value)
    if size >= 1:
        return ""
    if size >= 1 - _MATE * _LONGEST:
        return f"#{'-' if value < 0 else ''}{round((1 - size) / _MATE)}"
    return f"{value * _HALF_WAY / (1 - size) / 100:.2f}"
