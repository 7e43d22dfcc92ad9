"""How the objects of one class are treated: what a ``Kind`` says, and what classes are by name and by memory.

Values that nothing can change, and what draws or plays sound, are **shared**; what lives partly outside of Python
(files, sockets, threads, ...) is **refused**; everything else is **copied**: made again of copies of its parts.
``zermelo.envs.clone.traversal`` has the kind of every class.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import functools
import io
import itertools
import re
import struct
import types
import uuid
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from pathlib import PurePath
from typing import Any, Final, Protocol

import numpy as np

from zermelo.envs.clone.copy_classes import copy_class, original_class


class UncopyableError(Exception):
    """An object was met that cannot be copied; ``clone_env`` says where it was."""

    def __init__(self, obj: Any, reason: str) -> None:
        super().__init__(reason)
        self.obj = obj
        self.reason = reason


class Walk(Protocol):
    """One copying of an object, the root, and all that it holds.

    ``memo`` maps the ``id`` of each object met to its copy; ``keep`` has what must live as long as the walk, and
    ``late`` what is done at its end. With ``shares_generators`` random generators are not copied.
    """

    memo: dict[int, Any]
    root: Any
    shares_generators: bool
    keep: list[Any]
    late: list[Callable[[], None]]

    def copy(self, obj: Any) -> Any:
        """The copy of an object; the object itself where sharing it is right."""

    def copy_all(self, objects: Sequence[Any]) -> list[Any]:
        """The copies of several."""

    def is_held(self, obj: Any) -> bool:
        """Returns whether the root holds this object by something stronger than a weak reference."""

    def held(self) -> Iterable[Any]:
        """All objects that the root holds so."""


def no_parts(obj: Any) -> tuple[Any, ...]:
    """Of an object that holds no others."""
    return ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kind:
    """How the objects of one class are treated: as in pytrees, taken apart into a value and other objects.

    Attributes:
        copy: The copy of an object; it copies what it finds inside with the traversal (``Walk``).
        parts: The objects that it holds, in some order: these themselves, since a search reseeds generators.
        value: What else decides what it will do.
        key: What writes it to a key, where type, value and parts are not what counts.
        shared: An environment and its copies share it.
        by_value: Which object it is does not matter in a key: shared objects, spaces, random generators.
        layout: The memory that parts and value are read from, where they are; a key has attributes in their order.
        plain: ``copy`` copies what is in that memory and nothing else, which a written copier can do as well.
        alone: What it copies is held by nothing else, so that a written copier may leave it to ``copy``.
    """

    copy: Callable[[Any, Walk], Any]
    parts: Callable[[Any], Sequence[Any]] = no_parts
    value: Callable[[Any], Hashable] = no_parts
    key: Callable[[Any, Any], None] | None = None
    shared: bool = False
    by_value: bool = False
    layout: ClassLayout | None = None
    plain: bool = False
    alone: bool = False


def made(
    make: Callable[[Any, list[Any]], Any],
    parts: Callable[[Any], Sequence[Any]],
    value: Callable[[Any], Hashable] = no_parts,
) -> Kind:
    """The kind of objects that are made of their parts, and shared where none of these is copied."""

    def copy(obj: Any, walk: Walk) -> Any:
        old = parts(obj)
        new = walk.copy_all(old)
        found = walk.memo.get(id(obj))  # a part may have led back here
        return found if found is not None else obj if all(map(is_, new, old)) else make(obj, new)

    return Kind(copy=copy, parts=parts, value=value)


# --- by name


SHARED: Final[set[type]] = {
    bool, bytes, complex, float, int, object, range, str, type, classmethod, property, staticmethod,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
    decimal.Decimal, fractions.Fraction, functools.cached_property, re.Match, re.Pattern, uuid.UUID,
    types.CodeType, types.EllipsisType, types.GenericAlias, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.MethodDescriptorType, types.ModuleType, types.NoneType,
    types.NotImplementedType, types.UnionType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
}  # fmt: skip
"""Exact types whose values are shared. ``is_shared_type`` adds to it what it finds out about further types."""


def are_shared(items: Sequence[Any]) -> bool:
    """Returns whether all of these are shared values, or tuples of such."""
    kinds = {*map(type, items)}
    if tuple in kinds:
        tuples = items if len(kinds) == 1 else [item for item in items if type(item) is tuple]
        kinds = (kinds - {tuple}) | {*map(type, itertools.chain.from_iterable(tuples))}
    return SHARED.issuperset(kinds)


_SHARED_BASES: Final = (BaseException, PurePath, enum.Enum, np.dtype, type, types.ModuleType)
_NUMPY_VALUES: Final = (np.number, np.bool_, np.character, np.datetime64, np.timedelta64)
_SHARED_NAMES: Final = (
    "logging.Logger", "logging.Handler", "logging.LoggerAdapter", "gymnasium.envs.registration.EnvSpec",
    "random.SystemRandom", "pyspiel.Game", "pyspiel.GameType", "pyspiel.GameInfo", "chess.Move",
    "zermelo.envs.rules.history._State", "chess._BoardState", "_contextvars.ContextVar", "typing._SpecialForm",
    "typing._GenericAlias", "typing.TypeVar", "torch.dtype", "torch.device", "torch.layout", "torch.memory_format",
    "jaxlib._jax.Device", "jaxlib._jax.Client", "jaxlib._jax.Sharding", "jaxlib._jax.pytree.PyTreeDef",
    "jax._src.stages.Stage", "jax._src.mesh.BaseMesh",
)  # fmt: skip
# Packages whose C objects draw, play or listen; a clone shares them, as a search never renders.
_DISPLAY_PACKAGES: Final = (
    "pygame", "pyglet", "OpenGL", "moderngl", "matplotlib", "tkinter", "_tkinter", "PIL", "cairo", "glfw",
)  # fmt: skip
JAX_KEYS: Final = (
    "jax._src.random.prng.PRNGKeyArray",
    "jax._src.prng.PRNGKeyArray",
)  # new and old
JAX_ARRAYS: Final = ("jaxlib._jax.ArrayImpl", "jaxlib.xla_extension.ArrayImpl")
PYGAME_POSITIONS: Final = ("Rect", "FRect", "Vector2", "Vector3", "Mask", "Color")
_REFUSED_NAMES: Final = {
    name: reason
    for reason, names in {
        "a thread": "threading.Thread",
        "a running process": "subprocess.Popen multiprocessing.process.BaseProcess "
        "multiprocessing.managers.BaseManager",
        "a pool of workers": "concurrent.futures._base.Executor",
        "a result that is still to come": "concurrent.futures._base.Future _asyncio.Future",
        "a connection": "multiprocessing.connection._ConnectionBase ssl.SSLContext",
        "a queue between processes": "multiprocessing.queues.Queue",
        "a lock between processes": "multiprocessing.synchronize.SemLock",
        "a socket": "socket.socket",
        "a memory map": "numpy.memmap",
        "memory outside of Python (ctypes)": "_ctypes._CData",
        "a library outside of Python (ctypes)": "ctypes.CDLL",
        "memory outside of Python (cffi)": "_cffi_backend._CDataBase",
        "an event loop": "asyncio.events.AbstractEventLoop",
        "a temporary folder": "tempfile.TemporaryDirectory",
        "an Atari emulator": "ale_py._ale_py.ALEInterface multi_agent_ale_py.ale_python_interface.ALEInterface",
    }.items()
    for name in names.split()
}
"""Python classes, and those of C code that would seem to have a copy."""


def module_name(cls: type) -> str:
    """The name of the module of a class; empty where C++ code made a class without one."""
    name = getattr(cls, "__module__", "")
    return name if isinstance(name, str) else ""


def full_name(cls: type) -> str:
    """The module and qualified name of a class."""
    return f"{module_name(cls)}.{cls.__qualname__}"


def is_defined_in(cls: type, *names: str) -> bool:
    """Returns whether the class or one of its parents has one of these full names; imports nothing."""
    return any(full_name(base) in names for base in cls.__mro__)


def refusal(cls: type) -> str | None:
    """Why objects of this class cannot be copied, in words that follow "is", or None."""
    if issubclass(cls, io.IOBase) and not issubclass(cls, io.StringIO | io.BytesIO):
        return "an open file"
    return next((_REFUSED_NAMES[name] for name in map(full_name, cls.__mro__) if name in _REFUSED_NAMES), None)


def is_display_type(cls: type) -> bool:
    """Returns whether objects of the class only draw, play or listen."""
    package = module_name(cls).partition(".")[0]
    if package == "pygame":
        return layout_of(cls).base is None and cls.__name__ not in PYGAME_POSITIONS
    return package in _DISPLAY_PACKAGES


def is_shared_type(cls: type) -> bool:
    """Returns whether every object of exactly this class may be shared by an environment and its copy."""
    if cls in SHARED:
        return True
    layout = layout_of(cls)
    is_bare = layout.dict_of is None and not layout.slots  # without attributes of its own
    shared = (
        issubclass(cls, _SHARED_BASES)
        or (issubclass(cls, _NUMPY_VALUES) and module_name(cls) == "numpy")
        or is_defined_in(cls, *_SHARED_NAMES)
        or is_display_type(cls)
        or (is_bare and layout.base in (int, float, complex, str, bytes))
    )
    if shared:
        SHARED.add(cls)
    return shared


def shared_kind(cls: type) -> Kind:
    """The kind of a class whose objects are shared."""
    key = _write_nothing if is_display_type(cls) else None
    return Kind(copy=lambda obj, walk: obj, shared=True, by_value=True, value=_value_of(cls), key=key)


def _write_nothing(obj: Any, walk: Any) -> None:
    walk.out.append(None)  # as if it were not there: it often comes with the first rendering


def _value_of(cls: type) -> Callable[[Any], Hashable]:
    if cls is float:  # 0.0 and -0.0 differ, and nan is itself
        return struct.Struct("d").pack
    if issubclass(cls, type):
        return original_class
    if cls is types.CodeType:
        return code_value
    if issubclass(cls, np.integer | np.bool_):
        return int
    if issubclass(cls, np.generic):
        return lambda obj: (obj.dtype.str, obj.tobytes())
    if cls in (complex, decimal.Decimal, fractions.Fraction):
        return repr
    return _itself if cls.__hash__ is not None else id


def code_value(code: types.CodeType) -> Hashable:
    """The code of a function as a value, independent of its place in the file."""
    return code.co_code, code.co_names, tuple(map(_constant_value, code.co_consts))


def _constant_value(value: Any) -> Hashable:
    if isinstance(value, types.CodeType):
        return code_value(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def _itself(obj: Any) -> Hashable:
    try:
        hash(obj)
    except TypeError:
        return id(obj)
    return obj  # type: ignore[no-any-return]  # it is hashable


# --- by memory


@dataclass(frozen=True, slots=True)
class ClassLayout:
    """The memory layout of a class: a built-in part, slots, and a dict.

    Attributes:
        base: The built-in class that they extend (``object`` for most); None if it is C code that is not known.
        slots: The slot descriptors of the class and its parents.
        dict_of: The descriptor that reads their ``__dict__``, or None if they have none.
    """

    base: type | None
    slots: tuple[Any, ...]
    dict_of: Any


_BASES: Final = frozenset(
    {
        object, list, dict, set, frozenset, tuple, int, float, complex, str, bytes, bytearray, np.ndarray,
        collections.deque, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace,
    }
)  # fmt: skip


_layouts: Final[dict[type, ClassLayout]] = {}  # by the class itself, whose layout is fixed


def layout_of(cls: type) -> ClassLayout:
    """The memory layout of a class."""
    return _layouts.get(cls) or _layouts.setdefault(cls, _find_layout(cls))


def _find_layout(cls: type) -> ClassLayout:
    values = (value for part in cls.__mro__ if "__slots__" in vars(part) for value in vars(part).values())
    slots = tuple(value for value in values if type(value) is types.MemberDescriptorType)
    nearest = next(part for part in cls.__mro__ if part in _BASES)
    base = nearest if nearest is np.ndarray or _extends(cls, nearest) else None
    # Where a class hides its dict behind a property of its own, the real one is a parent's.
    dicts = [vars(part).get("__dict__") for part in cls.__mro__]
    dict_of = next((one for one in dicts if isinstance(one, types.GetSetDescriptorType)), None)
    return ClassLayout(base if dict_of is not None or not cls.__dictoffset__ else None, slots, dict_of)


def _extends(cls: type, base: type) -> bool:
    """Returns whether class statements alone lead from a built-in class here: no C code adds memory."""
    parts = cls.__mro__[: cls.__mro__.index(base)]
    if any(isinstance(value, types.MethodDescriptorType) for part in parts for value in vars(part).values()):
        return False
    make: Any = base.__new__
    try:
        make(copy_class(cls))
    except Exception:  # whatever a class does where it is extended
        return False
    return True


def instance_dict(obj: Any) -> dict[str, Any] | None:
    """The real ``__dict__`` of an object, or None if it has none."""
    layout = layout_of(type(obj))
    if layout.dict_of is not None:
        return layout.dict_of.__get__(obj)  # type: ignore[no-any-return]  # a descriptor of the interpreter's
    return None if layout.base is not None else getattr(obj, "__dict__", None)


def fields_of(obj: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots as well, whatever its class says of reading them."""
    fields = dict(instance_dict(obj) or {})
    for slot in layout_of(type(obj)).slots:
        try:
            fields[slot.__name__] = slot.__get__(obj)
        except AttributeError:  # a slot that was never set
            continue
    return fields
