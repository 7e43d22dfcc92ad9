"""Random state: found, replaced before a search, and watched where a module keeps it.

A copy that carries the environment's own generator knows every die that the environment will roll. So a search
replaces the generators in its copies, and seeds what the environment draws from Python's or numpy's global
generators.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import known_generators
from zermelo.envs.clone.traversal import reachable

__all__ = [
    "GlobalRandomUse",
    "find_generators",
    "global_random_guard",
    "global_state",
    "has_generators",
    "replace_generators",
    "set_global_state",
    "uses_global_random",
]

_GENERATOR_TYPES: Final = (np.random.BitGenerator, np.random.SeedSequence, random.Random)


def find_generators(env: Any) -> list[Any]:
    """The sources of randomness that an environment holds, each once, in the order of its attributes.

    These are numpy's bit generators (those inside ``Generator`` and ``RandomState`` objects) and seed sequences
    and Python's ``random.Random``; ``random.SystemRandom``, which has no state, is left out.
    """
    return _sources(reachable(env))


def _sources(objects: Iterable[Any]) -> list[Any]:
    return [
        obj for obj in objects if isinstance(obj, _GENERATOR_TYPES) and not isinstance(obj, random.SystemRandom)
    ]


def has_generators(env: Any) -> bool:
    """Whether the environment holds a random generator, spaces' generators included."""
    known = known_generators(env)
    return bool(known if known is not None else find_generators(env))


def replace_generators(env: Any, generator: np.random.Generator) -> int:
    """Gives every random generator that ``env`` holds a fresh state, drawn from ``generator``.

    Call it on a clone, never on a live environment. It is done in place, so that whatever shares a generator (a
    space, a closure, a stored ``rng.integers``) goes on sharing it. What the environment draws from the global
    generators of ``random`` and ``numpy.random`` is the business of ``global_random_guard``.

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
    else:
        type(source).__init__(source, seed)


def _forget_half(state: np.random.RandomState) -> None:
    """``RandomState`` keeps the second half of a pair of normal numbers, which is drawn already."""
    content = state.get_state(legacy=False)
    if content["has_gauss"]:
        content["has_gauss"], content["gauss"] = 0, 0.0
        state.set_state(content)


def global_state() -> tuple[Any, Any]:
    """The states of Python's and numpy's global generators."""
    return random.getstate(), np.random.get_state()  # noqa: NPY002  # the legacy generator is the global one


def set_global_state(state: tuple[Any, Any]) -> None:
    """Puts the global generators into states that they had."""
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002  # as above


class GlobalRandomUse:
    """What ``global_random_guard`` saw; read ``consumed`` inside the block or after it."""

    def __init__(self) -> None:
        self._before = _comparable_state()
        self._after: Any = None

    @property
    def consumed(self) -> bool:
        """Whether something has drawn from a global generator since the guard began."""
        return bool((self._after or _comparable_state()) != self._before)

    def _end(self) -> None:
        self._after = _comparable_state()


def _comparable_state() -> tuple[Any, ...]:
    python, (name, keys, *others) = global_state()
    return python, name, keys.tobytes(), others


@contextlib.contextmanager
def global_random_guard(seed: int | None = None) -> Iterator[GlobalRandomUse]:
    """Keeps Python's and numpy's global generators as they were outside the block.

    Args:
        seed: Inside the block both start from this seed, so an environment that draws from them is reproducible
            and its real next numbers stay unseen. None leaves them as they are.

    Yields:
        An object whose ``consumed`` says whether anything was drawn.
    """
    state = global_state()
    try:
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002  # the legacy generator is the global one
        use = GlobalRandomUse()
        yield use
        use._end()
    finally:
        set_global_state(state)


def uses_global_random(action: Callable[[], Any]) -> bool:
    """Whether a call draws from Python's or numpy's global generator; both are put back as they were."""
    with global_random_guard() as use:
        action()
        return use.consumed
