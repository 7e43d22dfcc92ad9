"""Copiers written for one shape of object: Python source, compiled when a class has been cloned a few times.

The general walk spends most of its time finding out, for each attribute, what it is. The objects of one
environment class nearly always have the same shape, so a function is written that expects this shape, checks that
it is so, and copies it in straight lines. Its guards are exact, not likely: they establish that every fact that
the function's text relies on still holds,

* each object has exactly the class, and exactly the attributes that it had;
* each container has exactly the type it had; where its elements were all shared values, of exact types from
  ``SHARED``, they still all are, and their number is free; elsewhere the number is the same;
* objects that were one are one still, and those that were different are different still;
* each array owns its memory, may be written to and holds no objects; each space has no random generator.

If one fails, the function gives up before it has done anything, another shape is tried, and in the end the general
walk copies the object.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Any, Final

from zermelo.envs.clone.copy_classes import copy_class
from zermelo.envs.clone.kinds import SHARED, Kind, full_name, is_shared_type
from zermelo.envs.clone.libraries import SHALLOW, is_space
from zermelo.envs.clone.traversal import CopyWalk, kind_of

_MOST_NODES: Final = 800
_FEW: Final = 5  # up to so many attributes are looked up one by one, which is faster than comparing all names
_FLAT: Final = "only shared values"
_EMPTY: Final = "nothing"


class _NoPlanError(Exception):
    """The shape has something that only the general walk copies."""


class _Writer:
    def __init__(self, *, loose: bool) -> None:
        self.loose = loose
        self.guards: list[str] = []
        """Conditions, and statements that begin with "!"."""
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
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        if self.count > _MOST_NODES:
            raise _NoPlanError
        return f"{letter}{self.count}"

    def constant(self, value: Any) -> str:
        number = next((i for i, known in enumerate(self.constants) if known is value), len(self.constants))
        if number == len(self.constants):
            self.constants.append(value)
        return f"C{number}"

    def require(self, condition: str) -> None:
        self.guards.append(condition)

    def require_type(self, name: str, obj: Any) -> None:
        self.require(f"type({name}) is {self.constant(type(obj))}")

    def add_values(self, text: str, items: Iterable[Any]) -> None:
        self.values.append(text)
        self.types.extend(map(type, items))

    def made(self, name: str, obj: Any, expression: str) -> str:
        """Adds the copy of an object that is copied by one expression; returns the copy's variable."""
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
                raise _NoPlanError
            self.require(f"{name} is {first}")
            return copied
        kind = kind_of(cls)
        if kind.inline and kind.layout is None:
            return self.leaf(name, obj, kind)
        if kind.inline and SHARED.issuperset(map(type, kind.parts(obj))):
            return self.flat(name, obj, kind)
        is_record = issubclass(cls, tuple) and hasattr(cls, "_fields") and not hasattr(obj, "__dict__")
        if cls in (tuple, list, dict) or is_record:
            return self.nested(name, obj)
        if is_space(cls) and not kind.plain:
            self.space(name, obj)
            return name
        return self.instance(name, obj, kind)

    def leaf(self, name: str, obj: Any, kind: Kind) -> str:
        """An array or a random generator."""
        if not eval(kind.inline_if.format("obj"), {"obj": obj}):
            raise _NoPlanError
        self.require_type(name, obj)
        self.require(kind.inline_if.format(name))
        if kind.by_value:
            if self.generators:  # two could share one bit generator
                raise _NoPlanError
            self.generators.append(name)
        self.groups[type(obj)].append(name)
        return self.made(name, obj, kind.inline.format(name))

    def flat(self, name: str, obj: Any, kind: Kind) -> str:
        """A container of shared values."""
        cls = type(obj)
        if cls.__iter__ is not kind.layout.base.__iter__:  # type: ignore[union-attr]  # it is a container
            raise _NoPlanError
        self.require_type(name, obj)
        counted = not self.loose and cls not in (
            set,
            collections.deque,
        )  # emptiness is part of the shape
        if counted and not obj:
            self.require(f"not {name}")
        elif counted and cls in (list, dict):
            self.require(name)
        if obj or self.loose:
            self.add_values(f"*{name}", obj)
            if cls is dict:
                self.add_values(f"*{name}.values()", obj.values())
        if kind.inline == "{0}":
            return name
        self.groups[cls, _EMPTY if counted and not obj else _FLAT].append(name)
        return self.made(name, obj, kind.inline.format(name) if obj or not counted else repr(obj))

    def unpack(self, source: str, items: list[Any], letter: str = "v") -> list[str]:
        names = [self.fresh(letter) for _ in items]
        if names:
            self.guards.append(f"!{', '.join(names)}, = {source}")
        return names

    def nested(self, name: str, obj: Any) -> str:
        """A tuple, named or not, list or dict of a fixed number of objects."""
        cls = type(obj)
        items = list(obj.values()) if cls is dict else list(obj)
        if cls is dict and not SHARED.issuperset(map(type, obj)):
            raise _NoPlanError
        self.require_type(name, obj)
        copied = name
        if not isinstance(obj, tuple):
            self.groups[cls, _signature(items)].append(name)
            copied = self.fresh("n")
            self.seen[id(obj)] = (name, None)
        self.require(f"len({name}) == {len(items)}")
        parts = self.unpack(f"{name}.values()" if cls is dict else name, items)
        keys = self.unpack(name, items, "k") if cls is dict else []
        for key, value in zip(keys, obj, strict=False):
            self.add_values(key, [value])
        copies = [self.node(part, item) for part, item in zip(parts, items, strict=True)]
        if isinstance(obj, tuple):
            if copies != parts and cls is not tuple:
                raise _NoPlanError
            return name if copies == parts else f"({', '.join(copies)},)"
        if copies == parts:  # such as a dict of spaces
            self.makes.append(f"{copied} = {name}.copy()")
        elif cls is list:
            self.makes.append(f"{copied} = [{', '.join(copies)}]")
        else:
            pairs = (f"{key}: {value}" for key, value in zip(keys, copies, strict=True))
            self.makes.append(f"{copied} = {{{', '.join(pairs)}}}")
        self.seen[id(obj)] = (name, copied)
        return copied

    def space(self, name: str, obj: Any) -> None:
        """A space, shared while neither it nor one inside it has a random generator."""
        fields = obj.__dict__
        if "_np_random" not in fields or fields["_np_random"] is not None:
            raise _NoPlanError
        self.require_type(name, obj)
        self.require(f"{name}._np_random is None")
        if type(obj).__name__ in ("Discrete", "Box", "MultiDiscrete", "MultiBinary", "Text"):
            return
        inner = fields.get("spaces")
        if type(obj).__name__ not in ("Dict", "Tuple") or type(inner) not in (dict, tuple):
            raise _NoPlanError
        spaces = self.fresh("v")
        self.guards.append(f"!{spaces} = {name}.spaces")
        self.require_type(spaces, inner)
        items = list(inner.values()) if isinstance(inner, dict) else list(inner)
        self.require(f"len({spaces}) == {len(items)}")
        source = f"{spaces}.values()" if isinstance(inner, dict) else spaces
        for part, item in zip(self.unpack(source, items), items, strict=True):
            if not is_space(type(item)):
                raise _NoPlanError
            self.space(part, item)

    def instance(self, name: str, obj: Any, kind: Kind) -> str:
        """An object of a Python class, with a dict and no slots."""
        cls, layout = type(obj), kind.layout
        if not kind.plain or layout is None or layout.base is not object or layout.slots or layout.dict_of is None:
            raise _NoPlanError
        fields = layout.dict_of.__get__(obj)
        if id(fields) in self.seen or not all(type(key) is str for key in fields):
            raise _NoPlanError
        self.require_type(name, obj)
        if kind.check is not None:
            self.require(f"{self.constant(kind.check)}({name}) is None")
        copied = self.fresh("n")
        self.seen[id(obj)] = (name, copied)
        self.groups[cls].append(name)
        own = self.fresh("d")
        read = f"{self.constant(layout.dict_of.__get__)}({name})"
        self.guards.append(f"!{own} = " + (f"{name}.__dict__" if _inherits(cls, "__getattribute__") else read))
        self.seen[id(fields)] = (own, None)
        self.groups[dict, _signature(fields.values())].append(own)
        if len(fields) <= _FEW:
            # A missing name raises KeyError, which ends the function; with the number right, none is left over.
            parts = [self.fresh("v") for _ in fields]
            self.require(f"len({own}) == {len(fields)}")
            self.guards.extend(f"!{part} = {own}[{key!r}]" for part, key in zip(parts, fields, strict=True))
        else:
            self.require(f"[*{own}] == {self.constant(list(fields))}")
            parts = self.unpack(f"{own}.values()", list(fields))
        self.makes.insert(0, f"{copied} = new({self.constant(copy_class(cls))})")
        trusted = SHALLOW.get(full_name(cls), ())
        copies = []
        for part, (key, value) in zip(parts, fields.items(), strict=True):
            is_shallow = key in trusted and type(value) is list and id(value) not in self.seen
            copies.append(self.shallow(part, value) if is_shallow else self.node(part, value))
        content = "{" + ", ".join(f"{key!r}: {value}" for key, value in zip(fields, copies, strict=True)) + "}"
        if _inherits(cls, "__setattr__"):
            self.makes.append(f"{copied}.__dict__ = {content}")
        else:
            self.makes.append(f"{self.constant(layout.dict_of.__set__)}({copied}, {content})")
        return copied

    def shallow(self, name: str, value: list[Any]) -> str:
        """A list whose elements never change, whatever they are."""
        self.require_type(name, value)
        self.groups[list, _FLAT].append(name)
        if not self.loose:
            self.require(name if value else f"not {name}")
        return self.made(name, value, f"{name}.copy()")

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
        defaults = "".join(f", C{number}=C{number}" for number in range(len(self.constants)))
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
    """The elements of a container as the guards see them; containers with different signatures differ."""
    kinds = tuple(None if type(value) in SHARED else type(value) for value in values)
    return kinds if any(kinds) else _FLAT


def _inherits(cls: type, name: str) -> bool:
    return all(base is object or name not in base.__dict__ for base in cls.__mro__)


def _copied(obj: Any) -> Any:
    return CopyWalk(obj).copy(obj)


Copy = Callable[[Any], Any]
Scan = Callable[[Any], "tuple[Any, ...] | None"]


def compile_copier(template: Any, *, loose: bool) -> tuple[Copy, Scan] | None:
    """Writes and compiles a copier for objects of the template's shape, whatever is empty if it is ``loose``.

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
    if result == "v0":
        return None
    text = writer.source("v0", result)
    namespace: dict[str, Any] = {
        "new": object.__new__,
        "all_shared": SHARED.issuperset,
        "copied": _copied,
        **{f"C{number}": value for number, value in enumerate(writer.constants)},
    }
    exec(compile(text, f"<copier of {type(template).__qualname__}>", "exec"), namespace)
    copy: Any = namespace["copy"]
    scan: Any = namespace["scan"]
    copy.source = text
    return copy, scan
