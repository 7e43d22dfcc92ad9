"""How functions, bound methods, closures, views and weak references are copied.

A function that is stored on an environment may lead back to it: through the object a method is bound to, a
variable that a closure captured, or a default argument. The copy's function leads to the copy.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from typing import Any

from zermelo.envs.clone.walk import CopyWalk, UncopyableError, each_identical, register_copier

__all__ = ["register"]


def _is_global(function: types.FunctionType) -> bool:
    """Whether a module or a class holds the function by name, so that it belongs to no environment."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    return found is function


def copy_function(obj: types.FunctionType, walk: CopyWalk) -> types.FunctionType:
    if obj.__closure__ is None and not obj.__defaults__ and not obj.__kwdefaults__ and not obj.__dict__:
        return obj
    if _is_global(obj):
        return obj
    cells = tuple(copy_cell(cell, walk) for cell in obj.__closure__ or ())
    found: types.FunctionType | None = walk.memo.get(id(obj))
    if found is not None:  # a variable that it captured led back to it
        return found
    new = types.FunctionType(obj.__code__, obj.__globals__, obj.__name__, None, cells or None)
    walk.memo[id(obj)] = new
    new.__defaults__ = walk.copy(obj.__defaults__)
    new.__kwdefaults__ = walk.copy(obj.__kwdefaults__)
    new.__dict__.update({name: walk.copy(value) for name, value in obj.__dict__.items()})
    if (
        each_identical(cells, obj.__closure__ or ())
        and new.__defaults__ is obj.__defaults__
        and each_identical((new.__kwdefaults__ or {}).values(), (obj.__kwdefaults__ or {}).values())
        and each_identical(new.__dict__.values(), obj.__dict__.values())
    ):
        return obj
    new.__qualname__ = obj.__qualname__
    new.__module__ = obj.__module__
    new.__doc__ = obj.__doc__
    new.__annotations__ = obj.__annotations__
    return new


def copy_cell(cell: types.CellType, walk: CopyWalk) -> types.CellType:
    """A cell of a closure: two closures that share a variable share it in the copy as well."""
    found: types.CellType | None = walk.memo.get(id(cell))
    if found is not None:
        return found
    try:
        content = cell.cell_contents
    except ValueError:  # an empty cell: its variable has no value yet
        content, empty = None, True
    else:
        empty = False
    if isinstance(content, type | types.ModuleType):  # such as __class__, which super() captures
        return cell
    new = types.CellType()
    walk.memo[id(cell)] = new
    if not empty:
        new.cell_contents = walk.copy(content)
    return new


def copy_method(obj: types.MethodType, walk: CopyWalk) -> types.MethodType:
    owner = walk.copy(obj.__self__)
    function = obj.__func__
    if isinstance(function, types.FunctionType) and not _belongs_to_class(function, obj.__self__):
        function = walk.copy(function)
    if owner is obj.__self__ and function is obj.__func__:
        return obj
    return types.MethodType(function, owner)


def _belongs_to_class(function: Any, owner: Any) -> bool:
    cls = owner if isinstance(owner, type) else type(owner)
    for base in cls.__mro__:
        found = base.__dict__.get(function.__name__)
        if found is function or getattr(found, "__func__", None) is function:
            return True
    return False


def copy_builtin_method(obj: Any, walk: CopyWalk) -> Any:
    owner = obj.__self__
    if owner is None or isinstance(owner, types.ModuleType | type):
        return obj
    new_owner = walk.copy(owner)
    return obj if new_owner is owner else getattr(new_owner, obj.__name__)


def copy_partial(obj: functools.partial[Any], walk: CopyWalk) -> functools.partial[Any]:
    function, arguments, keywords = walk.copy(obj.func), walk.copy(obj.args), walk.copy(obj.keywords)
    new: functools.partial[Any] = type(obj)(function, *arguments, **keywords)
    new.__dict__.update({name: walk.copy(value) for name, value in obj.__dict__.items()})
    return new


def copy_cached_function(obj: Any, walk: CopyWalk) -> Any:
    """A function under ``functools.lru_cache``: shared if it is nobody's own, else with an empty cache."""
    wrapped = walk.copy(obj.__wrapped__)
    if wrapped is obj.__wrapped__:
        return obj
    settings = obj.cache_parameters()
    return functools.lru_cache(maxsize=settings["maxsize"], typed=settings["typed"])(wrapped)


def copy_mapping_proxy(obj: types.MappingProxyType[Any, Any], walk: CopyWalk) -> types.MappingProxyType[Any, Any]:
    (mapping,) = gc.get_referents(obj)
    new = walk.copy(mapping)
    return obj if new is mapping else types.MappingProxyType(new)


def copy_dict_view(obj: Any, walk: CopyWalk) -> Any:
    (mapping,) = gc.get_referents(obj)
    new = walk.copy(mapping)
    for view in (dict.keys, dict.values, dict.items):
        if type(view(new)) is type(obj):
            return view(new)
    raise UncopyableError(obj, f"is a {type(obj).__name__}, which cannot be copied")


def copy_weakref(obj: weakref.ref[Any], walk: CopyWalk) -> weakref.ref[Any]:
    """Points at the copy of its target, if the environment holds the target; else at the target itself."""
    target = obj()
    if target is None:
        return obj
    found = walk.memo.get(id(target))
    if found is None and walk.is_reachable(target):
        found = walk.copy(target)
    if found is None or found is target:
        return obj
    callback = walk.copy(obj.__callback__) if obj.__callback__ is not None else None
    new: weakref.ref[Any] = weakref.ref(found) if callback is None else weakref.ref(found, callback)
    return new


def copy_proxy(obj: Any, walk: CopyWalk) -> Any:
    """``weakref.proxy``, read through the method it passes on."""
    target = obj.__repr__.__self__
    found = walk.memo.get(id(target))
    if found is None and walk.is_reachable(target):
        found = walk.copy(target)
    return obj if found is None or found is target else weakref.proxy(found)


def copy_weak_method(obj: weakref.WeakMethod[Any], walk: CopyWalk) -> weakref.WeakMethod[Any]:
    method = obj()
    if method is None:
        return obj
    target = method.__self__
    if walk.memo.get(id(target)) is None and not walk.is_reachable(target):
        return obj
    return weakref.WeakMethod(types.MethodType(method.__func__, walk.copy(target)))


def copy_weak_values(obj: Any, walk: CopyWalk) -> Any:
    new = type(obj)()
    walk.memo[id(obj)] = new
    for key, value in list(obj.items()):
        new[walk.copy(key)] = walk.copy(value) if _is_held(value, walk) else value
    return new


def copy_weak_keys(obj: Any, walk: CopyWalk) -> Any:
    new = type(obj)()
    walk.memo[id(obj)] = new
    for key, value in list(obj.items()):
        new[walk.copy(key) if _is_held(key, walk) else key] = walk.copy(value)
    return new


def copy_weak_set(obj: Any, walk: CopyWalk) -> Any:
    new = type(obj)()
    walk.memo[id(obj)] = new
    for item in list(obj):
        new.add(walk.copy(item) if _is_held(item, walk) else item)
    return new


def _is_held(target: Any, walk: CopyWalk) -> bool:
    return id(target) in walk.memo or walk.is_reachable(target)


def register() -> None:
    """Tells the walk how to copy functions, methods, views and weak references."""
    register_copier(types.FunctionType, copy_function)
    register_copier(types.CellType, copy_cell)
    register_copier(types.MethodType, copy_method)
    register_copier(types.BuiltinMethodType, copy_builtin_method)
    register_copier(types.MethodWrapperType, copy_builtin_method)
    register_copier(functools.partial, copy_partial)
    register_copier(type(functools.lru_cache(len)), copy_cached_function)
    register_copier(types.MappingProxyType, copy_mapping_proxy)
    register_copier(type({}.keys()), copy_dict_view)
    register_copier(type({}.values()), copy_dict_view)
    register_copier(type({}.items()), copy_dict_view)
    register_copier(weakref.ref, copy_weakref)
    register_copier(weakref.ProxyType, copy_proxy)
    register_copier(weakref.CallableProxyType, copy_proxy)
    register_copier(weakref.WeakMethod, copy_weak_method)
    register_copier(weakref.WeakValueDictionary, copy_weak_values)
    register_copier(weakref.WeakKeyDictionary, copy_weak_keys)
    register_copier(weakref.WeakSet, copy_weak_set)
