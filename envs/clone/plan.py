"""Copiers written for one shape of object: Python source, compiled when a class has been cloned a few times.

The general walk spends most of its time finding out, for each attribute, what it is. The objects of one
environment class nearly always have the same shape, so a function is written that expects this shape, checks that
it is so, and copies it in straight lines. Its guards are exact, not likely: they establish that every fact that
the function's text relies on still holds,

* each object has exactly the class, and exactly the attributes that it had;
* each container has exactly the type it had; where its elements were all shared values, of exact types from
  ``SHARED_TYPES``, they still all are, and their number is free; elsewhere the number is the same;
* objects that were one are one still, and those that were different are different still;
* each array owns its memory, may be written to and holds no objects; each space has no random generator.

If one fails, the function gives up before it has done anything, another shape is tried, and in the end the general
walk copies the object.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.object_kinds import SHARED_TYPES, is_shared_type, layout_of
from zermelo.envs.clone.walk import CopyWalk, handler_is_general, invariant_of

__all__ = ["compile_copier", "register_shallow"]

_MOST_NODES: Final = 200
_FEW: Final = 5  # up to so many attributes are looked up one by one, which is faster than comparing all names
_OWNED_AND_WRITEABLE: Final = 0x0004 | 0x0400
_CONTAINERS: Final = (list, dict, set, collections.deque)
_FLAT: Final = "only shared values"
_EMPTY: Final = "nothing"
_shallow: dict[str, frozenset[str]] = {}


def register_shallow(full_name: str, *attributes: str) -> None:
    """Says that elements of these list attributes of exactly this class never change once they are made."""
    _shallow[full_name] = frozenset(attributes)


def _is_named_tuple_of_values(obj: Any) -> bool:
    """Whether an object is a tuple of another class, such as a ``NamedTuple``, that holds shared values only."""
    cls = type(obj)
    layout = layout_of(cls) if issubclass(cls, tuple) and handler_is_general(cls) else None
    plain = layout is not None and layout.base is tuple and not layout.slots and layout.dict_of is None
    return plain and cls.__iter__ is tuple.__iter__ and all(type(item) in SHARED_TYPES for item in obj)


class _NoPlanError(Exception):
    """The shape has something that only the general walk copies."""


class _Writer:
    """Writes the function for one template object."""

    def __init__(self, *, loose: bool) -> None:
        self.loose = loose
        self.guards: list[str] = []
        self.makes: list[str] = []
        self.values: list[str] = []
        self.names: dict[str, Any] = {}
        self.seen: dict[int, tuple[str, str | None]] = {}
        self.groups: dict[Any, list[str]] = collections.defaultdict(list)
        """Variables that could hold one object, by what else the guards say of them; they must not."""
        self.types: list[type] = []
        self.generators: list[str] = []
        self.keep: list[Any] = []
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        if self.count > 4 * _MOST_NODES:
            raise _NoPlanError
        return f"{letter}{self.count}"

    def constant(self, value: Any) -> str:
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"C{len(self.names)}"
        self.names[name] = value
        return name

    def require(self, condition: str) -> None:
        self.guards.append(condition)

    def node(self, name: str, obj: Any) -> str:
        """Adds what is needed to copy ``obj``, found in the variable ``name``; returns the copy's expression."""
        cls = type(obj)
        if cls in SHARED_TYPES or is_shared_type(cls):
            self.add_values(name, [obj])
            return name
        if id(obj) in self.seen:
            first, copied = self.seen[id(obj)]
            if copied is None:
                raise _NoPlanError
            self.require(f"{name} is {first}")
            return copied
        self.keep.append(obj)
        if cls is tuple or _is_named_tuple_of_values(obj):
            return self.tuple_node(name, obj)
        if cls in _CONTAINERS:
            return self.container(name, obj)
        if cls is np.ndarray:
            return self.array(name, obj)
        if _is_space(cls):
            self.space(name, obj)
            return name
        if cls in _GENERATORS:
            return self.generator(name, obj)
        return self.instance(name, obj)

    def add_values(self, text: str, items: Iterable[Any]) -> None:
        """Adds values that are shared, if their types say so; ``text`` is one variable, or starred."""
        self.values.append(text)
        self.types.extend(map(type, items))

    def tuple_node(self, name: str, obj: tuple[Any, ...]) -> str:
        self.require(f"type({name}) is {self.constant(type(obj))}")
        if all(type(item) in SHARED_TYPES for item in obj):
            if obj or self.loose:
                self.add_values(f"*{name}", obj)
            else:
                self.require(f"not {name}")
            return name
        parts = self.unpack(name, name, list(obj))
        copies = [self.node(part, item) for part, item in zip(parts, obj, strict=True)]
        return name if copies == parts else f"({', '.join(copies)},)"

    def unpack(self, name: str, source: str, items: list[Any]) -> list[str]:
        parts = [self.fresh("v") for _ in items]
        self.require(f"len({name}) == {len(items)}")
        if parts:
            self.guards.append(f"!{', '.join(parts)}, = {source}")
        return parts

    def container(self, name: str, obj: Any) -> str:
        cls = type(obj)
        self.require(f"type({name}) is {self.constant(cls)}")
        items = list(obj.values()) if cls is dict else list(obj)
        if cls is dict and not all(type(key) in SHARED_TYPES for key in obj):
            raise _NoPlanError
        if all(type(item) in SHARED_TYPES for item in items):
            return self.flat_container(name, obj)
        if cls not in (list, dict):
            raise _NoPlanError
        self.groups[cls, _signature(items)].append(name)
        copied = self.fresh("n")
        self.seen[id(obj)] = (name, None)
        parts = self.unpack(name, f"{name}.values()" if cls is dict else name, items)
        keys = [self.fresh("k") for _ in items] if cls is dict else []
        if keys:
            self.guards.append(f"!{', '.join(keys)}, = {name}")
            for key, value in zip(keys, obj, strict=True):
                self.add_values(key, [value])
        copies = [self.node(part, item) for part, item in zip(parts, items, strict=True)]
        if copies == parts:  # such as a dict of spaces
            self.makes.append(f"{copied} = {name}.copy()")
        elif cls is list:
            self.makes.append(f"{copied} = [{', '.join(copies)}]")
        else:
            pairs = (f"{key}: {value}" for key, value in zip(keys, copies, strict=True))
            self.makes.append(f"{copied} = {{{', '.join(pairs)}}}")
        self.seen[id(obj)] = (name, copied)
        return copied

    def flat_container(self, name: str, obj: Any) -> str:
        cls = type(obj)
        copied = self.fresh("n")
        self.seen[id(obj)] = (name, copied)
        if self.loose or cls not in (list, dict):
            self.groups[cls, _FLAT].append(name)
        else:
            self.require(name if obj else f"not {name}")
            self.groups[cls, _FLAT if obj else _EMPTY].append(name)
        if obj or self.loose:
            self.add_values(f"*{name}", obj)
            if cls is dict:
                self.add_values(f"*{name}.values()", obj.values())
        if cls is set:
            self.makes.append(f"{copied} = {self.constant(_copy_leaf)}({name})")
        elif obj or self.loose or cls is collections.deque:
            self.makes.append(f"{copied} = {name}.copy()")
        else:
            self.makes.append(f"{copied} = {'{}' if cls is dict else '[]'}")
        return copied

    def array(self, name: str, obj: np.ndarray[Any, Any]) -> str:
        if obj.base is not None or obj.dtype.hasobject or obj.flags.num & 0x0404 != _OWNED_AND_WRITEABLE:
            raise _NoPlanError
        self.require(
            f"type({name}) is {self.constant(np.ndarray)} and {name}.base is None "
            f"and not {name}.dtype.hasobject and {name}.flags.num & 0x0404 == 0x0404"
        )
        self.groups[np.ndarray].append(name)
        copied = self.fresh("n")
        self.makes.append(f"{copied} = {name}.__copy__()")
        self.seen[id(obj)] = (name, copied)
        return copied

    def space(self, name: str, obj: Any) -> None:
        fields = obj.__dict__
        if "_np_random" not in fields or fields["_np_random"] is not None:
            raise _NoPlanError
        cls = type(obj)
        self.require(f"type({name}) is {self.constant(cls)} and {name}._np_random is None")
        if cls.__name__ in ("Discrete", "Box", "MultiDiscrete", "MultiBinary", "Text"):
            return
        inner = fields.get("spaces")
        if cls.__name__ not in ("Dict", "Tuple") or type(inner) not in (dict, tuple):
            raise _NoPlanError
        spaces = self.fresh("v")
        self.guards.append(f"!{spaces} = {name}.spaces")
        self.require(f"type({spaces}) is {self.constant(type(inner))}")
        items = list(inner.values()) if isinstance(inner, dict) else list(inner)
        source = f"{spaces}.values()" if isinstance(inner, dict) else spaces
        for part, item in zip(self.unpack(spaces, source, items), items, strict=True):
            if not _is_space(type(item)):
                raise _NoPlanError
            self.space(part, item)

    def generator(self, name: str, obj: Any) -> str:
        if self.generators or getattr(obj, "__dict__", None):
            raise _NoPlanError  # two could share one bit generator
        self.require(f"type({name}) is {self.constant(type(obj))} and not getattr({name}, '__dict__', None)")
        self.generators.append(name)
        copied = self.fresh("n")
        self.makes.append(f"{copied} = {self.constant(_GENERATORS[type(obj)])}({name})")
        self.seen[id(obj)] = (name, copied)
        return copied

    def instance(self, name: str, obj: Any) -> str:
        cls = type(obj)
        layout = layout_of(cls)
        if layout is None or layout.base is not object or layout.slots or layout.dict_of is None:
            raise _NoPlanError
        if not handler_is_general(cls):
            raise _NoPlanError
        fields = layout.dict_of.__get__(obj)
        if id(fields) in self.seen or not all(type(key) is str for key in fields):
            raise _NoPlanError
        kind = self.constant(cls)
        self.require(f"type({name}) is {kind}")
        check = invariant_of(cls)
        if check is not None:
            self.require(f"{self.constant(check)}({name}) is None")
        copied = self.fresh("n")
        self.seen[id(obj)] = (name, copied)
        self.groups[cls].append(name)
        own = self.fresh("d")
        plain = _inherits(cls, "__getattribute__")
        self.guards.append(f"!{own} = " + (f"{name}.__dict__" if plain else f"{self.read_dict(layout)}({name})"))
        self.seen[id(fields)] = (own, None)
        self.groups[dict, _signature(fields.values())].append(own)
        parts = [self.fresh("v") for _ in fields]
        if len(fields) <= _FEW:
            # A missing name raises KeyError, which ends the function; with the number right, none is left over.
            self.require(f"len({own}) == {len(fields)}")
            self.guards.extend(f"!{part} = {own}[{key!r}]" for part, key in zip(parts, fields, strict=True))
        else:
            self.require(f"[*{own}] == {self.constant(list(fields))}")
            self.guards.append(f"!{', '.join(parts)}, = {own}.values()")
        self.makes.insert(0, f"{copied} = new({kind})")
        trusted = _shallow.get(f"{cls.__module__}.{cls.__qualname__}", frozenset())
        pairs = []
        for part, (key, value) in zip(parts, fields.items(), strict=True):
            if key in trusted and type(value) is list and id(value) not in self.seen:
                pairs.append((key, self.shallow(part, value)))
            else:
                pairs.append((key, self.node(part, value)))
        content = "{" + ", ".join(f"{key!r}: {value}" for key, value in pairs) + "}"
        if _inherits(cls, "__setattr__"):
            self.makes.append(f"{copied}.__dict__ = {content}")
        else:
            self.makes.append(f"{self.constant(layout.dict_of.__set__)}({copied}, {content})")
        return copied

    def read_dict(self, layout: Any) -> str:
        return self.constant(layout.dict_of.__get__)

    def shallow(self, name: str, value: list[Any]) -> str:
        self.require(f"type({name}) is {self.constant(list)}")
        self.groups[list, _FLAT].append(name)
        if not self.loose:
            self.require(name if value else f"not {name}")
        copied = self.fresh("n")
        self.makes.append(f"{copied} = {name}.copy()")
        self.seen[id(value)] = (name, copied)
        return copied

    def source(self, root: str, result: str) -> str:
        """The text of ``copy`` (None if the shape is another) and of ``scan`` (the generators, None likewise)."""
        lines: list[str] = []
        pending: list[str] = []

        def flush() -> None:
            if pending:
                lines.append("    if not (" + " and ".join(pending) + "):")
                lines.append("        return None")
                pending.clear()

        for guard in self.guards:
            if guard.startswith("!"):
                flush()
                lines.append("    " + guard[1:])
            else:
                pending.append(guard)
        for names in self.groups.values():
            if 1 < len(names) <= 6:
                pending.extend(f"{a} is not {b}" for i, a in enumerate(names) for b in names[:i])
            elif len(names) > 6:
                pending.append(f"len(set(map(id, ({', '.join(names)})))) == {len(names)}")
        flush()
        if self.values:
            expected = self.constant(self.types)
            lines.append(f"    types = [*map(type, [{', '.join(self.values)}])]")
            lines.append(f"    if types != {expected} and not all_shared(types):")
            lines.append("        return None")
        defaults = "".join(f", {name}={name}" for name in self.names)
        head = f"({root}, new=new, all_shared=all_shared, type=type, len=len{defaults}):"
        lines = ["    " + line for line in lines]
        missing = ["    except KeyError:", "        return None"]
        return "\n".join(
            [
                f"def copy{head}",
                "    try:",
                *lines,
                *missing,
                *("    " + make for make in self.makes),
                f"    return {result}",
                f"def scan{head}",
                "    try:",
                *lines,
                *missing,
                f"    return ({''.join(name + ', ' for name in self.generators)})",
            ]
        )


def _signature(values: Iterable[Any]) -> Any:
    """What the guards know of a container's elements; containers with different signatures are different."""
    kinds = tuple(None if type(value) in SHARED_TYPES else type(value) for value in values)
    return kinds if any(kinds) else _FLAT


def _inherits(cls: type, name: str) -> bool:
    """Whether a class has the method from ``object``."""
    return all(base is object or name not in base.__dict__ for base in cls.__mro__)


def _copy_leaf(obj: Any) -> Any:
    return CopyWalk(obj).copy(obj)


_GENERATORS: Final[dict[type, Callable[[Any], Any]]] = {
    np.random.Generator: _copy_leaf,
    np.random.RandomState: _copy_leaf,
}


def _is_space(cls: type) -> bool:
    return cls.__module__.startswith(("gymnasium.spaces.", "gym.spaces.")) and cls.__name__ not in ("Space",)


Copy = Callable[[Any], Any]
Scan = Callable[[Any], "tuple[Any, ...] | None"]


def compile_copier(template: Any, *, loose: bool) -> tuple[Copy, Scan] | None:
    """Writes and compiles a copier for objects of the template's shape.

    Args:
        template: The object whose shape is expected.
        loose: Whether it should not matter which containers are empty; slightly slower.

    Returns:
        ``copy``, which returns a copy, or None if its argument has another shape; and ``scan``, which returns the
        random generators that its argument holds, or None likewise. None if only the general walk can copy the
        template.
    """
    writer = _Writer(loose=loose)
    try:
        result = writer.node("v0", template)
    except (_NoPlanError, RecursionError):
        return None
    if result == "v0" or writer.count > 4 * _MOST_NODES:
        return None
    text = writer.source("v0", result)
    namespace: dict[str, Any] = {
        "new": object.__new__,
        "all_shared": SHARED_TYPES.issuperset,
        **writer.names,
    }
    exec(compile(text, f"<copier of {type(template).__qualname__}>", "exec"), namespace)
    copy: Any = namespace["copy"]
    scan: Any = namespace["scan"]
    copy.source = text
    return copy, scan
