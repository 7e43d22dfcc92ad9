"""Tables of rules that are too large for machine code, which finds them by a name when it is loaded.

A global array would be copied into every kernel; one of these is read once, and only its address is used.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

TABLE: Final = "zermelo_table_"
"""How the symbols begin that stand for tables in machine code."""
NAMES: Final[MutableMapping[Callable[[], int], str]] = weakref.WeakKeyDictionary()
"""The symbols, by the functions that ``large_table`` made."""
_ARRAYS: Final[MutableMapping[Callable[[], int], Callable[[], npt.NDArray[Any]]]] = weakref.WeakKeyDictionary()


def large_table(name: str, read: Callable[[], npt.NDArray[Any]]) -> Callable[[], int]:
    """A function of no arguments, for the module's level, that is the address of an array; rules may call it.

    Numbers at an address are read by ``load_short``. No other table of the same rules has the name; ``read``
    returns the array, contiguous, and is called once. Made again, as where a notebook's cell runs again, it is a
    new table.
    """
    found: npt.NDArray[Any] | None = None

    def array() -> npt.NDArray[Any]:
        nonlocal found
        if found is None:
            found = read()
        return found

    def address() -> int:
        return int(array().ctypes.data)

    NAMES[address], _ARRAYS[address] = TABLE + name, array
    return address


def array_of(address: Callable[[], int]) -> npt.NDArray[Any]:
    """The array of a function that ``large_table`` made."""
    return _ARRAYS[address]()


def load_short(address: int, index: int) -> int:
    """The 16-bit integer number ``index`` from ``address`` on."""
    return ctypes.c_int16.from_address(address + 2 * index).value


def shorts(address: int, count: int) -> Any:
    """The ``count`` 16-bit integers from ``address`` on, as an array that owns nothing."""
    return np.ctypeslib.as_array((ctypes.c_int16 * count).from_address(address))


# -- sums over rows of arrays, for evaluations by networks: NumPy's in plain Python, loops when compiled


def row_sum(sums: Any, rows: Any, numbers: Any, factors: Any, count: int) -> None:
    """Writes the sum of the first ``count`` rows of those numbers, each times its factor, with 32 bits.

    ``rows`` are as long as ``sums``, and lie one after the other.
    """
    sums[:] = factors[:count] @ rows.reshape(-1, len(sums))[numbers[:count]]


def row_product(values: Any, rows: Any, row: int) -> int:
    """The inner product of values and a row of as many, with 64 bits; negative values count as 0."""
    numbers = rows[row * len(values) : (row + 1) * len(values)]
    return int(np.maximum(values, 0).astype(np.int64) @ numbers.astype(np.int64))
