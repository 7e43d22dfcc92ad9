"""How rules written as ordinary Python are compiled: Numba is told, in time, what their methods mean.

A kernel writes ``rules.result(state, action)``. Which function that is follows from the *type* of ``rules``, so a
kernel compiled for one rules class calls that class's methods directly, they can be inlined, and the machine code
can be kept on disk (a function passed as an argument, or caught in a closure, could not).

Functions are compiled from copies, in which every plain function that they call by a name, or from a closure, is a
compiled copy too: nothing of the author's is changed, and no two rules classes share code.

Nothing here imports Numba before it is used; without it, or with ``NUMBA_DISABLE_JIT=1``, ``why_not_compiled``
says why and everything runs as plain Python.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import os
import sys
import threading
import types as python_types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from zermelo.envs.jit.cache.fingerprint import names_in
from zermelo.envs.jit.cache.sources import Sources, sources_of
from zermelo.envs.rules.arrays import NAMES
from zermelo.envs.rules.contract import DEFAULTS
from zermelo.envs.rules.rules_game import is_rules
from zermelo.envs.support.waiting import say_once

if TYPE_CHECKING:
    from zermelo.envs.jit.extensions.precompiled_parts import PrecompiledParts
    from zermelo.envs.jit.kernel import Kernel
    from zermelo.envs.jit.machine_code import Code

_LOCK = threading.RLock()
_RULES: set[type] = set()
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


def import_compiler() -> None:
    """Imports Numba; without the colours of its messages, on which it spends a tenth of its time."""
    name = "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"
    is_given = name in os.environ
    os.environ.setdefault(name, "1")
    importlib.import_module("numba.core.errors")
    if not is_given:
        del os.environ[name]


def prepare(rules_class: type) -> None:
    """Makes the methods of a rules class known to Numba. Compiles nothing."""
    global _SET_UP
    with _LOCK:
        if not _SET_UP:
            _SET_UP = True
            from zermelo.envs.jit.extensions.dispatch import register_methods

            register_methods(method, dispatcher)
        _RULES.add(rules_class)


_TYPES: set[Any] = set()
_MADE_FROM: Final[dict[type, Sources]] = {}


def _start_over_if_edited(rules: Any) -> None:
    """Drops all functions made here if they may be of an earlier version of these rules.

    Which of them depend on the rules, only Numba knows: kernels' own do, for the types of these rules.
    """
    global _OF_KERNELS
    sources = sources_of(rules)
    with _LOCK:
        if _MADE_FROM.setdefault(type(rules), sources) is not sources:
            _OF_KERNELS = Functions()
            for made in (_METHODS, _KERNELS, _MADE_FROM):
                made.clear()
            _MADE_FROM[type(rules)] = sources


def types_of(rules: Any) -> tuple[Any, Any]:
    """Numba's types of the rules and of their states.

    They are held for good: Numba remembers the number of a type that it has seen an object of, and gives another
    number to the same type made again after the first was let go.
    """
    import_compiler()
    import numba

    found = _type_of_rules(rules), numba.typeof(rules.initial_state())
    _TYPES.update(found)
    return found


def _type_of_rules(rules: Any) -> Any:
    """Numba's type of rules; those that they are made of are prepared too."""
    import numba
    from numba import types

    prepare(type(rules))
    _start_over_if_edited(rules)
    if not rules._fields:
        from zermelo.envs.jit.extensions.dispatch import NoParameters

        return NoParameters((), type(rules))
    parts = [_type_of_rules(part) if is_rules(part) else numba.typeof(part) for part in rules]
    return types.BaseTuple.from_types(parts, type(rules))


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


_SHORT: Final = 700
"""Bytes of Python code up to which a function is compiled into its callers. Without being told so the compiler
leaves nearly every call in place: a proof of Connect Four took a tenth longer."""

INSIDE: Final[dict[str, Any]] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""How a function that only compiled code calls is compiled: ways into it from Python and C take a fourth of the
compiler's time."""


def _options(function: python_types.FunctionType) -> dict[str, Any]:
    """Options for Numba; a function is inlined into its callers if it is short and does not call itself."""
    code = function.__code__
    return INSIDE | {"forceinline": len(code.co_code) <= _SHORT and code.co_name not in code.co_names}


class Functions:
    """Plain functions in the form that compiled code calls, each with those that it calls by a name of its own.

    ``variants`` stand in place of the named tuples of their types that modules hold (``Kernel``). Functions that
    read none of them, and call none that does, are the same for all kernels, and come from ``others``.
    """

    def __init__(self, variants: Sequence[Any] = (), others: Functions | None = None) -> None:
        self._variants = {type(variant): variant for variant in variants}
        self._others = others
        self._made: dict[python_types.FunctionType, Any] = {}
        self._varying: dict[python_types.FunctionType, bool] = {}
        self._ready: list[Callable[[Any, tuple[Any, ...]], bool]] = []

    def add_parts(self, parts: PrecompiledParts) -> None:
        """Takes the compiled functions of a kernel; those that do not vary are for all kernels."""
        self._ready.append(parts.add_to)
        if self._others is not None:
            self._others.add_parts(parts.without(self.varies))

    def varies(self, function: python_types.FunctionType) -> bool:
        """Whether a function reads a variant of this kernel, or calls a function that does."""
        found = self._varying.get(function)
        if found is None:
            found, reached, waiting = False, {function}, [function] if self._variants else []
            while waiting and not found:
                for value in _read_by(waiting.pop()):
                    found = found or type(value) in self._variants
                    if isinstance(value, python_types.FunctionType) and value not in reached:
                        reached.add(value)
                        waiting.append(value)
            self._varying[function] = found
        return found

    def parts_in(self, kernel: Any) -> Code | None:
        """What of a kernel, by Numba's result for it, is the same for all rules; None if nothing is."""
        from zermelo.envs.jit.extensions.precompiled_parts import parts_of

        others = [] if self._others is None else self._others._made.values()
        return parts_of(kernel, [*self._made.values(), *others])

    def compiled(self, function: Any) -> Any:
        """The compiled form of a plain function, which compiles itself when first called; of the rest, itself."""
        from zermelo.envs.jit.extensions.instructions import INSTRUCTIONS, LOOPS, register_table

        if not isinstance(function, python_types.FunctionType) or function in INSTRUCTIONS:
            return function
        if function in NAMES:
            register_table(function)
            return function
        function = LOOPS.get(function, function)
        if self._others is not None and not self.varies(function):
            return self._others.compiled(function)
        if function not in self._made:
            from zermelo.envs.jit.extensions.dispatch import recursive_call
            from zermelo.envs.jit.extensions.parts import PartDispatcher

            space: dict[str, Any] = {"__name__": function.__module__, "__builtins__": builtins}
            cells = tuple(python_types.CellType() for _ in function.__closure__ or ())
            copy = python_types.FunctionType(
                function.__code__, space, function.__name__, function.__defaults__, cells or None
            )
            copy.__qualname__, copy.__kwdefaults__ = function.__qualname__, function.__kwdefaults__
            made = PartDispatcher(copy, function, _options(function), self._ready)
            self._made[function] = made  # before what may call it
            for name in names_in(function.__code__):
                value = function.__globals__.get(name)
                if value is function and function.__annotations__.get("return") == "int":
                    space[name] = recursive_call
                    continue
                if name in function.__globals__:
                    space[name] = self._in_code(value)
            for cell, value in zip(cells, function.__closure__ or (), strict=True):
                cell.cell_contents = self._in_code(value.cell_contents)
        return self._made[function]

    def _in_code(self, value: Any) -> Any:
        """A value that a function reads, in the form that compiled code has of it."""
        value = self._variants.get(type(value), value)
        if any(isinstance(field, python_types.FunctionType) for field in _fields_of(value)):
            return type(value)._make(map(self.compiled, value))
        return self.compiled(value)


def _fields_of(value: Any) -> Sequence[Any]:
    """The fields of a named tuple; none of anything else."""
    return value if isinstance(value, tuple) and hasattr(value, "_fields") else ()


def _read_by(function: python_types.FunctionType) -> Iterator[Any]:
    """The values of the names that a function reads, and the fields of named tuples."""
    from zermelo.envs.jit.extensions.instructions import LOOPS

    values = [function.__globals__.get(name) for name in names_in(function.__code__)]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    fields = [field for value in values for field in _fields_of(value)]
    for value in (*values, *fields):
        yield LOOPS.get(value, value) if isinstance(value, python_types.FunctionType) else value


_METHODS: Final[dict[type, Functions]] = {}
_OF_KERNELS = Functions()
_KERNELS: Final[dict[tuple[Any, ...], Functions]] = {}


def dispatcher(rules_class: type, function: python_types.FunctionType) -> Any:
    """The compiled form of a method of a rules class; classes share none, so that their names may be the same."""
    with _LOCK:
        return _METHODS.setdefault(rules_class, Functions()).compiled(function)


def compile_kernel(rules: Any, kernel: Kernel) -> tuple[Any, str]:
    """A kernel for a rules class, with all that it calls, as a module of LLVM's, and the name of its entry."""
    from zermelo.envs.jit.extensions.instructions import write_entry

    with _LOCK:
        types_of(rules)  # which drops functions of an earlier version
        compiled = _compiled(rules, kernel, _functions_of(kernel))
    name = f"zermelo_{kernel.function.__name__}"
    return compiled.library.link_all(write_entry(compiled, name), name), name


def compile_parts(rules: Any, kernel: Kernel) -> Code | None:
    """The functions of a kernel that are the same for all rules; None if there are none. Any rules will do."""
    functions = Functions(kernel.variants, Functions())
    return functions.parts_in(_compiled(rules, kernel, functions))


def _compiled(rules: Any, kernel: Kernel, functions: Functions) -> Any:
    """Numba's result for a kernel."""
    from numba import from_dtype, types

    kinds = [getattr(types, kind) if isinstance(kind, str) else from_dtype(kind) for kind in kernel.arguments]
    signature = types.int64(*types_of(rules), *kinds)
    return functions.compiled(kernel.function).get_compile_result(signature)


def _functions_of(kernel: Kernel) -> Functions:
    """The functions that a kernel's code is made of, which kernels of one module with the same variants share."""
    from zermelo.envs.jit.extensions.precompiled_parts import precompiled_parts

    shared = kernel.function.__module__, kernel.typed_variants
    functions = _KERNELS.get(shared)
    if functions is None:
        functions = Functions(kernel.variants, _OF_KERNELS)
        if (parts := precompiled_parts(kernel)) is not None:
            functions.add_parts(parts)
        _KERNELS[shared] = functions
    return functions
