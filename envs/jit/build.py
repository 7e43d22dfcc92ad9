"""Compiles kernels for a rules class, or takes the machine code from disk.

A kernel is a plain function over ``rules`` and ``state`` that may call itself and other plain functions. For each
rules class it is compiled with its full signature, together with all that it calls, into one object file, which is
kept on disk. A process that finds it there needs no compiler, and does not import Numba.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.code_cache import code_file, keep, one_compiler, shape
from zermelo.envs.jit.history import on_path
from zermelo.envs.jit.machine_code import Code, emit, link, read
from zermelo.envs.jit.notices import say_once

__all__ = ["Kernel", "build"]

_LOCK = threading.RLock()
_BUILT: dict[tuple[Any, ...], Callable[..., Any]] = {}


@dataclass(frozen=True)
class Kernel:
    """A function to compile.

    Attributes:
        function: The function.
        arguments: The types of its arguments after ``rules`` and ``state``: ``int64`` or ``float64``, or the
            layout of a record, which is passed as a ctypes structure.
        constants: Global names of its module that stand for other values here, or with another module's name
            before them of that: what ``if`` asks of them is decided before anything is compiled.
    """

    function: Callable[..., int]
    arguments: Sequence[str | np.dtype[Any]]
    constants: tuple[tuple[str, bool], ...] = ()

    @property
    def plain_arguments(self) -> list[str]:
        """The same, as machine code takes them: of a record, the address."""
        return [kind if isinstance(kind, str) else "int64" for kind in self.arguments]


def build(rules: Any, kernel: Kernel) -> Callable[..., int]:
    """A kernel compiled for the class of ``rules``: a function of rules, state and its further arguments.

    The rules and the state that it takes are those of ``zermelo.envs.jit.history.starter``.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    shapes = shape(rules), shape(rules.initial_state())  # tuples inside them may be longer in other rules
    identity = (type(rules), *shapes, kernel.function, kernel.constants)
    with _LOCK:
        if identity not in _BUILT:
            _BUILT[identity] = _build(rules, kernel)
        return _BUILT[identity]


def _build(rules: Any, kernel: Kernel) -> Callable[..., int]:
    state = rules.initial_state()
    path = code_file(rules, state, kernel)
    code = None if path is None else read(path)
    if code is None:
        code = _compile(rules, kernel, None) if path is None else _compile_once(rules, kernel, path)
    function = link(code, ["int64", "int64", *kernel.plain_arguments, "int64"])
    return _caller(function, type(rules).__name__, kernel)


def _compile_once(rules: Any, kernel: Kernel, path: Path) -> Code:
    with one_compiler(path) as can_be_kept:
        code = read(path)  # another process may have compiled it meanwhile
        if code is None:
            code = _compile(rules, kernel, path if can_be_kept else None)
            if can_be_kept and code.can_be_kept:
                keep(path, code)
    return code


def _compile(rules: Any, kernel: Kernel, path: Path | None) -> Code:
    from numba.core.errors import NumbaError

    from zermelo.envs.jit.compiling import compile_kernel

    say_once(f"compiling the rules of {type(rules).__name__} for this machine" + (" (once)" if path else ""))
    try:
        return emit(*compile_kernel(on_path(rules), kernel.function, kernel.arguments, dict(kernel.constants)))
    except NumbaError as error:
        from zermelo.envs.jit.method_calls import explain

        raise explain(rules, error) from None


def _numbers(values: tuple[Any, ...]) -> Iterator[int]:
    """The numbers in a tuple, and in the tuples inside it, each in a word of eight bytes."""
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        else:
            yield int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)


def _caller(function: Callable[..., int], name: str, kernel: Kernel) -> Callable[..., int]:
    """The function in Python's terms: named tuples and records are handed over by address."""
    records = [place for place, kind in enumerate(kernel.arguments) if not isinstance(kind, str)]

    def call(rules: Any, state: Any, *arguments: Any) -> int:
        plain = list(arguments)
        for place in records:
            plain[place] = ctypes.addressof(plain[place])
        result = ctypes.c_int64()
        of_rules, of_state = np.array([*_numbers(rules)], np.int64), np.array([*_numbers(state)], np.int64)
        if function(of_rules.ctypes.data, of_state.ctypes.data, *plain, ctypes.addressof(result)):
            raise RulesError(
                f"the compiled rules of {name} raised an exception: with NUMBA_DISABLE_JIT=1 they run as plain "
                "Python, which shows it"
            )
        return result.value

    return call
