"""Policies of agents: as blueprints, which everybody is taken to play, and as probabilities, to be exploited."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.monte_carlo import RandomNumbers
from zermelo.agents.core.playouts import Playouts
from zermelo.agents.players.hidden.beliefs import UNIFORM, dealer
from zermelo.agents.players.learned.observation import Observation
from zermelo.agents.players.learned.policy import ViewAgent
from zermelo.agents.players.opponents import AgentOpponent, searched_policy
from zermelo.agents.players.random import RandomAgent
from zermelo.agents.specs import make_agent
from zermelo.envs import Game, InvalidSettingError
from zermelo.envs.capabilities import SupportsObservations, SupportsPast
from zermelo.envs.support.spec_text import Spec


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
        found = np.zeros((samples, len(actions)))
        for sample in range(samples):
            dealt, chance = self._deals[1](generator), int(generator.integers(2**62))
            for place, action in enumerate(actions):
                drawn = RandomNumbers(chance), np.random.default_rng(chance)
                playouts = Playouts(game, *drawn, guide=lambda after, _: self.action(after))
                after = playouts.result(dealt, action, playouts.generator)
                end, _ = playouts.play(after, self._budget)
                found[sample, place] = game.utility(end)[seat]
        return found


def make_blueprint_agent(given: Any) -> Any:
    """An agent that can be a blueprint: one that searches."""
    agent: Any = copy.copy(make_agent(str(given) if isinstance(given, Spec) else given))
    if not hasattr(agent, "search_state"):
        raise InvalidSettingError(f"blueprint must be an agent that searches ('hanabi'), not {agent.name!r}")
    return agent


def blueprint_of(agent: Any, game: Game[Any], budget: Budget) -> Blueprint:
    """The blueprint that an agent is in a game: its own, or one that asks it about each state."""
    own = getattr(agent, "blueprint", None)
    made: Blueprint = own(game, budget) if callable(own) else AgentBlueprint(agent, game, budget)
    return made


def agent_policy(agent: Any) -> Callable[[Any, Any], Mapping[int, float]]:
    """A function of game and state that says how likely an agent plays each action, for ``exploitability``.

    A search begins each state with its own seed; actions that it draws among are equally likely. Agents that mix,
    and learned policies with ``sample=True``, are asked for their probabilities.

    Args:
        agent: An agent that searches, sees observations, or plays at random; or its spec.

    Raises:
        InvalidSettingError: It is another kind of agent, which acts in environments only.
    """
    made = copy.copy(make_agent(agent))
    if isinstance(made, ViewAgent):
        return lambda game, state: made.probabilities(_view(game, state))
    if isinstance(made, RandomAgent) or hasattr(made, "search_state"):
        return lambda game, state: searched_policy(made, game, state)
    raise InvalidSettingError(
        f"{made.name} acts in environments only: what it plays is known of agents that search, of 'random' and of "
        "policies that see observations"
    )


def _view(game: Any, state: Any) -> Observation:
    observes = isinstance(game, SupportsObservations)
    if not observes:
        raise InvalidSettingError(f"{game.traits.name} does not say what its players observe")
    seat, size = game.to_move(state), game.traits.num_actions
    mask = np.zeros(size, bool)
    mask[list(game.legal_actions(state))] = True
    return Observation(game.traits.seat_names[seat], game.observation(state, seat), mask, 0, size)
