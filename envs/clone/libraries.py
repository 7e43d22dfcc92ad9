"""Objects of known libraries: numpy's arrays, all random generators, Gymnasium's spaces, OpenSpiel's states.

A view of an array stays a view of the copy. A generator's copy continues with the same numbers. But for numpy
nothing is imported: a class is recognised by its name.
"""

from __future__ import annotations

import array
import copy
import io
import queue
import random
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.kinds import (
    PYGAME_POSITIONS,
    SHARED,
    Kind,
    UncopyableError,
    Walk,
    fields_of,
    full_name,
    is_defined_in,
    layout_of,
    module_name,
)
from zermelo.envs.clone.structures import KIND_BY_REDUCTION, copy_fields, deep_copy, kind_by_structure
from zermelo.envs.errors import CloneError

Array = np.ndarray[Any, Any]


def _copy_array(obj: Array, walk: Walk) -> Array:
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
        copy_fields(obj, new, walk)
    if not obj.flags.writeable:
        new.flags.writeable = False
    return new


def _copy_view(obj: Array, base: Any, walk: Walk) -> Array:
    while isinstance(base, memoryview) or (isinstance(base, np.ndarray) and base.base is not None):
        base = base.obj if isinstance(base, memoryview) else base.base
    is_alone = type(base).__name__ == "_MemInfo"  # of Numba: the memory of an array that compiled code has made
    if isinstance(base, bytes) or is_alone or obj.size == 0 or obj.itemsize == 0:
        return obj.__copy__()
    if not isinstance(base, np.ndarray | bytearray | array.array):
        raise UncopyableError(obj, f"is an array over the memory of a {type(base).__name__}")
    copied: Any = walk.copy(base)
    start, memory = _flat(base), _flat(copied)
    offset = obj.__array_interface__["data"][0] - start.__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(obj)
    first, last = np.lib.array_utils.byte_bounds(start)
    if low < first or high > last or (obj.dtype.hasobject and (obj.dtype != start.dtype or offset % obj.itemsize)):
        raise UncopyableError(obj, "is an array over memory that is not numpy's, or over a field of objects")
    if obj.dtype.hasobject:  # numpy makes no such array over a buffer
        cut = np.lib.stride_tricks.as_strided(memory[offset // obj.itemsize :], obj.shape, obj.strides)
        return cut.view(type(obj))
    locked = isinstance(copied, np.ndarray) and not copied.flags.writeable
    if locked:
        copied.flags.writeable = True
        memory = _flat(copied)
    new = np.ndarray.__new__(type(obj), obj.shape, obj.dtype, memory, offset, obj.strides)
    if locked:
        copied.flags.writeable = False
    return new


def _flat(owner: Any) -> Array:
    is_array = isinstance(owner, np.ndarray)
    return owner.view(np.ndarray).ravel(order="K") if is_array else np.frombuffer(owner, np.uint8)


def _copy_elements(obj: Array, new: Array, walk: Walk) -> None:
    if obj.dtype == object:
        source, target = np.atleast_1d(obj.view(np.ndarray)), np.atleast_1d(new.view(np.ndarray))
        for index in np.ndindex(source.shape):
            target[index] = walk.copy(source[index])
        return
    for name in obj.dtype.names or ():
        if obj.dtype[name].hasobject:
            _copy_elements(obj[name], new[name], walk)


def _elements(obj: Array) -> list[Any]:
    """The objects in an array; not whose memory it is, or a view would never equal an array of its own."""
    elements = obj.ravel().tolist() if obj.dtype.hasobject else []
    return elements if type(obj) is np.ndarray else [*elements, *fields_of(obj).values()]


def _array_value(obj: Array) -> Any:
    kind = obj.dtype.str if obj.dtype.names is None else repr(obj.dtype)
    return obj.shape, kind, b"" if obj.dtype.hasobject else obj.tobytes()


# --- random generators


class _NoSeed(np.random.bit_generator.ISeedSequence):
    """Starts a bit generator whose state is set at once, so that no seed need be spread over it."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.zeros(n_words, dtype)


def _copy_bit_generator(obj: Any, walk: Walk, state: Any = None) -> Any:
    """The state, and the seed sequence from which the generator spawns others."""
    state, seeds = state or obj.state, obj.seed_seq
    seeded = isinstance(seeds, np.random.SeedSequence)
    new = type(obj)(_NoSeed())
    new.__setstate__((state, walk.copy(seeds)) if seeded else state)
    return new


def _copy_random_state(obj: Any, walk: Walk) -> Any:
    """Reads the state once, which takes most of the time: it has the bit generator's in it."""
    bits, state = obj._bit_generator, obj.get_state(legacy=False)
    if id(bits) not in walk.memo:
        walk.memo[id(bits)] = _copy_bit_generator(bits, walk, state)
    new = type(obj)(walk.memo[id(bits)])
    if state["has_gauss"]:
        new.set_state(state)
    return new


def _copy_python_random(obj: random.Random, walk: Walk) -> random.Random:
    new: random.Random = random.Random.__new__(type(obj))
    super(random.Random, new).setstate(super(random.Random, obj).getstate())
    return new


def _generator(copy: Callable[[Any, Walk], Any], source: str = "", *, alone: bool = False) -> Kind:
    """Of random generators, whose state is no part of a position; ``source`` is where they have it from."""

    def copy_all(obj: Any, walk: Walk) -> Any:
        new = walk.memo[id(obj)] = copy(obj, walk)
        copy_fields(obj, new, walk)
        return new

    def parts(obj: Any) -> list[Any]:
        return [*([getattr(obj, source)] if source else []), *fields_of(obj).values()]

    return Kind(copy=copy_all, parts=parts, by_value=True, alone=alone)


_BY_BASE: Final[dict[type, Kind]] = {
    np.ndarray: Kind(copy=_copy_array, parts=_elements, value=_array_value),
    np.random.Generator: _generator(
        lambda obj, walk: type(obj)(walk.copy(obj.bit_generator)), "bit_generator", alone=True
    ),
    np.random.RandomState: _generator(_copy_random_state, "_bit_generator", alone=True),
    np.random.BitGenerator: _generator(_copy_bit_generator),
    np.random.SeedSequence: _generator(lambda obj, walk: type(obj)(**obj.state)),
    random.Random: _generator(_copy_python_random),
    array.array: Kind(copy=lambda obj, walk: obj[:], value=lambda obj: (obj.typecode, obj.tobytes())),
}


# --- spaces


_are_spaces: Final[dict[type, bool]] = {}  # by the class itself, whose bases are fixed


def is_space(cls: type) -> bool:
    """Returns whether a class is one of Gymnasium's or Gym's spaces."""
    found = _are_spaces.get(cls)
    if found is None:
        names = ("gymnasium.spaces.space.Space", "gym.spaces.space.Space")
        found = _are_spaces[cls] = is_defined_in(cls, *names)
    return found


def _holds_generator(space: Any) -> bool:
    fields = space.__dict__
    if fields.get("_np_random") is not None:
        return True
    for value in fields.values():
        parts = value.values() if isinstance(value, dict) else value
        inner = parts if isinstance(value, dict | tuple | list) else (value,)
        if any(is_space(type(part)) and _holds_generator(part) for part in inner):
            return True
    return False


def _copy_space(obj: Any, walk: Walk) -> Any:
    """Shared while it has no random generator; else the generator is copied and the bounds are shared."""
    if not _holds_generator(obj):
        return obj
    new: Any = object.__new__(type(obj))
    walk.memo[id(obj)] = new
    for name, value in obj.__dict__.items():
        is_copied = name == "_np_random" or is_space(type(value)) or isinstance(value, dict | list | tuple)
        new.__dict__[name] = walk.copy(value) if is_copied else value
    return new


# --- other libraries


def _copy_open_spiel_state(obj: Any, walk: Walk) -> Any:
    """OpenSpiel's own ``clone``; the game, which is configuration, is shared unless it draws the chance itself."""
    if obj.get_game().get_type().chance_mode.name == "SAMPLED_STOCHASTIC":
        raise UncopyableError(obj, "is a state of an OpenSpiel game that draws its chance out of sight")
    return obj.clone()


def _tensor_value(obj: Any) -> Any:
    if obj.is_sparse or obj.is_quantized:
        raise UncopyableError(obj, f"is a {obj.layout} tensor")
    flat = obj.detach().cpu().contiguous().reshape(-1).view(sys.modules["torch"].uint8)
    return str(obj.dtype), str(obj.device), tuple(obj.shape), obj.requires_grad, bytes(flat.numpy())


def _copy_tensor(obj: Any, walk: Walk) -> Any:
    """PyTorch's own copy; of what was computed with gradients it makes none, so the values are copied."""
    return deep_copy(obj, walk) if obj.is_leaf else obj.detach().clone().requires_grad_()


def _columns(obj: Any) -> list[Any]:
    """The columns of a data frame; a series or an index is its own."""
    return [obj.iloc[:, number] for number in range(obj.shape[1])] if obj.ndim == 2 else [obj]


def _own_fields(obj: Any) -> dict[str, Any]:
    """What was added to a data frame or series: ``attrs``, and the attributes of a class of the user's own."""
    own = {name: value for name, value in vars(obj).items() if name not in obj._internal_names_set}
    return {"_attrs": obj.attrs} | own


def _frame_parts(obj: Any) -> list[Any]:
    """The labels, types and values of a data frame, a series or an index; not what it keeps to find them fast."""
    axes = getattr(obj, "axes", [obj])
    values = [part for column in _columns(obj) for part in (str(column.dtype), np.asarray(column))]
    own = [_own_fields(obj)] if hasattr(obj, "axes") else []
    return [*(axis.tolist() for axis in axes), *(axis.names for axis in axes), *values, *own]


def _copy_frame(obj: Any, walk: Walk) -> Any:
    """The library's own copy, but for what columns of objects hold, which it shares, and for subclasses."""
    new = walk.memo[id(obj)] = obj.copy(deep=True)
    new.__class__ = type(obj)  # pandas makes its own class of one without ``_constructor``
    for number, column in enumerate(_columns(obj)):
        values = np.asarray(column) if column.dtype == object else np.empty(0)
        if SHARED.issuperset(map(type, values)):
            continue
        copies = np.empty_like(values)
        _copy_elements(values, copies, walk)
        new.iloc[(slice(None), number)[: obj.ndim]] = copies
    for name, value in _own_fields(obj).items():
        object.__setattr__(new, name, walk.copy(value))
    return new


def _copy_lock(obj: Any, walk: Walk) -> Any:
    if not obj.acquire(blocking=False):
        raise UncopyableError(obj, "is a lock that is held")
    obj.release()
    return threading.Lock() if isinstance(obj, _LOCKS[0]) else threading.RLock()


_LOCKS: Final = (type(threading.Lock()), type(threading.RLock()))


def _copy_buffer(obj: Any, walk: Walk) -> Any:
    new = io.StringIO(obj.getvalue(), newline="") if isinstance(obj, io.StringIO) else io.BytesIO(obj.getvalue())
    new.seek(obj.tell())
    return new


def _waiting(obj: Any) -> list[Any]:
    """What waits in a queue, which stays as it is."""
    items = []
    while not obj.empty():
        items.append(obj.get_nowait())
    for item in items:
        obj.put(item)
    return items


def _copy_queue(obj: Any, walk: Walk) -> Any:
    new = walk.memo[id(obj)] = queue.SimpleQueue()
    for item in walk.copy_all(_waiting(obj)):
        new.put(item)
    return new


def _copied_go(copy: Callable[[Any, Walk], Any]) -> Callable[[Any, Walk], Any]:
    """PettingZoo's Go keeps its board size in a module, where the environment made last sets it."""

    def copy_checked(env: Any, walk: Walk) -> Any:
        size, shared = getattr(env, "_N", None), sys.modules["pettingzoo.classic.go.go_base"].N
        if size in (None, shared):
            return copy(env, walk)
        raise CloneError(
            f"this environment plays on {size}x{size}, but the board size that all of go_v5 shares in its module "
            f"is now {shared}, since another environment was made; use one board size in a process"
        )

    return copy_checked


_BUFFER: Final = Kind(copy=_copy_buffer, value=lambda obj: (obj.getvalue(), obj.tell()))
_BY_TYPE: Final[dict[type, Kind]] = {
    **dict.fromkeys(_LOCKS, Kind(copy=_copy_lock)),
    io.StringIO: _BUFFER,
    io.BytesIO: _BUFFER,
    queue.SimpleQueue: Kind(copy=_copy_queue, parts=_waiting),
}
_INDEX: Final = Kind(copy=lambda obj, walk: obj.copy(deep=True), parts=_frame_parts)
_BY_NAME: Final[dict[str, Kind]] = {
    "pyspiel.State": Kind(
        copy=_copy_open_spiel_state, value=lambda obj: (str(obj.get_game()), obj.serialize()), alone=True
    ),
    "torch.Tensor": Kind(copy=_copy_tensor, value=_tensor_value),
    "torch._C.Generator": _generator(lambda obj, walk: type(obj)(device=obj.device).set_state(obj.get_state())),
    "pandas.core.generic.NDFrame": Kind(copy=_copy_frame, parts=_frame_parts),
    "pandas.core.indexes.base.Index": _INDEX,  # as pandas 2 calls it
    "pandas.Index": _INDEX,  # as pandas 3 does
}
"""Classes and their subclasses, by their full names."""


def find(cls: type) -> Kind | None:
    """The kind of a class of a known library; of a subclass as well, where it is Python's or numpy's."""
    base = next((base for base in cls.__mro__ if base in _BY_BASE), None)
    if base is not None:
        return _BY_BASE[base] if base is cls else replace(_BY_BASE[base], alone=False)
    if cls in _BY_TYPE:
        return _BY_TYPE[cls]
    named = next((_BY_NAME[name] for name in map(full_name, cls.__mro__) if name in _BY_NAME), None)
    if named is not None:
        return named
    if module_name(cls).startswith("pygame") and cls.__name__ in PYGAME_POSITIONS and layout_of(cls).base is None:
        return replace(KIND_BY_REDUCTION, copy=lambda obj, walk: copy.copy(obj))
    structure = kind_by_structure(cls)
    if structure is None:
        return None
    if is_space(cls):
        by_value = replace(structure, by_value=True, key=None)
        is_known = module_name(cls).startswith(("gymnasium.spaces.", "gym.spaces."))  # whose bounds never change
        return replace(by_value, copy=_copy_space, plain=False) if is_known else by_value
    if is_defined_in(cls, "pettingzoo.classic.go.go.raw_env"):
        return replace(structure, copy=_copied_go(structure.copy), plain=False)
    return None
