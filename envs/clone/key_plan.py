"""Keys written for one shape of object, as ``plan`` writes copiers: the same keys, in a fraction of the time.

A written function checks that an object has its shape and lists in a straight line what ``state_key`` lists; of
another shape it returns None. Both write the same key, so a table does not depend on who wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import Kind, no_parts
from zermelo.envs.clone.plan import MOST_NODES, NoPlanError, Shapes
from zermelo.envs.clone.state_key import PLAIN, REFERENCE, state_key
from zermelo.envs.clone.structures import counted_names
from zermelo.envs.clone.traversal import kind_of

Write = Callable[[Any], "tuple[Hashable, ...] | None"]


class _KeyWriter:
    def __init__(self) -> None:
        self.guards: list[str] = []
        self.out: list[str] = []
        """Expressions of the items of the key."""
        self.plain: list[str] = []
        """Variables that hold plain values, starred where each element is one."""
        self.values: list[str] = []
        self.types: list[type] = []
        """Variables that hold other values, and their types."""
        self.constants: list[Any] = []
        self.seen: dict[int, tuple[str, int]] = {}
        self.count = 0

    def constant(self, value: Any) -> str:
        self.constants.append(value)
        return f"C{len(self.constants) - 1}"

    def require(self, condition: str) -> None:
        self.guards.append(f"if not ({condition}): return None")

    def unpack(self, source: str, number: int) -> list[str]:
        self.count += number
        if self.count > MOST_NODES:
            raise NoPlanError
        names = [f"v{self.count - place}" for place in range(number)]
        if names:
            self.guards.append(f"{', '.join(names)}, = {source}")
        return names

    def node(self, name: str, obj: Any) -> None:
        """Adds what is needed to write ``obj``, found in the variable ``name``."""
        cls = type(obj)
        if cls in PLAIN:
            self.plain.append(name)
            self.out.append(name)
            return
        kind = kind_of(cls)
        if kind.by_value and kind.key is None:
            self.values.append(name)
            self.types.append(cls)
            self.out += (self.constant(cls), self.value(name, kind))
            return
        if id(obj) in self.seen:
            first, index = self.seen[id(obj)]
            self.require(f"{name} is {first}")
            self.out += (self.constant(REFERENCE), str(index))
            return
        self.require(f"type({name}) is {self.constant(cls)}")
        self.seen[id(obj)] = name, len(self.seen)
        self.out.append(self.constant(original_class(cls)))
        if cls in (list, dict, tuple):
            self.items(name, obj)
        elif cls in (set, frozenset):
            self.require_plain(obj)
            self.plain.append(f"*{name}")
            self.out.append(f"frozenset({name})")
        elif kind.key is None and (kind.parts is no_parts or cls is np.ndarray):
            if cls is np.ndarray:
                self.require_plain(kind.parts(obj))
                self.require(f"not {name}.dtype.hasobject")
            self.out += (self.value(name, kind), "0")
        else:
            self.attributes(name, obj, kind)

    def value(self, name: str, kind: Kind) -> str:
        return "()" if kind.value is no_parts else f"{self.constant(kind.value)}({name})"

    def require_plain(self, items: Any) -> None:
        if not PLAIN.issuperset(map(type, items)):
            raise NoPlanError

    def items(self, name: str, obj: Any) -> None:
        """A container; one of plain values may have any number of them."""
        parts = [*obj, *obj.values()] if isinstance(obj, dict) else [*obj]
        source = f"*{name}, *{name}.values()" if isinstance(obj, dict) else f"*{name}"
        times = "2 * " if isinstance(obj, dict) else ""
        self.out += ("()", f"{times}len({name})")
        if PLAIN.issuperset(map(type, parts)):
            self.plain.append(source)
            self.out.append(source)
            return
        self.require(f"{times}len({name}) == {len(parts)}")
        for part, item in zip(self.unpack(f"({source},)", len(parts)), parts, strict=True):
            self.node(part, item)

    def attributes(self, name: str, obj: Any, kind: Kind) -> None:
        """An object of a Python class, by its attributes in order of name."""
        cls, layout = type(obj), kind.layout
        if not kind.plain or layout is None or layout.base is not object or layout.slots or layout.dict_of is None:
            raise NoPlanError
        if any("__getattribute__" in vars(base) for base in cls.__mro__[:-1]):
            raise NoPlanError
        fields = layout.dict_of.__get__(obj)
        if not all(type(key) is str for key in fields):
            raise NoPlanError
        (own,) = self.unpack(f"({name}.__dict__,)", 1)
        self.require(f"[*{own}] == {self.constant([*fields])}")
        found = dict(zip(fields, self.unpack(f"{own}.values()", len(fields)), strict=True))
        counted = counted_names(cls, tuple(fields))
        self.out.append(self.constant(counted))
        for key in counted:
            self.node(found[key], fields[key])

    def source(self) -> str:
        """The text of the function: guards, then the key."""
        if len(self.seen) > 1:
            objects = ", ".join(name for name, _ in self.seen.values())
            self.require(f"len(set(map(id, ({objects})))) == {len(self.seen)}")
        if self.plain:
            self.require(f"all_plain(map(type, [{', '.join(self.plain)}]))")
        if self.values:
            self.require(f"[*map(type, [{', '.join(self.values)}])] == {self.constant(self.types)}")
        constants = "".join(f", C{number}=C{number}" for number in range(len(self.constants)))
        head = f"def key(v0, all_plain=all_plain, type=type, len=len{constants}):"
        return "\n    ".join([head, *self.guards, f"return ({', '.join(self.out)},)"])


def compile_key(template: Any) -> Write | None:
    """Writes and compiles the function for objects of the template's shape; None if only the walk can write it."""
    writer = _KeyWriter()
    try:
        writer.node("v0", template)
    except (NoPlanError, RecursionError):
        return None
    text = writer.source()
    names: dict[str, Any] = {f"C{number}": value for number, value in enumerate(writer.constants)}
    names["all_plain"] = PLAIN.issuperset
    exec(compile(text, f"<key of {type(template).__qualname__}>", "exec"), names)
    return names["key"]  # type: ignore[no-any-return]


_shapes: Final[dict[type, Shapes[Write]]] = {}


def written_key(obj: Any) -> Hashable:
    """``state_key`` of an object, by a function written for its shape if there is one."""
    shapes = _shapes.get(type(obj)) or _shapes.setdefault(type(obj), Shapes())
    known = shapes.known
    for write in known:
        key = write(obj)
        if key is not None:
            if write is not known[0]:
                shapes.put_first(write)
            return key
    if shapes.is_due() and (written := compile_key(obj)) is not None:
        shapes.put_first(written)
    return state_key(obj)


def forget_keys() -> None:
    """Forgets all that was written, as the registry has changed."""
    _shapes.clear()
