"""Before an agent's first game: whether it can play there, and what it compiles or loads at first use."""

from __future__ import annotations

import contextlib
from typing import Any

from zermelo.agents import (
    Agent,
    CFRAgent,
    OnnxAgent,
    Sb3Agent,
    TorchAgent,
)
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.level import LevelAgent
from zermelo.agents.policies.observation import observation_of
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.live.wrappers import game_name, is_aec


def require_fit(agent: Agent, env: Any, name: str) -> None:
    """Asks an agent of ours whether it can play this environment, before any game is lost over it."""
    try:
        if isinstance(agent, ConfiguredAgent):
            agent.check_env(env)
        if isinstance(agent, LevelAgent):
            agent.mix_for(env)
        if isinstance(agent, ViewAgent) and is_aec(env):
            agent.check_view(observation_of(env), game_name(env))
        if not isinstance(agent, SearchAgent):
            return
        game = as_game(env, backend=agent.backend, traits=agent.traits)
        agent.check_game(game)
        if isinstance(agent, CFRAgent):
            agent.check_size(game)
    except UnsupportedGameError as error:
        raise UnsupportedGameError(f"{name} cannot play here: {error}") from error


def rehearse(agent: Any, shown: Any) -> None:
    """Has an agent of ours decide something small: compiled searches and models load what they need at first use.

    An agent of somebody else's is not asked: it may count how often it is. Failures are left to the game, which
    will say so if it fails in earnest too. What is shown is an environment or an observation, as the agent needs.
    """
    with contextlib.suppress(Exception):
        if isinstance(agent, SearchAgent) and type(agent).__module__.startswith("zermelo."):
            agent.prepare(shown)
        elif isinstance(agent, OnnxAgent | Sb3Agent | TorchAgent):
            agent.act_on(shown)
