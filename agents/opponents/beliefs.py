"""Distributions over hidden states, uniform or by Bayes' rule from a model of other players; and blueprints."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import Playouts, RandomNumbers
from zermelo.agents.opponents.models import AgentOpponent, OpponentModel, make_opponent, replies
from zermelo.agents.specs import copied_agent
from zermelo.envs.capabilities import SupportsPast, offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
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
        if not offers(game, SupportsPast):
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


class Blueprint(Protocol):
    """A policy for all seats of a game."""

    def action(self, state: Any) -> int:
        """The action of the player to move."""
        ...

    def returns(self, state: Any, actions: Sequence[int], samples: int, seed: int) -> NDArray[np.float64]:
        """The utility of the player to move after each of these actions, of shape (samples, actions).

        All else is played by the blueprint. Each sample deals again what the player does not see, such that the
        others would have moved as they did; all actions are tried with the same cards.
        """
        ...


class AgentBlueprint:
    """An agent that searches as a blueprint; it starts each decision with its own seed."""

    def __init__(self, agent: Any, game: Game[Any], budget: Budget) -> None:
        self._agent, self._game, self._budget = agent, game, budget
        self._deals: tuple[Any, Callable[[np.random.Generator], Any]] | None = None

    def action(self, state: Any) -> int:
        self._agent.reset(self._agent.seed)
        return int(self._agent.search_state(self._game, state).action)

    def returns(self, state: Any, actions: Sequence[int], samples: int, seed: int) -> NDArray[np.float64]:
        game, generator = self._game, np.random.default_rng(seed)
        seat = game.to_move(state)
        if self._deals is None or self._deals[0] is not state:
            belief = AgentOpponent(self._agent) if offers(game, SupportsPast) else UNIFORM
            self._deals = state, dealer(belief, game, state, seat)
        utilities = np.zeros((samples, len(actions)))
        for sample in range(samples):
            dealt, chance = self._deals[1](generator), int(generator.integers(2**62))
            for place, action in enumerate(actions):
                drawn = RandomNumbers(chance), np.random.default_rng(chance)
                playouts = Playouts(game, *drawn, guide=lambda after, _: self.action(after))
                after = playouts.result(dealt, action, playouts.generator)
                end, _ = playouts.play(after, self._budget)
                utilities[sample, place] = game.utility(end)[seat]
        return utilities


def make_blueprint_agent(given: Any) -> Any:
    """An agent that can be a blueprint: one that searches."""
    agent = copied_agent(given)
    if not hasattr(agent, "search_state"):
        raise InvalidSettingError(f"blueprint must be an agent that searches ('hanabi'), not {agent.name!r}")
    return agent


def blueprint_of(agent: Any, game: Game[Any], budget: Budget) -> Blueprint:
    """The blueprint that an agent is in a game: its own, or one that asks it about each state."""
    own = getattr(agent, "blueprint", None)
    made: Blueprint = own(game, budget) if callable(own) else AgentBlueprint(agent, game, budget)
    return made
