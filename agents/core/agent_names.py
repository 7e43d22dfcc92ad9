"""Agents by name, for modules that ``specs`` itself is built on: it says here how a name becomes an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["agent_names", "named_agent", "serve_names"]

_served: dict[str, Callable[..., Any]] = {}


def serve_names(make: Callable[[Any], Any], names: Callable[[], Sequence[str]]) -> None:
    """Says how agents are made and what they are called.

    Args:
        make: The agent that a spec names; an agent is returned as it is.
        names: The names of all agents that need no more than a name.
    """
    _served.update(make=make, names=names)


def named_agent(agent: Any) -> Any:
    """The agent that a spec names; an agent is returned as it is."""
    return _served["make"](agent)


def agent_names() -> Sequence[str]:
    """The names of all agents that need no more than a name."""
    names: Sequence[str] = _served["names"]()
    return names
