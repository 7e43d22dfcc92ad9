"""State that lives outside of an environment's objects, in its modules and on its classes: no copy carries it.

It is looked at, never copied; only names that were bound to another number or text can be bound again.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import full_name, module_name
from zermelo.envs.clone.state_key import digest
from zermelo.envs.clone.traversal import reachable

_KNOWN_PACKAGES: Final = ("pettingzoo.classic.", "pettingzoo.utils.", "shimmy.", "zermelo.", "rlcard.", "ale_py.")
_LIBRARIES: Final = (
    "chess", "gym", "gymnasium", "matplotlib", "numba", "numpy", "pandas", "pygame", "pyspiel", "pytest", "scipy",
    "torch", "zermelo",
)  # fmt: skip
_CODE: Final = (
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, property, staticmethod, classmethod,
    types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
_PLAIN: Final = (bool, bytes, complex, float, int, str, types.NoneType)
_MAX_ITEMS: Final = 2_000
_FEWEST: Final = 50
"""Of larger values a part is looked at, and how large they are; the more values there are the less of each."""
_MAX_LOOKED: Final = 50_000  # items of all values together that are looked at


class OutsideState:
    """The content of the modules and classes behind an environment at one moment."""

    def __init__(self, env: Any) -> None:
        self._owners = list(_owners(env))
        self._before = {(id(owner), name): content for owner, name, *content in self._look()}

    def _look(self) -> Iterator[tuple[Any, str, bytes, Any]]:
        entries = [*_entries(self._owners)]
        most = min(_MAX_ITEMS, max(_FEWEST, _MAX_LOOKED // max(len(entries), 1)))
        for owner, name, value in entries:
            yield owner, name, digest(value, most), value if type(value) in _PLAIN else None

    def _changed(self) -> Iterator[tuple[str, Any, Any, Any]]:
        for owner, name, now, plain in self._look():
            was, before = self._before.get((id(owner), name), (now, plain))
            if now != was:
                yield name, owner, before, plain

    def text(self) -> str:
        """Names that hold something else now, such as ``pettingzoo.classic.go.go_base.N (9, now 5)``, if any."""
        found = []
        for name, owner, before, now in self._changed():
            shown = f" ({before!r}, now {now!r})" if before is not None and len(repr((before, now))) < 80 else ""
            found.append(f"{_owner_name(owner)}.{name}{shown}")
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        return f"; state outside the object changed: {', '.join(found[:3])}{more}" if found else ""

    def restore(self) -> None:
        """Binds names again to the numbers and texts that they had."""
        for name, owner, before, _ in self._changed():
            if before is not None:
                setattr(owner, name, before)


def values_outside(env: Any) -> Iterator[tuple[str, Any]]:
    """The names and values in an environment's modules and on its classes, plain containers looked into."""
    for owner, name, value in _entries(_owners(env)):
        path = f"{_owner_name(owner)}.{name}"
        yield path, value
        inner = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
        if len(inner) <= _MAX_ITEMS:
            yield from ((f"{path}[{number}]", part) for number, part in enumerate(inner))


def _entries(owners: Iterable[Any]) -> Iterator[tuple[Any, str, Any]]:
    for owner in owners:
        for name, value in list(vars(owner).items()):
            if not name.startswith(("__", "_abc_")) and not issubclass(type(value), _CODE):
                yield owner, name, value


def _owners(env: Any) -> Iterator[Any]:
    """The classes of all that an environment holds, their modules, and the modules that these use."""
    packages = _packages(type(layer) for layer in layers_of(env))
    classes = (cls for obj in reachable(env) for cls in type(obj).__mro__ if _is_own(module_name(cls), packages))
    owners = (owner for cls in classes for owner in (sys.modules.get(module_name(cls)), original_class(cls)))
    yield from _followed(owners, packages)


def modules_of(classes: Iterable[type]) -> list[types.ModuleType]:
    """The modules of classes and their parents and those that these use; libraries left out."""
    packages = _packages(classes)
    names = {module_name(cls) for given in classes for cls in given.__mro__}
    owners = (sys.modules.get(name) for name in names if _is_own(name, packages))
    return [owner for owner in _followed(owners, packages) if isinstance(owner, types.ModuleType)]


def _packages(classes: Iterable[type]) -> set[str]:
    names = {module_name(cls) for given in classes for cls in given.__mro__}
    return {name.partition(".")[0] for name in names if not _is_library(name)}


def _followed(owners: Iterable[Any], packages: set[str]) -> Iterator[Any]:
    """Modules and classes, and the modules of the same packages, or the user's own, that modules use."""
    waiting = [owner for owner in owners if owner is not None]
    seen: set[int] = set()
    while waiting:
        owner = waiting.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        yield owner
        for value in list(vars(owner).values()) if isinstance(owner, types.ModuleType) else ():
            name = value.__name__ if isinstance(value, types.ModuleType) else None
            name = getattr(value, "__module__", None) if isinstance(value, types.FunctionType | type) else name
            if name in sys.modules and _is_own(name, packages):
                waiting.append(sys.modules[name])


def layers_of(env: Any) -> Iterator[Any]:
    """The environment and what it wraps, outermost first."""
    while env is not None:
        yield env
        env = getattr(env, "__dict__", {}).get("env") if hasattr(env, "step") else None


def _is_library(name: str) -> bool:
    package = name.partition(".")[0]
    return package in sys.stdlib_module_names or package in _LIBRARIES or name.startswith("pettingzoo.utils")


def _is_own(name: str, packages: set[str]) -> bool:
    """Returns whether a module belongs to the environment: of its package, or the user's own and not installed."""
    if _is_library(name):
        return False
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name.partition(".")[0] in packages or not ("site-packages" in file or "dist-packages" in file)


def _owner_name(owner: Any) -> str:
    return owner.__name__ if isinstance(owner, types.ModuleType) else full_name(owner)


def is_known_to_clone(env: Any) -> bool:
    """Returns whether it and its wrappers are of packages whose environments this package's tests clone."""
    return all(type(layer).__module__.startswith(_KNOWN_PACKAGES) for layer in layers_of(env))
