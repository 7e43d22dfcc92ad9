"""Faults of an environment that do not concern its clones, read from the records of a game."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from zermelo.envs.live.wrappers import shortened

_OBSERVED: Final = 20  # the first records of a game, whose observations are compared with their space


def remarks_of(env: Any, records: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """A sentence about each kind of fault in the records of a game, and the step after which it was seen."""
    checked = set[str]()
    for step, record in enumerate(records):
        rewards = record.get("rewards", {"": record.get("reward")})
        if "reward" not in checked and any(map(_is_nan, _values(rewards))):
            checked.add("reward")
            yield "a reward is NaN", step
        if "observation" in checked or step >= _OBSERVED:
            continue
        seen = record.get("observations", {"": record["observation"]} if "observation" in record else {})
        for agent, observation in seen.items() if isinstance(seen, Mapping) else ():
            reason = None if isinstance(observation, str) else _outside(env, agent, observation)
            if reason is not None:
                checked.add("observation")
                yield f"an observation{f' of {agent}' * bool(agent)} is not in observation_space: {reason}", step
                break


def _values(rewards: Any) -> list[Any]:
    return list(rewards.values()) if isinstance(rewards, Mapping) else []


def _is_nan(reward: Any) -> bool:
    try:
        return math.isnan(float(reward))
    except (TypeError, ValueError, OverflowError):
        return False


def _outside(env: Any, agent: Any, observation: Any) -> str | None:
    try:
        space = env.observation_space
        space = space(agent) if callable(space) else space
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if space is None or space.contains(observation):
                return None
        return _reason(space, observation, "observation")
    except Exception:  # a space of the environment's own may raise anything
        return None


def _reason(space: Any, value: Any, place: str) -> str:
    from gymnasium.spaces import Box, Dict

    if isinstance(space, Dict) and isinstance(value, Mapping):
        if set(space.spaces) != set(value):
            return f"{place} has the keys {sorted(map(str, value))}, not {sorted(map(str, space.spaces))}"
        part = next(name for name, inner in space.spaces.items() if not inner.contains(value[name]))
        return _reason(space.spaces[part], value[part], f"{place}[{part!r}]")
    if not isinstance(space, Box):
        return f"{place} is {shortened(value)}, and the space {shortened(space)}"
    entries = np.asarray(value)
    if entries.shape != space.shape:
        return f"{place} has shape {entries.shape}, not {space.shape}"
    if not np.can_cast(entries.dtype, space.dtype or entries.dtype):
        return f"{place} has dtype {entries.dtype}, not {space.dtype}"
    wrong = np.argwhere(~((entries >= space.low) & (entries <= space.high)))
    at = tuple(wrong[0].tolist())
    return f"{place} has {entries[at]}, which is outside the bounds {space.low[at]} to {space.high[at]}"
