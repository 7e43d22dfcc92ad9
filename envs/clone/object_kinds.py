"""What may be shared between an environment and its copy, what is copied, and what cannot be.

One table of types, used by the copier, by the state key and by the search for random generators:

* **shared**: values that nothing can change (numbers, text, classes, modules, enum members), and objects that
  draw or play sound (pygame surfaces, fonts, clocks), which are not part of a game's position;
* **refused**: what lives partly outside of Python (files, sockets, threads, ...), where a copy would be wrong;
* **everything else** is copied, by the kind of memory that its class has (``layout_of``).
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import io
import re
import sys
import types
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

import numpy as np

__all__ = [
    "FLATTEN",
    "SHARED_TYPES",
    "Layout",
    "instance_dict",
    "is_defined_in",
    "is_display_type",
    "is_shared_type",
    "layout_of",
    "refusal",
]

SHARED_TYPES: Final[set[type]] = {
    bool,
    bytes,
    complex,
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    decimal.Decimal,
    float,
    fractions.Fraction,
    int,
    object,
    range,
    re.Match,
    re.Pattern,
    str,
    type,
    types.CodeType,
    types.EllipsisType,
    types.GenericAlias,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.ModuleType,
    types.NoneType,
    types.NotImplementedType,
    types.UnionType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    classmethod,
    property,
    staticmethod,
    functools.cached_property,
    uuid.UUID,
    np.ufunc,
}
"""Exact types whose values are shared. ``is_shared_type`` adds to it what it finds out about further types."""

FLATTEN: Final[dict[type, Callable[[Any], Sequence[Any]]]] = {}
"""What objects of users' classes are made of, where they said so (``register_clone``)."""

_SHARED_BASES: Final = (BaseException, PurePath, enum.Enum, np.dtype, type, types.ModuleType)
_NUMPY_VALUES: Final = (np.number, np.bool_, np.character, np.datetime64, np.timedelta64)

# Packages whose C objects draw, play or listen; a clone shares them, as a search never renders.
_DISPLAY_PACKAGES: Final = frozenset(
    {"pygame", "pyglet", "OpenGL", "moderngl", "matplotlib", "tkinter", "_tkinter", "PIL", "cairo", "glfw"}
)
_PYGAME_POSITIONS: Final = frozenset({"Rect", "FRect", "Vector2", "Vector3", "Mask", "Color"})
_SHARED_NAMES: Final = frozenset(
    {
        "logging.Logger",
        "logging.Handler",
        "logging.LoggerAdapter",
        "gymnasium.envs.registration.EnvSpec",
        "pyspiel.Game",
        "pyspiel.GameType",
        "pyspiel.GameInfo",
        "random.SystemRandom",
        "chess.Move",
        "chess._BoardState",
        "_contextvars.ContextVar",
        "typing._SpecialForm",
        "typing._GenericAlias",
        "typing.TypeVar",
    }
)
_REFUSED_NAMES: Final = {
    "threading.Thread": "a thread",
    "subprocess.Popen": "a running process",
    "multiprocessing.process.BaseProcess": "a running process",
    "concurrent.futures._base.Executor": "a pool of workers",
    "concurrent.futures._base.Future": "a result that is still to come",
    "multiprocessing.managers.BaseManager": "a running process",
    "multiprocessing.connection._ConnectionBase": "a connection",
    "multiprocessing.queues.Queue": "a queue between processes",
    "multiprocessing.synchronize.SemLock": "a lock between processes",
    "socket.socket": "a socket",
    "_socket.socket": "a socket",
    "ssl.SSLContext": "a connection",
    "mmap.mmap": "a memory map",
    "numpy.memmap": "a memory map",
    "_ctypes._CData": "memory outside of Python (ctypes)",
    "_ctypes.CFuncPtr": "a function outside of Python (ctypes)",
    "ctypes.CDLL": "a library outside of Python (ctypes)",
    "_cffi_backend._CDataBase": "memory outside of Python (cffi)",
    "sqlite3.Connection": "a database connection",
    "sqlite3.Cursor": "a database cursor",
    "asyncio.events.AbstractEventLoop": "an event loop",
    "_asyncio.Future": "a result that is still to come",
    "_queue.SimpleQueue": "a queue between threads",
    "tempfile.TemporaryDirectory": "a temporary folder",
    "ale_py._ale_py.ALEInterface": "an Atari emulator",
    "multi_agent_ale_py.ale_python_interface.ALEInterface": "an Atari emulator",
}
_REFUSED_TYPES: Final[dict[type, str]] = {
    types.GeneratorType: "a generator that is under way",
    types.CoroutineType: "a coroutine that is under way",
    types.AsyncGeneratorType: "a generator that is under way",
    types.FrameType: "a frame of a running function",
    types.TracebackType: "a traceback",
}


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def is_defined_in(cls: type, *names: str) -> bool:
    """Whether the class or one of its parents has one of these full names; imports nothing."""
    return any(_full_name(base) in names for base in cls.__mro__)


def is_python_class(cls: type) -> bool:
    """Whether a class statement made it (not C code), so that all it holds are a dict and slots."""
    return bool(cls.__flags__ & (1 << 9)) and "__module__" in cls.__dict__ and _own_fields_explain_size(cls)


def _own_fields_explain_size(cls: type) -> bool:
    base = cls.__base__
    if base is None:
        return False
    explained = 8 * len(_own_slots(cls))
    if cls.__weakrefoffset__ > 0 and cls.__weakrefoffset__ != base.__weakrefoffset__:
        explained += 8
    if cls.__dictoffset__ > 0 and cls.__dictoffset__ != base.__dictoffset__:
        explained += 8
    return cls.__basicsize__ - base.__basicsize__ == explained


def _own_slots(cls: type) -> list[Any]:
    """The slot descriptors that ``__slots__`` of this class (not its parents) made."""
    if "__slots__" not in cls.__dict__:
        return []
    return [value for value in cls.__dict__.values() if type(value) is types.MemberDescriptorType]


def refusal(cls: type) -> str | None:
    """Why objects of this class cannot be copied, in words that follow "is", or None."""
    if cls in _REFUSED_TYPES:
        return _REFUSED_TYPES[cls]
    if issubclass(cls, io.IOBase) and not issubclass(cls, io.StringIO | io.BytesIO):
        return "an open file"
    for base in cls.__mro__:
        reason = _REFUSED_NAMES.get(_full_name(base))
        if reason is not None:
            return reason
    return None


_copied_types: set[type] = set()


def is_shared_type(cls: type) -> bool:
    """Whether every object of exactly this class may be shared by an environment and its copy."""
    if cls in SHARED_TYPES:
        return True
    if cls in _copied_types:
        return False
    shared = (
        issubclass(cls, _SHARED_BASES)
        or (issubclass(cls, _NUMPY_VALUES) and cls.__module__ == "numpy")
        or any(_full_name(base) in _SHARED_NAMES for base in cls.__mro__)
        or is_display_type(cls)
        or _is_bare_value(cls)
    )
    (SHARED_TYPES if shared else _copied_types).add(cls)
    return shared


def _is_bare_value(cls: type) -> bool:
    """A subclass of a number or of text that has no attributes of its own, such as IntFlag's or np.str_'s kin."""
    if not issubclass(cls, int | float | complex | str | bytes):
        return False
    layout = layout_of(cls)
    return layout is not None and layout.dict_of is None and not layout.slots


def is_display_type(cls: type) -> bool:
    """Whether objects of the class only draw, play or listen."""
    package = cls.__module__.partition(".")[0]
    if package not in _DISPLAY_PACKAGES:
        return False
    if package == "pygame":
        return not is_python_class(cls) and cls.__name__ not in _PYGAME_POSITIONS
    return True


@dataclass(frozen=True, slots=True)
class Layout:
    """What memory objects of a class have: a built-in part, slots, and a dict.

    Attributes:
        base: The built-in class that they extend (``object`` for most).
        slots: The slot descriptors of the class and its parents.
        dict_of: The descriptor that reads their ``__dict__``, or None if they have none.
    """

    base: type
    slots: tuple[Any, ...]
    dict_of: Any


_BASES: Final = frozenset(
    {
        object,
        list,
        dict,
        set,
        frozenset,
        tuple,
        int,
        float,
        complex,
        str,
        bytes,
        bytearray,
        collections.deque,
        collections.OrderedDict,
        collections.defaultdict,
        types.SimpleNamespace,
        np.ndarray,
    }
)
_layouts: dict[type, Layout | None] = {}


def layout_of(cls: type) -> Layout | None:
    """The memory layout of a class, or None if C code that we do not know has a part in it."""
    try:
        return _layouts[cls]
    except KeyError:
        layout = _layouts[cls] = _find_layout(cls)
        return layout


def _find_layout(cls: type) -> Layout | None:
    slots: list[Any] = []
    for part in cls.__mro__:
        if is_python_class(part):
            slots.extend(_own_slots(part))
    base: type | None = cls
    while base is not None and base not in _BASES:
        if not is_python_class(base):
            return None
        base = base.__base__
    if base is None:
        return None
    descriptor = inspect.getattr_static(cls, "__dict__", None)
    if cls.__dictoffset__ == 0:
        descriptor = None
    elif not isinstance(descriptor, types.GetSetDescriptorType):
        # The class hides its dict behind a property of its own: read the real one.
        descriptor = next(
            (
                part.__dict__["__dict__"]
                for part in cls.__mro__
                if isinstance(part.__dict__.get("__dict__"), types.GetSetDescriptorType)
            ),
            None,
        )
        if descriptor is None:
            return None
    return Layout(base, tuple(slots), descriptor)


def instance_dict(obj: Any) -> dict[str, Any] | None:
    """The real ``__dict__`` of an object, or None if it has none."""
    layout = layout_of(type(obj))
    if layout is None:
        return getattr(obj, "__dict__", None)
    return None if layout.dict_of is None else layout.dict_of.__get__(obj)


def is_standard_stream(obj: Any) -> bool:
    """Whether it is the process's own input or output, which a copy shares."""
    if obj in (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__):
        return True
    return getattr(obj, "name", None) in ("<stdin>", "<stdout>", "<stderr>")
