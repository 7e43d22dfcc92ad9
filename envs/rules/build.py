"""Compiles kernels for a rules class, or takes the machine code from disk.

A kernel is a plain function over ``rules`` and ``state``. For each rules class its module's functions are
copied, with the copies calling each other, and compiled with their full signatures (a recursive function read
back from Numba's disk cache without one crashes the process: numba issue 6061). Each rules class has a cache
folder of its own.
"""

from __future__ import annotations

import shutil
import threading
import time
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zermelo.envs.rules.code_cache import cache_folder
from zermelo.envs.rules.compiling import types_of
from zermelo.envs.rules.notices import say_once

__all__ = ["Kernel", "build"]

_LOCK = threading.RLock()
_BUILT: dict[tuple[Any, ...], Mapping[str, Callable[..., Any]]] = {}


@dataclass(frozen=True)
class Kernel:
    """A function to compile.

    Attributes:
        function: The function; its module's other functions are compiled as it calls them.
        arguments: The types of its arguments after ``rules`` and ``state``, by name (``int64``).
        result: The type of its result.
    """

    function: Callable[..., Any]
    arguments: Sequence[str]
    result: str = "int64"


def build(rules: Any, kernels: Sequence[Kernel]) -> Mapping[str, Callable[..., Any]]:
    """The kernels, compiled for the class of ``rules``, by name; those that others call come first.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    identity = (type(rules), *(kernel.function for kernel in kernels))
    with _LOCK:
        if identity not in _BUILT:
            _BUILT[identity] = _build(rules, kernels)
        return _BUILT[identity]


def _build(rules: Any, kernels: Sequence[Kernel]) -> Mapping[str, Callable[..., Any]]:
    from numba.core.errors import NumbaError

    files = {kernel.function.__code__.co_filename for kernel in kernels}
    folder = cache_folder(type(rules), *sorted(files))
    first = types_of(rules)
    started = time.perf_counter()
    try:
        try:
            return _compiled(kernels, first, None if folder is None else str(folder), rules)
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
            return _compiled(kernels, first, None, rules)
    except NumbaError as error:
        from zermelo.envs.rules.method_calls import explain

        raise explain(rules, error) from None


def _compiled(
    kernels: Sequence[Kernel], first: tuple[Any, Any], folder: str | None, rules: Any
) -> Mapping[str, Callable[..., Any]]:
    from numba import types

    name = type(rules).__name__
    classes = {"rules": type(rules), "state": type(rules.initial_state())}
    dispatchers: dict[str, Any] = {}
    for module_globals, functions in _by_module(kernels):
        space = dict(module_globals)
        wanted = {kernel.function.__name__ for kernel in kernels}
        for function in functions:
            copy = python_types.FunctionType(
                function.__code__, space, function.__name__, function.__defaults__, function.__closure__
            )
            copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
            keep = folder is not None and function.__name__ in wanted
            space[function.__name__] = dispatchers[function.__name__] = _dispatcher(
                copy, folder if keep else None, classes
            )
    entries: dict[str, Callable[..., Any]] = {}
    said = False
    for kernel in kernels:
        signature = getattr(types, kernel.result)(*first, *(getattr(types, kind) for kind in kernel.arguments))
        dispatcher = dispatchers[kernel.function.__name__]
        if not said and not _is_kept(dispatcher, signature):
            said = True
            say_once(f"compiling the rules of {name} for this machine" + (" (once)" if folder else ""))
        dispatcher.compile(signature)
        # Not called through the dispatcher: it tells named tuples' types by their classes' names, and two rules
        # classes may share one (a notebook's cell that is run again).
        entries[kernel.function.__name__] = dispatcher.overloads[signature.args].entry_point
    return entries


def _by_module(kernels: Sequence[Kernel]) -> list[tuple[dict[str, Any], list[Any]]]:
    """The kernels' modules: their globals, and the functions defined there."""
    modules: dict[str, tuple[dict[str, Any], list[Any]]] = {}
    for kernel in kernels:
        space = kernel.function.__globals__
        name = kernel.function.__module__
        if name not in modules:
            mine = [
                value
                for value in space.values()
                if isinstance(value, python_types.FunctionType) and value.__module__ == name
            ]
            modules[name] = (space, mine)
    return list(modules.values())


def _dispatcher(function: Any, folder: str | None, classes: Mapping[str, type]) -> Any:
    import numba

    if folder is not None:
        from zermelo.envs.rules.cache_file import call_classes_by_name

        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = folder
        try:
            keeping = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
        finally:
            numba.config.CACHE_DIR = before
        if call_classes_by_name(keeping, classes):
            return keeping
    return numba.njit(nogil=True, error_model="numpy")(function)


def _is_kept(dispatcher: Any, signature: Any) -> bool:
    """Whether the machine code is on disk, as far as its index says."""
    cache = getattr(dispatcher, "_cache", None)
    index = getattr(cache, "_index_path", None) or getattr(
        getattr(cache, "_cache_file", None), "_index_path", None
    )
    if index is None:
        return False
    from pathlib import Path

    return Path(index).exists()
