"""NumPy's arrays: a view stays a view of the copy, and so does an array over the memory of another object.

Where the owner of the memory is copied (a ``bytearray``, a tensor, an object with ``__array_interface__``), it is
the memory of the owner's copy. Where it cannot be (memory maps, ctypes, Numba, nanobind), the memory alone is
copied, unless the environment holds its owner too, which could read and write it. Of memory that came by DLPack
nobody says who owns it: an array or tensor that the environment holds at its addresses does.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from zermelo.envs.clone.kinds import (
    JAX_ARRAYS,
    Kind,
    UncopyableError,
    Walk,
    fields_of,
    full_name,
    is_defined_in,
    layout_of,
    module_name,
)
from zermelo.envs.clone.structures import copy_fields

Array = np.ndarray[Any, Any]

_STRIDED: Final[Any] = type(as_strided(np.zeros(1)).base)  # what NumPy puts between an array and such a view of it
_OTHERS: Final = ("mmap.mmap", "_ctypes._CData", "_nrt_python._MemInfo", "nanobind.nb_ndarray")
_WITH_KNOWN_MEMORY: Final = {"numpy", "torch", "jax", "jaxlib"}
_TENSORS: Final = ("torch.Tensor", *JAX_ARRAYS)


def _copy_array(obj: Array, walk: Walk) -> Array:
    if obj.base is None:
        if not obj.flags.owndata:
            raise UncopyableError(obj, "is an array over memory that is not numpy's")
        new = obj.__copy__()
    else:
        new = _copy_view(obj, walk)
    walk.memo[id(obj)] = new
    if obj.base is None and obj.dtype.hasobject:
        copy_elements(obj, new, walk)
    if type(obj) is not np.ndarray:
        copy_fields(obj, new, walk)
    if not obj.flags.writeable:
        new.flags.writeable = False
    return new


def _copy_view(obj: Array, walk: Walk) -> Array:
    owner = _owner(obj)
    if isinstance(owner, bytes) or obj.size == 0 or obj.itemsize == 0:
        return obj.__copy__()
    start = _memory(owner)
    if start is None or not _is_inside(obj, start):
        raise UncopyableError(obj, f"is an array over the memory of a {type(owner).__name__}")
    offset = _address(obj) - _address(start)
    if obj.dtype.hasobject and (obj.dtype != start.dtype or offset % obj.itemsize):
        raise UncopyableError(obj, "is an array over a field of objects")
    if owner is obj:
        low, high = byte_bounds(obj)
        held = copied_memory(low, high, walk, _is_owner_by_address(obj))
        if held is None and (other := next(filter(_may_own_memory, walk.held()), None)) is not None:
            name = full_name(type(other))
            raise UncopyableError(
                obj, f"is an array that came by DLPack, perhaps from the {name} that is held too"
            )
        copied = _copy_memory(start, walk) if held is None else held
    elif not isinstance(owner, np.ndarray) and is_defined_in(type(owner), *_OTHERS):
        if walk.is_held(owner):
            name = type(owner).__name__
            raise UncopyableError(obj, f"is an array over the memory of a {name}, which the environment holds too")
        copied = _copy_memory(start, walk)
    else:
        copied = walk.copy(owner)
    memory = _memory(copied)
    if memory is None or memory.nbytes != start.nbytes:
        raise UncopyableError(obj, f"is an array over a {type(owner).__name__}, whose copy has other memory")
    if obj.dtype.hasobject:  # numpy makes no such array over a buffer
        return as_strided(memory[offset // obj.itemsize :], obj.shape, obj.strides).view(type(obj))
    locked = isinstance(copied, np.ndarray) and copied.flags.owndata and not copied.flags.writeable
    if locked:
        copied.flags.writeable = True
        memory = copied.view(np.ndarray).ravel(order="K")
    new: Array = np.ndarray.__new__(type(obj), obj.shape, obj.dtype, memory, offset, obj.strides)
    if locked:
        copied.flags.writeable = False
    return new


def _owner(obj: Any) -> Any:
    """The object that an array has its memory from."""
    if isinstance(obj, memoryview):
        return _owner(obj.obj)
    if isinstance(obj, np.ndarray | _STRIDED):
        return obj if obj.base is None or _is_by_dlpack(obj) else _owner(obj.base)
    if is_defined_in(type(obj), "_ctypes._CData"):
        views = [part for part in (obj._objects or {}).values() if isinstance(part, memoryview)]
        base = obj._b_base_ if obj._b_base_ is not None or not views else views[0]
        return obj if base is None else _owner(base)
    return obj


def _is_by_dlpack(array: Any) -> bool:
    return isinstance(array, np.ndarray) and type(array.base).__name__ == "PyCapsule"


def _memory(owner: Any) -> Array | None:
    """The memory of an owner as a flat array, or None if it does not say where that is."""
    if isinstance(owner, np.ndarray):
        return owner.view(np.ndarray).ravel(order="K")
    try:
        return np.frombuffer(owner, np.uint8)
    except (TypeError, ValueError, BufferError):  # such as a tensor
        pass
    try:
        return np.asarray(owner).view(np.ndarray).ravel(order="K")
    except Exception:  # whatever an object's own code raises
        return None


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]  # it is a number


def _is_inside(obj: Array, memory: Array) -> bool:
    (low, high), (first, last) = byte_bounds(obj), byte_bounds(memory)
    return first <= low and high <= last


def _copy_memory(memory: Array, walk: Walk) -> Any:
    # Numba makes an owner for each array: memory is known by where it begins, which is nobody's ``id``.
    place = -_address(memory)
    if place not in walk.memo:
        walk.memo[place] = memory.copy()
    return walk.memo[place]


def copied_memory(first: int, last: int, walk: Walk, is_owner: Callable[[Any], bool]) -> Array | None:
    """The copy's bytes at some addresses, if an array or tensor that the environment holds is over them."""
    for obj in walk.held():
        array = _as_array(obj) if is_owner(obj) else None
        if array is None or array.dtype.hasobject:
            continue
        low, high = byte_bounds(array)
        copied = _as_array(walk.copy(obj)) if low <= first and last <= high else None
        base = None if copied is None else _memory(_owner(copied))
        if copied is not None and base is not None:
            start = first - _address(array) + _address(copied) - _address(base)
            return base.view(np.uint8)[start : start + last - first]
    return None


def is_own_array(obj: Any) -> bool:
    """Returns whether this is an array that is not over the memory of a tensor."""
    owner = _owner(obj) if isinstance(obj, np.ndarray) else None
    return owner is not None and not (is_defined_in(type(owner), "torch.Tensor") or _is_by_dlpack(owner))


def _is_owner_by_address(array: Array) -> Callable[[Any], bool]:
    """Returns whether something is what an array that came by DLPack may be over, if their addresses agree."""

    def is_owner(obj: Any) -> bool:
        if isinstance(obj, np.ndarray):
            owner = _owner(obj)
            return owner is not array and not (_is_by_dlpack(owner) and owner.nbytes <= array.nbytes)
        return is_defined_in(type(obj), *_TENSORS)

    return is_owner


def _may_own_memory(obj: Any) -> bool:
    """Returns whether an object is of C code of which nobody knows what memory it has."""
    package = module_name(type(obj)).partition(".")[0]
    return layout_of(type(obj)).base is None and package not in sys.stdlib_module_names | _WITH_KNOWN_MEMORY


def _as_array(obj: Any) -> Array | None:
    if isinstance(obj, np.ndarray):
        return obj
    with contextlib.suppress(Exception):  # whatever a library raises of what is on another device
        return np.asarray(obj.detach() if is_defined_in(type(obj), "torch.Tensor") else obj)
    return None


def copy_elements(obj: Array, new: Array, walk: Walk) -> None:
    """Copies the objects in an array to its copy."""
    if obj.dtype == object:
        source, target = np.atleast_1d(obj.view(np.ndarray)), np.atleast_1d(new.view(np.ndarray))
        for index in np.ndindex(source.shape):
            target[index] = walk.copy(source[index])
        return
    for name in obj.dtype.names or ():
        if obj.dtype[name].hasobject:
            copy_elements(obj[name], new[name], walk)


def _elements(obj: Array) -> list[Any]:
    """The objects in an array; not whose memory it is, or a view would never equal an array of its own."""
    elements = obj.ravel().tolist() if obj.dtype.hasobject else []
    return elements if type(obj) is np.ndarray else [*elements, *fields_of(obj).values()]


def _array_value(obj: Array) -> Any:
    kind = obj.dtype.str if obj.dtype.names is None else repr(obj.dtype)
    return obj.shape, kind, b"" if obj.dtype.hasobject else obj.tobytes()


ARRAY: Final = Kind(copy=_copy_array, parts=_elements, value=_array_value)
