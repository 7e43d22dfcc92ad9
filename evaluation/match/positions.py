"""The visible parts of a position, to detect whether an agent has changed it."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from zermelo.envs import CloneError
from zermelo.envs.adapters.wrappers import innermost, is_aec
from zermelo.envs.clone.state_key import state_key


def shown_position(env: Any) -> Hashable:
    """All that the players of an AEC environment can see and know, or a Gymnasium environment's whole state.

    Not the whole state of an AEC environment: many remember things while they are only looked at.
    """
    if not is_aec(env):
        try:
            return state_key(env)
        except CloneError:
            return None
    inner = innermost(env)
    fields = ("agents", "agent_selection", "terminations", "truncations", "rewards", "_cumulative_rewards")
    known = [_value(getattr(inner, name, None)) for name in fields]
    seen: list[Hashable] = []
    for agent in list(getattr(inner, "agents", ())):
        with contextlib.suppress(Exception):  # some environments cannot show an agent what it has no turn to see
            seen.append(_value(inner.observe(agent)))
    return (tuple(known), tuple(seen))


def _value(thing: Any) -> Hashable:
    if isinstance(thing, np.ndarray):
        return (thing.shape, thing.dtype.str, thing.tobytes())
    if isinstance(thing, Mapping):
        return tuple((str(key), _value(item)) for key, item in thing.items())
    if isinstance(thing, list | tuple):
        return tuple(map(_value, thing))
    return thing if isinstance(thing, int | str | bytes | None) else repr(thing)  # repr: nan is to equal nan
