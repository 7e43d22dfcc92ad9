"""A hash of everything that decides machine code: equal only if the code would be.

Followed from a rules class are its fields, with their types, and every method that is compiled, or what stands in
for it (``rules.protocol``); from a function
its bytecode, constants, defaults and closure, and what it reads by name: functions (those under ``@njit`` too),
numbers, enumerations, arrays, and of a module or a class the attributes that it names. What is of none of these
kinds cannot be compared, and ``UncomparableError`` says what it is: such code is not kept.

For what comes with the package a function's source text counts in place of its bytecode, which each version of
Python writes otherwise; a function without source cannot be compared there.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.envs.rules.arrays import NAMES
from zermelo.envs.rules.contract import COMPILED, DEFAULTS
from zermelo.envs.rules.words import Words
from zermelo.envs.support.source import source_of

_PACKAGES = {"numpy", "numba", "llvmlite"}
"""Besides Python's own modules, these are known by their names: their versions are part of every file's name."""
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


class UncomparableError(Exception):
    """Something that compiled code depends on cannot be compared with what another process has."""


def digest_of(rules_class: type, state_class: type, kernel: Callable[..., Any], *, by_source: bool = False) -> str:
    """A hash of all that a kernel's code for a rules class depends on, apart from versions and the processor.

    With ``by_source`` it is the same in all versions of Python.

    Raises:
        UncomparableError: It depends on a thing that cannot be compared.
    """
    walk = _Walk((rules_class, state_class), by_source)
    for cls in (rules_class, state_class):
        walk.add(_fields_of(cls))
    for name in COMPILED:
        walk.add(name)
        walk.value(getattr(rules_class, name, DEFAULTS.get(name)), name)
    walk.value(kernel, kernel.__name__)
    walk.add(_compiler())
    return walk.digest.hexdigest()


def digest_of_function(function: Callable[..., Any]) -> str:
    """A hash of the sources of a function, and of all that it reads, whatever the rules are.

    Raises:
        UncomparableError: It depends on a thing that cannot be compared.
    """
    walk = _Walk((), by_source=True)
    walk.value(function, function.__name__)
    walk.add(_compiler())
    return walk.digest.hexdigest()


_NOT_THE_COMPILER = {"at_once", "build", "method_calls", "waiting"}
"""Files of the compiler's folder that decide when code is compiled, but nothing in it."""


@functools.cache
def _compiler() -> str:
    """A hash of the files that say how code is compiled; their ends of lines are the platform's."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].glob("*.py")):
        if path.stem not in _NOT_THE_COMPILER:
            digest.update((path.name + path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


class _Walk:
    """One hash in the making: everything is described once, later mentions by their number."""

    def __init__(self, classes: tuple[type, ...], by_source: bool) -> None:
        self.digest = hashlib.sha256()
        self._classes, self._by_source = classes, by_source
        self._seen: dict[Any, int] = {}
        self._alive: list[Any] = []  # so that no number that tells two things apart is given again

    def add(self, text: str) -> None:
        self.digest.update(f"{len(text)} {text}".encode())

    def _is_new(self, thing: Any, *names: str) -> bool:
        self._alive.append(thing)
        before = len(self._seen)
        number = self._seen.setdefault((id(thing), *names), before)
        self.add(f"#{number}")
        return number == before

    def value(self, value: Any, name: str) -> None:
        """Describes whatever a name stands for."""
        if isinstance(value, enum.Enum):
            self.add(f"{type(value).__module__}.{type(value).__qualname__}.{value.name}")
            self.value(value.value, name)
        elif isinstance(value, _PLAIN):
            self.add(f"{type(value).__name__} {value!r}")
        elif isinstance(value, tuple | list | set | frozenset | dict):
            self._collection(value, name)
        elif isinstance(value, np.ndarray | np.generic | np.dtype):
            self._numpy(value, name)
        elif isinstance(value, staticmethod | classmethod | property):
            self.add(type(value).__name__)
            self.value(value.fget if isinstance(value, property) else value.__func__, name)
        elif isinstance(value, types.ModuleType):
            self.add(f"module {value.__name__}")
        elif _is_library(value):
            self.add(f"{value.__module__}.{value.__name__}")
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value, name)
        elif hasattr(value, "py_func"):  # compiled by the author, with options
            self.add(repr(sorted(getattr(value, "targetoptions", {}).items(), key=repr)))
            self.value(value.py_func, name)
        else:
            raise UncomparableError(f"{name}, of type {type(value).__name__}")

    def _collection(self, value: Any, name: str) -> None:
        self.add(f"{type(value).__module__}.{type(value).__qualname__} {len(value)}")
        if not self._is_new(value):
            return
        if isinstance(value, dict):
            value = [part for pair in value.items() for part in pair]
        elif isinstance(value, set | frozenset):
            if not all(isinstance(part, _PLAIN) for part in value):
                raise UncomparableError(f"{name}, a set of objects")
            value = sorted(value, key=repr)
        for part in value:
            self.value(part, name)

    def _numpy(self, value: Any, name: str) -> None:
        dtype = value if isinstance(value, np.dtype) else value.dtype
        if dtype.hasobject:
            raise UncomparableError(f"{name}, an array of objects")
        self.add(f"numpy {dtype.descr if dtype.names else dtype.str}")
        if not isinstance(value, np.dtype):
            self.add(f"{value.shape} {value.flags.f_contiguous}")
            self.digest.update(value.tobytes())

    def _class(self, cls: Any, name: str) -> None:
        self.add(f"{cls.__module__}.{cls.__qualname__}")
        if issubclass(cls, enum.Enum) and self._is_new(cls):
            for member, each in cls.__members__.items():
                self.add(member)
                self.value(each.value, f"{name}.{member}")
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.add(_fields_of(cls))
        elif issubclass(cls, Words):
            self.add("known to the compiler")  # whose files count
        elif not issubclass(cls, BaseException):
            raise UncomparableError(f"the class {name}")

    def _function(self, function: types.FunctionType) -> None:
        if function in NAMES:
            self.add(NAMES[function])
        if function in NAMES or not self._is_new(function):
            return
        self.add(f"{function.__qualname__} {function.__annotations__.get('return') == 'int'}")
        self.value(function.__defaults__, function.__name__)
        self.value(function.__kwdefaults__, function.__name__)
        names = self._source(function) if self._by_source else self._code(function.__code__)
        for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add(cell_name)
            content = _content(cell, cell_name)
            self.value(content, cell_name)
            self._attributes(content, names)
        for name in names:
            if name in function.__globals__:
                self.add(name)
                self.value(function.__globals__[name], name)
                self._attributes(function.__globals__[name], names)
        for cls in self._classes:
            self._attributes(cls, names)

    def _attributes(self, owner: Any, names: list[str]) -> None:
        """The attributes of a module or class that a function names."""
        is_own = isinstance(owner, types.ModuleType | type) and not _is_library(owner)
        if not is_own or not self._is_new(owner, *names):
            return
        for name in names:
            value = getattr(owner, name, None)
            if value is None or (isinstance(owner, type) and name in _fields(owner)):
                continue
            if isinstance(owner, type) and issubclass(owner, tuple) and value is getattr(tuple, name, None):
                continue
            self.add(name)
            self.value(value, f"{owner.__name__}.{name}")
            self._attributes(value, names)

    def _source(self, function: types.FunctionType) -> list[str]:
        """Describes a function by its text, and returns the names that it reads."""
        text = source_of(function.__code__)
        if not text:
            raise UncomparableError(f"{function.__qualname__}, which has no source")
        self.add(text)
        return sorted(names_in(function.__code__))

    def _code(self, code: types.CodeType) -> list[str]:
        """Describes a code object with those inside it, and returns the names that they read."""
        names = list(code.co_names)
        self.digest.update(code.co_code)
        self.add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)))
        self.add(repr((code.co_argcount, code.co_kwonlyargcount)))
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


def _content(cell: Any, name: str) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise UncomparableError(f"{name}, which has no value yet") from None


def _fields(cls: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(cls, "_fields", ())
    return names


def _fields_of(cls: Any) -> str:
    """A named tuple's fields with their types and defaults."""
    annotations: dict[str, Any] = {}
    for parent in reversed(cls.__mro__):
        annotations.update(vars(parent).get("__annotations__", {}))
    types_of_fields = [(field, str(annotations.get(field))) for field in _fields(cls)]
    return repr((cls.__module__, cls.__qualname__, types_of_fields, getattr(cls, "_field_defaults", {})))


def _is_library(value: Any) -> bool:
    """Whether a module, class or function is Python's own, or of a package whose version counts."""
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    if not isinstance(module, str) or not isinstance(getattr(value, "__name__", None), str):
        return False
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:  # unless it is a file of the user's, called like one of them
        file = getattr(sys.modules.get(package), "__file__", None)
        return file is None or bool(file.startswith(sysconfig.get_path("stdlib")))
    return package in _PACKAGES
