"""Action masks: where environments show which actions are legal.

A mask is read anew at every step, from the observation or else from the info: ``action_mask``, or what says by its
name that it lists legal actions. What only sounds like one is tried: it counts if copies take what it allows, and
not what it forbids.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.kinds import fields_of
from zermelo.envs.clone.outside_state import is_known_to_clone
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.errors import UnknownTraitWarning, UnsupportedGameError, warn_once
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, innermost, is_gymnasium, layers, of_reset, of_step

_MASK: Final = re.compile(
    "(legal|valid|avail|allowed|possible)[a-z_]*(action|move|mask)|(action|move)s?_?(mask|legal|valid|avail)", re.I
)
_SIMILAR: Final = re.compile("mask|legal|valid|avail|allowed|possible_|playable|options", re.I)
_NEGATED: Final = re.compile("illegal|invalid|unavail|disallowed|forbidden|impossible", re.I)
_SHOWING: Final = re.compile("^_?(get_)?(obs|info|observation|state|seen)$", re.I)
"""Methods that return what ``reset`` and ``step`` show, such as ``_get_obs`` of Gymnasium's guide."""
_COMPARED_STEPS: Final = 3
_TRIED: Final = 3  # actions that a mask allows, and as many that it forbids, which are tried
_MOST_TRIALS: Final = 4  # positions in which it is tried what something means that sounds like a mask
_MOST_ACTIONS: Final = 1_000  # so many actions are tried one by one where an environment does not keep its mask


def mask_of(observation: Any, info: Any) -> Any:
    """The ``action_mask`` in an agent's observation or else in its info; None where there is none."""
    for holder in (observation, info):
        if isinstance(holder, Mapping) and (mask := holder.get("action_mask")) is not None:
            return mask
    return None


def shown_mask(observation: Any, info: Any, codec: ActionCodec, env: Any = None) -> Any:
    """The action mask in an agent's observation or info, whatever its name is; None where there is none.

    A mask of another name than ``action_mask`` is tried on copies of ``env``, which is in this position; without
    it only names count that leave no doubt.
    """
    mask = mask_of(observation, info)
    if mask is not None:
        return mask
    for place, holder in (("observation", observation), ("info", info)):
        for name, value in holder.items() if isinstance(holder, Mapping) else ():
            if isinstance(name, str) and _SIMILAR.search(name) and not _NEGATED.search(name):
                masks = _readings(name, value, codec)
                if len(masks) == 1 and _MASK.search(name):  # which leaves no doubt
                    return masks[0]
                if env is not None and (chosen := _meaning(env, place, name, masks, codec)) is not None:
                    return chosen
    return None


def _readings(name: str, value: Any, codec: ActionCodec) -> list[Any]:
    """The masks that a value can stand for: of one entry for each action, or of a list of actions."""
    if isinstance(value, set | frozenset | range):
        value = sorted(value)
    if not isinstance(value, np.ndarray | list | tuple) and not hasattr(value, "__array__"):  # as tensors have
        return []
    try:
        entries = np.asarray(value)
    except Exception:  # lists of different lengths, or what a library raises of arrays elsewhere
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
    elif entries.ndim == 2 and not codec.is_discrete:
        with contextlib.suppress(Exception):  # they are no actions of several numbers
            mask = np.zeros(codec.size, np.int8)
            mask[[codec.to_index(entry) for entry in entries]] = 1
            masks.append(mask)
    return masks


_trials: Final[dict[tuple[type, str, str, int], tuple[bool | None, int]]] = {}
"""Whether what has a name is a mask (None where that is open), and how often it was tried."""


def _meaning(env: Any, place: str, name: str, masks: list[Any], codec: ActionCodec) -> Any:
    """The first of the masks that a value can stand for that says what works in the environment, if one does.

    Warns of what is taken for a mask because it was tried, and of what might be one and is not used.
    """
    kind = original_class(type(getattr(env, "unwrapped", env)))
    for number, mask in enumerate(masks):
        key = (kind, place, name, number)
        is_mask, times = _trials.get(key, (None, 0))
        if is_mask is None and times < _MOST_TRIALS:
            is_mask, times = _trials[key] = says_what_works(env, mask, codec), times + 1
            text = "taken for the legal actions, as copies of it took those and no others" if is_mask else ""
            if is_mask is None and times == _MOST_TRIALS:
                text = "not taken for the legal actions, as copies of it take others as well"
            if text:
                about = f"{place}[{name!r}] of {game_name(env)} is {text}"
                hint = "the name that leaves no doubt is 'action_mask'"
                warnings.warn(f"{about}; {hint}", UnknownTraitWarning, stacklevel=2)
        if is_mask:
            return mask
    return None


def says_what_works(env: Any, mask: Any, codec: ActionCodec) -> bool | None:
    """Whether a mask says which actions an environment takes now; None where copies take all that were tried."""
    allowed = codec.masked(mask)
    others = sorted({*codec.all_actions()} - {*allowed})

    def tried(actions: Sequence[int]) -> list[tuple[bool, Exception | None]]:
        some = actions[:: max(1, -(-len(actions) // _TRIED))]
        return [_try_step(env, codec.to_env(action)) for action in some]

    if any(error is not None for _, error in tried(allowed)):
        return False
    return True if others and all(is_lost or error is not None for is_lost, error in tried(others)) else None


def writes_own_last(env: Any) -> bool:
    """Whether an AEC environment has a ``last`` of its own, which may fill in masks or be wanted by ``step``."""
    base = getattr(sys.modules.get("pettingzoo.utils.env"), "AECEnv", None)
    own = getattr(type(env), "last", None)
    if base is None or own is None or own is base.last:
        return False
    return not getattr(own, "__module__", "").startswith("pettingzoo.utils.")


def _try_step(env: Any, action: Any) -> tuple[bool, Exception | None]:
    """Whether a step of a copy ends in a loss at once, and the error that it raises."""
    try:
        with OUTPUT_GUARD, global_random_guard():
            copied = clone_env(env)
            if is_gymnasium(copied):
                _, reward, terminated, truncated, _ = of_step(copied.step(action))
                return bool((terminated or truncated) and reward < 0), None
            if writes_own_last(copied):
                copied.last()
            agent = copied.agent_selection
            copied.step(action)
            is_over = agent not in copied.agents or copied.terminations[agent] or copied.truncations[agent]
            return bool(is_over and copied.rewards.get(agent, 0) < 0), None
    except Exception as error:  # whatever the environment's own code raises
        return False, error


# -- Gymnasium: what a live environment, which keeps no observation, can be asked


def gym_mask(env: Any) -> Any:
    """The action mask of a live Gymnasium environment; None where it shows none (``mask_reader``)."""
    try:
        reader = _readers.get(env.unwrapped)
        if reader is None:
            reader = _readers[env.unwrapped] = mask_reader(env)
    except TypeError:  # an environment that cannot be hashed
        reader = mask_reader(env)
    return reader(env)


def own_mask(env: Any) -> Any:
    """The result of ``action_masks()``, the convention of sb3-contrib; None where there is no such method."""
    for layer in layers(env):
        if callable(getattr(layer, "action_masks", None)):
            return layer.action_masks()
    return None


def mask_reader(env: Any) -> Callable[[Any], Any]:
    """Finds out how the action mask of a Gymnasium environment, and of copies of it, is read without a step.

    It is asked by ``action_masks()``. Otherwise the mask is an attribute, or part of one, or the result of a
    method that held what ``reset`` and ``step`` showed as the mask on a copy. Where a mask in ``info`` is nowhere
    else, actions are tried on copies, and a warning says so. The function returns None where nothing shows a mask.

    Raises:
        UnsupportedGameError: Its observations have a mask, and nothing in it holds that.
    """
    if own_mask(env) is not None:
        return own_mask
    codec = ActionCodec(env.action_space, game_name(env))
    positions, is_confirmed = _masked_positions(clone_env(env), codec)
    found = _source(positions, codec) if positions else None
    if found is not None:
        return found
    if positions and "action_mask" in (getattr(env.observation_space, "spaces", None) or {}):
        raise UnsupportedGameError(
            f"{game_name(env)} shows its action mask only in what reset and step return, in "
            "observation['action_mask']: give its class a method action_masks() that returns it"
        )
    if not is_confirmed or codec.size > _MOST_ACTIONS:
        return lambda env: None
    warn_once(
        original_class(type(env.unwrapped)),
        f"{game_name(env)} shows its legal actions only in the info that reset and step return, which it "
        "does not keep: where a search starts every action is tried on a copy instead; a method "
        "action_masks() of its class that returns them is sure, and faster",
        UnknownTraitWarning,
    )
    return functools.partial(_tried_mask, codec)


_readers: Final[weakref.WeakKeyDictionary[Any, Callable[[Any], Any]]] = weakref.WeakKeyDictionary()
"""By the environment itself."""


def _tried_mask(codec: ActionCodec, env: Any) -> Any:
    works = [_try_step(env, codec.to_env(action))[1] is None for action in codec.all_actions()]
    return np.array(works, np.int8) if any(works) else None


def _masked_positions(env: Any, codec: ActionCodec) -> tuple[list[tuple[Any, Any]], bool]:
    """Copies after ``reset`` and the first steps, with the masks that these showed.

    Also whether copies take what one of the masks allows, and nothing else.
    """
    positions, is_confirmed, generator = list[tuple[Any, Any]](), False, np.random.default_rng(0)
    with contextlib.suppress(Exception):  # whatever the environment's own code raises ends the comparison
        with OUTPUT_GUARD, global_random_guard():
            seen, info = of_reset(env.reset(seed=0))
        for _ in range(1 + _COMPARED_STEPS):
            mask = shown_mask(seen, info, codec, env)
            if mask is None:
                break
            positions.append((clone_env(env), np.array(mask)))
            is_confirmed = is_confirmed or bool(says_what_works(env, mask, codec))
            actions = codec.masked(mask)
            action = codec.to_env(actions[int(generator.integers(len(actions)))])
            with OUTPUT_GUARD, global_random_guard():
                seen, _, terminated, truncated, info = of_step(env.step(action))
            if terminated or truncated:
                break
    return positions, is_confirmed


def _source(positions: list[tuple[Any, Any]], codec: ActionCodec) -> Callable[[Any], Any] | None:
    """Reads the mask of an environment from the first attribute, part of one, or method that held all of these."""
    raw = layers(positions[0][0])[-1]
    methods = [
        name
        for cls in type(raw).__mro__
        if not cls.__module__.startswith("gymnasium.")
        for name, value in vars(cls).items()
        if isinstance(value, types.FunctionType | property)
        and (_SIMILAR.search(name) or _SHOWING.search(name))
        and not name.startswith("__")
    ]
    shown = [codec.masked(mask) for _, mask in positions]
    paths: list[tuple[str, ...]] = [(name,) for name in vars(raw)]
    paths += [(*path, name) for path in paths for name in _parts_of(vars(raw)[path[0]]) if _SIMILAR.search(name)]
    readers = [(path[-1], functools.partial(_held, codec, path, number)) for path in paths for number in range(2)]
    readers += [(name, functools.partial(_returned, codec, name)) for name in methods]
    for name, reader in readers:
        if len(set(shown)) > 1 or _SIMILAR.search(name):
            held = zip((reader(env) for env, _ in positions), shown, strict=True)
            if all(mask is not None and codec.masked(mask) == legal for mask, legal in held):
                return reader
    return None


def _held(codec: ActionCodec, path: tuple[str, ...], number: int, env: Any) -> Any:
    """The mask that an attribute, or a part of it, holds, read in one of two ways."""
    value = layers(env)[-1]
    for name in path:
        value = _parts_of(value).get(name)
    masks = _readings(path[-1], value, codec)
    return masks[number] if number < len(masks) else None


def _parts_of(holder: Any) -> Mapping[str, Any]:
    """The attributes of an object or a named tuple, or the items of a mapping, as far as they have names."""
    if isinstance(holder, Mapping):
        return {name: value for name, value in holder.items() if isinstance(name, str)}
    if isinstance(holder, tuple) and hasattr(holder, "_fields"):
        return dict(zip(holder._fields, holder, strict=True))
    return fields_of(holder)


def _returned(codec: ActionCodec, name: str, env: Any) -> Any:
    """The mask that a method of a copy returns, by itself or in an observation or info."""
    with contextlib.suppress(Exception), OUTPUT_GUARD, global_random_guard():  # such as one that wants arguments
        value = getattr(layers(clone_env(env))[-1], name)
        value = value() if callable(value) else value
        for part in value if isinstance(value, tuple) else (value,):
            masks = _readings(name, part, codec)
            mask = shown_mask(part, {}, codec) if isinstance(part, Mapping) else (masks or [None])[0]
            if mask is not None:
                return mask
    return None


OF_TYPES: Final = (TypeError, AttributeError, AssertionError)
"""Errors of environments that want an integer of NumPy's."""
_wants_numpy: Final[dict[type, bool]] = {}


def wants_numpy(env: Any, codec: ActionCodec, action: int) -> bool:
    """Whether environments of a class take integers of NumPy's alone; found out on copies, once a class."""
    raw = innermost(env)
    kind = original_class(type(raw))
    if kind not in _wants_numpy:
        known = is_known_to_clone(raw) or not codec.is_discrete
        given = () if known else (action, codec.space.dtype.type(action))
        _wants_numpy[kind] = [isinstance(_try_step(env, one)[1], OF_TYPES) for one in given] == [True, False]
    return _wants_numpy[kind]
