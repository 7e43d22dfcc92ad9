"""An agent that lives elsewhere, as a match needs it."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from zermelo.agents import Observation

__all__ = ["RemoteAgent"]


class RemoteAgent(abc.ABC):
    """Speaks for an agent in another process.

    Attributes:
        figures: What the search said of its last move: nodes, depth and value, each None where it does not say.
    """

    figures: tuple[Any, Any, Any] = (None, None, None)

    @abc.abstractmethod
    def get_ready(self, seed: int, env: Any, view: Callable[[], Observation] | None = None) -> None:
        """Prepares for a game; see ``zermelo.evaluation.sandbox.isolated``."""

    @abc.abstractmethod
    def act(self, env: Any) -> Any:
        """The action that the agent chooses."""
