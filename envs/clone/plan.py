"""Copiers written for one shape of object: Python source, compiled when a class has been cloned a few times.

The general walk spends most of its time finding out what each attribute is; a function for one shape checks that
it is so, and copies in straight lines (tic-tac-toe in an eighth of the time). Its guards are exact:

* each object has exactly its class and its attributes; each container exactly its type, and its number of elements
  unless they were all shared values, of types from ``SHARED``, and still are;
* objects that were one are one still, and those that were different are different still;
* each array may be written to, holds no objects, and is over memory that it owns or that a hidden array owns, as
  after ``reshape``; each space has no random generator.

If one fails, the function gives up before it has done anything, and another shape or the general walk is tried.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

import numpy as np

from zermelo.envs.clone.copy_classes import copy_class
from zermelo.envs.clone.kinds import SHARED, Kind, full_name, is_shared_type
from zermelo.envs.clone.libraries import is_bare_generator, is_space
from zermelo.envs.clone.saved_states.stand_ins import is_seeded
from zermelo.envs.clone.traversal import CopyWalk, kind_of

Copy = Callable[[Any, bool], Any]
Scan = Callable[[Any], "tuple[Any, ...] | None"]

MOST_NODES: Final = 800
_MOST_SHAPES: Final = 16
_FEW: Final = 5  # up to so many attributes are looked up one by one, which is faster than comparing all names
_FLAT: Final = "only shared values"
_EMPTY: Final = "nothing"
_COPY: Final = "{0}.copy()"
_COPIES: Final[dict[type, str]] = {
    list: _COPY, dict: _COPY, collections.deque: _COPY, collections.OrderedDict: _COPY, set: "copied({0})"
}  # fmt: skip
"""Expressions that copy a container of shared values."""
_SETTLED: Final = {"chess.Board": frozenset({"move_stack", "_stack"})}
"""Lists of which the elements never change once they are made: python-chess's moves and remembered positions."""


T = TypeVar("T")


class Shapes(Generic[T]):
    """The functions that were written for the shapes of the objects of one class, the last used first.

    Threads may use it at the same time: ``known`` is never changed, but replaced.
    """

    __slots__ = ("_lock", "_misses", "compilations", "known")

    def __init__(self) -> None:
        self.known: tuple[T, ...] = ()
        self.compilations = self._misses = 0
        self._lock = threading.Lock()

    def is_due(self) -> bool:
        """Counts an object of none of the shapes; returns whether its shape is to be compiled."""
        self._misses += 1
        # Compiling takes about as long as a hundred general copies: wait twice as long each few times.
        if self._misses <= 2 ** (1 + self.compilations // 3):
            return False
        self.compilations += 1
        return True

    def put_first(self, shape: T) -> None:
        """Makes a shape, which may be new, the first that is tried."""
        with self._lock:
            self.known = (shape, *(other for other in self.known if other is not shape))[:_MOST_SHAPES]


class NoPlanError(Exception):
    """The shape has something that only the general walk copies."""


class _Writer:
    def __init__(self, *, loose: bool) -> None:
        self.loose = loose
        self.guards: list[str] = []
        self.makes: list[str] = []
        self.values: list[str] = []
        """Variables that hold shared values, starred where each element is one; ``types`` has their types."""
        self.types: list[type] = []
        self.constants: list[Any] = []
        self.seen: dict[int, tuple[str, str | None]] = {}
        """For each object met, by its ``id``: its variable and its copy's, None while that is being made."""
        self.groups: dict[Any, list[str]] = collections.defaultdict(list)
        """Variables that could hold one object, by what else the guards say of them; they must not."""
        self.generators: list[str] = []
        self.bits = False
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        if self.count > MOST_NODES:
            raise NoPlanError
        return f"{letter}{self.count}"

    def constant(self, value: Any) -> str:
        number = next((i for i, known in enumerate(self.constants) if known is value), len(self.constants))
        if number == len(self.constants):
            self.constants.append(value)
        return f"C{number}"

    def require(self, condition: str) -> None:
        self.guards.append(f"if not ({condition}): return None")

    def require_type(self, name: str, obj: Any) -> None:
        self.require(f"type({name}) is {self.constant(type(obj))}")

    def read(self, source: str) -> str:
        name = self.fresh("v")
        self.guards.append(f"{name} = {source}")
        return name

    def unpack(self, source: str, items: list[Any]) -> list[str]:
        names = [self.fresh("v") for _ in items]
        if names:
            self.guards.append(f"{', '.join(names)}, = {source}")
        return names

    def add_values(self, text: str, items: Iterable[Any]) -> None:
        self.values.append(text)
        self.types.extend(map(type, items))

    def made(self, name: str, obj: Any, expression: str) -> str:
        copied = self.fresh("n")
        self.makes.append(f"{copied} = {expression}")
        self.seen[id(obj)] = (name, copied)
        return copied

    def node(self, name: str, obj: Any) -> str:
        """Adds what is needed to copy ``obj``, found in the variable ``name``; returns the copy's expression."""
        cls = type(obj)
        if is_shared_type(cls):
            self.add_values(name, [obj])
            return name
        if id(obj) in self.seen:
            first, copied = self.seen[id(obj)]
            if copied is None:
                raise NoPlanError
            self.require(f"{name} is {first}")
            return copied
        self.require_type(name, obj)
        kind = kind_of(cls)
        if cls in _COPIES and SHARED.issuperset(map(type, kind.parts(obj))):
            return self.flat(name, obj)
        if cls in (list, dict) or (issubclass(cls, tuple) and kind.plain):
            return self.nested(name, obj, kind)
        if cls is np.ndarray:
            return self.array(name, obj)
        if kind.alone:
            return self.leaf(name, obj, kind)
        if is_space(cls) and not kind.plain:
            self.space(name, obj)
            return name
        return self.instance(name, obj, kind)

    def array(self, name: str, obj: Any) -> str:
        """An array, alone over its memory: no other array has the same owner."""
        owner = name
        if obj.base is not None:
            owner = self.read(f"{name}.base")
            self.require_type(owner, obj.base)
            if type(obj.base) is not np.ndarray:
                raise NoPlanError
        self.require(f"{owner}.base is None and not {name}.dtype.hasobject")
        self.require(f"{owner}.flags.num & 4 and {name}.flags.num & 0x400")  # owns its data, is writeable
        self.groups[np.ndarray].append(owner)
        return self.made(name, obj, f"{name}.__copy__()")

    def leaf(self, name: str, obj: Any, kind: Kind) -> str:
        if is_seeded(obj):
            self.generators.append(name)
        elif kind.by_value:
            if self.bits:  # two could share one bit generator
                raise NoPlanError
            self.bits = True
            self.generators.append(name)
        self.groups[type(obj)].append(name)
        shared = f"{name} if shares_generators else " if is_bare_generator(obj) else ""
        return self.made(name, obj, f"{shared}copied({name})")

    def flat(self, name: str, obj: Any) -> str:
        cls = type(obj)
        # Emptiness is part of the shape: a literal in place of copies of nothing makes tic-tac-toe a tenth faster.
        is_sized = not self.loose and cls in (list, dict)
        if is_sized:
            self.require(name if obj else f"not {name}")
        if obj or not is_sized:
            self.add_values(f"*{name}", obj)
            if isinstance(obj, dict):
                self.add_values(f"*{name}.values()", obj.values())
        self.groups[cls, _EMPTY if is_sized and not obj else _FLAT].append(name)
        return self.made(name, obj, _COPIES[cls].format(name) if obj or not is_sized else repr(obj))

    def nested(self, name: str, obj: Any, kind: Kind) -> str:
        cls, layout = type(obj), kind.layout
        assert layout is not None, "it is a container"
        if layout.dict_of or layout.slots or cls.__iter__ is not layout.base.__iter__:  # type: ignore[union-attr]
            raise NoPlanError
        is_tuple, items = isinstance(obj, tuple), list(obj.values() if cls is dict else obj)
        if is_tuple and SHARED.issuperset(map(type, items)):
            self.add_values(f"*{name}", obj)
            return name
        if not is_tuple:
            self.groups[cls, _signature(items)].append(name)
            self.seen[id(obj)] = (name, None)
        self.require(f"len({name}) == {len(items)}")
        parts = self.unpack(f"{name}.values()" if cls is dict else name, items)
        copies = [self.node(part, item) for part, item in zip(parts, items, strict=True)]
        if is_tuple:
            if copies != parts and cls is not tuple:
                raise NoPlanError
            return name if copies == parts else f"({', '.join(copies)},)"
        if cls is list:
            return self.made(name, obj, f"[{', '.join(copies)}]")
        if not SHARED.issuperset(map(type, obj)):
            raise NoPlanError
        self.add_values(f"*{name}", obj)
        if copies == parts:  # such as a dict of spaces
            return self.made(name, obj, f"{name}.copy()")
        pairs = zip(self.unpack(name, items), copies, strict=True)
        return self.made(name, obj, f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}")

    def space(self, name: str, obj: Any) -> None:
        self.require(f"{name}._np_random is None")
        if type(obj).__name__ in ("Discrete", "Box", "MultiDiscrete", "MultiBinary", "Text"):
            return
        inner = obj.__dict__.get("spaces")
        if type(obj).__name__ not in ("Dict", "Tuple") or type(inner) not in (dict, tuple):
            raise NoPlanError
        spaces = self.read(f"{name}.spaces")
        self.require_type(spaces, inner)
        items = list(inner.values()) if isinstance(inner, dict) else list(inner)
        self.require(f"len({spaces}) == {len(items)}")
        names = self.unpack(f"{spaces}.values()" if isinstance(inner, dict) else spaces, items)
        for part, item in zip(names, items, strict=True):
            if not is_space(type(item)):
                raise NoPlanError
            self.require_type(part, item)
            self.space(part, item)

    def instance(self, name: str, obj: Any, kind: Kind) -> str:
        cls, layout = type(obj), kind.layout
        if not kind.plain or layout is None or layout.base is not object or layout.slots or layout.dict_of is None:
            raise NoPlanError
        fields = layout.dict_of.__get__(obj)
        if any(name in vars(base) for base in cls.__mro__[:-1] for name in ("__getattribute__", "__setattr__")):
            raise NoPlanError
        if id(fields) in self.seen or not all(type(key) is str for key in fields):
            raise NoPlanError
        copied = self.fresh("n")
        self.makes.append(f"{copied} = new({self.constant(copy_class(cls))})")
        self.seen[id(obj)] = (name, copied)
        self.groups[cls].append(name)
        own = self.read(f"{name}.__dict__")
        self.seen[id(fields)] = (own, None)
        self.groups[dict, _signature(fields.values())].append(own)
        if len(fields) <= _FEW:
            self.require(" and ".join([f"len({own}) == {len(fields)}", *(f"{key!r} in {own}" for key in fields)]))
            parts = [self.read(f"{own}[{key!r}]") for key in fields]
        else:
            self.require(f"[*{own}] == {self.constant(list(fields))}")
            parts = self.unpack(f"{own}.values()", list(fields))
        settled = _SETTLED.get(full_name(cls), ())
        copies = []
        for part, (key, value) in zip(parts, fields.items(), strict=True):
            if key in settled and type(value) is list and id(value) not in self.seen:
                self.require_type(part, value)
                self.groups[list, _FLAT].append(part)
                copies.append(self.made(part, value, f"{part}.copy()"))
            else:
                copies.append(self.node(part, value))
        content = ", ".join(f"{key!r}: {value}" for key, value in zip(fields, copies, strict=True))
        self.makes.append(f"{copied}.__dict__ = {{{content}}}")
        return copied

    def source(self, result: str) -> str:
        """The text of ``copy`` (None if the shape is another) and of ``scan`` (the generators, None likewise)."""
        for names in self.groups.values():
            if 1 < len(names) <= 6:
                self.require(" and ".join(f"{a} is not {b}" for i, a in enumerate(names) for b in names[:i]))
            elif len(names) > 6:
                self.require(f"len(set(map(id, ({', '.join(names)})))) == {len(names)}")
        if self.values:
            self.guards.append(f"types = [*map(type, [{', '.join(self.values)}])]")
            self.require(f"types == {self.constant(self.types)} or all_shared(types)")
        constants = "".join(f", C{number}=C{number}" for number in range(len(self.constants)))
        head = f"(v0, shares_generators=False, new=new, all_shared=all_shared, type=type, len=len{constants}):"
        generators = "".join(name + ", " for name in self.generators)
        copy = [f"def copy{head}", *self.guards, *self.makes, f"return {result}"]
        scan = [f"def scan{head}", *self.guards, f"return ({generators})"]
        return "\n".join(["\n    ".join(copy), "\n    ".join(scan)])


def _signature(values: Iterable[Any]) -> Any:
    """The elements of a container as the guards see them."""
    kinds = tuple(None if type(value) in SHARED else type(value) for value in values)
    return kinds if any(kinds) else _FLAT


def compile_copier(template: Any, *, loose: bool) -> tuple[Copy, Scan] | None:
    """Writes and compiles a copier for objects of the template's shape, whatever is empty if it is ``loose``.

    Returns:
        ``copy``, which may be told to share random generators, and ``scan``, which returns those that its argument
        holds; both return None for another shape. None if only the general walk can copy the template.
    """
    writer = _Writer(loose=loose)
    try:
        result = writer.node("v0", template)
    except (NoPlanError, RecursionError):
        return None
    if result == "v0":
        return None
    text = writer.source(result)
    names: dict[str, Any] = {f"C{number}": value for number, value in enumerate(writer.constants)}
    names |= {"new": object.__new__, "all_shared": SHARED.issuperset, "copied": lambda it: CopyWalk(it).copy(it)}
    # The text is executed, as the same guards and copies take six times as long as a list of functions, called
    # one after another: 40 us instead of 6 for tic-tac-toe, which the general walk copies in 130.
    exec(compile(text, f"<copier of {type(template).__qualname__}>", "exec"), names)
    return names["copy"], names["scan"]
