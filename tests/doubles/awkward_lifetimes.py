"""Environments whose classes hold on to objects, or do something when one of them dies."""

from __future__ import annotations

import functools
import weakref
from typing import Any, ClassVar

import numpy as np
from doubles.game_envs import SmallEnv
from gymnasium import spaces


class CountToSix(SmallEnv):
    """Two agents add one or two in turn; who reaches six wins."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "count_v0"}

    def __init__(self, goal: int = 6) -> None:
        super().__init__(["one", "two"])
        self.goal = goal

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.count = 0

    def observe(self, agent: Any) -> Any:
        return self.count

    def play(self, agent: Any, action: int) -> None:
        self.count += int(action) + 1
        if self.count >= self.goal:
            self.rewards = {name: 1 if name == agent else -1 for name in self.agents}
            self.end()
        else:
            self.next_agent()


class Engine:
    """What a handle stands for: games that somebody else's code holds by number."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.begun = 0

    def begin(self) -> int:
        self.begun += 1
        self.open.add(self.begun)
        return self.begun

    def close(self, handle: int) -> None:
        self.open.discard(handle)


ENGINE = Engine()


class ClosesInDel(CountToSix):
    """Closes its game of the engine when it is collected; every step needs the game."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        if not hasattr(self, "handle"):
            self.handle = ENGINE.begin()

    def play(self, agent: Any, action: int) -> None:
        assert self.handle in ENGINE.open, "the engine's game was closed"
        super().play(agent, action)

    def close(self) -> None:
        ENGINE.close(self.handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.close()


class Handle:
    """A part of an environment that closes its game when it is collected."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = ENGINE.begin()

    def __del__(self) -> None:
        ENGINE.close(self.number)


class HoldsHandle(ClosesInDel):
    """The finaliser is that of a part, with slots."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        CountToSix.start(self, seed, options)
        if not hasattr(self, "part"):
            self.part = Handle()
        self.handle = self.part.number

    def __del__(self) -> None:
        pass


class FinalizesByWeakref(ClosesInDel):
    """The finaliser is a callback of the ``weakref`` module."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        CountToSix.start(self, seed, options)
        if not hasattr(self, "handle"):
            self.handle = ENGINE.begin()
            self.finalizer = weakref.finalize(self, ENGINE.close, self.handle)
            handle = self.handle
            self.itself = weakref.ref(self, lambda _: ENGINE.close(handle))

    def __del__(self) -> None:
        pass


class CannotBeExtended(CountToSix):
    """Has a finaliser, and no subclass."""

    def __init_subclass__(cls) -> None:
        raise RuntimeError("final")

    def __del__(self) -> None:
        pass


class CachedSpaces(CountToSix):
    """As PettingZoo's tutorial writes it, and every step asks for the space."""

    def __init__(self, goal: int = 6) -> None:
        super().__init__(goal)
        self.weight = np.zeros(20_000)

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033  # as in the tutorial
    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(100)

    @functools.cache  # noqa: B019  # as above
    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(2)

    @functools.cached_property
    def names(self) -> list[str]:
        return [str(agent) for agent in self.possible_agents]

    @property
    @functools.lru_cache(maxsize=10_000)  # noqa: B019  # as above
    def total(self) -> int:
        return self.goal

    def play(self, agent: Any, action: int) -> None:
        assert self.action_space(agent).contains(int(action))
        assert self.total == self.goal
        assert self.names
        super().play(agent, action)
