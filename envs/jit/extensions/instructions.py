"""Teaches Numba the instructions that stand for plain functions, and writes the way into a kernel.

Importing this module imports Numba.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.extending import lower_builtin

from zermelo.envs.jit.extensions.dispatch import type_calls
from zermelo.envs.jit.extensions.intrinsics_sets import LOOPS as LOOPS
from zermelo.envs.jit.extensions.intrinsics_sets import SETS
from zermelo.envs.jit.extensions.memory_instructions import BITS, FLOAT, INT, MEMORY, pointer, tuple_at
from zermelo.envs.rules.arrays import NAMES

_int = types.int64


def _teach(function: Any, typed: Callable[..., Any], emit: Callable[..., Any], key: Any = None) -> None:
    """Has compiled code run an instruction where a plain function is called.

    Args:
        function: The plain function.
        typed: The instruction's signature, by the types of its arguments.
        emit: Writes its code: called with context, builder, signature and the arguments' values.
        key: What its code is found by, where that is not the function.
    """
    arity = function.__code__.co_argcount

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = emit(context, builder, signature, *args)
        return context.get_dummy_value() if signature.return_type == types.none else value

    type_calls(function, lambda args: typed(*map(types.unliteral, args)) if len(args) == arity else None, key)
    lower_builtin(key or function, types.VarArg(types.Any))(code)


INSTRUCTIONS: Final = frozenset((*BITS, *MEMORY, *SETS))
"""Plain functions for which compiled code has an instruction."""
for _function, (_typed, _emit) in (BITS | MEMORY | SETS).items():
    _teach(_function, _typed, _emit)


def register_table(function: Any) -> None:
    """Has compiled code take the address of a large table from its symbol."""
    add_symbol(NAMES[function], function())  # Numba itself links what it compiles for ``check_rules``
    _teach_table(function, NAMES[function])


@functools.cache
def _teach_table(function: Any, name: str) -> None:
    def at_symbol(context: Any, builder: Any, signature: Any) -> Any:
        symbol = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, ir.IntType(8), name)
        return builder.ptrtoint(symbol, INT)

    _teach(function, lambda: _int(), at_symbol, ("zermelo table", function))


# -- the way into a kernel ---------------------------------------------------------------------------------------


def write_entry(kernel: Any, name: str) -> Any:
    """A module of LLVM's with a function that calls a compiled kernel, as C calls functions.

    It takes the addresses of the words of the rules and of the state, then the kernel's arguments, records by
    address, and the address of the result. It returns 0, or 1 if an exception was raised.
    """
    context, kinds = kernel.target_context, kernel.signature.args
    module = context.create_module(name)
    plain = [FLOAT if kind == types.float64 else INT for kind in kinds]
    function = ir.Function(module, ir.FunctionType(INT, [*plain, INT]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    passed = [_passed(context, builder, kind, given) for kind, given in zip(kinds, function.args, strict=False)]
    callee = context.declare_function(module, kernel.fndesc)
    status, result = context.call_conv.call_function(builder, callee, kernel.signature.return_type, kinds, passed)
    builder.store(result, pointer(builder, function.args[-1]))
    builder.ret(builder.zext(status.is_error, INT))
    return module


def _passed(context: Any, builder: Any, kind: Any, given: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        return tuple_at(context, builder, kind, given)
    return builder.inttoptr(given, context.get_value_type(kind)) if isinstance(kind, types.Record) else given
