"""Random keys of JAX, which are values: what draws from one splits it, and keeps another in its place.

Typed keys (``jax.random.key``) are random generators to a search. Of the older ones, plain numbers, only a split
that was seen says what they are.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.kinds import JAX_ARRAYS, JAX_KEYS, full_name, is_defined_in
from zermelo.envs.clone.traversal import path_to, reachable

_SPLITS: Final = 8  # so many keys that one is split into are looked for


def is_key(obj: Any) -> bool:
    """Returns whether this is an array of typed keys."""
    return type(obj).__name__ == "PRNGKeyArray" and full_name(type(obj)) in JAX_KEYS


def replace_keys(keys: Any, seed: int) -> None:
    """Gives an array of typed keys, in a copy, others in place."""
    random = sys.modules["jax"].random
    data = np.random.default_rng(seed).integers(2**32, size=random.key_data(keys).shape, dtype=np.uint32)
    vars(keys).update(vars(random.wrap_key_data(data, impl=random.key_impl(keys))))


def keys_state(keys: Any) -> bytes:
    """The numbers behind an array of typed keys."""
    return np.asarray(sys.modules["jax"].random.key_data(keys)).tobytes()


def plain_key(before: Any, after: Any) -> str | None:
    """Where an environment holds a key as plain numbers: after a step it is one of those that it splits into."""
    random = getattr(sys.modules.get("jax"), "random", None)
    if random is None:
        return None
    later = {np.asarray(obj).tobytes(): obj for obj in _plain(after)}
    for obj in _plain(before):
        split = np.asarray(random.split(obj, _SPLITS))
        found = next((later[part.tobytes()] for part in split if part.tobytes() in later), None)
        if found is not None:
            return path_to(after, found)
    return None


def _plain(env: Any) -> list[Any]:
    random = sys.modules["jax"].random
    shape = random.key_data(random.key(0)).shape
    arrays = (obj for obj in reachable(env) if is_defined_in(type(obj), *JAX_ARRAYS))
    return [array for array in arrays if array.dtype == np.uint32 and array.shape == shape]
