"""How containers and objects of Python classes are copied: empty first, then filled, so that cycles can close."""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zermelo.envs.clone.object_kinds import SHARED_TYPES, Layout

if TYPE_CHECKING:
    from zermelo.envs.clone.walk import CopyWalk, Handler

__all__ = ["CONTAINER_HANDLERS", "object_handler"]


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
    if SHARED_TYPES.issuperset(map(type, obj)):
        return obj
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
    fill_set(new, obj, items)
    return new


def fill_set(new: set[Any], old: set[Any], items: list[Any]) -> None:
    """Fills an empty set with the elements of another, in its order if Python lets us.

    A set is gone through in the order of its hash table, whose size and gaps depend on all that it ever held. The
    size can be had again, and with it mostly the order, also that of a set that has lost elements; not where many
    elements came in each other's way, or are copies with other hashes, and never where ``pop`` has got to. So
    ``verify_clone`` names sets whose copies are in another order.
    """
    slots = (old.__sizeof__() - _EMPTY_SET) // _SLOT or _SMALL_TABLE
    if slots == _slots_grown(len(items)):  # one by one, as most sets come to be
        new.update(items)
        if list(new) == items:
            return
        new.clear()
    if slots == _slots_at_once(len(items)):  # a dict says how many there will be
        new.update(dict.fromkeys(items))
    else:
        _fill_wide(new, items, slots)


_SMALL_TABLE: Final = 8
_EMPTY_SET: Final = set().__sizeof__()
_SLOT: Final = 16
"""Bytes of a slot in a set's table: an element and its hash."""


def _slots_grown(count: int) -> int:
    """How many slots CPython gives to so many elements that are added one by one (``set_add_entry``)."""
    slots = _SMALL_TABLE
    while count >= (full := _elements_to_fill(slots)):
        slots = _power_above(full * (4 if full <= 50_000 else 2))
    return slots


def _elements_to_fill(slots: int) -> int:
    """With how many elements a table of so many slots grows."""
    return -(-(slots - 1) * 3 // 5)


def _slots_at_once(count: int) -> int:
    """The same for elements whose number is known before (``set_update_internal`` of a dict)."""
    return _power_above(2 * count) if count >= _elements_to_fill(_SMALL_TABLE) else _SMALL_TABLE


def _power_above(number: int) -> int:
    return max(_SMALL_TABLE, 1 << number.bit_length())


def _fill_wide(new: set[Any], items: list[Any], slots: int) -> None:
    """Into a table as large as that of a set that has lost elements.

    It is made large by integers that are taken out again; they stand where the elements do not go.
    """
    grown = _elements_to_fill(slots // 4)
    is_grown = _slots_grown(grown) == slots
    count = grown if is_grown else max(slots // 4, _elements_to_fill(_SMALL_TABLE))
    if count + len(items) < _elements_to_fill(slots):  # else it would grow
        taken = {hash(item) % slots for item in items}
        taken |= {(slot + 1) % slots for slot in taken}
        free = (slot for slot in range(slots) if slot not in taken)
        placeholders = [slot + (slots << 20) for slot in itertools.islice(free, count)]
        new.update(placeholders if is_grown else dict.fromkeys(placeholders))
        for placeholder in placeholders:  # one by one: difference_update would make the table smaller
            new.discard(placeholder)
    new.update(items)


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


def object_handler(cls: type, layout: Layout) -> Handler:
    """What copies objects of a class by what is in its built-in part, its slots and its dict."""
    slots, dict_of, base = layout.slots, layout.dict_of, layout.base
    make: Callable[..., Any] = base.__new__

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
            new: Any = make(cls, content)
            walk.memo[id(obj)] = new
            copy_fields(obj, new, walk)
            return new

        return copy_value

    def copy_object(obj: Any, walk: CopyWalk) -> Any:
        new: Any = make(cls)
        walk.memo[id(obj)] = new
        copy_fields(obj, new, walk)
        return new

    if base in (object, types.SimpleNamespace):
        return copy_object

    fill = _FILLERS[base]

    def copy_container(obj: Any, walk: CopyWalk) -> Any:
        new: Any = make(cls)
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

CONTAINER_HANDLERS: Final[dict[type, Handler]] = {
    list: _copy_list,
    dict: _copy_dict,
    tuple: _copy_tuple,
    set: _copy_set,
    frozenset: _copy_frozenset,
    bytearray: _copy_bytearray,
    np.void: lambda obj, walk: obj.copy(),
}
"""What copies objects of exactly these classes."""
