"""How rules written as ordinary Python are compiled: Numba is told what their methods mean, the first time it matters.

A kernel writes ``rules.result(state, action)``. Which function that is follows from the *type* of ``rules``, so a
kernel compiled for one rules class calls that class's methods directly, they can be inlined, and the machine code
can be kept on disk (a function passed as an argument, or caught in a closure, could not).

Nothing here imports Numba before it is used; without it, or with ``NUMBA_DISABLE_JIT=1``, ``why_not_compiled`` says why
and everything runs as plain Python.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import types as python_types
from collections.abc import Callable, Iterator
from typing import Any

from zermelo.envs.rules import bits
from zermelo.envs.rules.defaults import DEFAULTS

__all__ = ["dispatcher", "prepare", "why_not_compiled"]

_LOCK = threading.RLock()
_RULES: set[type] = set()
_DISPATCHERS: dict[python_types.FunctionType, Any] = {}
_SET_UP = False


def why_not_compiled() -> str:
    """Why rules are not compiled in this process; empty where they are."""
    if importlib.util.find_spec("numba") is None:
        return "numba is not installed"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "NUMBA_DISABLE_JIT is set"
    return ""


def prepare(rules_class: type) -> None:
    """Makes the methods of a rules class, and the plain functions they use, known to Numba. Compiles nothing."""
    with _LOCK:
        _set_up()
        if rules_class in _RULES:
            return
        _RULES.add(rules_class)
        for method in methods(rules_class).values():
            _share_helpers(method)


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


def method(rules_class: type, name: str) -> Callable[..., Any] | None:
    """The function behind ``rules.name`` for a prepared class: its own, or the default of an optional one."""
    if rules_class not in _RULES or name in _NAMED_TUPLE:
        return None
    own = getattr(rules_class, name, None)
    if own is not None:
        return own if isinstance(own, python_types.FunctionType) else None
    return DEFAULTS.get(name)


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


def _share_helpers(function: python_types.FunctionType) -> None:
    from numba.extending import register_jitable

    for helper in helpers(function):
        if helper not in _SHARED:
            _SHARED.add(helper)
            register_jitable(helper)
            _share_helpers(helper)


def dispatcher(function: python_types.FunctionType) -> Any:
    """The compiled form of a method, made once; it compiles itself when first called from a kernel."""
    with _LOCK:
        if function not in _DISPATCHERS:
            import numba

            _share_helpers(function)
            _DISPATCHERS[function] = numba.njit(nogil=True, error_model="numpy")(function)
        return _DISPATCHERS[function]


def _set_up() -> None:
    global _SET_UP
    if _SET_UP:
        return
    _SET_UP = True
    _set_up_methods()
    _set_up_bits()


def _set_up_methods() -> None:
    """Teaches Numba that a named tuple of a prepared rules class has methods."""
    from numba.core import types
    from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
    from numba.extending import lower_builtin

    lowered: set[str] = set()

    def lower(name: str) -> None:
        if name in lowered:
            return
        lowered.add(name)

        @lower_builtin(("zermelo rules", name), types.BaseNamedTuple, types.VarArg(types.Any))
        def call_method(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = method(signature.args[0].instance_class, name)
            kind = types.Dispatcher(dispatcher(function))
            full = kind.get_call_type(context.typing_context, signature.args, {})
            call = context.get_function(kind, full)
            context.add_linking_libs(getattr(call, "libs", ()))
            return call(builder, args)

    @infer_getattr
    class RulesMethods(AttributeTemplate):
        key = types.BaseNamedTuple

        def generic_resolve(self, typ: Any, attr: str) -> Any:
            function = method(typ.instance_class, attr)
            if function is None:
                return None
            lower(attr)

            class MethodTemplate(AbstractTemplate):
                key = ("zermelo rules", attr)

                def generic(self, args: Any, kws: Any) -> Any:
                    kind = types.Dispatcher(dispatcher(function))
                    full = kind.get_call_type(self.context, (typ, *args), kws)
                    return full.as_method()

            return types.BoundFunction(MethodTemplate, typ)


def _set_up_bits() -> None:
    """Gives the bit functions their machine instructions."""
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic, overload

    _SHARED.update((bits.popcount, bits.bit_index, bits.shift_right, bits.mix))

    @intrinsic
    def count_ones(typing_context: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.int64), code

    @intrinsic
    def count_trailing_zeros(typing_context: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.int64), code

    @intrinsic
    def shift_down(typing_context: Any, value: Any, places: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.lshr(args[0], args[1])

        return types.int64(types.int64, types.int64), code

    @overload(bits.popcount, strict=False)
    def popcount(bits: Any) -> Any:
        return lambda bits: count_ones(bits)

    @overload(bits.bit_index, strict=False)
    def bit_index(bits: Any) -> Any:
        return lambda bits: count_trailing_zeros(bits)

    @overload(bits.shift_right, strict=False)
    def shift_right(bits: Any, places: Any) -> Any:
        return lambda bits, places: shift_down(bits, places)

    def scrambled(bits: int) -> int:
        bits += -7046029254386353131
        bits = (bits ^ shift_down(bits, 30)) * -4658895280553007687
        bits = (bits ^ shift_down(bits, 27)) * -7723592293110705685
        return bits ^ shift_down(bits, 31)

    @overload(bits.mix, strict=False)
    def mix(bits: Any) -> Any:
        return scrambled
