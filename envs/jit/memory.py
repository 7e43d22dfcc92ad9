"""Raw memory for kernels: a few instructions over addresses, so that a recursive call carries one integer.

A NumPy array passed to a compiled function is seven values, and its reference count; an address is one. The arrays
behind the addresses belong to Python, which keeps them alive for the length of the call.

Compiled code has instructions in place of these functions (``instructions``); as they are here, they do the same
in plain Python, slowly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.envs.rules.arrays import load_short as load_short
from zermelo.envs.rules.arrays import shorts as shorts
from zermelo.envs.rules.boards import whole
from zermelo.envs.rules.words import flatten_state


def load(address: int, index: int) -> int:
    """The 64-bit integer number ``index`` from ``address`` on."""
    return ctypes.c_int64.from_address(address + 8 * index).value


def store(address: int, index: int, value: int) -> None:
    """Writes the 64-bit integer number ``index`` from ``address`` on."""
    ctypes.c_int64.from_address(address + 8 * index).value = value


def load_float(address: int, index: int) -> float:
    """The 64-bit float number ``index`` from ``address`` on."""
    return ctypes.c_double.from_address(address + 8 * index).value


def store_float(address: int, index: int, value: float) -> None:
    """Writes the 64-bit float number ``index`` from ``address`` on."""
    ctypes.c_double.from_address(address + 8 * index).value = value


def store_short(address: int, index: int, value: int) -> None:
    """Writes the 16-bit integer number ``index`` from ``address`` on: the low bits of a value."""
    ctypes.c_int16.from_address(address + 2 * index).value = value


def load_acquire(address: int, index: int) -> int:
    """Like ``load``, but sees everything that another thread wrote before its ``store_release``."""
    return load(address, index)


def store_release(address: int, index: int, value: int) -> None:
    """Like ``store``, but only after everything that this thread has written before."""
    store(address, index, value)


def prefetch(address: int, index: int) -> None:
    """Asks for a cache line ahead of its use."""


def take(address: int, amount: int) -> int:
    """Subtracts from the integer at an address that other threads subtract from too; what was there before."""
    before = load(address, 0)
    store(address, 0, before - amount)
    return before


def add_float(address: int, amount: float) -> float:
    """Adds to the float at an address that other threads add to too; what was there before."""
    before = load_float(address, 0)
    store_float(address, 0, before + amount)
    return before


def compare_and_swap(address: int, expected: int, value: int) -> bool:
    """Writes an integer that several threads write, if the expected one is there still; whether it was.

    What this thread has written before is seen by whoever reads the integer by ``load_acquire``.
    """
    is_there = load(address, 0) == expected
    if is_there:
        store(address, 0, value)
    return is_there


def compare_and_swap_float(address: int, expected: float, value: float) -> bool:
    """Like ``compare_and_swap``, for a float; floats with the same bits are equal."""
    return compare_and_swap(address, _bits(expected), _bits(value))


def _bits(value: float) -> int:
    return ctypes.c_int64.from_buffer(ctypes.c_double(value)).value


def wrapped_product(first: int, second: int) -> int:
    """The low 64 bits of a product; that of ``*`` may not have more, or the compiler makes something up."""
    return whole(first * second)


def stack_address() -> int:
    """The address of the calling function's memory on the stack; 0 in plain Python."""
    return 0


def words(address: int, count: int) -> Any:
    """The ``count`` integers from ``address`` on, as an array that owns nothing."""
    return np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(address))


def floats(address: int, count: int) -> Any:
    """The ``count`` floats from ``address`` on, as an array that owns nothing."""
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address))


def int8s(address: int, count: int) -> Any:
    """The ``count`` integers of one byte from ``address`` on, as an array that owns nothing."""
    return np.ctypeslib.as_array((ctypes.c_int8 * count).from_address(address))


def load_state(like: Any, address: int) -> Any:
    """A tuple of the same type as another, tuples inside it too, from the words at an address."""
    return _loaded(like, iter(words(address, len(flatten_state(like))).tolist()))


def store_state(state: Any, address: int) -> None:
    """Writes the words of a tuple, those of the tuples inside it too, from an address on."""
    for place, word in enumerate(flatten_state(state)):
        store(address, place, word)


def _loaded(like: Any, numbers: Iterator[int]) -> Any:
    parts = [_loaded(part, numbers) if isinstance(part, tuple) else next(numbers) for part in like]
    return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
