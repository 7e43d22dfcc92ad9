"""A hashable key of everything in an environment that can change its future.

The key comes from the whole state, never from an observation: observations are relative to an agent and leave out
what the rules remember (repetitions, move counters). Left out are random generators, whose state a search
replaces; spaces; what only draws; and the caches of PettingZoo's wrappers.

Two states have equal keys when everything else in them is equal: values of the same type, in containers of the
same order (sets aside), shared in the same places. Types count: ``1``, ``1.0`` and ``True`` differ, and so do
``0.0`` and ``-0.0``; every nan of the same bits is the same nan.
"""

from __future__ import annotations

import hashlib
import itertools
import marshal
import re
import types
from collections.abc import Hashable, Iterable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import UncopyableError, full_name
from zermelo.envs.clone.traversal import KINDS, kind_of, path_to
from zermelo.envs.errors import CloneError

_PLAIN: Final = frozenset({int, str, bytes, types.NoneType})
_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")
_ENDS: Final = 50


def state_key(env: Any) -> Hashable:
    """The key of an environment's state; equal keys mean the same future.

    Raises:
        CloneError: Something in the environment has no value that could be compared; the message names it.
    """
    walk = _KeyWalk()
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

    Args:
        value: Anything. What cannot be compared counts by its class.
        limit: Items of a container that are looked at, 0 for all; of a larger one the size and the ends count.
    """
    walk = _KeyWalk(is_digest=True)
    try:
        walk.add_all(_ends(value, limit) if limit else [value])
    except (UncopyableError, RecursionError):
        walk.out = [type(value)]
    return hashlib.blake2b(marshal.dumps([*map(_written, walk.out)], 2), digest_size=16).digest()


def _ends(value: Any, limit: int) -> list[Any]:
    if isinstance(value, np.ndarray) and value.size > 100 * limit:
        flat = value.reshape(-1)
        return [value.shape, flat[:: value.size // limit].copy(), flat[-_ENDS:].copy()]
    if type(value) in (list, tuple, dict, set, frozenset) and len(value) > limit:
        items = value.items() if type(value) is dict else value
        last = [] if isinstance(value, set | frozenset) else list(itertools.islice(reversed(items), _ENDS))
        return [type(value), len(value), list(itertools.islice(items, _ENDS)), last]
    return [value]


def _written(item: Any) -> Any:
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
    """Writes the state as one flat sequence of hashable values, each object led by its type and value."""

    __slots__ = ("is_digest", "keep", "out", "seen")

    def __init__(self, *, is_digest: bool = False) -> None:
        self.is_digest = is_digest
        self.out: list[Any] = []
        self.seen: dict[int, int] = {}
        self.keep: list[Any] = []

    def add_all(self, objects: Iterable[Any]) -> None:
        """Writes objects one after another."""
        out, seen = self.out, self.seen
        self.keep.append(objects)  # what was made on the way must live, or its id would be used again
        for obj in objects:
            cls = type(obj)
            if cls in _PLAIN:
                out.append(obj)
                continue
            kind = KINDS.get(cls) or kind_of(cls)
            if kind.by_value and kind.key is None:
                out += (cls, kind.value(obj))
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
        """Writes an object's class, value and parts."""
        out = self.out
        out += (original_class(cls), value, len(parts))
        if _PLAIN.issuperset(map(type, parts)):
            out += parts
        else:
            self.add_all(parts)

    def add_set(self, cls: type, items: Any) -> None:
        """Writes a set in an order of its own."""
        if _PLAIN.issuperset(map(type, items)):
            self.out += (original_class(cls), frozenset(items))
        else:
            # Each element's own key gives the order; then as usual, so that what they share is written as shared.
            self.add_content(cls, (), sorted(items, key=self._alone))

    def _alone(self, obj: Any) -> str:
        """The key of one object by itself, as text."""
        walk = _KeyWalk(is_digest=self.is_digest)
        walk.add_all([obj])
        return repr(walk.out)
