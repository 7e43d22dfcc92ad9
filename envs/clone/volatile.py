"""Values that differ between two copies that did the same: clocks, counters, identifiers."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import is_source
from zermelo.envs.clone.kinds import SHARED, fields_of, full_name, layout_of
from zermelo.envs.clone.libraries import is_space
from zermelo.envs.clone.state_key import ANY, AS_IT_IS, KEYS, Left, Place, digest, key_place

_MOST: Final = 20_000  # pairs of parts that are looked at


class VolatileParts:
    """What is found to be volatile in pairs of copies that did the same, by type and place in an attribute.

    Where a container has values of one type of which some differ and some do not, nobody knows which mean
    something: all of them stay.
    """

    def __init__(self) -> None:
        self._differing: dict[tuple[str, str], set[Place]] = defaultdict(set)
        self._equal: dict[tuple[str, str], set[Place]] = defaultdict(set)
        self._opaque: set[tuple[str, str]] = set()
        """Attributes that differ in a way that cannot be told apart into places."""

    def __bool__(self) -> bool:
        return bool(self._differing or self._opaque)

    def compare(self, one: Any, other: Any) -> None:
        """Compares the attributes of two environments that did the same."""
        seen: set[int] = set()
        waiting: list[tuple[Any, Any, tuple[str, str], tuple[Any, ...]]] = [(one, other, ("", ""), ())]
        while waiting and len(seen) < _MOST:
            first, second, owner, path = waiting.pop()
            kind = type(first)
            if kind in SHARED or issubclass(kind, np.ndarray | np.generic):
                self._compare_values(first, second, owner, path)
                continue
            if id(first) in seen or is_source(first) or is_space(kind):
                continue
            seen.add(id(first))
            if original_class(kind) is not original_class(type(second)):
                self._opaque.add(owner)
                continue
            layout = layout_of(kind)
            if issubclass(kind, dict | list | tuple | deque):
                waiting += self._items(first, second, owner, path)
            elif layout.base is not object and digest(first) != digest(second):
                self._opaque.add(owner)
            if layout.dict_of is not None or layout.slots:
                cls, mine, others = full_name(original_class(kind)), fields_of(first), fields_of(second)
                waiting += [(mine[name], others[name], (cls, name), ()) for name in mine.keys() & others.keys()]
                self._opaque |= {(cls, name) for name in mine.keys() ^ others.keys()}

    def _compare_values(self, first: Any, second: Any, owner: tuple[str, str], path: tuple[Any, ...]) -> None:
        kind = type(first)
        if kind is not type(second):
            self._opaque.add(owner)
            return
        is_equal = digest(first) == digest(second)
        is_array = issubclass(kind, np.ndarray)
        if is_array and not is_equal and (first.shape != second.shape or (first == second).any()):
            self._opaque.add(owner)  # some of its numbers mean something
            return
        if not is_equal or ANY in path or KEYS in path:
            (self._equal if is_equal else self._differing)[owner].add((path, full_name(kind)))

    def _items(
        self, first: Any, second: Any, owner: tuple[str, str], path: tuple[Any, ...]
    ) -> list[tuple[Any, Any, tuple[str, str], tuple[Any, ...]]]:
        if len(first) != len(second):
            self._opaque.add(owner)
            return []
        if not isinstance(first, dict):
            is_tuple = isinstance(first, tuple)
            places: list[Any] = list(range(len(first))) if is_tuple else [ANY] * len(first)
            return [(a, b, owner, (*path, place)) for a, b, place in zip(first, second, places, strict=True)]
        pairs = list(zip(first.items(), second.items(), strict=True))
        found = [(a, b, owner, (*path, key_place(key))) for (key, a), (_, b) in pairs]
        if list(first) != list(second):
            found += [(key, other, owner, (*path, KEYS)) for (key, _), (other, _) in pairs]
        return found

    def left_out(self) -> Left:
        """The places that do not count in a key, as ``state_key`` takes them."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for owner in self._differing.keys() | self._opaque:
            cls, name = owner
            places = self._differing[owner]
            is_mixed = owner in self._opaque or places & self._equal[owner]
            if cls:
                found[cls][name] = AS_IT_IS if is_mixed else json.dumps(sorted(places, key=repr))
        return found
