"""The probabilities with which an agent plays actions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zermelo.agents.baselines import RandomAgent
from zermelo.agents.opponents.models import searched_policy
from zermelo.agents.policies.observation import Observation
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.specs import make_agent
from zermelo.envs import InvalidSettingError
from zermelo.envs.capabilities import SupportsObservations


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
