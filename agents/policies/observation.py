"""Observations: all that an agent with ``needs = "observation"`` is given, by ``act_on(view)``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.masks import mask_of
from zermelo.envs.live.wrappers import innermost, is_aec, require_reset


@dataclass(frozen=True)
class Observation:
    """One player's view of a position.

    Attributes:
        agent: The name of the player.
        observation: The environment's; without PettingZoo's mapping of ``observation`` and ``action_mask``.
        action_mask: Shape ``(actions,)``, true where an action is legal; None without a mask.
        first_action: The action of index 0 (``Discrete``'s ``start``).
        actions: The number of actions; None unless the space is ``Discrete``.
    """

    agent: str
    observation: Any
    action_mask: NDArray[np.bool_] | None = None
    first_action: int = 0
    actions: int | None = None

    def blank(self) -> Observation:
        """An observation of this form with nothing in it: arrays of zeros, and every action legal."""
        mask = None if self.action_mask is None else np.ones_like(self.action_mask)
        return replace(self, observation=_blank(self.observation), action_mask=mask)


def _blank(seen: Any) -> Any:
    if isinstance(seen, Mapping):
        return {key: _blank(value) for key, value in seen.items()}
    if isinstance(seen, np.ndarray):
        return np.zeros_like(seen)
    if isinstance(seen, tuple | list):
        return type(seen)(map(_blank, seen)) if type(seen) in (tuple, list) else None
    return type(seen)() if isinstance(seen, int | float | np.generic) else None


def observed(agent: str, seen: Any, info: Any, space: Any) -> Observation:
    """The view from what ``observe`` returned, the player's info and its action space; all copied."""
    mask = mask_of(seen, info)
    size = int(space.n) if hasattr(space, "n") and hasattr(space, "start") else None
    if isinstance(seen, Mapping) and set(seen) == {"observation", "action_mask"}:
        seen = seen["observation"]
    flat = None if mask is None or size is None else np.array(mask, dtype=bool).ravel()
    first = 0 if size is None else int(space.start)
    return Observation(agent, copy.deepcopy(seen), flat, first, size)


def observation_of(env: Any) -> Observation:
    """The observation of the player to move in a live AEC environment; Gymnasium's do not keep theirs."""
    if not is_aec(env):
        raise UnsupportedGameError(
            f"{type(env).__name__} does not keep its last observation: call predict(observation, action_mask) "
            "instead of act(env)"
        )
    require_reset(env)
    inner = innermost(env)
    agent = inner.agent_selection
    return observed(str(agent), env.observe(agent), inner.infos.get(agent), env.action_space(agent))
