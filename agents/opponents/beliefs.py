"""Distributions over hidden states: uniform, or by Bayes' rule from a model of the other players' moves."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from zermelo.agents.opponents.models import OpponentModel, make_opponent, replies
from zermelo.envs.capabilities import SupportsPast
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import CHANCE, Game
from zermelo.envs.support.spec_text import Spec

UNIFORM: Final = "uniform"
_FIRST: Final = 16
_POOL: Final = 2_000  # deals drawn at first and at most; then they are used over again


def make_belief(given: Any) -> str | OpponentModel:
    """``"uniform"``, or the model that ``make_opponent`` makes of anything else."""
    if given == UNIFORM or (isinstance(given, Spec) and given.name == UNIFORM and not given.arguments):
        return UNIFORM
    return make_opponent(given)


def dealer(belief: str | OpponentModel, game: Any, state: Any, seat: int) -> Callable[[np.random.Generator], Any]:
    """A function of a random generator that deals again what a seat has not seen, as likely as it believes."""
    if isinstance(belief, str):
        return lambda generator: game.resample(state, seat, generator)
    return Belief(belief, game, state, seat).deal


class Belief:
    """Deals, each as likely as chance and a model of the other players have it; by importance sampling.

    Each call of ``deal`` draws one more as chance has them, and chooses among all so far by their weights: the
    more there are, the closer they come to Bayes' rule. Where a model excludes all of them, each is as likely.
    """

    def __init__(self, model: OpponentModel, game: Game[Any], state: Any, seat: int) -> None:
        if not isinstance(game, SupportsPast):
            raise UnsupportedGameError(
                f"belief needs to know how {game.traits.name} came to where it is, to ask the model about each "
                "move, and the game does not say it (moves_so_far): leave belief at 'uniform'"
            )
        self._model, self._game, self._state, self._seat = model, game, state, seat
        self._deals: list[Any] = []
        self._weights: list[float] = []
        """Of each deal with all before it."""
        self._answers: dict[Hashable, dict[int, float]] = {}

    def deal(self, generator: np.random.Generator) -> Any:
        """A state that the seat cannot tell from the present one."""
        self._draw(generator)
        while len(self._deals) < _FIRST or (self._weights[-1] == 0 and len(self._deals) < _POOL):
            self._draw(generator)
        total = self._weights[-1]
        if total == 0:  # no deal suits the model: it is wrong about these players
            return self._deals[int(generator.integers(len(self._deals)))]
        return self._deals[bisect.bisect_right(self._weights, float(generator.random()) * total)]

    def _draw(self, generator: np.random.Generator) -> None:
        if len(self._deals) < _POOL:
            game: Any = self._game
            dealt = game.resample(self._state, self._seat, generator)
            self._weights.append((self._weights[-1] if self._weights else 0.0) + self.weight(dealt))
            self._deals.append(dealt)

    def weight(self, dealt: Any) -> float:
        """How probable the other players' moves so far are in a deal, by the model."""
        game: Any = self._game
        state, factors = game.initial_state(), []
        for move in game.moves_so_far(dealt):
            mover = game.to_move(state)
            if mover not in (CHANCE, self._seat):
                factors.append(self._answer(state, mover).get(move, 0.0))
            state = game.result(state, move)
        return math.prod(factors)

    def _answer(self, state: Any, mover: int) -> dict[int, float]:
        """The answer of the model in a state, asked once for all that the mover cannot tell apart."""
        game: Any = self._game
        key = mover, game.information_state_key(state, mover)
        if key not in self._answers:
            self._answers[key] = dict(replies(self._model, game, state))
        return self._answers[key]
