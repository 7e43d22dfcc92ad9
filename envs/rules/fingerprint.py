"""Fingerprints of rules: equal only if the rules are the same game.

A digest is over the name of the class, its parameters with their types, and everything that its methods are made
of: their code, defaults and closures, and whatever they read by name, such as helpers, globals, arrays, and the
attributes of classes and modules. Functions and classes of Python and NumPy count by name. Left out are methods
that only order moves, estimate or show (``_WITHOUT``), unless another method calls them.

There are two digests. One is over compiled code, which is always at hand, but differs between versions of Python.
The other is over the text of functions without comments and docstrings, which is the same in all versions, but not
at hand for what was typed at a prompt, or was changed after it was loaded. Neither needs Numba.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules.arrays import NAMES, array_of
from zermelo.envs.rules.contract import METHODS
from zermelo.envs.rules.protocol import MonteCarloMethods, ObservationMethods, TextMethods
from zermelo.envs.support.code_parts import (
    LRU_CACHE,
    UncomparableError,
    annotation_text,
    content_of,
    has_docstring,
    imported,
    library_name,
    members,
    parts_of,
    reads_of,
    tree_of,
)
from zermelo.envs.support.snapshot import Snapshot

PYTHON: Final = f"{sys.implementation.name} {sys.version.split()[0]} -O{sys.flags.optimize}"
_WITHOUT: Final = {
    *vars(MonteCarloMethods), *vars(ObservationMethods), *vars(TextMethods),
    *("evaluation", "evaluates_before_chance", "continues_move", "ordering_hint", "proof_hint", "is_noisy"),
    *("noisy_actions", "search_settings", "table_part_text", "check"),
}  # fmt: skip
"""Methods of rules on which no proof rests."""
_PLAIN: Final = {type(None), bool, int, float, complex, str, bytes, type(...)}
_ANY_NAME: Final = {"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__"}
"""A function that reads one of these may read any attribute."""
_ANYTHING: Final = {"eval", "exec", "globals", "__import__", "import_module"}
_FIXED: Final = (
    *(tuple, range, property, functools.cached_property, staticmethod, classmethod, functools.partial, np.ufunc),
    *(types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.MethodWrapperType, types.ClassMethodDescriptorType, re.Pattern, LRU_CACHE),
)
"""Objects that hold the same things for ever."""
_Digest = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{32})?$")]


class RulesFingerprint(msgspec.Struct, frozen=True):
    """The digests of rules: by code, for one version of Python, and by sources; "" where there is none."""

    python: Annotated[str, msgspec.Meta(pattern=r"^[\w .+-]{,60}$")]
    code: _Digest
    sources: _Digest

    def difference(self, rules: Any) -> str:
        """How rules differ from those of this fingerprint, to follow "was made"; empty if they are the same.

        Raises:
            InvalidSettingError: They depend on something that cannot be compared.
        """
        name = type(rules).__name__
        others = f"by other rules: those of {name} are not the same now"
        if self.code and self.python == PYTHON:
            return "" if self.code == code_digest(rules) else others
        if not self.sources:
            return f"with {self.python}, by rules without sources, which cannot be compared with those of {name}"
        sources, reason = _walk_of(rules).sources
        if not sources:
            return f"with {self.python or 'another Python'}, and {name} cannot be compared: it depends on {reason}"
        return "" if self.sources == sources else others


def plain_rules(rules: Any) -> Any:
    """The rules with what no knowledge depends on, such as the position that a game starts from, as by default."""
    return rules.table_rules() if hasattr(rules, "table_rules") else rules


def fingerprint(rules: Any) -> RulesFingerprint:
    """The fingerprint of rules, with those of their parameters that count (``plain_rules``).

    Raises:
        InvalidSettingError: They depend on something that cannot be compared.
    """
    walk = _walk_of(rules)
    return RulesFingerprint(PYTHON, walk.hexdigest, walk.sources[0])


def code_digest(rules: Any) -> str:
    """A hash of rules by their code, the same in all processes of this version of Python. Raises as above."""
    return _walk_of(rules).hexdigest


def _walk_of(rules: Any) -> _RulesWalk:
    known, walk = _walks.get(id(rules), (None, None))
    if known is rules and walk is not None and walk.is_current():
        return walk
    try:
        walk = _walked(rules, by_source=False)
    except UncomparableError as error:
        raise InvalidSettingError(
            f"{type(rules).__name__} depends on {error}, so that no file of knowledge can be known to be of these "
            "rules: write them without it, or leave the file out"
        ) from None
    if len(_walks) >= _MOST_WALKS:
        _walks.clear()
    _walks[id(rules)] = rules, walk
    return walk


def _walked(rules: Any, *, by_source: bool) -> _RulesWalk:
    try:
        return _RulesWalk(rules, by_source=by_source)
    except RecursionError:
        raise UncomparableError("objects inside one another, more than can be followed") from None


_MOST_WALKS: Final = 64
_walks: Final[dict[int, tuple[Any, _RulesWalk]]] = {}
"""By the ids of rules, which are kept here, so that no id is given again; a walk says whether it still holds."""


class _RulesWalk:
    """One hash in the making: everything is described once, later mentions by their number."""

    def __init__(self, rules: Any, *, by_source: bool) -> None:
        self._rules, plain = rules, plain_rules(rules)
        self._digest, self._by_source = hashlib.sha256(), by_source
        self._snapshot = Snapshot()
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is given again
        self._names, self._owners = set[str](), list[Any]()
        self._called = {*METHODS} - _WITHOUT  # of rules, by everybody
        for cls in dict.fromkeys((type(rules), type(plain))):
            self._add(f"rules {cls.__qualname__}")
            for part in cls.__mro__:
                if not library_name(part) and self._is_new(part):
                    self._head(part)
                    self._owners.append(part)
                    self._snapshot.collection(vars(part))
                    self._called |= {name for name, _ in members(part) if name.startswith("__")}
        self._value(tuple(plain), "a parameter")
        self._value(getattr(plain, "__dict__", {}), "an attribute")
        done: set[tuple[int, str]] = set()
        while todo := [each for each in self._named() if (id(each[0]), each[1]) not in done]:
            for owner, name, value in todo:
                done.add((id(owner), name))
                self._add(f"{self._seen[id(owner)]}.{name}")
                self._value(value, f"{owner.__name__}.{name}")
        for owner in self._owners:
            if isinstance(owner, types.ModuleType):
                for name in self._names:
                    self._snapshot.name(vars(owner), name)
        self.hexdigest = self._digest.hexdigest()[:32]

    def is_current(self) -> bool:
        """True if nothing that was described has changed since."""
        return self._snapshot.is_current()

    @functools.cached_property
    def sources(self) -> tuple[str, str]:
        """The digest by sources; or an empty one, and what has none."""
        try:
            return _walked(self._rules, by_source=True).hexdigest, ""
        except UncomparableError as error:
            return "", str(error)

    def _named(self) -> Iterator[tuple[Any, str, Any]]:
        """The attributes that functions may read of the classes of rules, and of modules."""
        is_any = not self._names.isdisjoint(_ANY_NAME)
        for owner in self._owners:
            if isinstance(owner, type):
                for name, value in members(owner):
                    if name in self._names | self._called or (is_any and name not in _WITHOUT):
                        yield owner, name, value
                continue
            names = self._names
            if is_any:
                names = names | vars(owner).keys()
                self._snapshot.collection(vars(owner))
            for name in sorted(name for name in names if not name.startswith("__")):
                try:
                    value = getattr(owner, name)
                except Exception:  # modules that load names late raise what they like
                    continue
                yield owner, name, value

    def _add(self, text: str) -> None:
        self._digest.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))

    def _is_new(self, thing: Any) -> bool:
        self._alive.append(thing)
        before = len(self._seen)
        number = self._seen.setdefault(id(thing), before)
        self._add(f"#{number}")
        return number == before

    def _value(self, value: Any, name: str) -> None:
        """Describes whatever a name stands for."""
        kind = type(value)
        if kind in _PLAIN:
            self._add(f"{kind.__name__} {value!a}")
        elif isinstance(value, enum.Enum):
            self._add(f"member {value.name}")
            self._value(kind, name)
        elif library := library_name(value):
            self._add(library)
        elif isinstance(value, types.ModuleType):
            if self._is_new(value):
                self._owners.append(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value, name)
        elif isinstance(value, np.ndarray | np.generic | np.dtype):
            self._numpy(value, name)
        elif kind in (tuple, list, dict, types.MappingProxyType, set, frozenset):
            self._collection(value, name)
        else:
            self._add(kind.__name__)
            if hasattr(value, "__dict__") and isinstance(value, tuple):
                self._snapshot.collection(vars(value))
            elif not isinstance(value, _FIXED):
                self._snapshot.is_blind = True
            for part in parts_of(value, name):
                self._value(part, name)

    def _collection(self, value: Any, name: str) -> None:
        self._add(f"{type(value).__name__} {len(value)}")
        if not isinstance(value, tuple | frozenset):
            self._snapshot.collection(value)
            if not self._is_new(value):
                return
        if isinstance(value, set | frozenset):
            if not all(type(part) in _PLAIN or type(part) is tuple for part in value):
                raise UncomparableError(f"{name}, a set of objects")
            value = sorted(value, key=ascii)
        elif not isinstance(value, tuple | list):
            value = [part for pair in value.items() for part in pair]
        for part in value:
            self._value(part, name)

    def _numpy(self, value: Any, name: str) -> None:
        dtype = value if isinstance(value, np.dtype) else value.dtype
        self._add(f"numpy {dtype.descr if dtype.names else dtype.str}")
        if isinstance(value, np.dtype):
            return
        self._add(f"{type(value).__name__} {value.shape} {value.flags.writeable}")
        if dtype.hasobject:
            self._snapshot.is_blind = True
            self._value(value.tolist(), name)
        else:
            content = self._snapshot.array(value) if isinstance(value, np.ndarray) else value.tobytes()
            self._add(hashlib.sha256(content).hexdigest())

    def _head(self, cls: Any) -> None:
        """Describes a class without its members: its bases, and its fields with their types and defaults."""
        self._add(repr([base.__name__ for base in cls.__bases__]))
        if "_fields" in vars(cls):
            annotations = inspect.get_annotations(cls)
            self._add(repr([(field, annotation_text(annotations.get(field))) for field in cls._fields]))
            self._value(cls._field_defaults, cls.__name__)
        if "__dataclass_fields__" in vars(cls):
            self._add(repr(cls.__dataclass_params__))
            for field in dataclasses.fields(cls):
                self._add(f"{field.name} {annotation_text(field.type)} {field.init}")
                self._value((field.default, field.default_factory), f"{cls.__name__}.{field.name}")

    def _class(self, cls: Any, name: str) -> None:
        if not self._is_new(cls):
            return
        self._snapshot.collection(vars(cls))
        self._add(cls.__qualname__)
        self._value(type(cls), name)
        self._head(cls)
        for base in cls.__bases__:
            self._value(base, name)
        if issubclass(cls, enum.Enum):
            for member, each in cls.__members__.items():
                self._add(f"{member} {each.name}")
                self._value(each.value, f"{name}.{member}")
        for member, value in members(cls):
            self._add(member)
            self._value(value, f"{cls.__name__}.{member}")

    def _function(self, function: types.FunctionType) -> None:
        if not self._is_new(function):
            return
        self._snapshot.function(function)
        if function in NAMES:
            self._value(array_of(function), function.__name__)
            return
        self._add(f"{annotation_text(function.__annotations__.get('return')) == 'int'}")
        self._value(function.__defaults__, function.__name__)
        self._value(function.__kwdefaults__, function.__name__)
        code, reads = function.__code__, reads_of(function.__code__)
        if self._by_source:
            self._add(tree_of(function))
        else:
            self._code(code)
        if unknown := reads.globals & _ANYTHING - function.__globals__.keys():
            raise UncomparableError(f"{function.__qualname__}, which calls {min(unknown)}()")
        self._names |= reads.names
        for module in imported(function, reads.imports):
            self._value(module, function.__name__)
        for name, cell in sorted(zip(code.co_freevars, function.__closure__ or (), strict=True)):
            self._add(name)
            self._value(content_of(cell, name), name)
        for name in sorted(reads.globals):
            self._snapshot.name(function.__globals__, name)
            if name in function.__globals__:
                self._add(name)
                self._value(function.__globals__[name], name)

    def _code(self, code: types.CodeType) -> None:
        """Describes a code object with those inside it, without its docstring and its lines."""
        self._digest.update(code.co_code + code.co_exceptiontable)
        self._add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
        self._add(repr((code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)))
        for constant in code.co_consts[has_docstring(code) :]:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self._value(constant, code.co_name)
