"""Random generators: those that an environment holds, and those outside of it that it draws from.

A search replaces the former in its copies, or it would know every die to come. The others, those of the process
and those in the environment's modules and on its classes, start from a seed of the search while a copy plays.
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

from zermelo.envs.clone.clone_env import known_generators
from zermelo.envs.clone.jax_keys import is_key, keys_state, replace_keys
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.clone.libraries import is_process_wide
from zermelo.envs.clone.outside_state import values_outside
from zermelo.envs.clone.saved_states.stand_ins import StandIn, generators_of, is_seeded, seed_stand_in
from zermelo.envs.clone.traversal import reachable

# --- inside

_OF_NUMPY: Final = (np.random.BitGenerator, np.random.SeedSequence)
_PCG64: Final = {"has_uint32": 0, "uinteger": 0}
"""The rest of the state of a generator of which no half of a number is left over."""


def is_source(obj: Any) -> bool:
    """Returns whether an object is a random generator, or numpy's bit generator or seed sequence inside one.

    So is what stands in for an emulator with generators of its own.
    Those of the whole process are none: they are outside.
    """
    if is_process_wide(obj):
        return False
    cls = type(obj)
    if issubclass(cls, random.Random):
        return not issubclass(cls, random.SystemRandom)
    if issubclass(cls, StandIn):
        return is_seeded(obj)
    return issubclass(cls, _OF_NUMPY) or _is_torch(obj) or is_key(obj)


def _is_torch(obj: Any) -> bool:
    return type(obj).__name__ == "Generator" and full_name(type(obj)) == "torch._C.Generator"


def replace_generators(env: Any, generator: np.random.Generator) -> int:
    """Gives every random generator that ``env``, a clone, holds a fresh state, drawn from ``generator``.

    It is done in place, so that what shares a generator (a space, a closure, a stored ``rng.integers``) goes on
    sharing it.

    Returns:
        How many generators there were; with none, ``generator`` is not advanced.
    """
    objects = _objects_with_generators(env)
    found = [obj for obj in objects if is_source(obj)]
    for source in found:
        seed = _drawn_number(generator)
        # Each class's own method starts an existing object anew, the seed sequence that it spawns from included.
        if type(source) in (np.random.PCG64, np.random.PCG64DXSM):  # to spread a seed over it takes long
            inner = {"state": seed, "inc": _drawn_number(generator) | 1}
            state = {**_PCG64, "bit_generator": type(source).__name__, "state": inner}
            source.__setstate__((state, np.random.SeedSequence(seed)))
        elif isinstance(source, random.Random):
            random.Random.seed(source, seed)  # forgets the second half of a pair of normal numbers as well
        elif _is_torch(source):
            source.manual_seed(seed % 2**63)
        elif is_seeded(source):
            seed_stand_in(source, seed)
        elif is_key(source):
            replace_keys(source, seed)
        else:
            type(source).__init__(source, seed)
    for obj in objects:
        if not isinstance(obj, np.random.RandomState) or is_process_wide(obj):
            continue
        if (state := obj.get_state(legacy=False))["has_gauss"]:
            obj.set_state({**state, "has_gauss": 0, "gauss": 0.0})  # the second half of a pair, drawn already
    return len(found)


def _drawn_number(generator: np.random.Generator) -> int:
    """A random number of 128 bits."""
    draw = generator.bit_generator.random_raw
    return int(draw()) << 64 | int(draw())


def _objects_with_generators(env: Any) -> list[Any]:
    known = known_generators(env)
    holders = (env,) if known is None else known
    return [part for holder in holders for part in reachable(holder, all_flat=known is not None)]


def generator_states(env: Any) -> list[Any]:
    """Values of the states of all random generators that ``env`` holds: they differ once one was drawn from."""
    return [_state_of(obj) for obj in _objects_with_generators(env) if is_source(obj)]


def _state_of(source: Any) -> Any:
    if isinstance(source, random.Random):
        return source.getstate()
    if isinstance(source, np.random.MT19937):  # whose state in full takes long to compare
        state = source.state["state"]
        return state["pos"], state["key"][0]
    if isinstance(source, np.random.PCG64 | np.random.PCG64DXSM):
        return source.state
    if isinstance(source, np.random.BitGenerator):
        return repr(source.state)
    if isinstance(source, np.random.SeedSequence):
        return source.n_children_spawned
    if is_seeded(source):
        return generators_of(source)
    if is_key(source):
        return keys_state(source)
    return source.get_state().numpy().tobytes()


# --- outside

_LOCK: Final = threading.RLock()
"""Held while a copy draws: what one thread has put in place no other may save or restore."""


class _Source(NamedTuple):
    """One generator: ``restore(save())`` leaves it as it was; ``draw`` tells its states apart.

    ``look`` gives a state that ``put_back`` takes, and a value by which states are compared, and changes nothing.
    """

    name: str
    save: Callable[[], Any]
    seed: Callable[[int], Any]
    restore: Callable[[Any], Any]
    draw: Callable[[], Any]
    look: Callable[[], tuple[Any, Any]]
    put_back: Callable[[Any], Any]


class OutsideGenerators:
    """The generators outside of an environment that its steps may draw from; without one, the global ones.

    They are watched until it is said which are drawn from (``only``); ``drawn`` has the names of those that were.
    """

    def __init__(self, env: Any = None) -> None:
        outside = () if env is None else values_outside(env)
        found = (source for name, value in outside for source in _sources(name, value))
        self._all = [*_global_sources(), *found]
        self.used = self._all
        self._watches = True
        self.drawn: set[str] = set()

    def only(self, names: Iterable[str]) -> OutsideGenerators:
        """A context for steps that are known to draw from these generators alone."""
        changed = OutsideGenerators.__new__(OutsideGenerators)
        changed._all, changed.drawn, changed._watches = self._all, self.drawn, False
        changed.used = [source for source in self._all if source.name in set(names)]
        return changed

    def look(self) -> list[tuple[Any, Any]]:
        """The states of all generators, for ``put_back``."""
        return [source.look() for source in self._all]

    def put_back(self, states: list[tuple[Any, Any]]) -> list[str]:
        """Puts back all generators that have moved since ``look``, and returns their names."""
        moved = []
        for source, (state, value) in zip(self._all, states, strict=True):
            if source.look()[1] != value:
                source.put_back(state)
                moved.append(source.name)
        return moved

    @contextlib.contextmanager
    def guard(self, seed: int, *, is_reset: bool = False) -> Iterator[None]:
        """Has the generators start from a seed of 32 bits inside the block, and puts them back as they were.

        With ``is_reset`` all are guarded, and what is drawn says nothing.
        """
        with _LOCK, contextlib.ExitStack() as restored:
            sources = self._all if is_reset else self.used
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
    yield from _sources("random", random)
    draw = functools.partial(np.random.bytes, 8)  # the legacy generator is the global one
    look, put_back = _look_at_numpy, np.random.set_state  # as above
    yield _Source("numpy.random", _set_numpy_aside, np.random.seed, _restore_numpy, draw, look, put_back)
    if "torch" in sys.modules:
        yield from _sources("torch", sys.modules["torch"].default_generator)


def _sources(name: str, value: Any) -> Iterator[_Source]:
    bits = value.bit_generator if issubclass(type(value), np.random.Generator) else value
    if value is random or (issubclass(type(value), random.Random) and not isinstance(value, random.SystemRandom)):
        draw = functools.partial(value.getrandbits, 64)
        look = functools.partial(_twice, value.getstate)
        yield _Source(name, value.getstate, value.seed, value.setstate, draw, look, value.setstate)
    elif issubclass(type(value), np.random.RandomState):
        save = functools.partial(value.get_state, legacy=False)
        draw, look = functools.partial(value.bytes, 8), functools.partial(_in_text, save)
        yield _Source(name, save, value.seed, value.set_state, draw, look, value.set_state)
    elif _is_torch(value):
        draw, look = functools.partial(_numbers, value), functools.partial(_in_bytes, value.get_state)
        yield _Source(name, value.get_state, value.manual_seed, value.set_state, draw, look, value.set_state)
    elif issubclass(type(bits), np.random.BitGenerator):
        restore = functools.partial(setattr, bits, "state")
        save = functools.partial(getattr, bits, "state")
        seed = functools.partial(_start_anew, bits)
        yield _Source(name, save, seed, restore, bits.random_raw, functools.partial(_in_text, save), restore)


def _start_anew(bits: Any, seed: int) -> None:
    bits.state = type(bits)(seed).state


def _twice(save: Callable[[], Any]) -> tuple[Any, Any]:
    state = save()
    return state, state


def _in_text(save: Callable[[], Any]) -> tuple[Any, Any]:
    state = save()
    return state, repr(state)


def _numbers(generator: Any) -> list[int]:
    numbers: list[int] = generator.get_state().tolist()
    return numbers


def _in_bytes(save: Callable[[], Any]) -> tuple[Any, Any]:
    state = save()
    return state, state.numpy().tobytes()


# NumPy's global generator: reading and writing its state takes long, so another is put in its place.

_NUMPY: Final[Any] = np.random  # whose types do not export all that it documents
_spare: Final[list[Any]] = []


def _numpy_state() -> Any:
    return np.random.get_state(legacy=False)  # noqa: NPY002  # as above


def _look_at_numpy() -> tuple[Any, Any]:
    state = _numpy_state()
    inner = state["state"]
    place = (inner["pos"], inner["key"][0], inner["key"][-1]) if "pos" in inner else repr(state)
    return state, (place, state["has_gauss"])


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
