"""Policies of agents: as blueprints, which everybody is taken to play, and as probabilities, to be exploited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import Playouts, RandomNumbers
from zermelo.agents.opponents.beliefs import UNIFORM, dealer
from zermelo.agents.opponents.models import AgentOpponent
from zermelo.agents.specs import copied_agent
from zermelo.envs.capabilities import SupportsPast
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game


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
            belief = AgentOpponent(self._agent) if isinstance(game, SupportsPast) else UNIFORM
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
