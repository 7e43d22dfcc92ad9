"""Random generators that environments draw from without holding them, kept as they are outside of a search.

Python, NumPy and PyTorch have one each for the whole process; others stand in the environment's modules and on
its classes. While a copy of the environment plays, they start from a seed of the search; then they are put back.
"""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.clone.outside_state import values_outside

_LOCK: Final = threading.RLock()
"""Held while a copy draws: what one thread has put in place no other may save or restore."""


class _Source(NamedTuple):
    """One generator: ``restore(save())`` leaves it as it was; ``draw`` tells its states apart."""

    name: str
    save: Callable[[], Any]
    seed: Callable[[int], Any]
    restore: Callable[[Any], Any]
    draw: Callable[[], Any]


class OutsideGenerators:
    """The generators outside of an environment that its steps may draw from.

    They are watched until it is said which are drawn from (``only``).

    Args:
        env: Whose modules and classes are looked through; without one, the global generators alone.

    Attributes:
        drawn: The names of those that were drawn from so far.
    """

    def __init__(self, env: Any = None) -> None:
        self._all = [*_global_sources(), *(() if env is None else _sources_of(env))]
        self._used = self._all
        self._watches = True
        self.drawn: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._used)

    def only(self, names: Iterable[str]) -> OutsideGenerators:
        """A context for steps that are known to draw from these generators alone."""
        changed = OutsideGenerators.__new__(OutsideGenerators)
        changed._all, changed.drawn, changed._watches = self._all, self.drawn, False
        changed._used = [source for source in self._all if source.name in set(names)]
        return changed

    @contextlib.contextmanager
    def guard(self, seed: int, *, is_reset: bool = False) -> Iterator[None]:
        """Has the generators start from a seed inside the block, and puts them back as they were.

        Args:
            seed: Of 32 bits.
            is_reset: Whether it is no step, so that all are guarded and what is drawn says nothing.
        """
        with _LOCK, contextlib.ExitStack() as restored:
            sources = self._all if is_reset else self._used
            for source in sources:
                restored.callback(source.restore, source.save())
                source.seed(seed)
            yield
            for source in sources if self._watches and not is_reset else ():
                found = source.draw()
                source.seed(seed)
                if found != source.draw():
                    self.drawn.add(source.name)


def global_random_guard(seed: int = 0) -> contextlib.AbstractContextManager[None]:
    """Has the process's global generators start from a seed inside the block, and puts them back as they were."""
    return OutsideGenerators().guard(seed % 2**32)


def _global_sources() -> Iterator[_Source]:
    yield _python("random", random)
    yield _Source("numpy.random", _set_numpy_aside, np.random.seed, _restore_numpy, _draw_numpy)
    torch = sys.modules.get("torch")
    if torch is not None:
        yield _torch("torch", torch.default_generator)


def _sources_of(env: Any) -> Iterator[_Source]:
    for name, value in values_outside(env):
        if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
            yield _python(name, value)
        elif isinstance(value, np.random.Generator):
            yield _bits(name, value.bit_generator)
        elif isinstance(value, np.random.BitGenerator):
            yield _bits(name, value)
        elif isinstance(value, np.random.RandomState):
            look = functools.partial(value.get_state, legacy=False)
            yield _Source(name, look, value.seed, value.set_state, functools.partial(value.bytes, 8))
        elif type(value).__name__ == "Generator" and type(value).__module__ == "torch._C":
            yield _torch(name, value)


def _python(name: str, generator: Any) -> _Source:
    return _Source(name, generator.getstate, generator.seed, generator.setstate, lambda: generator.getrandbits(64))


def _torch(name: str, generator: Any) -> _Source:
    return _Source(
        name,
        generator.get_state,
        generator.manual_seed,
        generator.set_state,
        lambda: generator.get_state().tolist(),
    )


def _bits(name: str, bits: Any) -> _Source:
    def look() -> Any:
        return bits.state

    def restore(state: Any) -> None:
        bits.state = state

    return _Source(name, look, lambda seed: restore(type(bits)(seed).state), restore, bits.random_raw)


# --- NumPy's global generator: reading and writing its state takes long, so another is put in its place


_NUMPY: Final[Any] = np.random  # whose types do not export all that it documents
_spare: Final[list[Any]] = []


def _numpy_state() -> Any:
    return np.random.get_state(legacy=False)  # noqa: NPY002  # the legacy generator is the global one


def _draw_numpy() -> bytes:
    return np.random.bytes(8)  # noqa: NPY002  # as above


def _set_numpy_aside() -> Any:
    state = _numpy_state()
    bits = _NUMPY.get_bit_generator()
    other = _spare.pop() if _spare else np.random.MT19937(0)
    _NUMPY.set_bit_generator(other)
    return bits, other, state["has_gauss"], state["gauss"]


def _restore_numpy(saved: Any) -> None:
    bits, other, has_gauss, gauss = saved
    _NUMPY.set_bit_generator(bits)
    _spare.append(other)
    if has_gauss:  # the second of a pair of normal numbers, which went when the generator was exchanged
        np.random.set_state({**_numpy_state(), "has_gauss": has_gauss, "gauss": gauss})  # noqa: NPY002  # as above
