"""Legal actions of a live environment, as integers.

Searches number actions with integers. For a ``Discrete`` space these are the environment's own actions (its
``start`` included). For ``MultiDiscrete`` and ``MultiBinary`` they are flat indices in C order, the last component
changing fastest, and ``ActionCodec.to_env`` gives the array that ``env.step`` takes. Other spaces cannot be
enumerated and are refused with a sentence.

Masks are read from ``observation["action_mask"]`` or, failing that, ``infos[agent]["action_mask"]``. Only the
mask of the agent that moves is ever looked at. A mask may be a list or an array of booleans, integers or floats;
anything but zero means legal.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import game_name, innermost, is_aec, require_reset
from zermelo.envs.errors import UnsupportedGameError

__all__ = ["MAX_ENUMERATED_ACTIONS", "ActionCodec", "codec_for", "gym_mask", "legal_actions", "listed", "mask_of"]

MAX_ENUMERATED_ACTIONS = 100_000
"""Action spaces greater than this are not enumerated: no search could look at so many actions."""


class ActionCodec:
    """The integers that stand for the actions of one space.

    Args:
        space: A ``Discrete``, ``MultiDiscrete`` or ``MultiBinary`` space.
        owner: Whose space it is, for messages.

    Attributes:
        size: The number of actions in the space.

    Raises:
        UnsupportedGameError: The space cannot be enumerated.
    """

    def __init__(self, space: Any, owner: str) -> None:
        from gymnasium import spaces

        self.space = space
        self._owner = owner
        self._all: tuple[int, ...] | None = None
        self._start = 0
        self._radices: tuple[int, ...] = ()
        if isinstance(space, spaces.Discrete):
            self._start = int(space.start)
            self.size = int(space.n)
            self._offsets = np.zeros(0, np.int64)
        elif isinstance(space, spaces.MultiDiscrete):
            self._radices = tuple(int(n) for n in np.ravel(space.nvec))
            self._offsets = np.ravel(space.start)
            self.size = math.prod(self._radices)
        elif isinstance(space, spaces.MultiBinary):
            self._radices = (2,) * math.prod(space.shape)
            self._offsets = np.zeros(len(self._radices), np.int64)
            self.size = math.prod(self._radices)
        else:
            raise UnsupportedGameError(
                f"the action space of {owner} is {space}, which cannot be enumerated: search needs Discrete, "
                "MultiDiscrete or MultiBinary"
            )

    @property
    def is_discrete(self) -> bool:
        """Whether integers are the environment's own actions."""
        return not self._radices

    def to_env(self, action: int) -> Any:
        """What ``env.step`` takes for this integer."""
        if not self._radices:
            return action
        digits = np.array(np.unravel_index(action, self._radices))
        return (digits + self._offsets).astype(self.space.dtype).reshape(self.space.shape)

    def to_index(self, env_action: Any) -> int:
        """The integer for what ``env.step`` takes; the inverse of ``to_env``."""
        if not self._radices:
            return int(env_action)
        digits = np.ravel(np.asarray(env_action)) - self._offsets
        return int(np.ravel_multi_index(tuple(int(d) for d in digits), self._radices))

    def all_actions(self) -> tuple[int, ...]:
        """Every action of the space, ascending."""
        if self._all is None:
            if self.size > MAX_ENUMERATED_ACTIONS:
                raise UnsupportedGameError(
                    f"the action space of {self._owner} has {self.size:.3g} actions and no action mask: search "
                    f"enumerates at most {MAX_ENUMERATED_ACTIONS:,}"
                )
            self._all = tuple(range(self._start, self._start + self.size))
        return self._all

    def masked(self, mask: Any) -> tuple[int, ...]:
        """The actions that a mask allows, ascending.

        A ``MultiDiscrete`` mask is a tuple with one mask for each component, as ``MultiDiscrete.sample`` takes
        it (a component that is all zero stands for its first value), or the same masks end to end, or one entry
        for each flat index. A ``MultiBinary`` mask holds 0 (must be 0), 1 (must be 1) or 2 (either), as
        ``MultiBinary.sample`` takes it, or one entry for each flat index.
        """
        if not self._radices:
            allowed = np.flatnonzero(np.asarray(mask))
            if np.size(mask) != self.size:
                raise self._bad_mask(mask, f"{self.size} entries")
            if self._start:
                allowed = allowed + self._start
            result: list[int] = allowed.tolist()
            return tuple(result)
        from gymnasium import spaces

        if isinstance(self.space, spaces.MultiBinary):
            return self._masked_binary(mask)
        return self._masked_multi(mask)

    def _masked_binary(self, mask: Any) -> tuple[int, ...]:
        entries = np.ravel(np.asarray(mask))
        if entries.size == len(self._radices):
            digits = [(0, 1) if entry == 2 else (int(entry != 0),) for entry in entries]
            return self._product(digits)
        if entries.size == self.size:
            return tuple(np.flatnonzero(entries).tolist())
        raise self._bad_mask(mask, f"shape {self.space.shape}, with 0, 1 or 2 (either) in each place")

    def _masked_multi(self, mask: Any) -> tuple[int, ...]:
        parts = _components(mask)
        radices, total = self._radices, sum(self._radices)
        if len(parts) == 1 and parts[0].size == total == self.size and len(radices) > 1:
            raise self._bad_mask(mask, "a tuple with one mask for each component (a flat one is ambiguous here)")
        if len(parts) == 1 and parts[0].size == total:
            parts = np.split(parts[0], np.cumsum(radices)[:-1])
        elif len(parts) == 1 and parts[0].size == self.size:
            return tuple(np.flatnonzero(parts[0]).tolist())
        if tuple(part.size for part in parts) != radices:
            raise self._bad_mask(mask, f"a tuple of masks with {', '.join(map(str, radices))} entries")
        if not any(part.any() for part in parts):
            return ()
        return self._product([tuple(np.flatnonzero(part).tolist()) or (0,) for part in parts])

    def _product(self, digits: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        count = math.prod(len(choices) for choices in digits)
        if count > MAX_ENUMERATED_ACTIONS:
            raise UnsupportedGameError(
                f"the action mask of {self._owner} allows {count:.3g} actions: search enumerates at most "
                f"{MAX_ENUMERATED_ACTIONS:,}"
            )
        weights = [math.prod(self._radices[i + 1 :]) for i in range(len(self._radices))]
        parts = [[d * weight for d in choices] for choices, weight in zip(digits, weights, strict=True)]
        return tuple(sum(part) for part in itertools.product(*parts))

    def _bad_mask(self, mask: Any, wanted: str) -> UnsupportedGameError:
        shape = np.shape(mask) if not isinstance(mask, tuple) else tuple(np.shape(part) for part in mask)
        return UnsupportedGameError(
            f"the action mask of {self._owner} has shape {shape}, but its action space {self.space} needs {wanted}"
        )


def _components(mask: Any) -> list[np.ndarray[Any, Any]]:
    """The masks inside a possibly nested tuple, in order; a single array is one component."""
    if isinstance(mask, tuple | list) and any(np.ndim(part) for part in mask):
        return [component for part in mask for component in _components(part)]
    array = np.asarray(mask)
    if array.ndim > 1:
        return [np.asarray(row) for row in array.reshape(-1, array.shape[-1])]
    return [array]


def codec_for(env: Any, agent: Any, owner: str = "") -> ActionCodec:
    """The codec of an agent's action space (of the one action space, for a Gymnasium environment)."""
    if is_aec(env):
        return ActionCodec(env.action_space(agent), owner or f"agent {agent!r} in {game_name(env)}")
    return ActionCodec(env.action_space, owner or game_name(env))


def mask_of(observation: Any, info: Any) -> Any:
    """The action mask in an agent's observation or else in its info; None where there is none."""
    if isinstance(observation, Mapping):
        mask = observation.get("action_mask")
        if mask is not None:
            return mask
    return info.get("action_mask") if isinstance(info, Mapping) else None


def gym_mask(env: Any, info: Mapping[str, Any] | None = None) -> Any:
    """The action mask of a Gymnasium environment, from the ``info`` of its last step where there is one."""
    if info is not None and info.get("action_mask") is not None:
        return info["action_mask"]
    raw = env.unwrapped
    if callable(getattr(raw, "action_masks", None)):
        return raw.action_masks()
    if info is None and callable(getattr(raw, "_get_info", None)):
        found = raw._get_info()
        return found.get("action_mask") if isinstance(found, Mapping) else None
    return None


def legal_actions(env: Any) -> list[Any]:
    """The legal actions of the agent to move in a live environment, as ``env.step`` takes them.

    The environment is neither copied nor changed: for agents that only need to know what is allowed. Actions
    come in ascending order; there are none for an agent that is dead, or when the game is over.

    Args:
        env: An AEC environment, or a Gymnasium environment, that has been reset.

    Raises:
        UnsupportedGameError: It is neither, it has not been reset, or its actions cannot be enumerated.
    """
    require_reset(env)
    if not is_aec(env):
        codec = codec_for(env, None)
        mask = gym_mask(env)
    else:
        raw = innermost(env)
        if not raw.agents:
            return []
        agent = raw.agent_selection
        if raw.terminations.get(agent) or raw.truncations.get(agent):
            return []
        codec = codec_for(raw, agent)
        fast = known_facts(raw).legal_actions
        if fast is not None:
            return list(fast(raw))
        mask = mask_of(raw.observe(agent), raw.infos.get(agent))
    actions = codec.all_actions() if mask is None else codec.masked(mask)
    return [codec.to_env(action) for action in actions]


def listed(actions: Sequence[int]) -> str:
    """Actions as text, shortened where there are many."""
    shown = ", ".join(str(action) for action in actions[:20])
    return f"{shown}, ... ({len(actions)} in all)" if len(actions) > 20 else shown
