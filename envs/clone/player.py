"""One environment being played and watched, AEC or Gymnasium, for ``verify_clone``."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.quiet import QUIET
from zermelo.envs.clone.random_state import global_state, set_global_state
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import copy_generally
from zermelo.envs.errors import CloneError

_AEC_FIELDS: Final = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos",
)  # fmt: skip


@dataclass(frozen=True)
class Raised:
    """An error that the environment raised, as a thing to compare by its text."""

    error: Exception = field(compare=False)
    text: str = ""

    @classmethod
    def by(cls, error: Exception) -> Raised:
        """That of an error."""
        return cls(error, f"{type(error).__name__}: {error}")

    def __repr__(self) -> str:
        return f"<raised {self.text}>"


@dataclass(frozen=True)
class Where:
    """Which game of which series this is, and where its random choices start."""

    seed: int
    game: int

    def generator(self, stream: int) -> np.random.Generator:
        """The generator of one purpose in this game."""
        return np.random.default_rng([abs(self.seed), self.game, stream])

    def env_seed(self) -> int:
        """What the game's environments are reset with."""
        return int(self.generator(0).integers(2**31 - 1))


@dataclass
class Trace:
    """A game as one environment played it: the record of each position, and the actions between them."""

    records: list[dict[str, Any]]
    actions: list[Any]


class Player:
    """An environment with its own view of Python's and numpy's global random generators.

    Two environments that draw from the global generators disturb each other's numbers although nothing is wrong
    with a copy; so each is played with the global state that it would have if it were alone.
    """

    def __init__(self, env: Any, random_state: tuple[Any, Any]) -> None:
        self.env = env
        self._random_state = random_state
        self._gymnasium = not (hasattr(env, "observe") and hasattr(env, "possible_agents"))
        self._last: dict[str, Any] = {}

    @classmethod
    def start(cls, env: Any, seed: int) -> Player:
        """A player that has reset its environment with the seed."""
        player = cls.at(env, seed)
        result = player._call(lambda: player._reset(seed))
        if isinstance(result, Raised):
            player._last = {"step": result}
        return player

    @classmethod
    def at(cls, env: Any, seed: int) -> Player:
        """A player for an environment in the middle of a game."""
        return cls(env, (random.Random(seed).getstate(), np.random.RandomState(seed % 2**32).get_state()))

    def _reset(self, seed: int) -> None:
        result = self.env.reset(seed=seed)
        if self._gymnasium:
            observation, info = result
            self._last = {"observation": observation, "info": info}

    def copied(self, env: Any) -> Player:
        """A player for a copy of this one's environment."""
        player = Player(env, self._random_state)
        player._last = dict(self._last)
        return player

    def _call(self, action: Any) -> Any:
        """Calls with this player's global random state in place; an error is returned as ``Raised``."""
        outside = global_state()
        set_global_state(self._random_state)
        try:
            with QUIET:
                return action()
        except Exception as error:  # whatever an environment's own code raises is something to compare
            return Raised.by(error)
        finally:
            self._random_state = global_state()
            set_global_state(outside)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to step."""
        if self._gymnasium:
            last = self._last
            return bool(last.get("terminated") or last.get("truncated") or last.get("step"))
        agents = self._call(lambda: self.env.agents)
        return isinstance(agents, Raised) or not agents

    def step(self, action: Any) -> None:
        """Steps; what a Gymnasium environment answers becomes a part of the record."""
        result = self._call(lambda: self.env.step(action))
        if isinstance(result, Raised):
            self._last = {"step": result}
        elif self._gymnasium:
            names = ("observation", "reward", "terminated", "truncated", "info")
            self._last = dict(zip(names, result, strict=True))

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
        seen = {name: _attempt(partial(getattr, inner, name)) for name in _AEC_FIELDS}
        agents = seen["agents"] if isinstance(seen["agents"], list | tuple) else []
        seen["observations"] = {agent: _attempt(partial(env.observe, agent)) for agent in agents}
        if agents and getattr(env, "render_mode", None) == "ansi":
            seen["render"] = _attempt(env.render)
        return seen

    @property
    def failure(self) -> Raised | None:
        """The error of the last step, if it raised one."""
        return self._last.get("step")

    def choose(self, record: dict[str, Any], generator: np.random.Generator) -> Any:
        """A random legal action for the agent to move; None where it is dead."""
        if self._gymnasium:
            return _sample(self.env.action_space, record.get("info", {}).get("action_mask"), generator)
        agent = record["agent_selection"]
        if record["terminations"].get(agent) or record["truncations"].get(agent):
            return None
        observation = record["observations"].get(agent)
        mask = observation.get("action_mask") if isinstance(observation, dict) else None
        mask = (record["infos"].get(agent) or {}).get("action_mask") if mask is None else mask
        return _sample(self.env.action_space(agent), mask, generator)


def _attempt(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:  # as in Player._call
        return Raised.by(error)


def _sample(space: Any, mask: Any, generator: np.random.Generator) -> Any:
    start = getattr(space, "start", 0)
    if isinstance(mask, np.ndarray | list) and hasattr(space, "n") and np.any(mask):
        return int(generator.choice(np.flatnonzero(np.asarray(mask)))) + int(start)
    if type(space).__name__ == "Discrete":
        return int(generator.integers(space.n)) + int(start)
    own = copy.deepcopy(space)  # the environment's own space would be advanced
    own.seed(int(generator.integers(2**31)))
    return own.sample(mask) if isinstance(mask, tuple) else own.sample()


# --- the first difference between two records


def first_difference(first: Any, second: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """Where two values differ, and the two parts there; None if they are the same.

    Types count for arrays (dtype and shape), not for numbers: 1 and 1.0 are the same, and nan is itself.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if list(first) != list(second):
            return f"{where} (its keys)", list(first), list(second)
        pairs = [(f"{where}[{key!r}]", first[key], second[key]) for key in first]
    elif isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _array_difference(first, second, where)
    elif isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if len(first) != len(second):
            return where, first, second
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(first, second, strict=True))]
    else:
        return None if _equal(first, second) else (where, first, second)
    for place, a, b in pairs:
        found = first_difference(a, b, place)
        if found is not None:
            return found
    return None


def _array_difference(first: Any, second: Any, where: str) -> tuple[str, Any, Any] | None:
    if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
        return where, first, second
    if first.dtype != second.dtype or first.shape != second.shape:
        return f"{where} (its shape and dtype)", (first.shape, str(first.dtype)), (second.shape, str(second.dtype))
    if not first.dtype.hasobject and first.tobytes() == second.tobytes():
        return None
    return first_difference(first.tolist(), second.tolist(), where)


def _equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    try:
        if bool(first == second):
            return True
        if bool(first != first and second != second):  # nan
            return True
    except (TypeError, ValueError):  # a comparison that has no one answer
        pass
    if type(first) is not type(second) or any("__eq__" in base.__dict__ for base in type(first).__mro__[:-1]):
        return False
    try:  # objects that only know themselves are compared by what they hold
        return state_key(first) == state_key(second)
    except CloneError:
        return True
