"""How rules written as ordinary Python are compiled: Numba is told, in time, what their methods mean.

A kernel writes ``rules.result(state, action)``. Which function that is follows from the *type* of ``rules``, so a
kernel compiled for one rules class calls that class's methods directly, they can be inlined, and the machine code
can be kept on disk (a function passed as an argument, or caught in a closure, could not).

Nothing here imports Numba before it is used; without it, or with ``NUMBA_DISABLE_JIT=1``, ``why_not_compiled``
says why and everything runs as plain Python.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
import types as python_types
from collections.abc import Iterator
from typing import Any, Final

from zermelo.envs.jit.notices import say_once
from zermelo.envs.rules import bits
from zermelo.envs.rules.defaults import DEFAULTS

__all__ = [
    "INSIDE",
    "can_compile",
    "dispatcher",
    "helpers",
    "inlining",
    "method",
    "methods",
    "prepare",
    "types_of",
    "why_not_compiled",
]

_LOCK = threading.RLock()
_RULES: set[type] = set()
_DISPATCHERS: dict[python_types.FunctionType, Any] = {}
_SET_UP = False


def why_not_compiled() -> str:
    """Why rules are not compiled in this process; empty where they are."""
    if not _has_numba():
        return "numba is not installed"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "NUMBA_DISABLE_JIT is set"
    return ""


def can_compile() -> bool:
    """Whether rules can be compiled; if not, the user is told once why it is slow."""
    reason = why_not_compiled()
    if reason:
        say_once(f"{reason}: games of rules run as plain Python, hundreds of times slower")
    return not reason


@functools.cache
def _has_numba() -> bool:
    return sys.modules.get("numba") is not None or (
        "numba" not in sys.modules and importlib.util.find_spec("numba") is not None
    )


def prepare(rules_class: type) -> None:
    """Makes the methods of a rules class, and the plain functions they use, known to Numba. Compiles nothing."""
    with _LOCK:
        _set_up()
        if rules_class in _RULES:
            return
        _RULES.add(rules_class)
        for method in methods(rules_class).values():
            _share_helpers(method)


_TYPES: set[Any] = set()


def types_of(rules: Any) -> tuple[Any, Any]:
    """Numba's types of the rules and of their states.

    They are held for good: Numba remembers the number of a type that it has seen an object of, and gives another
    number to the same type made again after the first was let go.
    """
    import numba

    prepare(type(rules))
    first = numba.typeof(rules)
    if not rules._fields:
        from zermelo.envs.jit.numba_methods import NoParameters

        first = NoParameters((), type(rules))
    found = first, numba.typeof(rules.initial_state())
    _TYPES.update(found)
    return found


def methods(rules_class: type) -> dict[str, python_types.FunctionType]:
    """The methods of a rules class by name, its own parents' included, as plain functions."""
    found: dict[str, python_types.FunctionType] = {}
    for parent in rules_class.__mro__:
        for name, value in vars(parent).items():
            mine = isinstance(value, python_types.FunctionType) and not name.startswith("__")
            if mine and name not in found and name not in _NAMED_TUPLE:
                found[name] = value
    return found


_NAMED_TUPLE = {"_make", "_replace", "_asdict"}


def method(rules_class: type, name: str) -> python_types.FunctionType | None:
    """The function behind ``rules.name`` for a prepared class: its own, or the default of an optional one."""
    if rules_class not in _RULES or name in _NAMED_TUPLE:
        return None
    own = getattr(rules_class, name, None)
    if own is not None:
        return own if isinstance(own, python_types.FunctionType) else None
    default = DEFAULTS.get(name)
    return default if isinstance(default, python_types.FunctionType) else None


def helpers(function: python_types.FunctionType) -> Iterator[python_types.FunctionType]:
    """The plain functions of the same program that ``function`` calls by a global name."""
    names = set(function.__code__.co_names)
    for constant in function.__code__.co_consts:
        if isinstance(constant, python_types.CodeType):
            names.update(constant.co_names)
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, python_types.FunctionType):
            yield value


_SHARED: set[python_types.FunctionType] = set()
_SHORT: Final = 700
"""Bytes of Python code up to which a function is compiled into its callers. Without being told so the compiler
leaves nearly every call in place: a proof of Connect Four took a tenth longer."""


INSIDE: Final = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""How a function that only compiled code calls is compiled: ways into it from Python and C take a fourth of the
compiler's time."""


def inlining(function: python_types.FunctionType) -> dict[str, bool]:
    """The option that compiles a function into its callers: on if it is short and does not call itself."""
    code = function.__code__
    return {"forceinline": len(code.co_code) <= _SHORT and code.co_name not in code.co_names}


def _share_helpers(function: python_types.FunctionType) -> None:
    from numba.extending import register_jitable

    for helper in helpers(function):
        if helper not in _SHARED:
            _SHARED.add(helper)
            register_jitable(**inlining(helper))(helper)
            _share_helpers(helper)


def dispatcher(function: python_types.FunctionType) -> Any:
    """The compiled form of a method, made once; it compiles itself when first called from a kernel."""
    with _LOCK:
        if function not in _DISPATCHERS:
            import numba

            _share_helpers(function)
            _DISPATCHERS[function] = numba.njit(**INSIDE, **inlining(function))(function)
        return _DISPATCHERS[function]


def _set_up() -> None:
    global _SET_UP
    if not _SET_UP:
        _SET_UP = True
        _SHARED.update(value for value in vars(bits).values() if isinstance(value, python_types.FunctionType))
        from zermelo.envs.jit import numba_methods

        assert numba_methods
