"""Where compiled rules are kept on disk, and how it is known that they are still the same rules.

Numba's own cache looks at one file's time stamp; an edit to rules in another file would give the *old* answer.
Here the folder's name is a hash of everything that the machine code was made from: the code objects of the
rules' methods, of the functions they call and the constants they read, this package's sources, and the versions
of Python and Numba. Changed rules are in another folder, so a stale answer is impossible, and two processes
never disagree about one file.

The folder is under ``ZERMELO_CACHE_DIR``, else ``NUMBA_CACHE_DIR``, else the user's cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.envs.jit.compiling import helpers, methods
from zermelo.envs.jit.notices import say_once

__all__ = ["cache_folder", "cache_root", "fingerprint", "one_compiler"]

_FORGET_AFTER = 90 * 24 * 3600.0
_PATIENCE = 60.0


def cache_root() -> Path:
    """The folder of all compiled rules."""
    for name in ("ZERMELO_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser() / "zermelo"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "zermelo"


def cache_folder(rules_class: type, *package_files: str) -> Path | None:
    """The folder for one rules class, made if need be; None, and a line that says so, where there can be none."""
    folder = cache_root() / f"{rules_class.__name__}-{fingerprint(rules_class, *package_files)}"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(folder.parent)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    except OSError as error:
        say_once(
            f"compiled rules cannot be kept in {folder.parent} ({error.strerror or error}): they will be compiled "
            "again by the next process; set ZERMELO_CACHE_DIR to a folder that can be written"
        )
        return None
    return folder


@contextlib.contextmanager
def one_compiler(folder: Path, kernel: str) -> Iterator[None]:
    """Waits while another process compiles the same kernel into the same folder, where files can be locked.

    After a minute it waits no longer: a process that was stopped (Ctrl-Z) must not stop others.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # two compile then, which is only slower
            file = stack.enter_context(open(folder / f".{kernel}.lock", "w"))
            deadline = time.monotonic() + _PATIENCE
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(0.05)
                else:  # unlocked by hand: a child process begun meanwhile has the file open too
                    stack.callback(fcntl.flock, file, fcntl.LOCK_UN)
                    break
        yield


def _forget_old(root: Path) -> None:
    """Removes what no process has made use of for three months."""
    for folder in root.iterdir():
        try:
            if time.time() - folder.stat().st_mtime > _FORGET_AFTER:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def fingerprint(rules_class: type, *package_files: str) -> str:
    """A hash of all that the machine code of a rules class depends on.

    Args:
        rules_class: The class.
        package_files: Files whose folders hold the kernels' own sources.
    """
    import numba

    digest = hashlib.sha256()
    for piece in (sys.version, numba.__version__, f"{rules_class.__module__}.{rules_class.__qualname__}"):
        digest.update(piece.encode())
    for piece in _pieces(rules_class):
        digest.update(piece)
    for folder in sorted({Path(file).parent for file in (__file__, *package_files)}):
        for file in sorted(folder.glob("*.py")):
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _pieces(rules_class: type) -> Iterator[bytes]:
    seen: set[types.FunctionType] = set()
    waiting = [function for _, function in sorted(methods(rules_class).items())]
    yield repr(getattr(rules_class, "_fields", ())).encode()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        yield function.__qualname__.encode()
        yield repr(function.__defaults__).encode()
        yield from _code(function.__code__)
        yield from _globals(function)
        waiting.extend(helpers(function))


def _code(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        else:
            yield f"{type(constant).__name__} {constant!r}".encode()


def _globals(function: types.FunctionType) -> Iterator[bytes]:
    """The constants a function reads: Numba freezes them into the machine code."""
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if isinstance(value, bool | int | float | str | tuple | list):
            yield f"{name} = {value!r}".encode()
        elif isinstance(value, type):
            yield f"{name}: {value.__module__}.{value.__qualname__} {_shape(value)}".encode()
        elif type(value).__module__ == "numpy":
            yield f"{name}: {getattr(value, 'dtype', '')} {getattr(value, 'shape', '')}".encode()
            yield np.asarray(value).tobytes()


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _shape(kind: Any) -> str:
    """The fields and their defaults, for a named tuple."""
    return repr((getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {})))
