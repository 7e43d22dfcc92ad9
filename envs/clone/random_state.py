"""Random state: found, and replaced before a search.

A copy that carries the environment's own generator knows every die that the environment will roll. So a search
replaces the generators in its copies, and seeds what the environment draws from others (``outside_generators``).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import known_generators
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.clone.traversal import reachable

_GENERATOR_TYPES: Final = (np.random.BitGenerator, np.random.SeedSequence, random.Random)


def find_generators(env: Any) -> list[Any]:
    """The sources of randomness that an environment holds, each once, in the order of its attributes.

    These are numpy's bit generators (those inside ``Generator`` and ``RandomState`` objects) and seed sequences
    Python's ``random.Random`` and PyTorch's generators; ``random.SystemRandom``, which has no state, is left out.
    """
    return _sources(reachable(env))


def _sources(objects: Iterable[Any]) -> list[Any]:
    return [
        obj
        for obj in objects
        if (isinstance(obj, _GENERATOR_TYPES) and not isinstance(obj, random.SystemRandom)) or _is_torch(obj)
    ]


def _is_torch(obj: Any) -> bool:
    return type(obj).__name__ == "Generator" and full_name(type(obj)) == "torch._C.Generator"


def replace_generators(env: Any, generator: np.random.Generator) -> int:
    """Gives every random generator that ``env`` holds a fresh state, drawn from ``generator``.

    Call it on a clone, never on a live environment. It is done in place, so that whatever shares a generator (a
    space, a closure, a stored ``rng.integers``) goes on sharing it. What the environment draws from the global
    generators of ``random`` and ``numpy.random`` is the business of ``OutsideGenerators``.

    Returns:
        How many generators there were; with none, ``generator`` is not advanced.
    """
    known = known_generators(env)
    if known == ():
        return 0
    objects = [*reachable(env)] if known is None else [part for holder in known for part in reachable(holder)]
    found = _sources(objects)
    for source in found:
        _reseed(source, int.from_bytes(generator.bytes(16), "little"))
    for obj in objects:
        if isinstance(obj, np.random.RandomState):
            _forget_half(obj)
    return len(found)


def _reseed(source: Any, seed: int) -> None:
    # Each class's own __init__ starts an existing object anew, the seed sequence that it spawns from included.
    if isinstance(source, random.Random):
        random.Random.seed(source, seed)  # forgets the second half of a pair of normal numbers as well
    elif _is_torch(source):
        source.manual_seed(seed % 2**63)
    else:
        type(source).__init__(source, seed)


def _forget_half(state: np.random.RandomState) -> None:
    """``RandomState`` keeps the second half of a pair of normal numbers, which is drawn already."""
    content = state.get_state(legacy=False)
    if content["has_gauss"]:
        content["has_gauss"], content["gauss"] = 0, 0.0
        state.set_state(content)
