"""What a search takes an unfinished state for, where it looks no further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.evaluators.protocol import Evaluator, seat_values
from zermelo.envs import Game

__all__ = ["StateEvaluation"]


class StateEvaluation:
    """Turns an evaluation, which is of rewards to come, into a score, which is a total.

    Args:
        game: The game.
        evaluator: The evaluation; None only where the search never stops early.
        budget: Its clock interrupts evaluators that take long.
        seat: Whose scores are asked for.
    """

    def __init__(self, game: Game[Any], evaluator: Evaluator | None, budget: Budget, seat: int = 0) -> None:
        self._game = game
        self._seat = seat
        watched = getattr(evaluator, "watched", None)
        self._evaluate: Evaluator | None = evaluator if watched is None else watched(budget.check_clock)

    def score(self, state: Any, frame: Frame) -> Score:
        """The seat's total: the rewards so far and the evaluation of what is to come."""
        return frame.so_far + self._expected(state)[self._seat], 0

    def values(self, state: Any) -> tuple[float, ...]:
        """Every seat's total, in seat order."""
        return tuple(
            paid + value for paid, value in zip(self._game.utility(state), self._expected(state), strict=True)
        )

    def _expected(self, state: Any) -> Sequence[float]:
        assert self._evaluate is not None, "a search that stops early is given an evaluator"
        return seat_values(self._evaluate, self._game, state)
