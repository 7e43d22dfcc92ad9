"""Copies anything an environment can hold, attribute by attribute, and keeps what is shared inside it shared.

This is the slow and general copier. It never asks a class how to pickle itself: ``EzPickle``, which most
PettingZoo environments inherit, answers with constructor arguments and loses the game. A memo maps each object
to its copy, so two paths to one list in the original are two paths to one list in the copy, and cycles end.
"""

from __future__ import annotations

import contextlib
import copyreg
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

from zermelo.envs.clone.object_kinds import (
    SHARED_TYPES,
    is_defined_in,
    is_shared_type,
    is_standard_stream,
    layout_of,
    refusal,
)
from zermelo.envs.clone.objects import CONTAINER_HANDLERS, object_handler

__all__ = [
    "CopyWalk",
    "UncopyableError",
    "attribute_handler",
    "defines_own",
    "invariant_of",
    "register_copier",
    "register_family",
    "register_invariant",
]

Handler = Callable[[Any, "CopyWalk"], Any]


class UncopyableError(Exception):
    """An object was met that cannot be copied; ``clone_env`` says where it was."""

    def __init__(self, obj: Any, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.obj = obj
        self.reason = reason
        self.final = final
        """The reason says already what to do."""


_handlers: dict[type, Handler] = {}
_own_handlers: set[type] = set()
_EZPICKLE: Final = ("gymnasium.utils.ezpickle.EzPickle", "pettingzoo.utils.ezpickle.EzPickle")
# Classes whose own __deepcopy__ is not used: EzPickle loses the game, python-chess copies what it could share.
_DEEPCOPY_IGNORED: Final = (*_EZPICKLE, "chess.BaseBoard")


def register_copier(cls: type, handler: Handler) -> None:
    """Copies objects of exactly this class with ``handler(obj, walk)``.

    The handler puts its result in ``walk.memo[id(obj)]`` before it copies what may lead back to ``obj``, and
    copies what it finds inside with ``walk.copy``.
    """
    _handlers[cls] = handler
    _own_handlers.add(cls)


_invariants: dict[str, Callable[[Any], str | None]] = {}


def register_invariant(full_name: str, check: Callable[[Any], str | None]) -> None:
    """Has ``check(obj)`` called before an object of this class (``module.Class``) or a subclass is copied.

    It is for classes that keep a part of their state outside of their objects. It answers None while that part
    is right for ``obj``, or else what is wrong and what to do, in words that follow the object's path.
    """
    _invariants[full_name] = check


def invariant_of(cls: type) -> Callable[[Any], str | None] | None:
    """The check registered for a class or one of its parents."""
    for base in cls.__mro__:
        check = _invariants.get(f"{base.__module__}.{base.__qualname__}")
        if check is not None:
            return check
    return None


class CopyWalk:
    """One walk through an object and all that it holds.

    Attributes:
        memo: For each object met that is copied, by its ``id``: its copy.
        root: What the walk started from.
    """

    __slots__ = ("_reachable", "_weak_copied", "keep", "memo", "root")

    def __init__(self, root: Any, memo: dict[int, Any] | None = None, *, weak_copied: bool = True) -> None:
        self.memo: dict[int, Any] = {} if memo is None else memo
        self.keep: list[Any] = []
        self.root = root
        self._weak_copied = weak_copied
        self._reachable: set[int] | None = None

    def copy(self, obj: Any) -> Any:
        """The copy of an object; the object itself where sharing it is right."""
        cls = type(obj)
        if cls in SHARED_TYPES:
            return obj
        found = self.memo.get(id(obj))
        if found is not None:
            return found
        handler = _handlers.get(cls)
        if handler is None:
            if is_shared_type(cls):
                return obj
            handler = _handlers[cls] = _find_handler(cls)
        result = handler(obj, self)
        self.memo[id(obj)] = result
        return result

    def is_reachable(self, obj: Any) -> bool:
        """Whether the root holds this object by something stronger than a weak reference."""
        if not self._weak_copied:
            return False
        if self._reachable is None:
            trial = CopyWalk(self.root, weak_copied=False)
            trial.copy(self.root)
            self._reachable = set(trial.memo)
        return id(obj) in self._reachable


# --- which handler


def _refuse(reason: str) -> Handler:
    def handler(obj: Any, walk: CopyWalk) -> Any:
        if is_standard_stream(obj):
            return obj
        raise UncopyableError(obj, f"is {reason}")

    return handler


def _copy_by_own_deepcopy(obj: Any, walk: CopyWalk) -> Any:
    return obj.__deepcopy__(walk.memo)


def attribute_handler(cls: type) -> Handler | None:
    """What copies objects of a class by their attributes, whatever methods it has; None for C code."""
    layout = layout_of(cls)
    return None if layout is None else object_handler(cls, layout)


def handler_is_general(cls: type) -> bool:
    """Whether objects of the class are copied attribute by attribute, with no special handler."""
    if cls in _own_handlers or refusal(cls) is not None or defines_own(cls, "__deepcopy__"):
        return False
    return layout_of(cls) is not None and all(find(cls) is None for find in _families)


def _find_handler(cls: type) -> Handler:
    handler = _find_plain_handler(cls)
    check = invariant_of(cls)
    if check is None:
        return handler

    def checked(obj: Any, walk: CopyWalk) -> Any:
        wrong = check(obj)
        if wrong is not None:
            raise UncopyableError(obj, wrong, final=True)
        return handler(obj, walk)

    return checked


def _find_plain_handler(cls: type) -> Handler:
    reason = refusal(cls)
    if reason is not None:
        return _refuse(reason)
    for load in _families:
        handler = load(cls)
        if handler is not None:
            return handler
    if defines_own(cls, "__deepcopy__"):
        return _copy_by_own_deepcopy
    layout = layout_of(cls)
    if layout is not None:
        return object_handler(cls, layout)
    return _copy_by_reduce


def defines_own(cls: type, name: str) -> bool:
    """Whether the class or a parent defines the method, ``object`` and ``EzPickle`` aside."""
    for base in cls.__mro__:
        if name in base.__dict__ and base is not object:
            return f"{base.__module__}.{base.__qualname__}" not in _DEEPCOPY_IGNORED
    return False


_families: list[Callable[[type], Handler | None]] = []


def register_family(find: Callable[[type], Handler | None]) -> None:
    """Adds a rule that gives the handler for a class, or None; asked once a class, before the general rules."""
    _families.append(find)


def quiet() -> contextlib.AbstractContextManager[Any]:
    """Python 3.12 warns that copying itertools objects will end with 3.14; until then it works."""
    if sys.version_info < (3, 12):
        return contextlib.nullcontext()
    return warnings.catch_warnings(action="ignore", category=DeprecationWarning)


def reduce_quietly(obj: Any) -> Any:
    """What an object of C code says it would be rebuilt from; raises what it raises."""
    with quiet():
        reducer = copyreg.dispatch_table.get(type(obj))
        return reducer(obj) if reducer is not None else obj.__reduce_ex__(4)


def _copy_by_reduce(obj: Any, walk: CopyWalk) -> Any:
    """For objects of C code that says how to rebuild them (iterators, dates of other packages, Cython classes)."""
    cls = type(obj)
    if is_defined_in(cls, *_EZPICKLE):
        raise UncopyableError(obj, f"is a {cls.__qualname__}, partly C code, and cannot be copied by attribute")
    try:
        parts = reduce_quietly(obj)
    except Exception as error:
        raise UncopyableError(obj, f"is a {cls.__module__}.{cls.__qualname__}, which cannot be copied") from error
    if isinstance(parts, str):
        return obj
    walk.keep.append(parts)
    return _rebuild(obj, parts, walk)


def _rebuild(obj: Any, parts: tuple[Any, ...], walk: CopyWalk) -> Any:
    make, arguments, state, items, pairs = (*parts, None, None, None)[:5]
    new = make(*[walk.copy(argument) for argument in arguments])
    walk.memo[id(obj)] = new
    if state is not None:
        state = walk.copy(state)
        if hasattr(new, "__setstate__"):
            with quiet():
                new.__setstate__(state)
        else:
            fields, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            if fields:
                new.__dict__.update(fields)
            for name, value in (slots or {}).items():
                setattr(new, name, value)
    if items is not None:
        new.extend([walk.copy(item) for item in items])
    for key, value in pairs or ():
        new[walk.copy(key)] = walk.copy(value)
    return new


def each_identical(new: Iterable[Any], old: Iterable[Any]) -> bool:
    """Whether two sequences hold the same objects, one by one."""
    return all(a is b for a, b in zip(new, old, strict=True))


_handlers.update(CONTAINER_HANDLERS)
