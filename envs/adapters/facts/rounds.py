"""PettingZoo's games of simultaneous moves: what agents choose in a round is hidden until all have chosen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Rounds(NamedTuple):
    """How moves are made at the same time in an environment whose agents are asked in turn.

    Attributes:
        rewind: Takes back, in place, what agents have chosen in this round, so that the first is to be asked.
        redraw: Draws again, in place, what others than an agent have chosen in this round: called with the
            environment, the agent and a random generator.
        hides_more: Whether anything else is hidden from them; None where that depends on what is inside.
    """

    rewind: Callable[[Any], None]
    redraw: Callable[[Any, Any, np.random.Generator], None]
    hides_more: bool | None


def rewind_parallel(env: Any) -> None:
    """``parallel_to_aec_wrapper`` plays a round when the last agent has been asked."""
    env._actions = dict.fromkeys(env._actions)
    env.agent_selection = env._agent_selector.reset()


def redraw_parallel(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Any action that the other's mask allows, drawn from a copy of its space."""
    for other, chosen in env._actions.items():
        if chosen is not None and other != agent:
            space = copy.deepcopy(env.action_space(other))
            space.seed(int(generator.integers(2**31)))
            seen = env.observe(other)
            holder = seen if isinstance(seen, Mapping) and "action_mask" in seen else env.infos.get(other, {})
            mask = holder.get("action_mask")
            env._actions[other] = space.sample() if mask is None else space.sample(np.asarray(mask, np.int8))


def rewind_rps(env: Any) -> None:
    """Clears player 2's stale observation at the start of a round, which is not part of the state."""
    env.agent_selection = env._agent_selector.reset()
    env.state = dict.fromkeys(env.possible_agents, env._none)


def rps_key(env: Any, agent: Any) -> Hashable:
    """The last rounds, whose turn it is, and the agent's own choice of this round, if it has made one."""
    first, second = env.possible_agents
    own = env.state[first] if agent == first and env.agent_selection == second else None
    return env.num_moves, tuple(env.history), env.agent_selection, own


def redraw_rps(env: Any, agent: Any, generator: np.random.Generator) -> None:
    """Draws the first player's choice in this round again, which the second does not see yet."""
    first, second = env.possible_agents
    if agent == second and env.agent_selection == second:
        env.state[first] = int(generator.integers(env.action_space(first).n))
