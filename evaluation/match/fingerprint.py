"""Fingerprints of agents and environments: settings, code, files.

Two fingerprints that are equal stand for the same games; where they differ, the labels of the parts say what has
changed. A part is a setting with its value, the hash of a file that a setting names, of the numbers in an array or
a model, or of the compiled code of a function or class together with what it refers to. Code of this package, of
Python and of installed packages is left to their versions. What an agent learns or counts while it plays is no
part: of an object only the settings that its constructor takes are looked at.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

_LONGEST: Final = 120
"""Characters of a setting's value that are kept as they are; a longer one is hashed."""
_CODE: Final = "code of "
_SUFFIX: Final = re.compile(r"\.[A-Za-z]\w{0,9}$")
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes)


def fingerprint(*things: Any) -> dict[str, str]:
    """The parts that decide what these sources or objects do, by label."""
    described = _Described()
    for thing in things:
        described.add("", thing)
    return described.parts


def changes(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The differences in words; empty if there are none."""
    found = []
    for label in sorted({**there, **here}):
        old, new = there.get(label), here.get(label)
        if old == new:
            continue
        if label.startswith((_CODE, "file ", "numbers of ")):
            found.append(
                f"the {label} has changed" if old and new else f"the {label} is {'gone' if old else 'new'}"
            )
        else:
            found.append(f"{label or 'it'} was {old or 'not set'} and is {new or 'not set'} now")
    shown = found[:3] + ([f"and {len(found) - 3} more"] if len(found) > 3 else [])
    return ", ".join(shown)


class _Described:
    """Collects parts, each object once."""

    def __init__(self, seen: dict[int, Any] | None = None) -> None:
        self.parts: dict[str, str] = {}
        self._seen = {} if seen is None else seen  # the objects are kept, so that no number is given twice

    def add(self, label: str, value: Any) -> None:
        if isinstance(value, _PLAIN) and not isinstance(value, enum.Enum):
            text = repr(value)
            self.parts[label] = text if len(text) <= _LONGEST else _hash(text.encode())
            if isinstance(value, str) and _names_file(label, value):
                self.parts[f"file {value}"] = _file_hash(value)
            return
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        function = getattr(value, "py_func", value)  # of what Numba has compiled
        if isinstance(value, enum.Enum):
            self.parts[label] = str(value)
        elif isinstance(value, os.PathLike):
            self.add(label, os.fspath(value))
        elif isinstance(value, np.generic | np.ndarray):
            array = np.ascontiguousarray(value)
            numbers = repr(value.tolist()).encode() if array.dtype.hasobject else array.tobytes()
            self.parts[f"numbers of {label}"] = _hash(f"{array.dtype} {array.shape}".encode(), numbers)
        elif isinstance(value, set | frozenset):
            self.parts[label] = _hash(*sorted(repr(item).encode() for item in value))
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(function, FunctionType):
            self._add_function(function)
        elif not isinstance(value, ModuleType):
            for name, inner in _settings(value):
                self.add(f"{label}.{name}" if label and name else label or name, inner)

    def _add_class(self, cls: type) -> None:
        if _is_library(cls):
            return
        digests = []
        for name, member in sorted(vars(cls).items()):
            inner = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            inner = getattr(inner, "py_func", inner)
            if isinstance(inner, FunctionType):
                digests.append(f"{name} {self._function_hash(inner)}")
            elif isinstance(member, _PLAIN) and not name.startswith("__"):
                digests.append(f"{name} {member!r}")
        self.parts[f"{_CODE}{cls.__module__}.{cls.__qualname__}"] = _hash(*(text.encode() for text in digests))
        for base in cls.__bases__:
            self.add("", base)

    def _add_function(self, function: FunctionType) -> None:
        if not _is_library(function):
            label = f"{_CODE}{function.__module__}.{function.__qualname__}"
            digest = self._function_hash(function)
            # Two lambdas of one function have one name.
            self.parts[label] = _hash(self.parts.get(label, "").encode(), digest.encode())

    def _function_hash(self, function: FunctionType) -> str:
        """Of its code, and of the constants that it refers to; functions and classes become parts of their own."""
        found = [_code_text(function.__code__)]
        held = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        for value in [*held, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]:
            found += self._referred("", value)
        names = _names(function.__code__)
        for name in sorted(names & function.__globals__.keys()):
            value = function.__globals__[name]
            if isinstance(value, ModuleType) and not _is_library(value):
                for inner in sorted(names & vars(value).keys()):
                    found += self._referred(inner, vars(value)[inner])
            else:
                found += self._referred(name, value)
        return _hash(*(text.encode() for text in found))

    def _referred(self, name: str, value: Any) -> list[str]:
        """A constant as text; of code and of objects the parts are added."""
        if isinstance(value, type | FunctionType | functools.partial) or hasattr(value, "py_func"):
            self.add("", value)
            return []
        if not name:  # held by a closure, or a default: a setting
            inner = _Described(self._seen)
            inner.add("value", value)
            return [f"{key} {text}" for key, text in inner.parts.items()]
        return [f"{name} {value!r}"] if isinstance(value, _PLAIN) and name.isupper() else []


def _settings(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields what decides what an object does, by name: its class, and the settings that it was made with."""
    if isinstance(value, Mapping):
        yield from ((str(key), value[key]) for key in value)
    elif isinstance(value, functools.partial):
        yield from (("", value.func), ("", (*value.args,)), ("", value.keywords))
    elif isinstance(value, MethodType):
        yield from (("", value.__func__), ("", value.__self__))
    else:
        cls = type(value)
        yield "", cls
        if isinstance(value, Sequence):  # named tuples have methods, as rules do
            yield from ((str(number), item) for number, item in enumerate(value))
        elif numbers := _numbers(value):
            yield "", numbers
        elif dataclasses.is_dataclass(value):
            names = (field.name for field in dataclasses.fields(value) if field.init and field.name != "name")
            yield from ((name, getattr(value, name, None)) for name in names)
        elif hasattr(value, "_ezpickle_args"):  # what the environment was made with
            yield from (("", (*value._ezpickle_args,)), ("", dict(value._ezpickle_kwargs)))
        else:
            yield "class", f"{cls.__module__}.{cls.__qualname__}"
            state = getattr(value, "__dict__", {})
            names = (name for name in _parameters(cls) if name != "name")
            yield from ((name, state[key]) for name in names for key in (name, f"_{name}") if key in state)


def _numbers(value: Any) -> dict[str, Any]:
    """The parameters of a PyTorch module, by name; none of anything else."""
    try:
        return {key: tensor.detach().cpu().numpy() for key, tensor in value.state_dict().items()}
    except Exception:  # it is none, or only looks like one: its class must do
        return {}


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()[:16]


def _names_file(setting: str, text: str) -> bool:
    """Whether a setting's text is the name of a file that is there, rather than a word that a file has too.

    Names of agents and environments, which belong to no setting, are not taken for files.
    """
    if not (setting or os.path.isabs(text)) or not 0 < len(text) < 1024 or "\0" in text:
        return False
    looks_so = os.path.basename(text) != text or _SUFFIX.search(text) is not None
    is_path = setting.rpartition(".")[2] == "path" and shutil.which(text) is None  # engines are found on the PATH
    return (looks_so or is_path) and os.path.isfile(text)


def _file_hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return "unreadable"


def _code_text(code: CodeType) -> str:
    """The code without line numbers."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_code_text(constant))
        elif isinstance(constant, frozenset):
            constants.append(repr(sorted(map(repr, constant))))
        else:
            constants.append(repr(constant))
    return repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants))


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # it raises if the variable has no value yet
    except ValueError:
        return False
    return True


def _parameters(cls: type) -> list[str]:
    try:
        return list(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return []


def _top(thing: Any) -> str:
    return str(getattr(thing, "__module__", "") or "").partition(".")[0]


@functools.cache
def _library_folders() -> tuple[str, ...]:
    found = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(str(Path(folder).resolve()) + os.sep for folder in found)


def _is_library(thing: Any) -> bool:
    """Whether it belongs to this package, to Python or to an installed package, which have versions."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    if name == "__main__":
        return False
    if not isinstance(name, str) or _top(thing) == "zermelo" or name.partition(".")[0] == "zermelo":
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or str(Path(file).resolve()).startswith(_library_folders())
