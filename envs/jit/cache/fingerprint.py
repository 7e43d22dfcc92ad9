"""A hash of everything that decides machine code: equal only if the code would be.

Followed from a rules class are its fields, with their types, and every method that is compiled, or what stands in
for it (``rules.protocol``); from a function
its bytecode, constants, defaults and closure, and what it reads by name: functions (those under ``@njit`` too),
numbers, enumerations, arrays, and of a module or a class the attributes that it names. What is of none of these
kinds cannot be compared, and ``UncomparableError`` says what it is: such code is not kept.

Everything on the way is also remembered in a ``Snapshot``, by which ``sources`` sees edits in this process.

For what comes with the package a function's source text counts in place of its bytecode, which each version of
Python writes otherwise; a function without source cannot be compared there.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.rules.arrays import NAMES
from zermelo.envs.rules.contract import COMPILED, DEFAULTS
from zermelo.envs.rules.words import Words
from zermelo.envs.support.code_parts import UncomparableError, library_name
from zermelo.envs.support.snapshot import Snapshot, is_fixed
from zermelo.envs.support.source import source_of

if TYPE_CHECKING:
    from zermelo.envs.jit.kernel import Kernel

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


def walk_rules(rules_class: type, state_class: type, *, by_source: bool = False) -> CodeWalk:
    """A walk through all that the code of a rules class depends on, whatever the kernel is."""
    walk = CodeWalk((rules_class, state_class), by_source)
    for cls in (rules_class, state_class):
        walk.fields(cls)
    for name in COMPILED:
        walk.add(name)
        walk.snapshot.attribute(rules_class, name)
        walk.value(getattr(rules_class, name, DEFAULTS.get(name)), name)
    return walk


def digest_of_kernel(kernel: Kernel, *classes: type, by_source: bool = False) -> str:
    """A hash of all that a kernel's own code depends on: its functions, and its variants with theirs.

    ``classes`` are those of rules and states, which count by the attributes that functions name; without them it
    is a hash of the code that does not depend on rules.

    Raises:
        UncomparableError: It depends on a thing that cannot be compared.
    """
    digest = hashlib.sha256(_compiler().encode())
    for part in (kernel.function, *kernel.variants):  # each alone: which objects two of them share decides nothing
        walk = CodeWalk(classes, by_source)
        walk.value(part, "a kernel")
        digest.update(walk.comparable_digest().encode())
    return digest.hexdigest()


_NOT_THE_COMPILER = {"build", "kernel", "method_calls", "parallel_compile", "waiting"}
"""Files of the compiler's folders that decide when code is compiled, but nothing in it."""


@functools.cache
def _compiler() -> str:
    """A hash of the files that say how code is compiled; their ends of lines are the platform's."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted([*folder.glob("*.py"), *folder.glob("extensions/*.py")]):
        if path.stem not in _NOT_THE_COMPILER:
            digest.update((path.name + path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


class CodeWalk:
    """One hash in the making: everything is described once, later mentions by their number.

    Attributes:
        digest: The hash.
        snapshot: All that was seen.
        tables: The large tables that are read, by their symbols.
        uncomparable: The first thing that cannot be compared with another process's; empty if there is none. Here
            it counts as the object that it is.
        has_compiled: Whether there are functions that the author has compiled.
        narrow: The types of arrays of integers that do not have 64 bits and a sign, by the arrays' names.
    """

    def __init__(self, classes: tuple[type, ...], by_source: bool) -> None:
        self.digest = hashlib.sha256()
        self.snapshot = Snapshot()
        self.tables: dict[str, Callable[[], int]] = {}
        self.uncomparable = ""
        self.has_compiled = False
        self.narrow: dict[str, str] = {}
        self._classes, self._by_source = classes, by_source
        self._seen: dict[Any, int] = {}
        self.alive: list[Any] = []  # so that no number that tells two things apart is given again

    def comparable_digest(self) -> str:
        """The hash, equal in all processes.

        Raises:
            UncomparableError: It depends on a thing that cannot be compared.
        """
        if self.uncomparable:
            raise UncomparableError(self.uncomparable)
        return self.digest.hexdigest()

    def add(self, text: str) -> None:
        """Describes something by a text."""
        self.digest.update(f"{len(text)} {text}".encode())

    def _is_new(self, thing: Any, *names: str) -> bool:
        self.alive.append(thing)
        before = len(self._seen)
        number = self._seen.setdefault((id(thing), *names), before)
        self.add(f"#{number}")
        return number == before

    def _is_unknown(self, thing: Any, what: str) -> None:
        self.alive.append(thing)
        self.uncomparable = self.uncomparable or what
        self.add(f"object {id(thing)}")

    def value(self, value: Any, name: str) -> None:
        """Describes whatever a name stands for."""
        if isinstance(value, enum.Enum):
            self.add(f"{_full_name(type(value))}.{value.name}")
            self.snapshot.name(vars(value), "_value_")
            self.value(value.value, name)
        elif isinstance(value, _PLAIN):
            kind: Any = next(each for each in type(value).__mro__ if each in _PLAIN)
            self.add(f"{type(value).__name__} {kind.__repr__(value)}")
        elif isinstance(value, tuple | list | set | frozenset | dict):
            self._collection(value, name)
        elif isinstance(value, np.ndarray | np.generic | np.dtype):
            self._numpy(value, name)
        elif isinstance(value, staticmethod | classmethod | property):
            self.add(type(value).__name__)
            self.value(value.fget if isinstance(value, property) else value.__func__, name)
        elif library := library_name(value):
            self.add(library)
        elif isinstance(value, types.ModuleType):
            self.add(f"module {value.__name__}")
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value, name)
        elif hasattr(value, "py_func"):  # compiled by the author, with options
            self._compiled(value, name)
        else:
            self._is_unknown(value, f"{name}, of type {type(value).__name__}")

    def _compiled(self, function: Any, name: str) -> None:
        self.has_compiled = True
        for options in ("targetoptions", "locals"):
            self.add(repr(sorted(getattr(function, options, {}).items(), key=repr)))
        if not getattr(function, "_can_compile", True):  # for the types that its author wrote only
            self.add(repr(function.nopython_signatures))
        self.value(function.py_func, name)

    def _collection(self, value: Any, name: str) -> None:
        self.add(f"{_full_name(type(value))} {len(value)}")
        if isinstance(value, tuple) and hasattr(type(value), "_fields"):
            self.fields(type(value))
        if not self._is_new(value):
            return None
        if isinstance(value, list | set | dict):
            self.snapshot.collection(value)
        if isinstance(value, dict):
            value = [part for pair in value.items() for part in pair]
        elif isinstance(value, set | frozenset):
            if not all(isinstance(part, _PLAIN) for part in value):
                return self._is_unknown(value, f"{name}, a set of objects")
            value = sorted(value, key=repr)
        for part in value:
            self.value(part, name)
        return None

    def _numpy(self, value: Any, name: str) -> None:
        dtype = value if isinstance(value, np.dtype) else value.dtype
        if dtype.hasobject:
            return self._is_unknown(value, f"{name}, an array of objects")
        self.add(f"{_full_name(type(value))} {dtype.descr if dtype.names else dtype.str}")
        if isinstance(value, np.ndarray):
            self.alive.append(value)
            if dtype.kind in "iu" and dtype != np.int64:
                self.narrow[name] = dtype.name
            self.add(f"{value.shape} {value.flags.c_contiguous} {value.flags.f_contiguous}")
            self.digest.update(self.snapshot.array(value))
        elif isinstance(value, np.generic):
            self.digest.update(value.tobytes())
        return None

    def _class(self, cls: Any, name: str) -> None:
        self.add(_full_name(cls))
        if issubclass(cls, enum.Enum) and self._is_new(cls):
            self.snapshot.collection(cls._member_map_)
            for member, each in cls.__members__.items():
                self.add(member)
                self.value(each, f"{name}.{member}")
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.fields(cls)
        elif issubclass(cls, Words):
            self.add("known to the compiler")  # whose files count
        elif not issubclass(cls, enum.Enum | BaseException):
            self._is_unknown(cls, f"the class {name}")

    def fields(self, cls: Any) -> None:
        """Describes a named tuple's class: its fields, with their types and defaults, as calls see these."""
        if not self._is_new(cls, "_fields"):
            return
        annotations: dict[str, Any] = {}
        for parent in reversed(cls.__mro__):
            annotations.update(vars(parent).get("__annotations__", {}))
        types_of_fields = [(field, str(annotations.get(field))) for field in _fields(cls)]
        self.add(repr((_full_name(cls), types_of_fields)))
        self.snapshot.attribute(cls, "__new__")
        make = cls.__new__
        if isinstance(make, types.FunctionType):
            self.snapshot.defaults(make)
            self.value(make.__defaults__, cls.__name__)

    def _function(self, function: types.FunctionType) -> None:
        if function in NAMES:
            return self._table(NAMES[function], function)
        if not self._is_new(function):
            return None
        code, module = function.__code__, str(function.__globals__.get("__name__"))
        can_change = not is_fixed(module)
        if can_change:
            self.snapshot.function(function)
        self.add(f"{function.__qualname__} {code.co_name} {function.__annotations__.get('return') == 'int'}")
        self.value(function.__defaults__, function.__name__)
        self.value(function.__kwdefaults__, function.__name__)
        names = self._source(function) if self._by_source else self._code(code)
        for cell_name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(cell_name)
            try:
                content = cell.cell_contents
            except ValueError:
                self._is_unknown(cell, f"{cell_name}, which has no value yet")
                continue
            self.value(content, cell_name)
            self._attributes(content, names)
        space = function.__globals__
        for name in _globals_of(function):
            if can_change:
                self.snapshot.name(space, name)
            if name in space:
                self.add(name)
                self.value(space[name], name)
                self._attributes(space[name], names)
        for cls in self._classes:
            self._attributes(cls, names)
        return None

    def _table(self, symbol: str, function: Callable[[], int]) -> None:
        self.add(symbol)
        if self.tables.setdefault(symbol, function) is not function:
            name = symbol.removeprefix("zermelo_table_")
            raise RulesError(f"rules read two tables that are both called {name!r}: give each its own name")

    def _attributes(self, owner: Any, names: Iterable[str]) -> None:
        """The attributes of a module or class that a function names; of a library, what others have put there."""
        if not isinstance(owner, types.ModuleType | type) or not self._is_new(owner, *names):
            return
        is_library = bool(library_name(owner))
        if is_library and isinstance(owner, type):
            return
        for name in names:
            value = getattr(owner, name, None)
            if value is None or (isinstance(owner, type) and name in _fields(owner)):
                continue
            if isinstance(owner, type) and issubclass(owner, tuple) and value is getattr(tuple, name, None):
                continue
            if is_library and not isinstance(value, _IN_LIBRARIES):
                continue
            if isinstance(owner, type):
                self.snapshot.attribute(owner, name)
            else:
                self.snapshot.name(vars(owner), name)
            self.add(name)
            self.value(value, f"{owner.__name__}.{name}")
            self._attributes(value, names)

    def _source(self, function: types.FunctionType) -> list[str]:
        """Describes a function by its text, and returns the names that it reads."""
        text = source_of(function.__code__)
        if not text:
            self._is_unknown(function, f"{function.__qualname__}, which has no source")
        self.add(text)
        return sorted(names_in(function.__code__))

    def _code(self, code: types.CodeType) -> list[str]:
        """Describes a code object with those inside it, and returns the names that they read."""
        names = list(code.co_names)
        self.digest.update(code.co_code)
        self.add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)))
        self.add(repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)))
        self.digest.update(code.co_exceptiontable)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                names += self._code(constant)
            else:
                self.value(constant, code.co_name)
        return list(dict.fromkeys(names))


def names_in(code: types.CodeType) -> set[str]:
    """The names that a function reads, and the functions inside it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def _globals_of(function: types.FunctionType) -> list[str]:
    """The names that a function reads from its module.

    Code has one list of names for variables and attributes. In a notebook a variable may have the name of an
    attribute, as of a state's field, and another value in each cell; in this package none changes.
    """
    code = function.__code__
    if str(function.__globals__.get("__name__")).startswith("zermelo."):
        return sorted(names_in(code))
    return sorted(_read_from_module(code))


def _read_from_module(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    own = {each.argval for each in dis.get_instructions(code) if each.opname.startswith(_READING)}
    return own.union(*map(_read_from_module, inner))


_READING: Final = ("LOAD_GLOBAL", "LOAD_NAME")


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _fields(cls: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(cls, "_fields", ())
    return names


_IN_LIBRARIES: Final = (*_PLAIN, tuple, np.ndarray, np.generic, types.FunctionType)
"""What compiled code can read of a library's module that somebody else may have put there."""
