"""What all agents of this package share: settings that are checked, a name that is their spec, seeds."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from zermelo.agents.base.memory import AgentState, GameState, Pondered
from zermelo.agents.base.settings import check_settings, declared, integer, setting_fields, setting_text
from zermelo.envs.clone.settings_kept import SettingsKept
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.live.wrappers import game_name, is_dead
from zermelo.envs.support.spec_text import format_spec


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ConfiguredAgent:
    """An agent whose settings are its fields, checked when it is made, and whose name is its spec.

    Attributes:
        seed: Where its random numbers start until ``reset`` gives another seed.
        name: What tables call it; by default the spec that ``make_agent`` reads back.
    """

    kind: ClassVar[str] = "agent"
    """The name in specs."""

    seed: int = integer(0, "")
    name: str = declared("", None, "text")
    _game: GameState = field(init=False, default_factory=GameState)

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.name, str):
            raise InvalidSettingError(f"name must be text, not {self.name!r}")
        if not self.name:
            object.__setattr__(self, "name", self.spec())
        self.reset(self.seed)

    def __getstate__(self) -> dict[str, Any]:
        """The settings, and memories of its own for each copy."""
        return {
            name: copy.copy(value) if isinstance(value, AgentState) else value
            for name, value in vars(self).items()
        }

    @property
    def generator(self) -> np.random.Generator:
        return self._game.generator

    @property
    def pondered(self) -> Pondered:
        """How many moves were pondered on in this game, and how many of them had been expected."""
        return self._game.pondered

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec()}>"

    def spec(self) -> str:
        """The text that ``make_agent`` reads back: the name, and the settings that are not the default ones."""
        shown = {}
        for setting in setting_fields(self):
            value = getattr(self, setting.name)
            if setting.name != "name" and value != setting.default:
                shown[setting.name] = setting_text(value)
        return format_spec(self.kind, shown)

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game. With a seed, random numbers start from there; without, they go on."""
        self.stop_pondering()
        self._game.pondered = Pondered()
        if seed is not None:
            self._game.generator = np.random.default_rng(seed)

    def act(self, env: Any) -> Any:
        """The action to play, as ``env.step`` takes it; None for a dead agent of an AEC environment.

        Raises:
            UnsupportedGameError: The game and this agent do not fit; the message names one that does.
            GameOverError: There is nothing to decide.
            KeyboardInterrupt: Ctrl-C was pressed; it is not caught here.
        """
        if is_dead(env):
            return None
        with SettingsKept(lambda: game_name(env)):
            return self.decide(env)

    def decide(self, env: Any) -> Any:
        raise TypeError(f"{type(self).__name__} does not say how it acts: define decide(env)")

    @classmethod
    def check_env(cls, env: Any) -> None:
        """Raises ``UnsupportedGameError`` for a live environment that no agent of this class can play."""

    def check_fit(self, env: Any, view: Any = None) -> None:
        """Checks that this agent can play an environment that was just reset, before any game is lost over it.

        ``view`` is the ``Observation`` of the player to move, for agents that need no more; by default it is read.

        Raises:
            UnsupportedGameError: It cannot play such a game.
            InvalidSettingError: A setting, such as a file, does not fit it.
        """
        self.check_env(env)

    def ponder(self) -> None:
        """Begins to think on the opponent's time, in a thread, if this agent can; the next move ends it."""

    def stop_pondering(self) -> None:
        """Ends what ``ponder`` has begun, and waits until it has ended."""
