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

from zermelo.envs.clone.object_kinds import FLATTEN, SHARED_TYPES, instance_dict, is_shared_type, layout_of

__all__ = ["children", "path_to", "reachable"]


def children(obj: Any) -> Iterator[tuple[str, Any]]:
    """The objects that an object holds, each with the text that follows the holder's name in Python.

    Values of the commonest types that hold nothing, such as numbers and text, are left out.
    """
    flatten = FLATTEN.get(type(obj))
    if flatten is not None:
        yield from ((f" (its part {index})", part) for index, part in enumerate(flatten(obj)))
        return
    layout = layout_of(type(obj))
    if layout is None or layout.base is not object:
        yield from _content(obj, layout is None)
    for name, value in (instance_dict(obj) or {}).items():
        if type(value) not in SHARED_TYPES:
            yield f".{name}", value
    for slot in layout.slots if layout is not None else ():
        try:
            yield f".{slot.__name__}", slot.__get__(obj)
        except AttributeError:  # a slot that was never set
            continue


def _content(obj: Any, of_c_code: bool) -> Iterator[tuple[str, Any]]:
    """What the built-in part of an object holds."""
    if isinstance(obj, list | tuple | collections.deque):
        for index, item in enumerate(obj):
            if type(item) not in SHARED_TYPES:
                yield f"[{index}]", item
    elif isinstance(obj, dict):
        for key, value in obj.items():
            if type(key) not in SHARED_TYPES:
                yield f" (the key {type(key).__name__})", key
                yield f"[{type(key).__name__}]", value
            elif type(value) not in SHARED_TYPES:
                yield f"[{key!r}]", value
        if isinstance(obj, collections.defaultdict):
            yield ".default_factory", obj.default_factory
    elif isinstance(obj, set | frozenset):
        for item in obj:
            yield " (an element)", item
    elif isinstance(obj, np.ndarray):
        yield from _array_content(obj)
    elif isinstance(obj, np.random.Generator):
        yield ".bit_generator", obj.bit_generator
    elif isinstance(obj, np.random.RandomState):
        yield "._bit_generator", obj._bit_generator
    elif isinstance(obj, types.FunctionType | types.CellType):
        yield from _function_content(obj)
    elif isinstance(obj, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        yield ".__self__", obj.__self__
        if isinstance(obj, types.MethodType):
            yield ".__func__", obj.__func__
    elif isinstance(obj, functools.partial):
        yield ".func", obj.func
        yield ".args", obj.args
        yield ".keywords", obj.keywords
    elif of_c_code and not isinstance(obj, weakref.ref | np.random.BitGenerator | random.Random):
        for item in gc.get_referents(obj):
            yield f" (inside the {type(obj).__name__})", item


def _array_content(obj: np.ndarray[Any, Any]) -> Iterator[tuple[str, Any]]:
    if obj.base is not None:
        yield ".base", obj.base
    if obj.dtype == object:
        for place in np.ndindex(obj.shape):
            yield str(list(place)), obj[place]
    elif obj.dtype.hasobject:
        for item in obj.ravel().tolist():
            yield " (an element)", item


def _function_content(obj: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(obj, types.CellType):
        try:
            yield "", obj.cell_contents
        except ValueError:  # the variable has no value yet
            return
        return
    for name, cell in zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=True):
        yield f" (its variable {name})", cell
    for default in obj.__defaults__ or ():
        yield " (a default argument)", default
    for name, default in (obj.__kwdefaults__ or {}).items():
        yield f" (its default for {name})", default


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
