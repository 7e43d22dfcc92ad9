"""A number for a position that is the same in every process."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

__all__ = ["stable_hash"]


def stable_hash(*parts: Any) -> int:
    """64 bits from the given values; unlike ``hash``, the same for equal text in every run of Python.

    Numbers, text, bytes, tuples and frozensets of them are hashed by value, other objects by their pickle.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        _feed(digest, part)
    return int.from_bytes(digest.digest(), "little")


def _feed(digest: Any, part: Any) -> None:
    if isinstance(part, tuple):
        digest.update(b"(%d" % len(part))
        for item in part:
            _feed(digest, item)
    elif isinstance(part, frozenset):
        digest.update(b"{")
        for item in sorted(stable_hash(item) for item in part):
            digest.update(item.to_bytes(8, "little"))
    elif isinstance(part, bytes):
        digest.update(b"b%d:" % len(part))
        digest.update(part)
    elif part is None or isinstance(part, int | float | str):
        digest.update(repr(part).encode())
        digest.update(b";")
    else:
        digest.update(pickle.dumps(part, protocol=5))
