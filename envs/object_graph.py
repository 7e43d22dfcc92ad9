"""What an object holds, with the words that a person would use to get there."""

from __future__ import annotations

import collections
import functools
import gc
import random
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.envs.object_kinds import SHARED_TYPES, instance_dict, is_shared_type, layout_of

__all__ = ["children", "path_to", "reachable"]


def children(obj: Any) -> Iterator[tuple[str, Any]]:
    """The objects that an object holds, each with the text that follows the holder's name in Python."""
    cls = type(obj)
    if isinstance(obj, list | tuple | collections.deque):
        for index, item in enumerate(obj):
            yield f"[{index}]", item
    elif isinstance(obj, dict):
        for key, value in obj.items():
            if type(key) not in SHARED_TYPES:
                yield f" (the key {type(key).__name__})", key
            yield f"[{key!r}]" if type(key) in SHARED_TYPES else f"[{type(key).__name__}]", value
        if isinstance(obj, collections.defaultdict):
            yield ".default_factory", obj.default_factory
    elif isinstance(obj, set | frozenset):
        for item in obj:
            yield " (an element)", item
    elif isinstance(obj, np.ndarray):
        if obj.base is not None:
            yield ".base", obj.base
        if obj.dtype == object:
            for place in np.ndindex(obj.shape):
                yield str(list(place)), obj[place]
    elif isinstance(obj, types.FunctionType):
        for name, cell in zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=True):
            yield f" (its variable {name})", cell
        for default in obj.__defaults__ or ():
            yield " (a default argument)", default
        for name, default in (obj.__kwdefaults__ or {}).items():
            yield f" (its default for {name})", default
    elif isinstance(obj, types.CellType):
        try:
            yield "", obj.cell_contents
        except ValueError:  # the variable has no value yet
            return
    elif isinstance(obj, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        yield ".__self__", obj.__self__
        if isinstance(obj, types.MethodType):
            yield ".__func__", obj.__func__
    elif isinstance(obj, functools.partial):
        yield ".func", obj.func
        yield ".args", obj.args
        yield ".keywords", obj.keywords
    elif isinstance(obj, np.random.Generator):
        yield ".bit_generator", obj.bit_generator
    elif isinstance(obj, np.random.RandomState):
        yield "._bit_generator", obj._bit_generator
    elif isinstance(obj, weakref.ref | np.random.BitGenerator | random.Random):
        pass
    elif layout_of(cls) is None or isinstance(obj, types.MappingProxyType):
        for item in gc.get_referents(obj):
            yield f" (inside the {cls.__name__})", item
    fields = instance_dict(obj)
    for name, value in (fields or {}).items():
        yield f".{name}", value
    layout = layout_of(cls)
    for slot in layout.slots if layout is not None else ():
        try:
            yield f".{slot.__name__}", slot.__get__(obj)
        except AttributeError:  # a slot that was never set
            continue


def reachable(root: Any) -> Iterator[tuple[str, Any]]:
    """Every object that the root holds, each once and the root first, with its path from the root."""
    seen = {id(root)}
    waiting: collections.deque[tuple[str, Any]] = collections.deque([("", root)])
    keep: list[Any] = []  # what was made on the way must live, or its id would be used again
    while waiting:
        path, obj = waiting.popleft()
        yield path, obj
        for label, child in children(obj):
            if id(child) in seen or is_shared_type(type(child)):
                continue
            seen.add(id(child))
            keep.append(child)
            waiting.append((path + label, child))


def path_to(root: Any, target: Any, name: str = "env") -> str:
    """How Python would reach ``target`` from ``root``, such as ``env.board.engine``."""
    for path, obj in reachable(root):
        if obj is target:
            return name + path
    return f"{name} (inside {type(target).__name__})"
