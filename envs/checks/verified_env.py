"""An environment whose plays can be compared: it draws the same random numbers whatever is played beside it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.generators import OutsideGenerators
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.clone.traversal import copy_generally
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.masks import own_mask, shown_mask, wants_numpy, writes_own_last
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, of_reset, of_step

_AEC_FIELDS: Final = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos",
)  # fmt: skip
_SEEN: Final = ("observation", "info")
_GYMNASIUM_FIELDS: Final = ("observation", "reward", "terminated", "truncated", "info")


class Raised(str):
    """The text of an error that the environment raised."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<raised {self}>"


class VerifiedEnv:
    """An environment that draws the same random numbers whatever is played beside it; ``error`` is its last one.

    Two environments that draw from generators outside of them disturb each other although nothing is wrong with a
    copy; so these start from a seed of the driver and of its step whenever the environment's code runs.
    """

    def __init__(self, env: Any, seed: int, outside: OutsideGenerators | None = None) -> None:
        self.env = env
        self._seed = seed
        self._steps = 0
        self._outside = OutsideGenerators(env) if outside is None else outside
        self._gymnasium = not (hasattr(env, "observe") and hasattr(env, "possible_agents"))
        self._asks_last = not self._gymnasium and writes_own_last(env)
        self._last: dict[str, Any] = {}
        self.error: Exception | None = None
        self.stuck = list[int]()  # the steps at which a mask allowed nothing

    @classmethod
    def start(cls, env: Any, seed: int) -> VerifiedEnv:
        """A driver that has reset its environment with the seed."""
        driver = cls(env, seed)
        driver._take(lambda: of_reset(env.reset(seed=seed)) if driver._gymnasium else env.reset(seed=seed), _SEEN)
        return driver

    def copied(self, env: Any) -> VerifiedEnv:
        """A driver for a copy of this one's environment."""
        driver = VerifiedEnv(env, self._seed, self._outside)
        driver._last, driver._steps = dict(self._last), self._steps
        return driver

    def _call(self, action: Callable[[], Any]) -> Any:
        with self._outside.guard((1_000_003 * self._seed + self._steps) % 2**32, is_reset=True), OUTPUT_GUARD:
            return self._attempt(action)

    def _attempt(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:  # whatever an environment's own code raises is something to compare
            self.error = error
            return Raised(f"{type(error).__name__}: {error}")

    def _take(self, action: Callable[[], Any], names: tuple[str, ...]) -> None:
        result = self._call(action)
        if isinstance(result, Raised):
            self._last = {"step": result}
        elif self._gymnasium:
            self._last = dict(zip(names, result, strict=True))

    @property
    def over(self) -> bool:
        """Returns whether there is nothing left to step."""
        if self._gymnasium:
            return any(self._last.get(name) for name in ("terminated", "truncated", "step"))
        agents = self._call(lambda: self.env.agents)
        return isinstance(agents, Raised) or not agents

    @property
    def failure(self) -> Raised | None:
        """The error of the last step, if it raised one."""
        return self._last.get("step")

    def step(self, action: Any) -> None:
        """Steps; what a Gymnasium environment answers becomes a part of the record."""
        if self._asks_last:  # as a loop over ``agent_iter`` does
            self._call(self.env.last)
        self._steps += 1
        self._take(lambda: of_step(self.env.step(action)), _GYMNASIUM_FIELDS)

    def record(self) -> dict[str, Any]:
        """All that can be observed of the position, copied."""
        seen = {"step": None, **self._last}
        if not self._gymnasium:
            more = self._call(self._look)
            seen.update(more if isinstance(more, dict) else {"looking": more})
        copied: dict[str, Any] = copy_generally(seen)
        return copied

    def _look(self) -> dict[str, Any]:
        env = self.env
        inner = env.unwrapped  # of an environment made by parallel_to_aec, that is the parallel one
        inner = inner if hasattr(inner, "agent_selection") else env
        seen = {name: self._attempt(partial(getattr, inner, name)) for name in _AEC_FIELDS}
        agents = seen["agents"] if isinstance(seen["agents"], list | tuple) else []
        if self._asks_last and agents:
            seen["last"] = self._attempt(env.last)
        seen["observations"] = {agent: self._attempt(partial(env.observe, agent)) for agent in agents}
        if agents and getattr(env, "render_mode", None) == "ansi":
            seen["render"] = self._attempt(env.render)
        return seen

    def choose(self, record: dict[str, Any], generator: np.random.Generator) -> Any:
        """A random legal action for the agent to move, as the environment takes it; None where it is dead."""
        if self._gymnasium:
            space, seen, info = self.env.action_space, record.get("observation"), record.get("info")
        else:
            agent = record["agent_selection"]
            if record["terminations"].get(agent) or record["truncations"].get(agent):
                return None
            space = self.env.action_space(agent)
            seen, info = record["observations"].get(agent), record["infos"].get(agent)
        return self._sample(space, seen, info, generator)

    def _sample(self, space: Any, seen: Any, info: Any, generator: np.random.Generator) -> Any:
        try:
            codec = ActionCodec(space, game_name(self.env))
        except UnsupportedGameError:  # such as a space of fractions
            own = copy.deepcopy(space)  # the environment's own space would be advanced
            type(own).seed(own, int(generator.integers(2**31)))
            return own.sample()
        mask = shown_mask(seen, info, codec)
        if mask is None and self._gymnasium:
            mask = self._call(lambda: own_mask(self.env))
        if mask is None or isinstance(mask, Raised):
            action = codec.first + int(generator.integers(codec.size))
        else:
            allowed = codec.masked(mask)
            if not allowed:
                self.stuck.append(self._steps)
            action = allowed[int(generator.integers(len(allowed)))] if allowed else codec.first
        codec.as_numpy = wants_numpy(self.env, codec, action)
        return codec.to_env(action)
