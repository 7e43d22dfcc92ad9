"""Digests of values: equal for equal content, in every process, whatever the value is made of.

Nothing is copied and no code of the user's runs. Random generators, locks and what only draws have no content.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import types
import weakref
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import UncopyableError, full_name, is_display_type, module_name
from zermelo.envs.clone.structures import KIND_BY_REDUCTION
from zermelo.envs.clone.traversal import kind_of

_PLAIN: Final = frozenset({bool, bytes, complex, float, int, str, types.NoneType})
_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")
_ARRAYS: Final = 100
"""As many elements of arrays are looked at in the time of one item."""
_ENDS: Final = 50
"""Items at each end that are looked at of a value that is too large."""


def digest(value: Any, limit: int = 0) -> bytes:
    """A digest of a value.

    Args:
        value: Anything.
        limit: Items that are looked at, 0 for all. Beyond, only the size and the ends count.
    """
    walk = _Walk(limit)
    walk.add(value)
    return walk.hash.digest()


class _Walk:
    def __init__(self, limit: int) -> None:
        self.hash = hashlib.blake2b(digest_size=16)
        self.limit = limit
        self.left = limit
        self.seen: dict[int, int] = {}
        self.waiting: list[Any] = []
        self.keep: list[Any] = []
        """What was made on the way must live, or its id would be used again."""

    def add(self, value: Any) -> None:
        self.waiting.append(value)
        while self.waiting:
            self._write(self.waiting.pop())

    def _write(self, obj: Any) -> None:
        cls = type(obj)
        if cls in _PLAIN:
            self._say(cls.__name__, repr(obj))
        elif cls in weakref.ProxyTypes:  # of an object that may be gone
            self._say(cls.__name__)
        elif isinstance(obj, type | types.ModuleType):
            self._say("name", full_name(original_class(obj)) if isinstance(obj, type) else obj.__name__)
        elif isinstance(obj, types.CodeType):
            self._say("code", obj.co_code.hex(), repr(obj.co_names))
            self.waiting += obj.co_consts
        elif isinstance(obj, np.ndarray) and not obj.dtype.hasobject:
            self._write_array(obj)
        elif cls in (list, tuple) and _PLAIN.issuperset(map(type, obj)):
            self._say(cls.__name__, str(len(obj)))
            plain: Any = self._within(obj)
            self.hash.update(marshal.dumps(plain, 2))
        elif id(obj) in self.seen:
            self._say("again", str(self.seen[id(obj)]))
        else:
            self.seen[id(obj)] = len(self.seen)
            self.keep.append(obj)
            self._write_parts(obj, original_class(cls))

    def _write_parts(self, obj: Any, cls: type) -> None:
        self._say(full_name(cls))
        kind = kind_of(type(obj))
        if kind.key is KIND_BY_REDUCTION.key or is_display_type(cls) or _is_random(cls):
            return
        if isinstance(obj, set | frozenset):
            self._say(*sorted(digest(item, self.limit).hex() for item in self._within([*obj])))
            return
        try:
            value = kind.value(obj)
        except UncopyableError:
            return
        if kind.shared:
            self._say(_ADDRESS.sub("", repr(obj)))
        elif value != ():
            self.waiting.append(value)
        parts = kind.parts(obj)
        self._say(str(len(parts)), *kind.labels(obj))
        self.waiting += self._within(parts)

    def _write_array(self, obj: Any) -> None:
        self._say("array", obj.dtype.str, repr(obj.shape))
        limit = _ARRAYS * self.limit
        if limit and obj.size > limit:
            flat = obj.reshape(-1)
            obj = np.concatenate([flat[:: obj.size // limit], flat[-_ENDS:]])
        self.hash.update(obj.tobytes())

    def _within(self, items: Sequence[Any]) -> Sequence[Any]:
        """The items, or the ends of them once too many were looked at."""
        if not self.limit:
            return items
        self.left -= len(items)
        return items if self.left >= 0 else [*items[:_ENDS], *items[-_ENDS:]] if self.left > -self.limit else []

    def _say(self, *texts: str) -> None:
        self.hash.update("\0".join(texts).encode("utf-8", "surrogatepass") + b"\1")


def _is_random(cls: type) -> bool:
    return issubclass(cls, np.random.Generator | np.random.BitGenerator | np.random.RandomState) or (
        module_name(cls) in ("random", "_random", "torch._C") and cls.__name__ in ("Random", "Generator")
    )
