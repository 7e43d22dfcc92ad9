"""State that lives outside of an environment's objects: in modules and on classes.

No copy of an object can carry it. It is harmless as long as it never changes, or holds only what has been
remembered to save time; so it is looked at only to explain a difference that was seen.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Hashable, Iterator
from typing import Any, Final

from zermelo.envs.clone.copier import copy_generally
from zermelo.envs.clone.object_graph import reachable
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError

__all__ = ["OutsideState"]

_LIBRARIES: Final = frozenset(
    {
        "chess",
        "gymnasium",
        "matplotlib",
        "numba",
        "numpy",
        "pygame",
        "pyspiel",
        "pytest",
        "scipy",
        "torch",
        "zermelo",
    }
)
_CODE: Final = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    property,
    staticmethod,
    classmethod,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)


class OutsideState:
    """What the modules and classes behind an environment hold at one moment.

    Args:
        env: The environment; every class of what it holds counts, and every module that defines one.
    """

    def __init__(self, env: Any) -> None:
        self._owners = list(_owners(env))
        self._keys: dict[tuple[str, str], Hashable] = {}
        self._values: dict[tuple[str, str], tuple[Any, Any]] = {}
        for owner, name, value in self._entries():
            place = (_owner_name(owner), name)
            self._keys[place] = _key(value)
            self._values[place] = (value, _saved(value))

    def _entries(self) -> Iterator[tuple[Any, str, Any]]:
        for owner in self._owners:
            for name, value in list(vars(owner).items()):
                if not name.startswith("__") and not name.startswith("_abc_") and not isinstance(value, _CODE):
                    yield owner, name, value

    def changes(self) -> list[str]:
        """The names that hold something else now, such as ``pettingzoo.classic.go.go_base.N (9, now 5)``."""
        found = []
        for owner, name, value in self._entries():
            place = (_owner_name(owner), name)
            old = self._keys.get(place)
            if old is None or old == _key(value):
                continue
            before, now = (_short(self._values[place][1]), _short(value))
            found.append(f"{'.'.join(place)}" + (f" ({before}, now {now})" if before != now else ""))
        return found

    def restore(self) -> None:
        """Puts back what has changed, as far as that can be done from outside."""
        for owner, name, value in self._entries():
            place = (_owner_name(owner), name)
            if place not in self._keys or self._keys[place] == _key(value):
                continue
            old, saved = self._values[place]
            if isinstance(old, list):
                old[:] = saved
            elif isinstance(old, dict | set):
                old.clear()
                old.update(saved)
            if old is not value:
                setattr(owner, name, old)


def _owners(env: Any) -> Iterator[Any]:
    seen: set[int] = set()
    for _, obj in reachable(env):
        for cls in type(obj).__mro__:
            module = sys.modules.get(cls.__module__)
            if module is None or _is_library(cls.__module__):
                continue
            for owner in (module, cls):
                if id(owner) not in seen:
                    seen.add(id(owner))
                    yield owner


def _is_library(module: str) -> bool:
    package = module.partition(".")[0]
    return package in sys.stdlib_module_names or package in _LIBRARIES or module.startswith("pettingzoo.utils")


def _owner_name(owner: Any) -> str:
    return owner.__name__ if isinstance(owner, types.ModuleType) else f"{owner.__module__}.{owner.__qualname__}"


def _key(value: Any) -> Hashable:
    try:
        key = state_key(value)
        hash(key)
    except (CloneError, TypeError, RecursionError):
        return ("object", id(value))
    return key


def _saved(value: Any) -> Any:
    try:
        return copy_generally(value)
    except CloneError:
        return value


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
