"""Functions, bound methods, closures and weak references, which may lead back to the environment.

The copy's function leads to the copy: its bound object, the variables of its closure, its default arguments.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from dataclasses import replace
from typing import Any, Final

from zermelo.envs.clone.kinds import Kind, Walk, code_value, made
from zermelo.envs.clone.structures import kind_by_structure


def _is_global(function: types.FunctionType) -> bool:
    """Returns whether a module or a class holds the function by name, so that it belongs to no environment."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return getattr(found, "__func__", found) is function


def _function_parts(obj: types.FunctionType) -> list[Any]:
    if _is_global(obj):
        return []
    cells, defaults, named = obj.__closure__ or (), obj.__defaults__ or (), obj.__kwdefaults__ or {}
    return [*cells, *defaults, *named.values(), *obj.__dict__.values()]


def _make_function(obj: types.FunctionType, parts: list[Any]) -> types.FunctionType:
    cells, defaults, named = obj.__closure__ or (), obj.__defaults__ or (), obj.__kwdefaults__ or {}
    left = iter(parts)
    closure = tuple(next(left) for _ in cells) or None
    new = types.FunctionType(obj.__code__, obj.__globals__, obj.__name__, None, closure)
    new.__defaults__ = tuple(next(left) for _ in defaults) or None
    new.__kwdefaults__ = {name: next(left) for name in named} or None
    functools.update_wrapper(new, obj)
    new.__dict__ = dict(zip(obj.__dict__, left, strict=True))
    return new


def _cell_content(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # its variable has no value yet
        return []


def _copy_cell(cell: types.CellType, walk: Walk) -> types.CellType:
    """A cell of a closure, which two closures may share."""
    content = _cell_content(cell)
    if content and isinstance(content[0], type | types.ModuleType):  # such as __class__, which super() captures
        return cell
    new = walk.memo[id(cell)] = types.CellType()
    for value in content:
        new.cell_contents = walk.copy(value)
    return new


def _method_parts(obj: types.MethodType) -> list[Any]:
    return [obj.__self__] if _is_method_of_class(obj) else [obj.__self__, obj.__func__]


def _is_method_of_class(obj: types.MethodType) -> bool:
    owner, function = obj.__self__, obj.__func__
    if not isinstance(function, types.FunctionType | types.BuiltinFunctionType):  # any callable can be bound
        return False
    return isinstance(owner, type) or getattr(type(owner), function.__name__, None) is function


def _is_plain_builtin(obj: Any) -> bool:
    return obj.__self__ is None or isinstance(obj.__self__, types.ModuleType | type)


# --- weak references: they lead to the copy of their target if the environment holds it, else to the target itself


def _followed(target: Any, walk: Walk) -> Any:
    return walk.copy(target) if walk.is_held(target) else target


def _target(obj: Any) -> Any:
    """The target of a weak reference or a proxy, or None if it is gone; a proxy passes its methods on."""
    try:
        return obj() if issubclass(type(obj), weakref.ref) else obj.__repr__.__self__
    except ReferenceError:
        return None


def _copy_reference(obj: Any, walk: Walk) -> Any:
    """A reference without a callback, which would finalise what the original still uses."""
    target = _target(obj)
    if isinstance(target, types.MethodType):
        owner = _followed(target.__self__, walk)
        return obj if owner is target.__self__ else weakref.WeakMethod(types.MethodType(target.__func__, owner))
    found = _followed(target, walk)
    if found is target:
        return obj
    return weakref.ref(found) if issubclass(type(obj), weakref.ref) else weakref.proxy(found)


def _write_reference(obj: Any, walk: Any) -> None:
    walk.add_reference(_target(obj))


def _copy_weak_container(obj: Any, walk: Walk) -> Any:
    new = walk.memo[id(obj)] = type(obj)()
    if isinstance(obj, weakref.WeakSet):
        new.update([_followed(item, walk) for item in list(obj)])
    elif isinstance(obj, weakref.WeakKeyDictionary):
        new.update([(_followed(key, walk), walk.copy(value)) for key, value in list(obj.items())])
    else:
        new.update([(walk.copy(key), _followed(value, walk)) for key, value in list(obj.items())])
    return new


_REFERENCE: Final = Kind(copy=_copy_reference, key=_write_reference)
_BUILTIN: Final = made(
    lambda obj, parts: getattr(parts[0], obj.__name__),
    lambda obj: [] if _is_plain_builtin(obj) else [obj.__self__],
    value=lambda obj: obj if _is_plain_builtin(obj) else obj.__name__,
)
_KINDS: Final[dict[type, Kind]] = {
    types.FunctionType: made(
        _make_function,
        _function_parts,
        lambda obj: (code_value(obj.__code__), tuple(obj.__kwdefaults__ or ()), tuple(obj.__dict__)),
    ),
    types.CellType: Kind(copy=_copy_cell, parts=_cell_content),
    types.MethodType: made(
        lambda obj, parts: types.MethodType((*parts, obj.__func__)[1], parts[0]),
        _method_parts,
        lambda obj: obj.__func__.__qualname__ if _is_method_of_class(obj) else "",
    ),
    types.BuiltinMethodType: _BUILTIN,
    types.MethodWrapperType: _BUILTIN,
    # A function under a cache is shared if it is nobody's own, else the copy's cache is empty.
    type(functools.lru_cache(len)): made(
        lambda obj, parts: functools.lru_cache(**obj.cache_parameters())(parts[0]), lambda obj: [obj.__wrapped__]
    ),
    types.MappingProxyType: made(lambda obj, parts: types.MappingProxyType(parts[0]), gc.get_referents),
    weakref.ref: _REFERENCE,
    weakref.ProxyType: _REFERENCE,
    weakref.CallableProxyType: _REFERENCE,
    weakref.WeakMethod: _REFERENCE,
    # One that is not registered, so that neither the copy nor its end runs it; its class holds all of the process.
    weakref.finalize: Kind(
        copy=lambda obj, walk: object.__new__(weakref.finalize),
        key=lambda obj, walk: walk.out.append(weakref.finalize),
    ),
}


def find(cls: type) -> Kind | None:
    """The kind of functions and what is like them."""
    if cls in (weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet):
        kind = kind_by_structure(cls)
        assert kind is not None, "they are Python classes"
        return replace(kind, copy=_copy_weak_container, plain=False)
    return _KINDS.get(cls)
