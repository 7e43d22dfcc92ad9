"""Origins of environments: the key of what was seen of them.

An origin has the classes, the sources of their modules and of modules of the same project that these name, also
inside functions, and how the environment was made: the arguments that ``EzPickle`` and Gymnasium's wrappers keep,
Gymnasium's spec, and the number of agents. Nothing that play may change is part of it. A key that two different
environments share costs speed and never truth, as what is assumed of both is watched in both.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import hashlib
import importlib.metadata
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.kinds import fields_of, full_name, module_name
from zermelo.envs.clone.outside_state import modules_of
from zermelo.envs.live.wrappers import game_layers
from zermelo.envs.support.files import cache_root, read_file

_PLAIN: Final = (bool, bytes, complex, float, int, str, types.NoneType)
_MADE_BY: Final = ("_ezpickle_args", "_ezpickle_kwargs", "_saved_kwargs")
_MAX_DEPTH: Final = 8
_MOST_PARTS: Final = 5_000  # of a value that is described
_LARGEST: Final = 1 << 22  # bytes of a module's source
_MOST_MODULES: Final = 200
_ROOMS: Final = ("adapters", "clone", "live", "traits")
_STDLIB: Final = Path(ast.__file__).parent
_VERSIONS: Final = ("gymnasium", "numpy", "pettingzoo")


class Origin(NamedTuple):
    """The classes of an environment's layers, outermost first, and a digest of how they were made.

    As a key in this process: a class that is defined again is another one.
    """

    classes: tuple[type, ...]
    made: str

    def file(self) -> Path | None:
        """The file of what was seen of such environments; None where their source is nowhere."""
        sources = _sources(self.classes)
        if sources is None:
            return None
        digest = hashlib.sha256(f"{sources}\n{self.made}\n{_own()}".encode()).hexdigest()
        return cache_root() / "environments" / f"{self.classes[-1].__name__}-{digest[:32]}.json"


def origin_of(env: Any) -> Origin:
    """Returns the origin of an environment."""
    made, layers = list[Any](), game_layers(env)
    for layer in layers:
        own = getattr(layer, "__dict__", {})
        spec = own.get("spec")
        made += [getattr(spec, "id", None), getattr(spec, "kwargs", None), *map(own.get, _MADE_BY)]
        agents = own.get("possible_agents")  # how many they are is an argument that many environments do not keep
        made.append(len(agents) if isinstance(agents, list | tuple) else None)
    classes = tuple(original_class(type(layer)) for layer in layers)
    return Origin(classes, hashlib.sha256(repr([*map(_described, made)]).encode()).hexdigest())


def _described(value: Any, depth: int = 0, parts: Iterator[int] | None = None) -> Any:
    """A value by what it is, the same in every process: functions by their code and what they close over."""
    parts = iter(range(_MOST_PARTS)) if parts is None else parts
    if depth > _MAX_DEPTH or next(parts, None) is None:
        return type(value).__name__
    inner = functools.partial(_described, depth=depth + 1, parts=parts)
    if isinstance(value, enum.Enum):
        return full_name(type(value)), value.name
    if type(value) in _PLAIN:
        return type(value).__name__, repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return str(value.dtype), value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, functools.partial):
        return "partial", inner(value.func), inner(value.args), inner(value.keywords)
    if isinstance(value, types.MethodType):
        return "method", full_name(type(value.__self__)), inner(value.__func__)
    if isinstance(value, types.FunctionType):
        closed = [inner(one) for one in _closed_over(value)]
        return "function", _code(value.__code__), inner(value.__defaults__), inner(value.__kwdefaults__), closed
    if isinstance(value, type):
        return "class", full_name(value)
    name = full_name(type(value))
    if isinstance(value, dict):
        return name, [(inner(key), inner(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return name, [inner(item) for item in value]
    if isinstance(value, set | frozenset):
        return name, sorted(repr(inner(item)) for item in value)
    return name, [(field, inner(item)) for field, item in sorted(fields_of(value).items())]


def _closed_over(function: types.FunctionType) -> Iterator[Any]:
    """The values of the variables that a function closes over, of those that have one yet."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents


def _code(code: types.CodeType) -> Any:
    constants = [_code(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts]
    return code.co_code.hex(), code.co_names, code.co_varnames, constants


@functools.lru_cache(maxsize=256)  # by the classes themselves, whose sources were read when they were made
def _sources(classes: tuple[type, ...]) -> str | None:
    """A digest of the sources of classes; None where one has none, as in an interpreter."""
    digest = hashlib.sha256()
    for cls in classes:  # two classes of one factory have the same source
        functions = [
            one for part in cls.__mro__ for one in vars(part).values() if isinstance(one, types.FunctionType)
        ]
        closed = [(one.__name__, [*map(_described, _closed_over(one))]) for one in functions if one.__closure__]
        digest.update(f"{full_name(cls)}\n{closed}\n".encode())
    files: dict[Path, bytes] = {}
    own = [sys.modules.get(module_name(cls)) for cls in classes]  # of Gymnasium, too
    for module in dict.fromkeys([*modules_of(classes), *own]):
        file = getattr(module, "__file__", None)
        if file is None or not _add_file(Path(file), files):
            return None
    for file, content in sorted(files.items()):
        digest.update(f"{file.name}\n{hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest() if files else None


def _add_file(file: Path, files: dict[Path, bytes]) -> bool:
    """Adds a module's source and those that it names; returns whether it can be read."""
    waiting = [file]
    while waiting and len(files) < _MOST_MODULES:
        path = waiting.pop()
        if path in files:
            continue
        try:
            about = path.stat()  # which tells one build of a compiled module from another
            built = f"{about.st_size} {about.st_mtime_ns}".encode()
            files[path] = read_file(path, _LARGEST) if path.suffix == ".py" else built
        except (OSError, ValueError):
            if path == file:
                return False
            continue
        if not _is_installed(path):
            waiting += (named for named in _named_in(path, files[path]) if not _is_installed(named))
    return True


def _named_in(path: Path, source: bytes) -> Iterator[Path]:
    """The files of modules of the same project that a module imports, anywhere in it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for name, level in _imports(tree):
        folders = [path.parent, *map(Path, dict.fromkeys(sys.path))]
        if level:
            folders = [path.parents[min(level, len(path.parents)) - 1]]
        for base in folders:
            inside = base.joinpath(*name.split(".")) if name else base
            found = next(filter(Path.is_file, (inside.with_suffix(".py"), inside / "__init__.py")), None)
            if found is not None:
                yield found
                break


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that a module imports, and how many dots stand before them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield base, node.level
            yield from (((f"{base}.{alias.name}" if base else alias.name), node.level) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = node.args[0].value
            if called in ("__import__", "import_module") and isinstance(name, str) and name.strip("."):
                yield name.lstrip("."), len(name) - len(name.lstrip("."))


def _is_installed(path: Path) -> bool:
    """Whether a file is Python's own or of an installed package: the same from one process to the next."""
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or path.is_relative_to(_STDLIB)


@functools.cache
def _own() -> str:
    """All that decides what is seen besides the environment: this package's modules, and versions."""
    digest = hashlib.sha256(sys.version.encode())
    for room in _ROOMS:
        for path in sorted((Path(__file__).parents[1] / room).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    for name in _VERSIONS:
        try:
            digest.update(importlib.metadata.version(name).encode())
        except importlib.metadata.PackageNotFoundError:
            continue
    return digest.hexdigest()
