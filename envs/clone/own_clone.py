"""Environments that offer a copy of themselves, or a saved state, are cloned through that, if it works.

Looked for on the unwrapped environment's class, in this order:

1. ``clone()``, called without arguments, returns another object of the same class;
2. ``__deepcopy__`` of its own (not that of ``EzPickle``);
3. a pair ``get_state()`` and ``set_state(state)``, ``save_state()`` and ``restore_state(state)``, or
   ``clone_state()`` and ``restore_state(state)``: a new environment is made as the old one was (by ``EzPickle``'s
   arguments, by Gymnasium's ``spec``, or without arguments), reset, and given the saved state.

Methods of these names may mean something else, or leave something out. So each is tried before it is trusted:
short games are played on its copies and compared with the same games on general copies, or, where the environment
cannot be copied generally or its general copies disturb each other, among themselves. It is done once a class.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from zermelo.envs.clone.walk import CopyWalk, attribute_handler, defines_own, register_copier
from zermelo.envs.errors import CloneError

__all__ = ["adopt_own_clone"]

_PAIRS: Final = (("get_state", "set_state"), ("save_state", "restore_state"), ("clone_state", "restore_state"))
_examined: set[type] = set()


def adopt_own_clone(env: Any) -> bool:
    """Has the copier use the environment's own way of cloning from now on, if it has one and it works.

    Returns:
        Whether the question is settled for this class; it is not while there is no game to try a clone on.
    """
    raw = getattr(env, "unwrapped", env)
    cls = type(raw)
    if cls in _examined:
        return True
    ways = list(_ways(cls))
    if ways and not _is_under_way(raw):
        return False
    _examined.add(cls)
    if ways:
        from zermelo.envs.clone.trial_of_clone import plays_like  # it needs the copier, which needs this module

        working = (way for way in ways if plays_like(raw, way))
        register_own_clone(cls, next(working, None))
    return True


def register_own_clone(cls: type, way: Callable[[Any], Any] | None) -> None:
    """Clones objects of exactly this class by ``way``, or, for None, by their attributes."""
    if way is not None:
        register_copier(cls, _handler(cls, way))
    elif defines_own(cls, "__deepcopy__"):
        by_attributes = attribute_handler(cls)
        if by_attributes is not None:
            register_copier(cls, by_attributes)


def _handler(cls: type, way: Callable[[Any], Any]) -> Callable[[Any, CopyWalk], Any]:
    by_attributes = attribute_handler(cls)

    def copy_own_way(obj: Any, walk: CopyWalk) -> Any:
        if by_attributes is not None and not _is_under_way(obj):
            return by_attributes(obj, walk)
        return way(obj)

    return copy_own_way


def _is_under_way(raw: Any) -> bool:
    """Whether there is a game to try a clone on: an AEC environment has agents once it is reset."""
    return not hasattr(raw, "possible_agents") or bool(getattr(raw, "agents", None) and hasattr(raw, "rewards"))


def _ways(cls: type) -> Iterator[Callable[[Any], Any]]:
    if _takes(cls, "clone", 0):
        yield lambda env: env.clone()
    if defines_own(cls, "__deepcopy__"):
        yield copy.deepcopy
    for save, restore in _PAIRS:
        if _takes(cls, save, 0) and _takes(cls, restore, 1):
            yield _through_state(save, restore)


def _takes(cls: type, name: str, arguments: int) -> bool:
    """Whether the class has a method of that name that can be called with so many arguments."""
    method = inspect.getattr_static(cls, name, None)
    if not inspect.isfunction(method) or method.__module__.partition(".")[0] in ("pettingzoo", "gymnasium"):
        return False
    try:
        inspect.signature(method).bind(None, *[None] * arguments)
    except TypeError:
        return False
    return True


def _through_state(save: str, restore: str) -> Callable[[Any], Any]:
    def clone(env: Any) -> Any:
        state = getattr(env, save)()
        new = _made_anew(env)
        new.reset(seed=0)
        getattr(new, restore)(state)
        return new

    return clone


def _made_anew(env: Any) -> Any:
    cls = type(env)
    fields = getattr(env, "__dict__", {})
    if "_ezpickle_args" in fields:
        return cls(*fields["_ezpickle_args"], **fields["_ezpickle_kwargs"])
    spec = fields.get("spec")
    if spec is not None:
        return spec.make().unwrapped
    try:
        return cls()
    except TypeError:
        raise CloneError(
            f"{cls.__qualname__} has a saved state, but it is not known how to make a new one"
        ) from None
