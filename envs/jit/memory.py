"""Raw memory for kernels: a few instructions over addresses, so that a recursive call carries one integer.

A NumPy array passed to a compiled function is seven values, and its reference count; an address is one. The arrays
behind the addresses belong to Python, which keeps them alive for the length of the call.

These functions are names that kernels call; ``intrinsics`` has the instructions that stand for them when compiled.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "floats",
    "load",
    "load_float",
    "prefetch",
    "stack_address",
    "store",
    "store_float",
    "take",
    "words",
    "wrapped_product",
]


def load(address: int, index: int) -> int:
    """The 64-bit integer number ``index`` from ``address`` on."""
    raise NotImplementedError


def store(address: int, index: int, value: int) -> None:
    """Writes the 64-bit integer number ``index`` from ``address`` on."""
    raise NotImplementedError


def load_float(address: int, index: int) -> float:
    """The 64-bit float number ``index`` from ``address`` on."""
    raise NotImplementedError


def store_float(address: int, index: int, value: float) -> None:
    """Writes the 64-bit float number ``index`` from ``address`` on."""
    raise NotImplementedError


def prefetch(address: int, index: int) -> None:
    """Asks for a cache line ahead of its use."""
    raise NotImplementedError


def take(address: int, amount: int) -> int:
    """Subtracts from the integer at an address that other threads subtract from too; what was there before."""
    raise NotImplementedError


def wrapped_product(first: int, second: int) -> int:
    """The low 64 bits of a product; that of ``*`` may not have more, or the compiler makes something up."""
    raise NotImplementedError


def stack_address() -> int:
    """Where the calling function's memory on the stack lies."""
    raise NotImplementedError


def words(address: int, count: int) -> Any:
    """The ``count`` integers from ``address`` on, as an array that owns nothing."""
    raise NotImplementedError


def floats(address: int, count: int) -> Any:
    """The ``count`` floats from ``address`` on, as an array that owns nothing."""
    raise NotImplementedError
