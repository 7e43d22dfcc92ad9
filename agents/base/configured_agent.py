"""What all agents of this package share: settings that are checked, a name that is their spec, seeds."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zermelo.agents.base.limits import Limits
from zermelo.agents.base.settings import check_settings, setting_text, whole
from zermelo.envs import InvalidSettingError
from zermelo.envs.live.wrappers import is_dead
from zermelo.envs.support.spec_text import format_spec


class Pondered(NamedTuple):
    """The opponent's moves that an agent has pondered on in a game, and how many of them it had expected."""

    moves: int = 0
    hits: int = 0

    def after(self, *, is_hit: bool) -> Pondered:
        """The counts after another move."""
        return Pondered(self.moves + 1, self.hits + is_hit)


class AgentState:
    """An agent's state besides its settings.

    Attributes:
        generator: The agent's stream of random numbers.
        limits: What ends a search besides ``stop``: the settings that are limits, else ``default_limits``.
        pondered: What came of pondering in this game.
    """

    generator: np.random.Generator
    limits: Limits
    pondered: Pondered


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ConfiguredAgent(AgentState):
    """An agent whose settings are its fields, checked when it is made, and whose name is its spec.

    Attributes:
        seed: Where its random numbers start until ``reset`` gives another seed.
        name: What tables call it; by default the spec that ``make_agent`` reads back.
    """

    kind: ClassVar[str] = "agent"
    """The name in specs."""

    seed: int = whole(0)
    name: str = ""

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.name, str):
            raise InvalidSettingError(f"name must be text, not {self.name!r}")
        if not self.name:
            self._set("name", self.spec())
        self.reset(self.seed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec()}>"

    def spec(self) -> str:
        """The text that ``make_agent`` reads back: the name, and the settings that are not the default ones."""
        shown = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "name" and value != field.default:
                shown[field.name] = setting_text(value)
        return format_spec(self.kind, shown)

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game. With a seed, random numbers start from there; without, they go on."""
        self.stop_pondering()
        self._set("pondered", Pondered())
        if seed is not None:
            self._set("generator", np.random.default_rng(seed))

    def act(self, env: Any) -> Any:
        """The action to play, as ``env.step`` takes it; None for a dead agent of an AEC environment.

        Raises:
            UnsupportedGameError: The game and this agent do not fit; the message names one that does.
            GameOverError: There is nothing to decide.
            KeyboardInterrupt: Ctrl-C was pressed; it is not caught here.
        """
        return None if is_dead(env) else self.decide(env)

    def decide(self, env: Any) -> Any:
        """The action for an agent that is alive, as ``env.step`` takes it."""
        raise TypeError(f"{type(self).__name__} does not say how it acts: define decide(env)")

    @classmethod
    def check_env(cls, env: Any) -> None:
        """Raises ``UnsupportedGameError`` for a live environment that no agent of this class can play."""

    def check_fit(self, env: Any, view: Any = None) -> None:
        """Checks that this agent can play an environment that was just reset, before any game is lost over it.

        Args:
            env: The environment.
            view: The ``Observation`` of the player to move, for agents that need no more; by default it is read.

        Raises:
            UnsupportedGameError: It cannot play such a game.
            InvalidSettingError: A setting, such as a file, does not fit it.
        """
        self.check_env(env)

    def ponder(self) -> None:
        """Begins to think on the opponent's time, in a thread, if this agent can; the next move ends it."""

    def stop_pondering(self) -> None:
        """Ends what ``ponder`` has begun, and waits until it has ended."""

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
