"""Action masks: where environments show which actions are legal.

A mask is read at every step and for every agent anew, from the observation or else from the info, where it is
called ``action_mask`` or says by its name that it lists legal actions (``legal_moves``, ``valid_mask``). It has an
entry for each action, zero for those that are illegal, or is the list of the legal actions.
"""

from __future__ import annotations

import contextlib
import re
import sys
import weakref
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.quiet import QUIET
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, layers

_MASK: Final = re.compile(
    "(legal|valid|avail|allowed|possible)[a-z_]*(action|move|mask)|(action|move)s?_?(mask|legal|valid|avail)", re.I
)
_SIMILAR: Final = re.compile("mask|legal|valid|avail|allowed", re.I)
_NEGATED: Final = re.compile("illegal|invalid|unavail|disallowed|forbidden", re.I)
_SHOWING: Final = ("_get_obs", "_get_info")
"""The methods that Gymnasium's guide has environments fill in what ``reset`` and ``step`` return."""
_COMPARED_STEPS: Final = 3


def mask_of(observation: Any, info: Any) -> Any:
    """The ``action_mask`` in an agent's observation or else in its info; None where there is none."""
    if isinstance(observation, Mapping):
        mask = observation.get("action_mask")
        if mask is not None:
            return mask
    return info.get("action_mask") if isinstance(info, Mapping) else None


def shown_mask(observation: Any, info: Any, codec: ActionCodec, whose: str) -> Any:
    """The action mask in an agent's observation or info, whatever its name is; None where there is none.

    Raises:
        UnsupportedGameError: Something seems to be a mask, but it is not clear which actions it allows.
    """
    mask = mask_of(observation, info)
    if mask is not None:
        return mask
    for place, holder in (("observation", observation), ("info", info)):
        for name, value in holder.items() if isinstance(holder, Mapping) else ():
            if not isinstance(name, str) or not _SIMILAR.search(name):
                continue
            masks = _readings(name, value, codec)
            if len(masks) == 1 and _MASK.search(name) and not _NEGATED.search(name):
                return masks[0]
            if masks:
                raise UnsupportedGameError(
                    f"{whose} has no action_mask, but {place}[{name!r}] seems to say which of the {codec.size} "
                    "actions are legal: call it 'action_mask', with 1 for a legal action and 0 for another"
                )
    return None


def _readings(name: str, value: Any, codec: ActionCodec) -> list[Any]:
    """The masks that a value can stand for: of one entry for each action, or of a list of actions."""
    if isinstance(value, set | frozenset | range):
        value = sorted(value)
    if not isinstance(value, np.ndarray | list | tuple):
        return []
    try:
        entries = np.asarray(value)
    except ValueError:  # lists of different lengths
        return []
    if entries.dtype.kind not in "biuf" or not entries.size:
        return []
    masks = []
    if entries.size == codec.size and bool(np.isin(entries, (0, 1)).all()):
        masks.append(entries.ravel())
        if "mask" in name.lower() or entries.dtype.kind in "bf":
            return masks
    numbers = entries.tolist()
    if entries.ndim == 1 and entries.dtype.kind in "iu" and len(set(numbers)) == len(numbers):
        first = codec.first
        if min(numbers) >= first and max(numbers) < first + codec.size:
            mask = np.zeros(codec.size, np.int8)
            mask[entries - first] = 1
            masks += [mask] if not any(np.array_equal(mask, other) for other in masks) else []
    return masks


# -- Gymnasium: what a live environment, which keeps no observation, can be asked


def gym_mask(env: Any) -> Any:
    """The action mask of a live Gymnasium environment; None where it shows none (``GymMask``)."""
    try:
        finder = _finders.get(env.unwrapped)
        if finder is None:
            finder = _finders[env.unwrapped] = GymMask(env)
    except TypeError:  # an environment that cannot be hashed
        finder = GymMask(env)
    return finder.mask(env)


def own_mask(env: Any) -> Any:
    """The result of ``action_masks()``, the convention of sb3-contrib; None where there is no such method."""
    for layer in layers(env):
        if callable(getattr(layer, "action_masks", None)):
            return layer.action_masks()
    return None


class GymMask:
    """Finds the action mask of a Gymnasium environment without stepping it.

    It is asked by ``action_masks()``. Otherwise the mask comes from ``_get_obs()`` or ``_get_info()``, if that
    returned the masks of ``reset`` and ``step`` on a copy; only copies are asked.

    Raises:
        UnsupportedGameError: Its observations have a mask, and no method of it returns that.
    """

    def __init__(self, env: Any) -> None:
        self._codec = ActionCodec(env.action_space, game_name(env))
        self._method: str | None = None
        if own_mask(env) is not None:
            return
        found = [name for name in _SHOWING if hasattr(env.unwrapped, name)]
        if found:
            copied = clone_env(env)
            found = [name for name in found if _asked(copied, name, self._codec) is not None]
            found = _agreeing(copied, found, self._codec) if found else []
        if "action_mask" in (getattr(env.observation_space, "spaces", None) or {}) and not found:
            raise UnsupportedGameError(
                f"{game_name(env)} shows its action mask only in what reset and step return, in "
                "observation['action_mask']: give its class a method action_masks() that returns it"
            )
        self._method = found[0] if found else None

    def mask(self, env: Any) -> Any:
        """The mask of the environment, or of a copy of it, now."""
        mask = own_mask(env)
        return (
            mask if mask is not None or self._method is None else _asked(clone_env(env), self._method, self._codec)
        )


_finders: Final[weakref.WeakKeyDictionary[Any, GymMask]] = weakref.WeakKeyDictionary()


def _asked(env: Any, name: str, codec: ActionCodec) -> Any:
    """The mask in the observation or info that a method of a copy returns."""
    with contextlib.suppress(Exception):  # such as a method that cannot be called now
        with QUIET, global_random_guard():
            seen = getattr(env.unwrapped, name)()
        return shown_mask(seen, {}, codec, "")
    return None


def _agreeing(copied: Any, names: list[str], codec: ActionCodec) -> list[str]:
    """The methods that return the masks that ``reset`` and the first steps of a copy return; it is changed."""
    generator = np.random.default_rng(0)
    with contextlib.suppress(Exception):  # whatever the environment's own code raises ends the comparison
        with QUIET, global_random_guard():
            seen, info = copied.reset(seed=0)
        if shown_mask(seen, info, codec, "") is None:
            return []
        for _ in range(_COMPARED_STEPS):
            mask = shown_mask(seen, info, codec, "")
            names = [name for name in names if np.array_equal(_asked(copied, name, codec), mask)]
            actions = codec.masked(mask)
            action = codec.to_env(actions[int(generator.integers(len(actions)))])
            with QUIET, global_random_guard():
                seen, _, terminated, truncated, info = copied.step(action)
            if terminated or truncated:
                break
    return names


# -- AEC


def writes_own_last(env: Any) -> bool:
    """Whether an AEC environment has a ``last`` of its own."""
    base = getattr(sys.modules.get("pettingzoo.utils.env"), "AECEnv", None)
    return base is not None and getattr(type(env), "last", base.last) is not base.last


def require_mask_before_last(env: Any, agent: Any) -> None:
    """Refuses an AEC environment whose own ``last()`` writes the mask: searches step without asking for it."""
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
