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
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import Kind, UncopyableError, fields_of, full_name, layout_of
from zermelo.envs.clone.traversal import KINDS, kind_of, path_to
from zermelo.envs.errors import CloneError

PLAIN: Final = frozenset({int, str, bytes, types.NoneType})
_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")
_ENDS: Final = 50
_DEEPEST: Final = 16  # so many steps from the elements of a set are looked at to tell them apart
_MOST_TEXTS: Final = 10_000  # descriptions, for all sets of a key together
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


def state_key(env: Any, ignored_paths: Left | None = None) -> Hashable:
    """The key of an environment's state but for ``ignored_paths``; equal keys mean the same future.

    Raises:
        CloneError: Something in the environment has no value that could be compared; the message names it.
    """
    walk = _KeyWalk(ignored_paths=ignored_paths)
    try:
        walk.add_all([env])
        walk.finish()
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
        walk.finish()
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
    if type(item) in PLAIN:
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

    __slots__ = ("ignored_paths", "is_digest", "keep", "left", "numbers", "out", "references", "seen", "texts")
    is_outline: ClassVar = False

    def __init__(
        self, *, is_digest: bool = False, left: int | None = None, ignored_paths: Left | None = None
    ) -> None:
        self.is_digest, self.left, self.ignored_paths = is_digest, left, ignored_paths
        self.out: list[Any] = []
        self.seen: dict[int, int] = {}
        self.numbers: dict[Any, str] = {}
        self.keep: list[Any] = []
        self.references: list[tuple[int, Any]] = []
        self.texts = 0

    def add_all(self, objects: Iterable[Any]) -> None:
        out, seen, is_outline = self.out, self.seen, self.is_outline
        self.keep.append(objects)  # what was made on the way must live, or its id would be used again
        for obj in objects:
            cls = type(obj)
            if cls in PLAIN:
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
            if is_outline:
                self.add_outline(obj, kind)
                continue
            seen[id(obj)] = len(seen)
            if kind.key is None:
                self.add_content(cls, kind.value(obj), kind.parts(obj))
            else:
                kind.key(obj, self)

    def add_outline(self, obj: Any, kind: Kind) -> None:
        raise NotImplementedError

    def add_reference(self, target: Any) -> None:
        """Writes a weak reference; its target may be met later."""
        self.out += (weakref.ref, original_class(type(target)), -1)
        self.references.append((len(self.out) - 1, target))

    def finish(self) -> None:
        for place, target in self.references:
            self.out[place] = self.seen.get(id(target), -1)

    def add_content(self, cls: type, value: Hashable, parts: Any) -> None:
        out = self.out
        out += (original_class(cls), value, len(parts))
        if PLAIN.issuperset(map(type, parts)):
            out += parts
        else:
            self.add_all(parts)

    def add_attributes(self, cls: type, names: tuple[str, ...], values: Any) -> None:
        self.out.append(names)
        left_out = None if self.ignored_paths is None else self.ignored_paths.get(full_name(cls))
        if left_out:
            pairs = zip(values, map(left_out.get, names), strict=True)
            values = [value if how is None else self.reduced(value, how) for value, how in pairs]
        self.add_all(values)

    def reduced(self, value: Any, how: str) -> Any:
        if how == AS_IT_IS:
            return value
        if how == IN_ANY_ORDER:
            return [item for alike in self.in_order(value) for item in alike]
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
        if PLAIN.issuperset(map(type, items)):
            self.out += (original_class(cls), frozenset(items))
            return
        values = [_by_value(item) for item in items]
        if None not in values:
            self.out += (original_class(cls), frozenset(values))
        else:
            self.out += (original_class(cls), len(items))
            for alike in self.in_order(items):
                self.add_alike(alike)

    def in_order(self, items: Sequence[Any]) -> list[list[Any]]:
        """Items in an order that depends on what they are, not on where they are; those not told apart together.

        What leads back to the items, or from one to another, has no end: further steps are looked at only while
        there are items that look alike.
        """
        groups, depth = [[*items]], 1
        while depth <= _DEEPEST and self.texts < _MOST_TEXTS and any(len(group) > 1 for group in groups):
            outline = _Outline(self, depth)
            groups = [part for group in groups for part in outline.split(group)]
            self.texts += outline.texts
            if not outline.is_cut:
                break
            depth *= 2
        return groups

    def add_alike(self, items: list[Any]) -> None:
        """Writes elements of a set that look alike: one that is met on the way to another comes next."""
        waiting = {id(item): item for item in items}
        known = sorted(waiting.keys() & self.seen.keys(), key=self.seen.__getitem__)
        while waiting:
            before = len(self.seen)
            self.add_all([waiting.pop(number) for number in known or [next(iter(waiting))]])
            met = [*itertools.islice(reversed(self.seen), len(self.seen) - before)]
            known = [number for number in reversed(met) if number in waiting]


REFERENCE: Final = _KeyWalk
"""Stands in a key before the number of an object that is in it already."""


class _Outline(_KeyWalk):
    """Describes objects as far as ``depth`` steps lead, and what its ``walk`` has met already by its number.

    ``is_cut`` says whether there was more to see.
    """

    __slots__ = ("depth", "is_cut", "known")
    is_outline = True

    def __init__(self, walk: _KeyWalk, depth: int) -> None:
        super().__init__(is_digest=walk.is_digest, ignored_paths=walk.ignored_paths)
        self.seen = walk.seen
        self.depth, self.is_cut = depth, False
        self.known: dict[tuple[int, int], str] = {}

    def split(self, items: list[Any]) -> list[list[Any]]:
        """The items, those of equal descriptions together."""
        if len(items) == 1:
            return [items]
        found: dict[str, list[Any]] = {}
        for item in items:
            found.setdefault(self.item_text(item), []).append(item)
        return [found[text] for text in sorted(found)]

    def item_text(self, item: Any) -> str:
        return self.text(lambda: self.add_all([item]))

    def text(self, write: Callable[[], None]) -> str:
        self.texts += 1
        outer, self.out = self.out, []
        write()
        found, self.out = repr(self.out), outer
        found = _ADDRESS.sub("", found) if self.is_digest else found
        return hashlib.blake2b(found.encode(errors="replace"), digest_size=16).hexdigest()

    def add_outline(self, obj: Any, kind: Kind) -> None:
        if self.depth == 0:
            self.is_cut = True
            self.out.append(original_class(type(obj)))
            return
        place = id(obj), self.depth
        if place not in self.known:
            self.depth -= 1
            self.known[place] = self.text(lambda: self.describe(obj, kind))
            self.depth += 1
        self.out.append(self.known[place])

    def describe(self, obj: Any, kind: Kind) -> None:
        if kind.key is None:
            self.add_content(type(obj), kind.value(obj), kind.parts(obj))
        else:
            kind.key(obj, self)

    def add_reference(self, target: Any) -> None:
        self.out += (weakref.ref, original_class(type(target)), self.seen.get(id(target), -1))

    def add_set(self, cls: type, items: Any) -> None:
        self.out += (original_class(cls), sorted(map(self.item_text, items)))

    def numbered(self, value: Any, path: tuple[Any, ...], places: frozenset[Place]) -> Any:
        return None  # its numbers would depend on the order


def _by_value(item: Any) -> Hashable:
    """A value that equals that of another item if both are equal; None where which object it is may matter."""
    cls = type(item)
    if cls in PLAIN:
        return cls, item
    if cls is tuple:
        parts = tuple(map(_by_value, item))
        return None if None in parts else (cls, parts)
    kind = KINDS.get(cls) or kind_of(cls)
    return (cls, kind.value(item)) if kind.by_value and kind.key is None else None
