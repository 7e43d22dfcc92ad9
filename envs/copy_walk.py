"""Copies anything an environment can hold, attribute by attribute, and keeps what is shared inside it shared.

This is the slow and general copier. It never asks a class how to pickle itself: ``EzPickle``, which most
PettingZoo environments inherit, answers with constructor arguments and loses the game. A memo maps each object
to its copy, so two paths to one list in the original are two paths to one list in the copy, and cycles end.
"""

from __future__ import annotations

import collections
import copyreg
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from zermelo.envs.object_kinds import (
    SHARED_TYPES,
    Layout,
    is_defined_in,
    is_shared_type,
    is_standard_stream,
    layout_of,
    refusal,
)

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


# --- containers


def _copy_list(obj: list[Any], walk: CopyWalk) -> list[Any]:
    new: list[Any] = []
    walk.memo[id(obj)] = new
    copy = walk.copy
    new.extend([copy(item) for item in obj])
    return new


def _copy_dict(obj: dict[Any, Any], walk: CopyWalk) -> dict[Any, Any]:
    new: dict[Any, Any] = {}
    walk.memo[id(obj)] = new
    copy = walk.copy
    for key, value in obj.items():
        new[copy(key)] = copy(value)
    return new


def _copy_tuple(obj: tuple[Any, ...], walk: CopyWalk) -> tuple[Any, ...]:
    items = [walk.copy(item) for item in obj]
    found: tuple[Any, ...] | None = walk.memo.get(id(obj))
    if found is not None:  # an element led back here
        return found
    if all(new is old for new, old in zip(items, obj, strict=True)):
        return obj
    return tuple(items)


def _copy_set(obj: set[Any], walk: CopyWalk) -> set[Any]:
    new: set[Any] = set()
    walk.memo[id(obj)] = new
    items = [walk.copy(item) for item in obj]
    _fill_set(new, obj, items)
    return new


def _fill_set(new: set[Any], old: set[Any], items: list[Any]) -> None:
    """Fills a set so that, where Python lets us, it is gone through in the same order as the old one.

    ``set.pop`` and iteration follow the hash table, whose size depends on what the set held before.
    """
    new.update(items)
    if any(copied is not item for copied, item in zip(items, old, strict=True)) or list(new) == items:
        return
    # Grow the table as the old one was grown, empty it, and fill it in the old one's order.
    for count in (8, 32, 128, 512, 2048, 8192, 32768):
        trial = _grown_set(count, items)
        if trial.__sizeof__() == old.__sizeof__() and list(trial) == items:
            new.clear()
            new.update(range(-count - 10, -10))
            _refill(new, items)
            return


def _grown_set(count: int, items: list[Any]) -> set[Any]:
    """A set whose table has held ``count`` elements, and that holds ``items``."""
    grown: set[Any] = set(range(-count - 10, -10))
    _refill(grown, items)
    return grown


def _refill(table: set[Any], items: list[Any]) -> None:
    for placeholder in list(table):
        table.discard(placeholder)  # one by one: difference_update would shrink the table
    table.update(items)


def _copy_frozenset(obj: frozenset[Any], walk: CopyWalk) -> frozenset[Any]:
    items = [walk.copy(item) for item in obj]
    found: frozenset[Any] | None = walk.memo.get(id(obj))
    if found is not None:
        return found
    if all(new is old for new, old in zip(items, obj, strict=True)):
        return obj
    return frozenset(items)


def _copy_bytearray(obj: bytearray, walk: CopyWalk) -> bytearray:
    return bytearray(obj)


# --- objects of Python classes


def _object_handler(cls: type, layout: Layout) -> Handler:
    slots, dict_of, base = layout.slots, layout.dict_of, layout.base

    def copy_fields(obj: Any, new: Any, walk: CopyWalk) -> None:
        if dict_of is not None:
            old_fields = dict_of.__get__(obj)
            new_fields = dict_of.__get__(new)
            walk.memo[id(old_fields)] = new_fields
            copy = walk.copy
            for name, value in old_fields.items():
                new_fields[name] = copy(value)
        for slot in slots:
            try:
                value = slot.__get__(obj)
            except AttributeError:
                continue
            slot.__set__(new, walk.copy(value))

    if base in (tuple, frozenset, int, float, complex, str, bytes):

        def copy_value(obj: Any, walk: CopyWalk) -> Any:
            content: Any
            if base is tuple:
                content = [walk.copy(item) for item in tuple.__iter__(obj)]
                unchanged = all(new is old for new, old in zip(content, tuple.__iter__(obj), strict=True))
            elif base is frozenset:
                content = [walk.copy(item) for item in frozenset.__iter__(obj)]
                unchanged = all(new is old for new, old in zip(content, frozenset.__iter__(obj), strict=True))
            else:
                content, unchanged = _plain_value(base, obj), True
            found = walk.memo.get(id(obj))
            if found is not None:
                return found
            if unchanged and dict_of is None and not slots:
                return obj
            new = base.__new__(cls, content)
            walk.memo[id(obj)] = new
            copy_fields(obj, new, walk)
            return new

        return copy_value

    def copy_object(obj: Any, walk: CopyWalk) -> Any:
        new: Any = base.__new__(cls)
        walk.memo[id(obj)] = new
        copy_fields(obj, new, walk)
        return new

    if base in (object, types.SimpleNamespace):
        return copy_object

    fill = _FILLERS[base]

    def copy_container(obj: Any, walk: CopyWalk) -> Any:
        new: Any = base.__new__(cls)
        walk.memo[id(obj)] = new
        fill(obj, new, walk)
        copy_fields(obj, new, walk)
        return new

    return copy_container


def _plain_value(base: type, obj: Any) -> Any:
    if base is str:
        return str.__str__(obj)
    if base is bytes:
        return bytes.__getitem__(obj, slice(None))
    if base is int:
        return int.__int__(obj)
    if base is float:
        return float.__float__(obj)
    return complex(float(obj.real), float(obj.imag))


def _fill_list(obj: Any, new: Any, walk: CopyWalk) -> None:
    list.extend(new, [walk.copy(item) for item in list.__iter__(obj)])


def _fill_dict(obj: Any, new: Any, walk: CopyWalk) -> None:
    for key, value in dict.items(obj):
        dict.__setitem__(new, walk.copy(key), walk.copy(value))


def _fill_ordered(obj: Any, new: Any, walk: CopyWalk) -> None:
    ordered = collections.OrderedDict
    for key in ordered.__iter__(obj):
        ordered.__setitem__(new, walk.copy(key), walk.copy(dict.__getitem__(obj, key)))


def _fill_default(obj: Any, new: Any, walk: CopyWalk) -> None:
    collections.defaultdict.__init__(new, walk.copy(obj.default_factory))
    _fill_dict(obj, new, walk)


def _fill_any_set(obj: Any, new: Any, walk: CopyWalk) -> None:
    set.update(new, [walk.copy(item) for item in set.__iter__(obj)])


def _fill_deque(obj: Any, new: Any, walk: CopyWalk) -> None:
    collections.deque.__init__(new, (), obj.maxlen)
    collections.deque.extend(new, [walk.copy(item) for item in collections.deque.__iter__(obj)])


def _fill_bytearray(obj: Any, new: Any, walk: CopyWalk) -> None:
    bytearray.extend(new, bytes(obj))


_FILLERS: Final[dict[type, Callable[[Any, Any, CopyWalk], None]]] = {
    list: _fill_list,
    dict: _fill_dict,
    collections.OrderedDict: _fill_ordered,
    collections.defaultdict: _fill_default,
    set: _fill_any_set,
    collections.deque: _fill_deque,
    bytearray: _fill_bytearray,
}


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
    return None if layout is None else _object_handler(cls, layout)


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
        return _object_handler(cls, layout)
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


def _copy_by_reduce(obj: Any, walk: CopyWalk) -> Any:
    """For objects of C code that says how to rebuild them (iterators, dates of other packages, Cython classes)."""
    cls = type(obj)
    if is_defined_in(cls, *_EZPICKLE):
        raise UncopyableError(obj, f"is a {cls.__qualname__}, partly C code, and cannot be copied by attribute")
    try:
        with warnings.catch_warnings():
            # Python 3.12 deprecates copying itertools objects, 3.14 ends it.
            warnings.simplefilter("ignore", DeprecationWarning)
            reducer = copyreg.dispatch_table.get(cls)
            parts = reducer(obj) if reducer is not None else obj.__reduce_ex__(4)
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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
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


_handlers.update(
    {
        list: _copy_list,
        dict: _copy_dict,
        tuple: _copy_tuple,
        set: _copy_set,
        frozenset: _copy_frozenset,
        bytearray: _copy_bytearray,
        np.void: lambda obj, walk: obj.copy(),
    }
)
