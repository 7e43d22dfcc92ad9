"""Whether a search can play a kind of game, asked before the first move."""

from __future__ import annotations

from typing import Any

from zermelo.agents import Agent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import UnsupportedGameError, as_game

__all__ = ["require_fit"]


def require_fit(agent: Agent, env: Any, name: str) -> None:
    """Asks a search whether it can play this kind of game, before any game is lost over it.

    Raises:
        UnsupportedGameError: It cannot; the message says which agent can.
    """
    if not isinstance(agent, SearchAgent):
        return
    try:
        agent.check_game(as_game(env, backend=agent.backend, traits=agent.traits).traits)
    except UnsupportedGameError as error:
        raise UnsupportedGameError(f"{name} cannot play here: {error}") from error
