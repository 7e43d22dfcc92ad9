"""Legal actions of a live environment, and where its masks are.

Masks are read from ``observation["action_mask"]`` or, failing that, ``infos[agent]["action_mask"]``, at every step
and for every agent anew. Only the mask of the agent that moves is looked at. A mask may be a list or an array of
booleans, integers or floats; anything but zero means legal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.spaces import ActionCodec
from zermelo.envs.adapters.wrappers import game_name, innermost, is_aec, layers, require_reset
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.errors import UnsupportedGameError


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


def gym_mask(env: Any, info: Mapping[str, Any] | None = None, observation: Any = None) -> Any:
    """The action mask of a Gymnasium environment, from what its last step returned where that is known.

    A live environment keeps neither; it is asked by ``action_masks()``, the convention of sb3-contrib, or by
    ``_get_info()`` and ``_get_obs()``, those of Gymnasium's tutorial.
    """
    mask = mask_of(observation, info)
    if mask is not None:
        return mask
    for layer in layers(env):
        if callable(getattr(layer, "action_masks", None)):
            return layer.action_masks()
    if info is not None:
        return None
    raw = env.unwrapped
    if callable(getattr(raw, "_get_info", None)):
        mask = mask_of(None, raw._get_info())
    if mask is None and "action_mask" in (getattr(getattr(env, "observation_space", None), "spaces", None) or {}):
        if not callable(getattr(raw, "_get_obs", None)):
            raise UnsupportedGameError(
                f"{game_name(env)} shows its action mask only in what reset and step return, in "
                "observation['action_mask']: give its class a method action_masks() that returns it"
            )
        mask = mask_of(clone_env(raw)._get_obs(), None)
    return mask


def require_no_other_mask(observation: Any, info: Any, size: int, whose: str) -> None:
    """Refuses masks that nobody would look at, as their name is not ``action_mask``.

    Args:
        observation: What was observed, without an action mask.
        info: What came with it.
        size: How many actions there are.
        whose: Begins the message.
    """
    for place, holder in (("observation", observation), ("info", info)):
        if not isinstance(holder, Mapping):
            continue
        for name, value in holder.items():
            if isinstance(name, str) and _MASK_NAME.search(name) and _is_like_mask(value, size):
                raise UnsupportedGameError(
                    f"{whose} has no action_mask, but {place}[{name!r}] seems to say which of the {size} actions "
                    "are legal: give it the name 'action_mask', with 1 for a legal action and 0 for another"
                )


_MASK_NAME = re.compile("mask|legal|valid|avail|allowed", re.IGNORECASE)


def _is_like_mask(value: Any, size: int) -> bool:
    """Whether this is one entry of 0 or 1 for each action, or a list of actions."""
    if isinstance(value, set | frozenset | range):
        value = sorted(value)
    if not isinstance(value, np.ndarray | list | tuple):
        return False
    try:
        entries = np.asarray(value)
    except ValueError:  # lists of different lengths
        return False
    if entries.ndim != 1 or entries.dtype.kind not in "biuf" or not entries.size:
        return False
    if entries.size == size and bool(np.isin(entries, (0, 1)).all()):
        return True
    is_list = entries.dtype.kind in "iu" and len(set(entries.tolist())) == entries.size
    return is_list and int(entries.min()) >= 0 and int(entries.max()) < size


def unmasked_hint(actions: Sequence[int] | None, codec: ActionCodec) -> str:
    """Ends the message on an action that the environment does not take, where no mask has left any out."""
    if actions is None or len(actions) < codec.size:
        return ""
    return "; if that action is illegal there, an action_mask in the observation or in infos must say so"


def require_mask_before_last(env: Any, agent: Any) -> None:
    """Refuses an AEC environment whose own ``last()`` writes the mask: searches step without asking for it.

    Args:
        env: A copy below its checking wrappers, whose turn it is for ``agent``; it is changed.
        agent: The agent to move.
    """
    here = mask_of(env.observe(agent), env.infos.get(agent))
    here = None if here is None else np.array(here)
    seen, *_, info = env.last()
    there = mask_of(seen, info)
    if there is not None and (here is None or not np.array_equal(here, np.asarray(there))):
        raise UnsupportedGameError(
            f"the action mask of {agent!r} in {game_name(env)} is only right once {type(env).__name__}.last() has "
            "filled it in: fill it in in reset() and step(), or return it from observe(), as searches do not ask "
            "for last()"
        )


def writes_own_last(env: Any) -> bool:
    """Whether an AEC environment has a ``last`` of its own."""
    base = getattr(sys.modules.get("pettingzoo.utils.env"), "AECEnv", None)
    return base is not None and getattr(type(env), "last", base.last) is not base.last


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
        if writes_own_last(raw):
            require_mask_before_last(clone_env(raw), agent)
        seen, info = raw.observe(agent), raw.infos.get(agent)
        mask = mask_of(seen, info)
        if mask is None:
            require_no_other_mask(seen, info, codec.size, f"{agent!r} in {game_name(raw)}")
    actions = codec.all_actions() if mask is None else codec.masked(mask)
    return [codec.to_env(action) for action in actions]
