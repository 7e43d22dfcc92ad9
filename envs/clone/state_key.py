"""A hashable key of everything in an environment that can change its future.

It comes from the whole state, never from an observation; random generators, spaces, what only draws and the caches
of PettingZoo's wrappers are left out. Equal keys have values of the same type, in containers of the same order
(sets aside), shared in the same places: ``1``, ``1.0`` and ``True`` differ, as do ``0.0`` and ``-0.0``.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import itertools
import json
import marshal
import re
import types
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import UncopyableError, fields_of, full_name, layout_of
from zermelo.envs.clone.traversal import KINDS, kind_of, path_to
from zermelo.envs.errors import CloneError

_PLAIN: Final = frozenset({int, str, bytes, types.NoneType})
_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")
_ENDS: Final = 50
_BYTES: Final = 100  # so many bytes of an array are looked at for each item of a container
_CONTAINERS: Final = (list, tuple, dict, set, frozenset, collections.deque)

AS_IT_IS: Final = "as it is"
IN_ANY_ORDER: Final = "in any order"
Left: TypeAlias = Mapping[str, Mapping[str, str]]
"""What does not count: by the full name of a class, its attributes; each ``AS_IT_IS``, ``IN_ANY_ORDER``, or in
JSON the places in it of which only counts which values there are equal to each other."""
ANY: Final = "*"
KEYS: Final = "keys"
Place: TypeAlias = tuple[tuple[Any, ...], str]
"""A place in an attribute's value, and the full name of the type of what stands there. Of a tuple the number of
the item, of a dict with text as keys the key, of other containers ``ANY`` item, or the ``KEYS`` of a dict."""


def key_place(key: Any) -> str:
    """The place of a value in a dict, by its key."""
    return f"={key}" if type(key) is str else ANY


@functools.lru_cache(maxsize=64)  # by the text that is read
def _places(how: str) -> frozenset[Place]:
    return frozenset((tuple(path), name) for path, name in json.loads(how))


def state_key(env: Any, without: Left | None = None) -> Hashable:
    """The key of an environment's state but for the attributes ``without``; equal keys mean the same future.

    Raises:
        CloneError: Something in the environment has no value that could be compared; the message names it.
    """
    walk = _KeyWalk(without=without)
    try:
        walk.add_all([env])
    except UncopyableError as error:
        raise CloneError(
            f"no key can be made of this {type(env).__qualname__}: {path_to(env, error.obj)} is a "
            f"{type(error.obj).__qualname__}, whose value cannot be compared; "
            "say what it is made of with zermelo.envs.register_clone"
        ) from None
    return tuple(walk.out)


def digest(value: Any, limit: int = 0) -> bytes:
    """A digest of a value: equal for equal content, in every process; no code of the user's runs.

    What cannot be compared counts by its class. At most ``limit`` items, of all containers together, are looked at
    (0 for all); of a larger container the size and the ends count, and of an array some of its numbers.
    """
    walk = _KeyWalk(is_digest=True, left=limit or None)
    try:
        walk.add_all([value])
    except (UncopyableError, RecursionError):
        walk.out = [type(value)]
    return hashlib.blake2b(marshal.dumps([*map(_written, walk.out)], 2), digest_size=16).digest()


def _part_of(value: Any, left: int) -> list[Any] | None:
    """What counts of a container or an array that is too large; None where all of it does."""
    if issubclass(type(value), np.ndarray):
        most = max(_BYTES * left // max(value.itemsize, 1), _ENDS)
        if value.size <= most:
            return None
        flat = value.reshape(-1)
        return [value.shape, flat[:: -(-value.size // most)].copy(), flat[-_ENDS:].copy()]
    if type(value) not in _CONTAINERS or len(value) <= max(left, 0):
        return None
    items = value.items() if type(value) is dict else value
    ends = min(_ENDS, max(left, 0))
    last = [] if isinstance(value, set | frozenset) else list(itertools.islice(reversed(items), ends))
    first = [] if isinstance(value, set | frozenset) else list(itertools.islice(items, ends))
    return [type(value), len(value), first, last]


def _written(item: Any) -> Any:
    if type(item) is str and _ADDRESS.search(item):
        return _ADDRESS.sub("", item)
    if type(item) in _PLAIN:
        return item
    if isinstance(item, type):
        return full_name(item)
    if type(item) is tuple:
        return tuple(map(_written, item))
    if type(item) is frozenset:
        return sorted(map(repr, item))
    return _ADDRESS.sub("", repr(item))


class _KeyWalk:
    """Writes the state as one flat sequence of hashable values; ``left`` items may still be looked at."""

    __slots__ = ("is_digest", "keep", "left", "numbers", "out", "seen", "without")

    def __init__(self, *, is_digest: bool = False, left: int | None = None, without: Left | None = None) -> None:
        self.is_digest, self.left, self.without = is_digest, left, without
        self.out: list[Any] = []
        self.seen: dict[int, int] = {}
        self.numbers: dict[Any, str] = {}
        self.keep: list[Any] = []

    def add_all(self, objects: Iterable[Any]) -> None:
        out, seen = self.out, self.seen
        self.keep.append(objects)  # what was made on the way must live, or its id would be used again
        for obj in objects:
            cls = type(obj)
            if cls in _PLAIN:
                out.append(obj)
                continue
            if self.left is not None:
                part = _part_of(obj, self.left)
                self.left -= len(obj) if part is None and cls in _CONTAINERS else 1
                if part is not None:
                    self.add_all(part)
                    continue
            kind = KINDS.get(cls) or kind_of(cls)
            if kind.by_value and kind.key is None:
                value = kind.value(obj)
                out += (cls, repr(obj) if self.is_digest and value == id(obj) and cls is not int else value)
                continue
            index = seen.get(id(obj))
            if index is not None:
                out += (_KeyWalk, index)
                continue
            seen[id(obj)] = len(seen)
            if kind.key is None:
                self.add_content(cls, kind.value(obj), kind.parts(obj))
            else:
                kind.key(obj, self)

    def add_content(self, cls: type, value: Hashable, parts: Any) -> None:
        out = self.out
        out += (original_class(cls), value, len(parts))
        if _PLAIN.issuperset(map(type, parts)):
            out += parts
        else:
            self.add_all(parts)

    def add_attributes(self, cls: type, names: tuple[str, ...], values: Any) -> None:
        self.out.append(names)
        left_out = None if self.without is None else self.without.get(full_name(cls))
        if left_out:
            pairs = zip(values, map(left_out.get, names), strict=True)
            values = [value if how is None else self.reduced(value, how) for value, how in pairs]
        self.add_all(values)

    def reduced(self, value: Any, how: str) -> Any:
        if how == AS_IT_IS:
            return value
        if how == IN_ANY_ORDER:
            return sorted(value, key=_alone)
        return self.numbered(value, (), _places(how))

    def numbered(self, value: Any, path: tuple[Any, ...], places: frozenset[Place]) -> Any:
        """A value, with numbers in place of those at some places: equal ones have the same."""
        cls = type(value)
        if (path, full_name(cls)) in places:
            is_array = issubclass(cls, np.ndarray | np.generic)
            return self.numbers.setdefault((cls, digest(value) if is_array else value), f"#{len(self.numbers)}")
        items: list[Any]
        if issubclass(cls, dict):
            keys = [self.numbered(key, (*path, KEYS), places) for key in value]
            parts = (self.numbered(part, (*path, key_place(key)), places) for key, part in value.items())
            items = list(zip(keys, parts, strict=True))
        elif issubclass(cls, tuple):
            items = [self.numbered(part, (*path, place), places) for place, part in enumerate(value)]
        elif issubclass(cls, list | collections.deque):
            items = [self.numbered(part, (*path, ANY), places) for part in value]
        else:
            return value
        layout = layout_of(cls)
        has_fields = layout.dict_of is not None or bool(layout.slots)
        return [original_class(cls), items, fields_of(value) if has_fields else None]

    def add_set(self, cls: type, items: Any) -> None:
        if _PLAIN.issuperset(map(type, items)):
            self.out += (original_class(cls), frozenset(items))
            return
        values = [_by_value(item) for item in items]
        if None not in values:
            self.out += (original_class(cls), frozenset(values))
        else:
            # Each element's own key gives the order; then as usual, so that what they share is written as shared.
            self.add_content(cls, (), sorted(items, key=functools.partial(_alone, is_digest=self.is_digest)))


def _by_value(item: Any) -> Hashable:
    """A value that equals that of another item if both are equal; None where which object it is may matter."""
    cls = type(item)
    if cls in _PLAIN:
        return cls, item
    if cls is tuple:
        parts = tuple(map(_by_value, item))
        return None if None in parts else (cls, parts)
    kind = KINDS.get(cls) or kind_of(cls)
    return (cls, kind.value(item)) if kind.by_value and kind.key is None else None


def _alone(obj: Any, *, is_digest: bool = False) -> str:
    walk = _KeyWalk(is_digest=is_digest)
    walk.add_all([obj])
    return repr(walk.out)
