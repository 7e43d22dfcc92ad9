"""The protocol of agents, which matches ask no more of: a live environment in, an action out."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from zermelo.envs.errors import ZermeloError


@runtime_checkable
class Agent(Protocol):
    """Chooses actions in a live environment, which it never changes."""

    @property
    def name(self) -> str:
        """The name in tables, such as ``alphabeta(depth=6)``; a plain attribute will do."""
        ...

    def act(self, env: Any) -> Any:
        """The action for ``env.step``, chosen for the agent whose turn it is (``env.agent_selection``).

        Raises:
            Resignation: The agent gives up: it loses a game of two players or more.
        """
        ...

    def reset(self, seed: int | None = None) -> None:
        """Called before each game: forget it all, and draw from ``seed`` on. Same seed, same game."""
        ...


def sees_observations(agent: Any) -> bool:
    """Whether an agent acts on observations instead of environments, as its ``needs`` says."""
    return getattr(agent, "needs", None) == "observation"


class Resignation(ZermeloError):  # noqa: N818  # a result of the game, not an error
    """Raised by an agent's ``act`` to resign the game, which is then over."""
