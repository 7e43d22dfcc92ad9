"""Fingerprints of agents and environments: settings, code, files.

Where two differ, the labels of the parts say what has changed. A part is a setting with its value, the hash of a
file that a setting names, of the numbers in an array or a model, or of the source of a function or class together
with what it names. Code of this package, of Python and of installed packages is left to their versions. What an
agent learns or counts while it plays is no part: of an object only what its constructor takes is looked at.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import functools
import hashlib
import inspect
import os
import re
import secrets
import shutil
import sys
import sysconfig
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

_LONGEST: Final = 120
"""Characters of a setting's value that are kept as they are; a longer one is hashed."""
_CODE: Final = "code of "
_NAME: Final = re.compile(r"[^\W\d]\w*")
_SUFFIX: Final = re.compile(r"\.[A-Za-z]\w{0,9}$")
_PYTHON: Final = Path(sysconfig.get_paths()["stdlib"]).resolve()
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes)


def fingerprint(*things: Any) -> dict[str, str]:
    """The parts that decide what these sources or objects do, by label."""
    described = _Described()
    for thing in things:
        described.add("", thing)
    return described.parts


def changes(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The differences in words; empty if there are none."""
    differences = []
    for label in sorted({**there, **here}):
        old, new = there.get(label), here.get(label)
        if old == new:
            continue
        if label.startswith((_CODE, "file ", "numbers of ")):
            what = "has changed" if old and new else "is gone" if old else "is new"
            differences.append(f"the {label} {what}")
        else:
            differences.append(f"{label or 'it'} was {old or 'not set'} and is {new or 'not set'} now")
    more = [f"and {len(differences) - 3} more"] if len(differences) > 3 else []
    return ", ".join(differences[:3] + more)


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
        elif isinstance(function, type | FunctionType):
            self._add_code(function)
        elif not isinstance(value, ModuleType):
            for name, inner in _settings(value):
                self.add(f"{label}.{name}" if label and name else label or name, inner)

    def _add_code(self, thing: Any) -> None:
        """A class or function as its source and the constants that it names; what else it names is added too."""
        if _is_library(thing):
            return
        label = f"{_CODE}{thing.__module__}.{thing.__qualname__}"
        text = _source(thing)
        texts = [self.parts.get(label, ""), text]  # two lambdas of one function have one name
        functions = [*vars(thing).values()] if isinstance(thing, type) else [thing]
        for value in (held for one in functions if isinstance(one, FunctionType) for held in _held(one)):
            if _is_code(value):
                self.add("", value)
            else:
                inner = _Described(self._seen)
                inner.add("value", value)
                texts += (f"{key} {part}" for key, part in inner.parts.items())
        names, namespace = set(_NAME.findall(text)), vars(sys.modules[thing.__module__])
        modules = [value for name, value in namespace.items() if name in names and isinstance(value, ModuleType)]
        for module in modules:
            if not _is_library(module):
                namespace = {**vars(module), **namespace}
        for name in sorted(names & namespace.keys()):
            if _is_code(namespace[name]):
                self.add("", namespace[name])
            elif isinstance(namespace[name], _PLAIN) and name.isupper():
                texts.append(f"{name} {namespace[name]!r}")
        self.parts[label] = _hash(*(part.encode() for part in texts))
        for base in getattr(thing, "__bases__", ()):
            self.add("", base)


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


def _source(thing: Any) -> str:
    """The source without comments.

    What a module makes by a call, such as a named tuple, has none: the names of its members stand for it. What was
    typed at a prompt has a different text each time.
    """
    text = secrets.token_hex()
    try:
        text = textwrap.dedent(inspect.getsource(thing))
        if thing.__name__ != "<lambda>":
            return ast.dump(ast.parse(text))
        whole, line = ast.parse("".join(inspect.findsource(thing)[0])), thing.__code__.co_firstlineno
        lambdas = [node for node in ast.walk(whole) if isinstance(node, ast.Lambda) and node.lineno == line]
        return " ".join(map(ast.dump, lambdas))
    except SyntaxError:  # the lines of a string may begin before those of the code
        return text
    except (OSError, TypeError):
        has_file = hasattr(sys.modules[thing.__module__], "__file__")
        return repr(sorted(vars(thing))) if has_file else text


def _is_code(value: Any) -> bool:
    return isinstance(value, type | FunctionType | functools.partial) or hasattr(value, "py_func")


def _held(function: FunctionType) -> list[Any]:
    """The values of a function's closure and defaults."""
    values = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # the variable has no value yet
            values.append(cell.cell_contents)
    return [*values, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def _parameters(cls: type) -> list[str]:
    try:
        return list(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return []


def _is_library(thing: Any) -> bool:
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    if name == "__main__":
        return False
    if not isinstance(name, str) or name.partition(".")[0] == "zermelo":
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    path = Path(file or "").resolve()
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return file is None or is_installed or path.is_relative_to(_PYTHON)
