"""What code was made from, as it was then: a few microseconds show whether anything of it has changed since.

An edit of rules in a running process, as in a notebook, replaces an object: what a name of a module or a class
stands for, the code or the defaults of a function, the content of a closure's cell, the bases of a class. Each of
these is remembered with the object that was there, and compared by identity. Objects that can change in place are
compared by content: arrays byte by byte, other collections item by item.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy.typing as npt

_FIELDS: Final = ("__code__", "__defaults__", "__kwdefaults__", "cell_contents", "__mro__")
"""Of functions, closures' cells, and classes."""
_READ_ONLY: Final = 1 << 16
"""Bytes from which on the content of a read-only array is not compared."""


def is_fixed(module: str) -> bool:
    """True for modules that rules are written with, and which nobody edits in a running process."""
    return module.startswith(("zermelo.envs.rules.", "zermelo.envs.jit."))


class Snapshot:
    """Remembers what is read, each thing once, before it is used.

    Attributes:
        is_blind: True if something was read that may change and is not looked at again: it is never current.
    """

    def __init__(self) -> None:
        self.is_blind = False
        self._spaces: dict[int, _Space] = {}
        self._fields = {name: _Fields(operator.attrgetter(name)) for name in _FIELDS}
        self._arrays: dict[int, tuple[npt.NDArray[Any], Any, bytes]] = {}
        self._collections: dict[int, tuple[Collection[Any], list[Any]]] = {}

    def name(self, space: dict[str, Any], name: str) -> None:
        """What a name stands for in a module's variables, or in another dictionary; also that it is not there."""
        self._space(space, space).add(name)

    def attribute(self, cls: type, name: str) -> None:
        """What an attribute of a class is, its own or inherited; also that there is none."""
        self._fields["__mro__"].add(cls)
        for each in cls.__mro__:
            if each is not tuple and each is not object and not is_fixed(each.__module__):
                self._space(each, vars(each)).add(name)
            if name in vars(each):
                return

    def _space(self, owner: Any, space: Mapping[str, Any]) -> _Space:
        self._checks = None
        return self._spaces.setdefault(id(owner), _Space(owner, space, {}, set()))

    def function(self, function: types.FunctionType) -> None:
        """The code of a function, its defaults, and what its closure holds."""
        self._fields["__code__"].add(function)
        self.defaults(function)
        for cell in function.__closure__ or ():
            self._fields["cell_contents"].add(cell)

    def defaults(self, function: types.FunctionType) -> None:
        """The defaults of a function; where it has none every call gives all arguments."""
        if function.__defaults__ is not None:
            self._fields["__defaults__"].add(function)
        if function.__kwdefaults__ is not None:
            self._fields["__kwdefaults__"].add(function)

    def array(self, array: npt.NDArray[Any]) -> bytes:
        """The content of an array, which is returned, and its type."""
        content = array.tobytes()
        self._arrays.setdefault(id(array), (array, _type_of(array), content))
        return content

    def collection(self, collection: Collection[Any]) -> None:
        """The items of a list, a set or a dictionary, or all that a class has."""
        self._collections.setdefault(id(collection), (collection, list(_items(collection))))

    _checks: _Checks | None = None

    def is_current(self) -> bool:
        """True if everything is as it was."""
        if self.is_blind:
            return False
        checks = self._checks
        if checks is None:
            checks = self._checks = _checks_of(list(self._spaces.values()), list(self._fields.values()))
        try:
            now = chain.from_iterable(map(operator.call, checks.getters, checks.asked))
            return (
                all(map(operator.is_, now, checks.found))
                and all(map(operator.call, checks.lack, checks.missing))
                and all(map(_has_same_content, self._arrays.values()))
                and all(map(_has_same_items, self._collections.values()))
            )
        except (
            KeyError,
            ValueError,
            RuntimeError,
        ):  # a name or a cell's content is gone; a collection is changing
            return False


class _Space(NamedTuple):
    """Names of a module, a class or a dictionary; its owner is kept alive, so that its number stays its own."""

    owner: Any
    names: Mapping[str, Any]
    found: dict[str, Any]
    missing: set[str]

    def add(self, name: str) -> None:
        if name not in self.names:
            self.missing.add(name)
        elif name not in self.found:
            self.found[name] = self.names[name]


class _Fields:
    """One field of several objects."""

    def __init__(self, get: Callable[[Any], Any]) -> None:
        self.get = get
        self.owners: dict[int, Any] = {}
        self.found: list[Any] = []

    def add(self, owner: Any) -> None:
        if id(owner) not in self.owners:
            try:
                self.found.append(self.get(owner))
            except ValueError:  # a closure's variable before it has a value: nothing is compiled
                return
            self.owners[id(owner)] = owner


class _Checks(NamedTuple):
    """What is compared, laid out so that Python's own loops do it: several names of a module at once.

    Attributes:
        getters: Functions that give several values each, of what is ``asked``.
        found: All these values as they were.
        lack: For each module or class, whether it has none of the names that were ``missing``.
    """

    getters: list[Callable[[Any], Iterable[Any]]]
    asked: list[Any]
    found: list[Any]
    lack: list[Callable[[Any], bool]]
    missing: list[set[str]]


def _checks_of(spaces: Sequence[_Space], fields: Sequence[_Fields]) -> _Checks:
    checks = _Checks([], [], [], [], [])
    for space in spaces:
        if space.found:
            names, values = [*space.found], [*space.found.values()]
            if len(names) == 1:  # the getter of one name gives no tuple
                names, values = names * 2, values * 2
            checks.getters.append(operator.itemgetter(*names))
            checks.asked.append(space.names)
            checks.found.extend(values)
        if space.missing:
            checks.lack.append(space.names.keys().isdisjoint)
            checks.missing.append(space.missing)
    for field in fields:
        checks.getters.append(functools.partial(map, field.get))
        checks.asked.append([*field.owners.values()])
        checks.found.extend(field.found)
    return checks


def _type_of(array: npt.NDArray[Any]) -> Any:
    return array.shape, array.strides, array.dtype, array.flags.writeable


def _has_same_content(remembered: tuple[npt.NDArray[Any], Any, bytes]) -> bool:
    array, kind, content = remembered
    if _type_of(array) != kind:
        return False
    if array.nbytes > _READ_ONLY and array.base is None and not array.flags.writeable:
        return True
    return array.tobytes() == content


def _items(collection: Collection[Any]) -> Iterable[Any]:
    if isinstance(collection, dict | types.MappingProxyType):
        return (part for pair in collection.items() for part in pair)
    return collection


def _has_same_items(remembered: tuple[Collection[Any], list[Any]]) -> bool:
    collection, items = remembered
    now = list(_items(collection))
    return len(now) == len(items) and all(map(operator.is_, now, items))
