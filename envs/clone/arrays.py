"""How numpy's arrays and every kind of random generator are copied.

A view stays a view: when an environment keeps both ``board`` and ``board[1:-1]``, writing to one shows in the
other, and so it does in the copy. A generator's copy continues with the same numbers; a search replaces it
(``zermelo.envs.clone.random_state``).
"""

from __future__ import annotations

import array
import random
import types
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.object_kinds import is_defined_in, layout_of
from zermelo.envs.clone.walk import CopyWalk, Handler, UncopyableError, register_copier, register_family

__all__ = ["register"]


def copy_array(obj: np.ndarray[Any, Any], walk: CopyWalk) -> np.ndarray[Any, Any]:
    base = obj.base
    if base is None:
        if not obj.flags.owndata:
            raise UncopyableError(obj, "is an array over memory that is not numpy's")
        new = obj.__copy__()
    else:
        new = _copy_view(obj, base, walk)
    walk.memo[id(obj)] = new
    if base is None and obj.dtype.hasobject:
        _copy_elements(obj, new, walk)
    if type(obj) is not np.ndarray:
        _copy_array_fields(obj, new, walk)
    if not obj.flags.writeable:
        new.flags.writeable = False
    return new


def _copy_view(obj: np.ndarray[Any, Any], base: Any, walk: CopyWalk) -> np.ndarray[Any, Any]:
    if isinstance(base, bytes):
        return obj.__copy__()
    if isinstance(base, memoryview):
        base = base.obj
    if isinstance(base, np.ndarray) and base.base is not None:
        base = _owner(base)
    if not isinstance(base, np.ndarray | bytearray | array.array):
        if isinstance(base, bytes):
            return obj.__copy__()
        raise UncopyableError(obj, f"is an array over the memory of a {type(base).__name__}")
    copied = walk.copy(base)
    start = base if isinstance(base, np.ndarray) else np.frombuffer(base, dtype=np.uint8)
    offset = obj.__array_interface__["data"][0] - start.__array_interface__["data"][0]
    if obj.size == 0 or obj.itemsize == 0:
        return obj.__copy__()
    low, high = _byte_bounds(obj)
    first, last = _byte_bounds(start)
    if low < first or high > last:
        raise UncopyableError(obj, "is an array over memory that is not numpy's")
    if obj.dtype.hasobject and isinstance(base, np.ndarray):
        return _object_view(obj, base, copied, offset)
    locked = isinstance(copied, np.ndarray) and not copied.flags.writeable
    if locked:
        copied.flags.writeable = True
    # A view of the copy's memory; the buffer must start where the owner's memory starts.
    flat = _memory(copied)
    new = np.ndarray.__new__(type(obj), obj.shape, obj.dtype, flat, offset, obj.strides)
    if locked:
        copied.flags.writeable = False
    return new


def _owner(view: np.ndarray[Any, Any]) -> Any:
    base: Any = view
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return base.obj if isinstance(base, memoryview) else base


def _byte_bounds(obj: np.ndarray[Any, Any]) -> tuple[int, int]:
    bounds: tuple[int, int] = np.lib.array_utils.byte_bounds(obj)
    return bounds


def _memory(owner: Any) -> Any:
    """The whole memory of an owner as one buffer."""
    if not isinstance(owner, np.ndarray):
        return owner
    if owner.flags.c_contiguous:
        return owner.view(np.ndarray)
    if owner.flags.f_contiguous:
        return owner.view(np.ndarray).T
    order = np.argsort([-abs(stride) for stride in owner.strides], kind="stable")
    return owner.view(np.ndarray).transpose(order)


def _object_view(
    obj: np.ndarray[Any, Any], base: np.ndarray[Any, Any], copied: np.ndarray[Any, Any], offset: int
) -> np.ndarray[Any, Any]:
    """Numpy makes no object array over a buffer, so the view is cut out of the flat copy by its strides."""
    flat = _memory(copied).reshape(-1)
    if obj.dtype != base.dtype or offset % obj.itemsize:
        raise UncopyableError(obj, "is a view of one field of an array of objects")
    new = np.lib.stride_tricks.as_strided(flat[offset // obj.itemsize :], obj.shape, obj.strides)
    return new if type(obj) is np.ndarray else new.view(type(obj))


def _copy_elements(obj: np.ndarray[Any, Any], new: np.ndarray[Any, Any], walk: CopyWalk) -> None:
    if obj.dtype == object:
        source, target = np.atleast_1d(obj.view(np.ndarray)), np.atleast_1d(new.view(np.ndarray))
        for index in np.ndindex(source.shape):
            target[index] = walk.copy(source[index])
        return
    for name in obj.dtype.names or ():
        if obj.dtype[name].hasobject:
            _copy_elements(obj[name], new[name], walk)


def _copy_array_fields(obj: Any, new: Any, walk: CopyWalk) -> None:
    layout = layout_of(type(obj))
    if layout is None:
        return
    if layout.dict_of is not None:
        fields = layout.dict_of.__get__(new)
        fields.clear()
        for name, value in layout.dict_of.__get__(obj).items():
            fields[name] = walk.copy(value)
    for slot in layout.slots:
        try:
            slot.__set__(new, walk.copy(slot.__get__(obj)))
        except AttributeError:
            continue


def copy_plain_array(obj: array.array[Any], walk: CopyWalk) -> array.array[Any]:
    return obj[:]


def copy_memoryview(obj: memoryview, walk: CopyWalk) -> memoryview:
    if isinstance(obj.obj, bytes):
        return obj
    if not obj.c_contiguous or obj.nbytes != memoryview(obj.obj).nbytes:
        raise UncopyableError(obj, "is a memoryview of a part of another object")
    new = memoryview(walk.copy(obj.obj))
    if (new.format, new.shape) != (obj.format, obj.shape):
        new = new.cast("B").cast(obj.format, obj.shape)  # type: ignore[call-overload]  # typeshed wants literals
    return new.toreadonly() if obj.readonly else new


# --- random generators


def copy_seed_sequence(obj: Any, walk: CopyWalk) -> Any:
    return type(obj)(**obj.state)


class _NoSeed(np.random.bit_generator.ISeedSequence):
    """Starts a bit generator whose state is set at once, so that no seed need be spread over it."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.zeros(n_words, dtype)


_STATE_HAS_SEED: Final = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def copy_bit_generator(obj: Any, walk: CopyWalk) -> Any:
    """The state, and the seed sequence from which the generator spawns others."""
    seed_sequence = getattr(obj, "seed_seq", None)
    seeded = isinstance(seed_sequence, np.random.SeedSequence)
    if _STATE_HAS_SEED:
        new = type(obj)(_NoSeed())
        new.__setstate__((obj.state, walk.copy(seed_sequence)) if seeded else obj.state)
        return new
    new = type(obj)(walk.copy(seed_sequence) if seeded else 0)
    new.state = obj.state
    return new


def copy_generator(obj: Any, walk: CopyWalk) -> Any:
    new = type(obj)(walk.copy(obj.bit_generator))
    layout_fields(obj, new, walk)
    return new


def copy_random_state(obj: Any, walk: CopyWalk) -> Any:
    bit_generator = obj._bit_generator
    new = type(obj)(walk.copy(bit_generator))
    new.set_state(obj.get_state(legacy=False))
    layout_fields(obj, new, walk)
    return new


def copy_python_random(obj: random.Random, walk: CopyWalk) -> random.Random:
    new: random.Random = random.Random.__new__(type(obj))
    walk.memo[id(obj)] = new
    super(random.Random, new).setstate(super(random.Random, obj).getstate())
    layout_fields(obj, new, walk)
    return new


def layout_fields(obj: Any, new: Any, walk: CopyWalk) -> None:
    """Copies the attributes that a subclass added to a built-in class."""
    fields = getattr(obj, "__dict__", None)
    if fields:
        walk.memo[id(obj)] = new
        new.__dict__.update({name: walk.copy(value) for name, value in fields.items()})
    for base in type(obj).__mro__:
        if "__slots__" in base.__dict__:
            for slot in base.__dict__.values():
                if type(slot) is types.MemberDescriptorType and hasattr(obj, slot.__name__):
                    slot.__set__(new, walk.copy(slot.__get__(obj)))


def _find(cls: type) -> Handler | None:
    if is_defined_in(cls, "numpy.memmap"):
        return None
    for base, handler in (
        (np.ndarray, copy_array),
        (np.random.Generator, copy_generator),
        (np.random.BitGenerator, copy_bit_generator),
        (np.random.RandomState, copy_random_state),
        (np.random.SeedSequence, copy_seed_sequence),
        (random.Random, copy_python_random),
        (array.array, copy_plain_array),
    ):
        if issubclass(cls, base):
            return handler
    return None


def register() -> None:
    """Tells the walk how to copy arrays and random generators."""
    register_family(_find)
    register_copier(memoryview, copy_memoryview)
