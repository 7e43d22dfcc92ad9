"""State that lives outside of an environment's objects: in modules and on classes.

No copy of an object can carry it. It is harmless as long as it never changes, or holds only what has been
remembered to save time; so it is looked at only to explain a difference that was seen.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Hashable, Iterator
from typing import Any, Final

from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import copy_generally, reachable
from zermelo.envs.errors import CloneError

__all__ = ["OutsideState"]

_LIBRARIES: Final = (
    "chess", "gymnasium", "matplotlib", "numba", "numpy", "pygame", "pyspiel", "pytest", "scipy", "torch",
    "zermelo",
)  # fmt: skip
_CODE: Final = (
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, property, staticmethod, classmethod,
    types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip


class OutsideState:
    """What the modules and classes behind an environment hold at one moment.

    Args:
        env: The environment; every class of what it holds counts, and every module that defines one.
    """

    def __init__(self, env: Any) -> None:
        self._owners = list(_owners(env))
        self._before = {
            (id(owner), name): (_key(value), value, _saved(value)) for owner, name, value in self._entries()
        }

    def _entries(self) -> Iterator[tuple[Any, str, Any]]:
        for owner in self._owners:
            for name, value in list(vars(owner).items()):
                if not name.startswith(("__", "_abc_")) and not isinstance(value, _CODE):
                    yield owner, name, value

    def _changed(self) -> Iterator[tuple[Any, str, Any, Any, Any]]:
        """What holds it, its name, what is there now, what was there, and a copy of how that was."""
        for owner, name, value in self._entries():
            key, old, saved = self._before.get((id(owner), name), (None, None, None))
            if key is not None and key != _key(value):
                yield owner, name, value, old, saved

    def changes(self) -> list[str]:
        """The names that hold something else now, such as ``pettingzoo.classic.go.go_base.N (9, now 5)``."""
        found = []
        for owner, name, value, _, saved in self._changed():
            holder = owner.__name__ if isinstance(owner, types.ModuleType) else _class_name(owner)
            before, now = _short(saved), _short(value)
            found.append(f"{holder}.{name}" + (f" ({before}, now {now})" if before != now else ""))
        return found

    def restore(self) -> None:
        """Puts back what has changed, as far as that can be done from outside."""
        for owner, name, value, old, saved in self._changed():
            if isinstance(old, list):
                old[:] = saved
            elif isinstance(old, dict | set):
                old.clear()
                old.update(saved)
            if old is not value:
                setattr(owner, name, old)


def _owners(env: Any) -> Iterator[Any]:
    seen: set[int] = set()
    for obj in reachable(env):
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


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


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
