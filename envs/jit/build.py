"""Compiles kernels for a rules class, or takes the machine code from disk.

A kernel is a plain function over ``rules`` and ``state`` that may call itself and the other functions of its
module. For each rules class these are copied, with the copies calling each other, and the kernel is compiled with
its full signature and kept on disk, in a folder of the class's own.

Only the function that is entered may call itself, and never with a constant as an argument (``ply + 1``, not
``0``). Read back from disk, a recursive function compiled without its full signature crashes the process (numba
issue 6061), and so does one in which Numba took a constant for another type: its own address is not filled in.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.envs.jit.code_cache import cache_folder, one_compiler
from zermelo.envs.jit.compiling import INSIDE, inlining, types_of
from zermelo.envs.jit.notices import say_once

__all__ = ["Kernel", "build"]

_LOCK = threading.RLock()
_KEPT: list[Any] = []
"""Dispatchers: an entry point is only good as long as the one it was taken from lives, with all it calls."""
_BUILT: dict[tuple[Any, ...], Callable[..., Any]] = {}


@dataclass(frozen=True)
class Kernel:
    """A function to compile.

    Attributes:
        function: The function; its module's other functions are compiled as it calls them.
        arguments: The types of its arguments after ``rules`` and ``state``, by name (``int64``), or the layout of
            a record.
        result: The type of its result.
        constants: Global names of its module that stand for other values here: what ``if`` asks of them is
            decided before anything is compiled.
    """

    function: Callable[..., Any]
    arguments: Sequence[str | np.dtype[Any]]
    result: str = "int64"
    constants: tuple[tuple[str, bool], ...] = ()


def build(rules: Any, kernel: Kernel) -> Callable[..., Any]:
    """A kernel compiled for the class of ``rules``.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    identity = (type(rules), kernel.function, kernel.constants)
    with _LOCK:
        if identity not in _BUILT:
            _BUILT[identity] = _build(rules, kernel)
        return _BUILT[identity]


def _build(rules: Any, kernel: Kernel) -> Callable[..., Any]:
    from numba.core.errors import NumbaError

    folder = cache_folder(type(rules), kernel.function.__code__.co_filename)
    if folder is not None and kernel.constants:
        folder /= "-".join(f"{name}{value:d}" for name, value in kernel.constants)
        folder.mkdir(exist_ok=True)
    first = types_of(rules)
    started = time.perf_counter()
    try:
        try:
            return _compiled(kernel, first, None if folder is None else str(folder), rules)
        except NumbaError:
            raise
        except Exception as error:  # whatever a torn, foreign or unwritable cache file may raise
            if folder is None:
                raise
            shutil.rmtree(folder, ignore_errors=True)
            say_once(
                f"the compiled rules kept in {folder} could not be used ({type(error).__name__}: {error}); they "
                f"are compiled again for this process ({time.perf_counter() - started:.1f} s lost)"
            )
            return _compiled(kernel, first, None, rules)
    except NumbaError as error:
        from zermelo.envs.jit.method_calls import explain

        raise explain(rules, error) from None


def _compiled(kernel: Kernel, first: tuple[Any, Any], folder: str | None, rules: Any) -> Callable[..., Any]:
    from numba import from_dtype, njit, types

    name = type(rules).__name__
    classes = {"rules": type(rules), "state": type(rules.initial_state())}
    space = dict(kernel.function.__globals__) | dict(kernel.constants)
    entry = kernel.function.__name__
    for function in _functions(kernel.function):
        copy = python_types.FunctionType(
            function.__code__, space, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        inside = function.__name__ != entry
        options = INSIDE | inlining(copy)
        space[function.__name__] = njit(**options)(copy) if inside else _entry(copy, folder, classes)
    dispatcher = space[entry]
    arguments = (getattr(types, kind) if isinstance(kind, str) else from_dtype(kind) for kind in kernel.arguments)
    signature = getattr(types, kernel.result)(*first, *arguments)
    with contextlib.nullcontext() if _is_kept(dispatcher) or folder is None else one_compiler(Path(folder), entry):
        kept = _is_kept(dispatcher)  # another process may have compiled it meanwhile
        if not kept:
            say_once(f"compiling the rules of {name} for this machine" + (" (once)" if folder else ""))
        dispatcher.compile(signature)
    if kept and not dispatcher.stats.cache_hits:
        raise _NotKeptError("the machine code is not there")
    if folder is not None and len(dispatcher.overloads) > 1:
        raise _NotKeptError("it calls itself with other types")
    _KEPT.append(space)
    # Not called through the dispatcher: it tells named tuples' types by their classes' names, and two rules
    # classes may share one (a notebook's cell that is run again).
    found: Callable[..., Any] = dispatcher.overloads[signature.args].entry_point
    return found


class _NotKeptError(Exception):
    """What is on disk cannot be used, or would be no use: it is removed, and memory has to do."""


def _functions(kernel: Callable[..., Any]) -> list[python_types.FunctionType]:
    """The functions of a kernel's module."""
    return [
        value
        for value in kernel.__globals__.values()
        if isinstance(value, python_types.FunctionType) and value.__module__ == kernel.__module__
    ]


def _entry(function: Any, folder: str | None, classes: Mapping[str, type]) -> Any:
    import numba

    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if folder is not None:
        from zermelo.envs.jit.cache_file import call_classes_by_name

        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = folder
        try:
            keeping = numba.njit(cache=True, **options)(function)
        finally:
            numba.config.CACHE_DIR = before
        if call_classes_by_name(keeping, classes):
            return keeping
    return numba.njit(**options)(function)


def _is_kept(dispatcher: Any) -> bool:
    """Whether there is machine code on disk, as far as the cache's index says."""
    index = getattr(getattr(getattr(dispatcher, "_cache", None), "_cache_file", None), "_index_path", None)
    return index is not None and os.path.exists(index)
