"""The cache of machine code: one file for each kernel and rules class.

A file's name has a hash of everything that its machine code was made from: the rules and the kernel
(``fingerprint``), the versions of Python and the compiler, the processor. Files of other rules, versions or
processors are not read. No file is ever removed: who needs the room deletes the folder.

The folder is under ``ZERMELO_CACHE_DIR``, else ``NUMBA_CACHE_DIR``, else the user's cache folder. Platform wheels
have machine code of our games for baselines of processors (``scripts/ship_kernels.py``), which is looked for next,
and then the archive of portable kernels (``kernel_archive``).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from zermelo.envs.jit.cache.sources import digest_of
from zermelo.envs.jit.machine_code import Code, baselines, platform_of, processor, read, write
from zermelo.envs.jit.waiting import check_interrupt
from zermelo.envs.support.code_parts import UncomparableError
from zermelo.envs.support.files import cache_root
from zermelo.envs.support.waiting import say_once

if sys.platform == "win32":
    fcntl: Any = None
else:
    import fcntl

_PATIENCE = 60.0


def code_file(rules: Any, state: Any, kernel: Any) -> Path | None:
    """The file of a kernel's machine code for some rules; None, and a line that says so, if it cannot be kept."""
    name = type(rules).__name__
    try:
        return cache_root() / name / hashed_name(rules, state, kernel, *_versions(), sys.version, *processor())
    except UncomparableError as error:
        say_once(
            f"the compiled rules of {name} are not kept, and each process compiles them again: they depend on "
            f"{error}, which cannot be compared with another process's"
        )
        return None


_SHIPPED: Final = Path(__file__).with_name("shipped")
"""What platform wheels have."""


def shipped_file(rules: Any, state: Any, kernel: Any, triple: str, baseline: str) -> Path:
    """The file of a kernel's machine code for some rules and a baseline of processors, in the package.

    Raises:
        UncomparableError: There cannot be one.
    """
    about = str(sys.implementation.cache_tag), *platform_of(triple), baseline
    return _SHIPPED / hashed_name(rules, state, kernel, *_versions(), *about)


def shipped_code(rules: Any, state: Any, kernel: Any) -> Code | None:
    """The machine code of a kernel that came with the package, for the best baseline that this processor has."""
    here = processor().triple
    found = (read(shipped_file(rules, state, kernel, here, name)) for name in baselines())
    return next((code for code in found if code is not None), None)


def hashed_name(rules: Any, state: Any, kernel: Any, *about: str, by_source: bool = False) -> str:
    """A name with a hash of all that a kernel's code is made from, and of versions and a processor if given.

    Raises:
        UncomparableError: It depends on a thing that cannot be compared.
    """
    parts = [
        _ENTRY_POINTS,
        shape(rules),
        shape(state),
        digest_of(type(rules), type(state), kernel, by_source=by_source),
        repr([str(kind) for kind in kernel.arguments]),
        *about,
    ]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    return f"{kernel.function.__name__}-{digest}.bin"


_ENTRY_POINTS: Final = "rules and state by address"
"""How the kept code is called; to be changed with it."""


def shape(values: tuple[Any, ...]) -> str:
    """The types of the numbers in a tuple, and in the tuples inside it."""
    parts = [shape(value) if isinstance(value, tuple) else type(value).__name__ for value in values]
    return f"({', '.join(parts)})"


@functools.cache
def _versions() -> tuple[str, ...]:
    return tuple(importlib.metadata.version(package) for package in ("numba", "llvmlite", "numpy"))


def keep(path: Path, code: Code) -> None:
    """Writes machine code for other processes; where that fails, a line says so."""
    try:
        write(path, code)
    except OSError as error:
        _cannot_keep(path, error)


def _cannot_keep(path: Path, error: OSError) -> None:
    say_once(
        f"compiled rules cannot be kept in {path.parent.parent} ({error.strerror or error}): the next process "
        "compiles them again; set ZERMELO_CACHE_DIR to a folder that can be written"
    )


@contextlib.contextmanager
def one_compiler(path: Path) -> Iterator[bool]:
    """Waits while another process compiles the same code, where files can be locked; False if none can be kept.

    After a minute it waits no longer: a process that was stopped (Ctrl-Z) must not stop others.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path.parent / f".{path.stem}.lock", "a")  # noqa: SIM115  # closed below
    except OSError as error:
        _cannot_keep(path, error)
        yield False
        return
    with lock:
        deadline = time.monotonic() + _PATIENCE
        try:
            while not _is_locked(lock) and time.monotonic() < deadline:
                check_interrupt()
                time.sleep(0.05)
            yield True
        finally:  # a child process begun meanwhile has the file open too, so closing it is not enough
            if fcntl is not None:
                with contextlib.suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_UN)
                    os.unlink(lock.name)


def _is_locked(lock: Any) -> bool:
    """Locks a file, unless another process has; True where files cannot be locked."""
    with contextlib.suppress(OSError):
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
