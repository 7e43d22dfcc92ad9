"""Classes that are copied in a way of their own: a registered one, or an environment's own ``__deepcopy__``.

Nothing else is called on the user's objects: a method ``clone`` or ``save_state`` may mean anything, such as to
write a file.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from zermelo.envs.clone.copier import EXAMINERS
from zermelo.envs.clone.trial_of_clone import plays_like
from zermelo.envs.clone.walk import CopyWalk, attribute_handler, defines_own, register_copier

__all__ = ["adopt_own_clone", "clone_with"]

_examined: set[type] = set()


def clone_with(cls: type, clone: Callable[[Any], Any]) -> None:
    """Clones objects of exactly this class by ``clone`` from now on, without a trial."""
    _examined.add(cls)
    register_copier(cls, _handler(cls, clone))


def adopt_own_clone(env: Any) -> bool:
    """Has the copier use the environment's own ``__deepcopy__`` from now on, if it has one and it works.

    It is tried before it is trusted, as it may leave something out: short games are played on its copies and
    compared with the same games on general copies, or, where the environment cannot be copied generally or its
    general copies disturb each other, among themselves. It is done once a class.

    Returns:
        Whether the question is settled for this class; it is not while there is no game to try a clone on.
    """
    raw = getattr(env, "unwrapped", env)
    cls = type(raw)
    if cls in _examined:
        return True
    has_own = defines_own(cls, "__deepcopy__")
    if has_own and not _is_under_way(raw):
        return False
    _examined.add(cls)
    if has_own:
        by_attributes = attribute_handler(cls)
        if plays_like(raw, copy.deepcopy):
            clone_with(cls, copy.deepcopy)
        elif by_attributes is not None:
            register_copier(cls, by_attributes)
    return True


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


EXAMINERS.append(adopt_own_clone)
