"""How objects of known libraries are copied: Gymnasium's spaces, OpenSpiel's states, pygame's shapes, chess.

Nothing is imported for it: a class is recognised by its name, and the first object met brings its library.
"""

from __future__ import annotations

import copy
import io
import sys
import threading
from typing import Any

from zermelo.envs.clone.object_kinds import is_defined_in, is_python_class
from zermelo.envs.clone.plan import register_shallow
from zermelo.envs.clone.walk import (
    CopyWalk,
    Handler,
    UncopyableError,
    register_copier,
    register_family,
    register_invariant,
)

__all__ = ["register", "space_holds_generator"]


def space_holds_generator(space: Any) -> bool:
    """Whether a Gymnasium space, or one inside it, has made its random generator already."""
    fields = space.__dict__
    if fields.get("_np_random") is not None:
        return True
    return any(space_holds_generator(part) for part in _inner_spaces(fields))


def _inner_spaces(fields: dict[str, Any]) -> list[Any]:
    inner: list[Any] = []
    for value in fields.values():
        if isinstance(value, dict):
            inner.extend(value.values())
        elif isinstance(value, tuple | list):
            inner.extend(value)
        else:
            inner.append(value)
    return [part for part in inner if _is_space(part)]


def _is_space(value: Any) -> bool:
    return is_defined_in(type(value), "gymnasium.spaces.space.Space", "gym.spaces.space.Space")


def copy_space(obj: Any, walk: CopyWalk) -> Any:
    """Shared while it has no random generator; else the generator is copied and the bounds are shared."""
    if not space_holds_generator(obj):
        return obj
    new: Any = object.__new__(type(obj))
    walk.memo[id(obj)] = new
    for name, value in obj.__dict__.items():
        if name == "_np_random" or _is_space(value) or isinstance(value, dict | list | tuple):
            new.__dict__[name] = walk.copy(value)
        else:
            new.__dict__[name] = value
    return new


def copy_open_spiel_state(obj: Any, walk: CopyWalk) -> Any:
    """OpenSpiel's own ``clone``; the game, which is configuration, is shared unless it draws the chance itself."""
    if obj.get_game().get_type().chance_mode.name == "SAMPLED_STOCHASTIC":
        raise UncopyableError(obj, "is a state of an OpenSpiel game that draws its chance out of sight")
    return obj.clone()


def copy_lock(obj: Any, walk: CopyWalk) -> Any:
    """A lock that nobody holds is copied as a new one."""
    if not obj.acquire(blocking=False):
        raise UncopyableError(obj, "is a lock that is held")
    obj.release()
    return type(obj)() if type(obj) is not type(threading.Lock()) else threading.Lock()


def copy_text_buffer(obj: Any, walk: CopyWalk) -> Any:
    new = io.StringIO(obj.getvalue(), newline="") if isinstance(obj, io.StringIO) else io.BytesIO(obj.getvalue())
    new.seek(obj.tell())
    return new


def _copy_shape(obj: Any, walk: CopyWalk) -> Any:
    return copy.copy(obj)


def _find(cls: type) -> Handler | None:
    module = cls.__module__
    if module.startswith(("gymnasium.spaces.", "gym.spaces.")) and is_defined_in(
        cls, "gymnasium.spaces.space.Space", "gym.spaces.space.Space"
    ):
        return copy_space
    if is_defined_in(cls, "pyspiel.State"):
        return copy_open_spiel_state
    if cls.__name__ in ("Rect", "FRect", "Vector2", "Vector3", "Mask", "Color") and module.startswith("pygame"):
        return None if is_python_class(cls) else _copy_shape
    return None


def _go_board_size(env: Any) -> str | None:
    """PettingZoo's Go keeps its board size in a module, where the environment made last sets it."""
    module = sys.modules["pettingzoo.classic.go.go_base"]
    size = getattr(env, "_N", None)
    if size is None or size == module.N:
        return None
    return (
        f"plays on {size}x{size}, but the board size that all of go_v5 shares in its module is now {module.N}, "
        "since another environment was made; use one board size in a process"
    )


def register() -> None:
    """Tells the walk how to copy objects of known libraries, and what to check of them."""
    register_family(_find)
    register_copier(type(threading.Lock()), copy_lock)
    register_copier(type(threading.RLock()), copy_lock)
    register_copier(io.StringIO, copy_text_buffer)
    register_copier(io.BytesIO, copy_text_buffer)
    register_invariant("pettingzoo.classic.go.go.raw_env", _go_board_size)
    # python-chess never changes a move or a remembered position once it is made.
    register_shallow("chess.Board", "move_stack", "_stack")
