"""Objects of known libraries: all random generators, Gymnasium's spaces, OpenSpiel's states, compiled functions.

A generator's copy continues with the same numbers. But for numpy
nothing is imported: a class is recognised by its name.
"""

from __future__ import annotations

import array
import copy
import gc
import io
import queue
import random
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.arrays import ARRAY, copied_memory, copy_elements, is_own_array
from zermelo.envs.clone.kinds import (
    JAX_ARRAYS,
    JAX_KEYS,
    PYGAME_POSITIONS,
    SHARED,
    Kind,
    UncopyableError,
    Walk,
    fields_of,
    full_name,
    is_defined_in,
    layout_of,
    made,
    module_name,
)
from zermelo.envs.clone.structures import KIND_BY_REDUCTION, copy_fields, deep_copy, kind_by_structure
from zermelo.envs.errors import CloneError

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


def is_process_wide(obj: Any) -> bool:
    """Returns whether this is a generator of the whole process, such as the one behind ``random.random``.

    An environment may hold it (scipy's distributions do); it stays outside, as for one that calls the functions.
    """
    if obj is random.random.__self__ or obj is np.random.get_state.__self__:  # type: ignore[attr-defined]  # they are methods
        return True
    return "torch" in sys.modules and obj is sys.modules["torch"].default_generator


_BARE: Final = (
    np.random.Generator, np.random.RandomState, np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937,
    np.random.Philox, np.random.SFC64, np.random.SeedSequence, random.Random,
)  # fmt: skip


def is_bare_generator(obj: Any) -> bool:
    """Returns whether this is a generator, or a part of one, without further attributes, such as a count."""
    return type(obj) in _BARE and fields_of(obj).keys() <= {"gauss_next"}


def _generator(copy: Callable[[Any, Walk], Any], source: str = "", *, alone: bool = False) -> Kind:
    """Of random generators, whose state is no part of a position; ``source`` is where they have it from."""

    def copy_all(obj: Any, walk: Walk) -> Any:
        if is_process_wide(obj) or (walk.shares_generators and is_bare_generator(obj)):
            return obj
        new = walk.memo[id(obj)] = copy(obj, walk)
        if copy is not deep_copy:
            copy_fields(obj, new, walk)
        return new

    def parts(obj: Any) -> list[Any]:
        return (
            [] if is_process_wide(obj) else [*([getattr(obj, source)] if source else []), *fields_of(obj).values()]
        )

    return Kind(copy=copy_all, parts=parts, by_value=True, alone=alone)


_BY_BASE: Final[dict[type, Kind]] = {
    np.ndarray: ARRAY,
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
    """PyTorch's own copy; of what was computed with gradients it makes none, so the values are copied.

    A tensor over the memory of an array is one over that of the array's copy.
    """
    if not obj.is_leaf:
        return obj.detach().clone().requires_grad_()
    storage = obj.untyped_storage() if obj.device.type == "cpu" and not obj.is_sparse else None
    if storage is not None and not storage.resizable():
        first = storage.data_ptr()
        memory = copied_memory(first, first + storage.nbytes(), walk, is_own_array)
        if memory is not None:
            flat = sys.modules["torch"].from_numpy(memory).view(obj.dtype)
            return flat.as_strided(obj.shape, obj.stride(), obj.storage_offset()).requires_grad_(obj.requires_grad)
    if full_name(type(obj)) != "torch.nn.parameter.Parameter":
        return deep_copy(obj, walk)
    data = obj.detach()  # its own __deepcopy__ would not share the memory with other tensors
    walk.keep.append(data)
    return type(obj)(deep_copy(data, walk), obj.requires_grad)


def _jax_value(obj: Any) -> Any:
    array = np.asarray(obj)
    return str(obj.dtype), obj.weak_type, array.shape, array.tobytes()


def _copy_mujoco_data(obj: Any, walk: Walk) -> Any:
    """Data of the copied model: MuJoCo's own copy would be of the original's, or copy that once more."""
    model = walk.copy(obj.model)
    new = type(obj)(model)
    sys.modules["mujoco"].mj_copyData(new, model, obj)
    return new


def _mujoco_value(obj: Any) -> bytes:
    """All that decides how a simulation goes on, besides the model."""
    mujoco = sys.modules["mujoco"]
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(obj.model, kind))
    mujoco.mj_getState(obj.model, obj, state, kind)
    return state.tobytes()


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
        copy_elements(values, copies, walk)
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


def _wrapped(obj: Any) -> list[Any]:
    """The Python function that was compiled."""
    return [obj.__wrapped__] if hasattr(obj, "__wrapped__") else []


def _python_functions(obj: Any) -> list[Any]:
    """What ``np.frompyfunc`` made a ufunc of."""
    return [part for part in gc.get_referents(obj) if callable(part)]


def _make_ufunc(obj: Any, parts: list[Any]) -> Any:
    identity = {} if obj.identity is None else {"identity": obj.identity}
    return np.frompyfunc(parts[0], obj.nin, obj.nout, **identity)


_BUFFER: Final = Kind(copy=_copy_buffer, value=lambda obj: (obj.getvalue(), obj.tell()))
_BY_TYPE: Final[dict[type, Kind]] = {
    **dict.fromkeys(_LOCKS, Kind(copy=_copy_lock)),
    io.StringIO: _BUFFER,
    io.BytesIO: _BUFFER,
    queue.SimpleQueue: Kind(copy=_copy_queue, parts=_waiting),
    np.ufunc: made(
        _make_ufunc, _python_functions, lambda obj: (obj.nin, obj.nout) if _python_functions(obj) else obj
    ),
}
_INDEX: Final = Kind(copy=lambda obj, walk: obj.copy(deep=True), parts=_frame_parts)
# What Numba compiles has captured values, never the environment.
_COMPILED: Final = Kind(copy=lambda obj, walk: obj, parts=_wrapped, shared=True)
_BY_NAME: Final[dict[str, Kind]] = {
    "numba.core.dispatcher.Dispatcher": _COMPILED,
    "numba.np.ufunc.ufunc_base.UfuncBase": _COMPILED,
    "numba.core.ccallback.CFunc": _COMPILED,
    "numba.stencils.stencil.StencilFunc": _COMPILED,
    # What JAX compiles is pure: of the environment that it may lead back to it has read what never changes.
    "jaxlib._jax.PjitFunction": Kind(copy=lambda obj, walk: obj, shared=True, by_value=True, value=id),
    # A step may donate an array to its compiled code, which ends it for all who share it.
    **dict.fromkeys(JAX_ARRAYS, Kind(copy=deep_copy, value=_jax_value)),
    **dict.fromkeys(JAX_KEYS, _generator(deep_copy)),
    "pyspiel.State": Kind(
        copy=_copy_open_spiel_state, value=lambda obj: (str(obj.get_game()), obj.serialize()), alone=True
    ),
    "mujoco._structs.MjData": Kind(copy=_copy_mujoco_data, parts=lambda obj: [obj.model], value=_mujoco_value),
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
