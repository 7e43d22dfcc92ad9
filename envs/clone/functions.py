"""Functions, bound methods, closures, views and weak references.

A function that is stored on an environment may lead back to it: through the object a method is bound to, a
variable that a closure captured, or a default argument. The copy's function leads to the copy.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Any, Final

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import Kind, Mark, Walk, code_value, fields_of
from zermelo.envs.clone.structures import copy_fields, kind_by_structure


def _made(make: Callable[[Any, list[Any]], Any], parts: Callable[[Any], list[Any]], **more: Any) -> Kind:
    """Of objects that are made of their parts, and shared where nothing in them is copied."""

    def copy(obj: Any, walk: Walk) -> Any:
        old = parts(obj)
        new = walk.copy_all(old)
        return obj if all(map(is_, new, old)) else make(obj, new)

    return Kind(copy=copy, parts=parts, **more)


def _function_parts(obj: types.FunctionType) -> list[Any]:
    defaults = [*(obj.__defaults__ or ()), *(obj.__kwdefaults__ or {}).values()]
    return [*(obj.__closure__ or ()), *defaults, *obj.__dict__.values()]


def _function_value(obj: types.FunctionType) -> Any:
    return code_value(obj.__code__), tuple(obj.__kwdefaults__ or ()), tuple(obj.__dict__)


def _is_global(function: types.FunctionType) -> bool:
    """Whether a module or a class holds the function by name, so that it belongs to no environment."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    return found is function


def _copy_function(obj: types.FunctionType, walk: Walk) -> types.FunctionType:
    old = _function_parts(obj)
    if not old or _is_global(obj):
        return obj
    cells = tuple(walk.copy_all(obj.__closure__ or ()))
    found: types.FunctionType | None = walk.memo.get(id(obj))
    if found is not None:  # a variable that it captured led back to it
        return found
    new = types.FunctionType(obj.__code__, obj.__globals__, obj.__name__, None, cells or None)
    walk.memo[id(obj)] = new
    new.__defaults__ = walk.copy(obj.__defaults__)
    new.__kwdefaults__ = walk.copy(obj.__kwdefaults__)
    copy_fields(obj, new, walk)
    if all(map(is_, _function_parts(new), old)):
        return obj
    new.__qualname__, new.__module__ = obj.__qualname__, obj.__module__
    new.__doc__, new.__annotations__ = obj.__doc__, obj.__annotations__
    return new


def _cell_content(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # its variable has no value yet
        return []


def _copy_cell(cell: types.CellType, walk: Walk) -> types.CellType:
    """A cell of a closure: two closures that share a variable share it in the copy as well."""
    content = _cell_content(cell)
    if content and isinstance(content[0], type | types.ModuleType):  # such as __class__, which super() captures
        return cell
    new = walk.memo[id(cell)] = types.CellType()
    for value in content:
        new.cell_contents = walk.copy(value)
    return new


def _copy_method(obj: types.MethodType, walk: Walk) -> types.MethodType:
    owner: Any = walk.copy(obj.__self__)
    function: Any = obj.__func__
    if isinstance(function, types.FunctionType) and not _belongs_to_class(function, obj.__self__):
        function = walk.copy(function)
    return obj if owner is obj.__self__ and function is obj.__func__ else types.MethodType(function, owner)


def _belongs_to_class(function: Any, owner: Any) -> bool:
    cls = owner if isinstance(owner, type) else type(owner)
    found = [base.__dict__.get(function.__name__) for base in cls.__mro__]
    return any(one is function or getattr(one, "__func__", None) is function for one in found)


def _is_plain_builtin(obj: Any) -> bool:
    return obj.__self__ is None or isinstance(obj.__self__, types.ModuleType | type)


def _make_partial(obj: functools.partial[Any], parts: list[Any]) -> functools.partial[Any]:
    function, arguments, keywords, *fields = parts
    new: functools.partial[Any] = type(obj)(function, *arguments, **keywords)
    new.__dict__.update(zip(obj.__dict__, fields, strict=True))
    return new


def _make_cached(obj: Any, parts: list[Any]) -> Any:
    """A function under ``functools.lru_cache``: shared if it is nobody's own, else with an empty cache."""
    settings = obj.cache_parameters()
    return functools.lru_cache(maxsize=settings["maxsize"], typed=settings["typed"])(parts[0])


def _make_view(obj: Any, parts: list[Any]) -> Any:
    view = {"dict_keys": dict.keys, "dict_values": dict.values, "dict_items": dict.items}[type(obj).__name__]
    return view(parts[0])


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
    target = _target(obj)
    found = _followed(target, walk)
    if target is None or found is target:
        return obj
    if not issubclass(type(obj), weakref.ref):
        return weakref.proxy(found)
    return weakref.ref(found)  # without a callback, which would finalise what the original still uses


def _copy_weak_method(obj: weakref.WeakMethod[Any], walk: Walk) -> weakref.WeakMethod[Any]:
    method = obj()
    owner = None if method is None else _followed(method.__self__, walk)
    if method is None or owner is method.__self__:
        return obj
    return weakref.WeakMethod(types.MethodType(method.__func__, owner))


def _write_reference(obj: Any, walk: Any) -> None:
    target = _target(obj)
    walk.out += (Mark.WEAK, original_class(type(target)), walk.seen.get(id(target), -1))


def _copy_finalizer(obj: Any, walk: Walk) -> Any:
    """A finaliser that is not registered, so that neither the copy nor its end runs it."""
    new = walk.memo[id(obj)] = object.__new__(weakref.finalize)
    return new


def _write_finalizer(obj: Any, walk: Any) -> None:
    walk.out.append(weakref.finalize)  # one like the other: the class holds all finalisers of the process


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
_BUILTIN: Final = _made(
    lambda obj, parts: getattr(parts[0], obj.__name__),
    lambda obj: [] if _is_plain_builtin(obj) else [obj.__self__],
    value=lambda obj: obj if _is_plain_builtin(obj) else obj.__name__,
)
_VIEW: Final = _made(_make_view, gc.get_referents)
_KINDS: Final[dict[type, Kind]] = {
    types.FunctionType: Kind(copy=_copy_function, parts=_function_parts, value=_function_value),
    types.CellType: Kind(copy=_copy_cell, parts=_cell_content),
    types.MethodType: Kind(
        copy=_copy_method,
        parts=lambda obj: [obj.__self__, obj.__func__],
    ),
    types.BuiltinMethodType: _BUILTIN,
    types.MethodWrapperType: _BUILTIN,
    functools.partial: _made(
        _make_partial,
        lambda obj: [obj.func, obj.args, obj.keywords, *fields_of(obj).values()],
    ),
    type(functools.lru_cache(len)): _made(_make_cached, lambda obj: [obj.__wrapped__]),
    types.MappingProxyType: _made(lambda obj, parts: types.MappingProxyType(parts[0]), gc.get_referents),
    type({}.keys()): _VIEW,
    type({}.values()): _VIEW,
    type({}.items()): _VIEW,
    weakref.ref: _REFERENCE,
    weakref.ProxyType: _REFERENCE,
    weakref.CallableProxyType: _REFERENCE,
    weakref.WeakMethod: Kind(copy=_copy_weak_method, key=_write_reference),
    weakref.finalize: Kind(copy=_copy_finalizer, key=_write_finalizer),
}


def find(cls: type) -> Kind | None:
    """The kind of functions and what is like them."""
    if cls in (weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet):
        kind = kind_by_structure(cls)
        assert kind is not None, "they are Python classes"
        return replace(kind, copy=_copy_weak_container, plain=False)
    return _KINDS.get(cls)
