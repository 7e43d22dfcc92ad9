"""Before an agent's first game: what it compiles or loads at first use costs no move its time."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from zermelo.agents import AlphaBetaAgent, OnnxAgent, Sb3Agent, TorchAgent
from zermelo.agents.players.search_agent import TreeSearchAgent

__all__ = ["rehearse"]


def rehearse(agent: Any, shown: Any) -> None:
    """Has an agent of ours decide something small: compiled searches and models load what they need at first use.

    An agent of somebody else's is not asked: it may count how often it is. Failures are left to the game, which
    will say so if it fails in earnest too.

    Args:
        agent: Any agent; its own state is left alone.
        shown: What it sees of a game, an environment or an observation, as it needs.
    """
    with contextlib.suppress(Exception):
        if isinstance(agent, TreeSearchAgent) and type(agent).__module__.startswith("zermelo."):
            dataclasses.replace(agent, depth=1, nodes=None, seconds=None, on_iteration=None).act(shown)
            if isinstance(agent, AlphaBetaAgent):
                agent.prepare(shown)
        elif isinstance(agent, OnnxAgent | Sb3Agent | TorchAgent):
            agent.act_on(shown)
