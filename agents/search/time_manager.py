"""How much of its time a search takes: little where one move is clear, all of it where the score has fallen."""

from __future__ import annotations

from typing import Final

_USUAL: Final = 0.5
_CLEAR: Final = 0.2
"""Shares of the time after which no other iteration begins."""
_STEADY: Final = 4
"""After so many iterations with the same best action it is clear."""
_FALL: Final = 0.02
"""The fall of the value that counts, as a share of the span of the game's utility."""


class TimeManager:
    """Says after each iteration whether another is worth its time.

    A time limit is for the hardest decision: half of it is what a search usually takes. It takes a fifth if the
    last four iterations agree on the action; and all there is while the last iteration was worse than the one
    before it, as something else may have to be found. A single legal action takes no time. ``span`` is the upper
    bound on utility less the lower one, infinite where that is not known.
    """

    def __init__(self, seconds: float, num_actions: int, span: float) -> None:
        self._seconds = seconds
        self._num_actions = num_actions
        self._margin = 0.0 if span == float("inf") else _FALL * span
        self._value: float | None = None
        self._action: int | None = None
        self._agreed = 0

    def is_enough(self, action: int, value: float, elapsed: float) -> bool:
        """True to answer now.

        Args:
            action: The best one of the iteration that was just finished.
            value: Its value, for the player to move.
            elapsed: The seconds spent so far.
        """
        has_fallen = self._value is not None and value < self._value - self._margin
        self._agreed = self._agreed + 1 if action == self._action else 1
        self._value, self._action = value, action
        if self._num_actions == 1:
            return True
        if has_fallen:
            return False
        return elapsed >= self._seconds * (_CLEAR if self._agreed >= _STEADY else _USUAL)
