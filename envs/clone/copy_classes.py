"""The classes of copies: without finalisers, and with caches of their own.

A copy shares handles with its original, which a finaliser would close; a cache on a class (``functools.lru_cache``
on a method) would let each copy live for ever.
"""

from __future__ import annotations

import copyreg
import functools
import types
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LRU_CACHE: Final = type(functools.lru_cache(len))
_IDENTITY: Final[Any] = object.__hash__
_MAX_CACHED: Final = 32
_copy_classes: dict[type, type] = {}  # by the class itself
_originals: dict[type, type] = {}  # by the class itself


def copy_class(cls: type) -> type:
    """The class of copies: the class itself, or a subclass of that name; ``TypeError`` if it cannot have one."""
    found = _copy_classes.get(cls)
    if found is None:
        changed = _overridden(cls)
        found = _subclass(cls, changed) if changed else cls
        _originals[found] = cls
        _copy_classes[cls] = _copy_classes[found] = found
    return found


def original_class(cls: type) -> type:
    """The class of which this is the class of copies, or the class itself."""
    return _originals.get(cls, cls)


def stand_for(face: type[T], cls: type) -> type[T]:
    """Has a class be the class of copies of objects of another one, and returns it."""
    _copy_classes[face], _originals[face] = face, cls
    return face


def _subclass(cls: type, changed: dict[str, Any]) -> type:
    names = ("__module__", "__qualname__", "__doc__")
    body = {name: getattr(cls, name) for name in names} | {"__slots__": (), "__reduce_ex__": _reduce} | changed
    return types.new_class(cls.__name__, (cls,), exec_body=lambda space: space.update(body))


def _overridden(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    by_identity = cls.__hash__ is _IDENTITY  # where a cache goes by value, it keeps one object for each value
    for part in reversed(cls.__mro__):
        for name, value in vars(part).items():
            is_of_c = isinstance(value, types.WrapperDescriptorType | types.MethodDescriptorType)
            if name == "__del__" and not is_of_c:
                found[name] = _do_nothing
            elif by_identity and isinstance(value, _LRU_CACHE):
                found[name] = _with_own_cache(value)
            elif by_identity and isinstance(value, property) and isinstance(value.fget, _LRU_CACHE):
                found[name] = value.getter(_with_own_cache(value.fget))
            else:
                found.pop(name, None)
    return found


def _with_own_cache(cached: Any) -> Any:
    """A function with a small cache, so that few copies are kept."""
    parameters = cached.cache_parameters()
    size = _MAX_CACHED if parameters["maxsize"] is None else min(_MAX_CACHED, parameters["maxsize"])
    return functools.lru_cache(size, parameters["typed"])(cached.__wrapped__)


def _reduce(self: Any, protocol: Any) -> Any:
    cls = type(self)
    reduced = super(cls, self).__reduce_ex__(protocol)
    if isinstance(reduced, str):
        return reduced
    make, arguments, *rest = reduced
    make = _make if make is copyreg.__newobj__ else original_class(make)  # type: ignore[attr-defined]  # undocumented
    return make, tuple(_originals.get(one, one) if isinstance(one, type) else one for one in arguments), *rest


def _make(cls: Any, *arguments: Any) -> Any:
    return cls.__new__(cls, *arguments)


def _do_nothing(self: Any) -> None:
    pass
