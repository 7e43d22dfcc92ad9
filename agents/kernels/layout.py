"""The block of numbers that a kernel and the Python around it share, as a named record.

A kernel takes it as its last argument and reads and writes ``search.nodes``, ``search.stop``: plain loads and
stores. Python has the same names on the object itself. Arrays are not in it, only their addresses
(``zermelo.envs.jit.memory``): indexing an array field would build an array each time. Each family of kernels has
a record of its own, which begins with the fields that all have. Whole numbers are ``int``, floats ``float``, all
of eight bytes.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

BUSY_BITS: Final = 14
"""The logarithm of how many marks there are of positions that are being searched."""

CHANCE_KEY: Final = 0x5DEECE66D  # times a state's tag it makes the table's key of the state's

NO_LIMIT: Final = (1 << 63) - 1

COUNTED: Final = 1 << 15
"""For so many counts of visits the functions of Monte Carlo search are looked up."""

GOING: Final = 0
OUT_OF_NODES: Final = 1
ASKED: Final = 2
TOO_DEEP: Final = 3
OUT_OF_STACK: Final = 4
OUT_OF_MEMORY: Final = 5
"""There is no room for more records: the front end gives more and calls again."""
SUM_NOT_CONSTANT: Final = 6  # evaluations do not add up, so max^n must not prune


class SharedRecord(ctypes.Structure):
    """Numbers that Python and a kernel share, and the arrays whose addresses they hold.

    A class of records lists its fields as annotations under ``laid_out``; those of its base come first. It has
    slots, so that a name that is no field is refused.
    """

    __slots__ = ("arrays",)

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        """The arrays behind the fields, by the fields' names."""

    @property
    def data(self) -> SharedRecord:
        """The memory, as Numba asks a record for it: so a record is itself what its kernel is given."""
        return self

    def attach(self, name: str, array: npt.NDArray[Any]) -> None:
        """Writes an array's address into a field, and keeps the array alive while it is there."""
        self.arrays[name] = array
        setattr(self, name, array.ctypes.data)


Record = TypeVar("Record", bound=SharedRecord)


def laid_out(record: type[Record]) -> type[Record]:
    """Makes fields of the annotations of a class of records, which are their one list."""
    record._fields_ = [
        (name, ctypes.c_double if kind == "float" else ctypes.c_int64)
        for name, kind in inspect.get_annotations(record).items()
    ]
    return record


@functools.cache  # by the class, whose fields are laid out once
def dtype_of(record: type[SharedRecord]) -> np.dtype[Any]:
    """The layout of a class of records, as Numba is told of it: NumPy sees only a class's own fields."""
    fields = [field for kind in reversed(record.__mro__) for field in vars(kind).get("_fields_", ())]
    return np.dtype([(name, "f8" if kind is ctypes.c_double else "i8") for name, kind in fields])


@laid_out
class KernelRecord(SharedRecord):
    """One thread's numbers that all kernels have."""

    __slots__ = ("asked", "start")

    # Limits and counters.
    stop: int
    """Why to stop; Python may write ``ASKED`` at any time while the kernel runs without the interpreter's lock."""
    nodes: int
    node_limit: int
    unclaimed: int  # where threads share a limit: the address of how many nodes nobody has claimed yet; else 0
    deepest: int
    max_ply: int
    stack_start: int  # the stack's address at the kernel's first node; 0 before
    stack_room: int  # bytes of stack that the kernel may use
    random: int  # the counter of random numbers (``zermelo.agents.kernels.random_numbers``)
    # Memory.
    actions: int  # how many action numbers there are
    width: int  # the most actions, outcomes or choices that a node can have
    rows: int  # the address of a row of words for each ply or level
    row: int  # words in a row
    lines: int  # the address of the principal variations of all plies (``memory.line_of``), or of a path
    line: int  # words for the longest principal variation
    arena: int  # the address of memory for records that lie one behind the other, for kernels without rows
    arena_end: int
    node_bytes: int  # of the arena that a node may use before it visits another
    scratch: int  # the address of a few words that any node may use
    minus_one: int  # -1: a recursive kernel takes no constants as arguments

    def __init__(self) -> None:
        super().__init__()
        self.node_limit = np.iinfo(np.int64).max
        self.minus_one = -1
        self.start: Callable[[Any], tuple[Any, Any]]
        """Makes the arguments of a kernel from a state (``zermelo.envs.jit.history``): rules and state."""
        self.asked = False
        """True if the thread was asked to stop, also between two calls of a kernel."""

    def ask_to_stop(self) -> None:
        """Asks the kernel to return soon."""
        self.asked = True
        self.stop = ASKED


@laid_out
class ValueRecord(KernelRecord):
    """The record of searches that compare values: their bounds, and the middle between them."""

    __slots__ = ()

    seats: int
    num_values: int  # how many seats' values a record has: all, or only the one that maximizes
    total: int  # what the players' utilities add up to
    lower_value: float
    upper_value: float
    evaluated: int  # whether the rules' evaluation counts at the depth limit, or of a leaf
    lower_evaluation: int
    upper_evaluation: int
    expected: float  # what a seat is taken to expect at the depth limit, where there is no evaluation
    fitted: int  # the address of a network's words (``evaluators.network``); 0 for none
    history: int  # the address of numbers for each action, of move ordering or of RAVE
