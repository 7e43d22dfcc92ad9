"""The configuration of an environment: digests of all that decides how it behaves and does not change in play.

What play changes is not known of an environment just seen; random play leaves that out.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.kinds import fields_of, full_name, layout_of, module_name
from zermelo.envs.clone.libraries import is_space
from zermelo.envs.clone.state_key import digest
from zermelo.envs.live.wrappers import game_layers, layers

_IN_PLAY: Final = frozenset((
    "rewards", "terminations", "truncations", "infos", "_cumulative_rewards", "render_mode", "defer_chance",
    "_cached_spec",  # which Gymnasium's wrappers write when somebody asks for it
))  # fmt: skip
_LIBRARIES: Final = ("builtins", "gymnasium", "numpy", "pettingzoo.utils", "pygame", "torch", "typing", "abc")
_PLAIN: Final = frozenset({bool, bytes, complex, float, int, str, types.NoneType})
_DESCRIPTORS: Final = (property, classmethod, staticmethod, functools.cached_property)
_MAX_ITEMS: Final = 64  # larger containers are one part of the configuration, smaller ones one for each item
_MAX_DEPTH: Final = 4
_MAX_PATHS: Final = 2_000  # with so many parts no container or object is taken apart any more
_MAX_DIGESTED: Final = 5_000  # items of a value that are looked at; of what is larger the size and the ends count


def configuration(env: Any, *, with_classes: bool = True) -> dict[str, bytes]:
    """Digests of an environment's attributes, and of those of objects in them, by path."""
    attributes = _Attributes(env)
    for depth, layer in enumerate(game_layers(env)):
        attributes.fields(layer, str(depth), 0)
    for cls in attributes.classes if with_classes else ():
        for name, value in _attributes(cls).items():
            attributes.digests[f"{full_name(cls)}.{name}"] = digest(_function(value), _MAX_DIGESTED)
    return attributes.digests


def _attributes(cls: type) -> dict[str, Any]:
    """The attributes of a class and its parents, those of libraries left out."""
    found: dict[str, Any] = {}
    for part in reversed(cls.__mro__):
        if not module_name(part).startswith(_LIBRARIES):
            found |= vars(part)
    kept = (types.FunctionType, *_DESCRIPTORS)
    names = [name for name in found if isinstance(found[name], kept) or not name.startswith(("__", "_abc_"))]
    return {name: found[name] for name in names}


def differences(constants: Mapping[str, bytes], now: Mapping[str, bytes]) -> list[str]:
    """The paths that have another value now."""
    return [path for path, value in constants.items() if now.get(path) != value]


def _function(value: Any) -> Any:
    for name in ("fget", "__func__", "func"):
        value = getattr(value, name, value) if isinstance(value, _DESCRIPTORS) else value
    return value


class _Attributes:
    """Digests of attributes by path, of an environment and of the objects in it, and the classes of these."""

    def __init__(self, env: Any) -> None:
        self.digests: dict[str, bytes] = {}
        self.classes: set[type] = set()
        self._seen = {id(layer) for layer in layers(env)}

    def fields(self, obj: Any, path: str, depth: int) -> None:
        cls = original_class(type(obj))
        fields = fields_of(obj)
        self.digests[path] = digest([full_name(cls), *sorted(fields.keys() - _IN_PLAY)])
        self.classes.add(cls)
        for name, value in fields.items():
            if depth > 0 or name not in _IN_PLAY:
                self._value(value, f"{path}.{name}", depth)

    def _value(self, value: Any, path: str, depth: int) -> None:
        if id(value) in self._seen:
            return
        goes_in = depth < _MAX_DEPTH and len(self.digests) < _MAX_PATHS
        inner = dict(_items(value)) if goes_in else {}
        if inner or _is_object(value):
            self._seen.add(id(value))
        if inner:
            self.digests[path] = digest([type(value).__name__, *sorted(inner)])
            for name, item in inner.items():
                self._value(item, f"{path}[{name}]", depth + 1)
        elif goes_in and _is_object(value):
            self.fields(value, path, depth + 1)
        else:
            self.digests[path] = digest(repr(value) if is_space(type(value)) else value, _MAX_DIGESTED)


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and len(value) <= _MAX_ITEMS:
        yield from ((repr(key), item) for key, item in value.items())
    elif type(value) in (list, tuple) and len(value) <= _MAX_ITEMS and not _PLAIN.issuperset(map(type, value)):
        yield from ((str(number), item) for number, item in enumerate(value))


def _is_object(value: Any) -> bool:
    cls = type(value)
    is_library = module_name(cls).startswith((*_LIBRARIES, "random")) or is_space(cls)
    return not is_library and layout_of(cls).base is object and not isinstance(value, type | types.ModuleType)


def episode(env: Any) -> dict[str, Any]:
    """The containers that an environment holds: some of them stay the same objects until it is reset."""
    fields = fields_of(layers(env)[-1])
    return {name: value for name, value in fields.items() if isinstance(value, list | dict | set | np.ndarray)}


def is_same_episode(env: Any, before: Mapping[str, Any]) -> bool:
    """Returns whether an environment still has what a reset replaces, since ``before = episode(env)``."""
    now = episode(env)
    kept = [name for name, value in now.items() if before.get(name) is value]
    if not kept:
        return False
    try:
        copied = layers(clone_env(env))[-1]
        old = episode(copied)
        with global_random_guard():
            copied.reset(seed=0)
    except Exception:  # whatever the environment's own code raises
        return False
    return any(old[name] is not value for name, value in episode(copied).items() if name in kept and name in old)
