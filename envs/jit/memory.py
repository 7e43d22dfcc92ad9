# ruff: noqa: D103 - the stubs for type checkers are explained at the intrinsics
"""Raw memory for kernels: a few instructions over addresses, so that a recursive call carries one integer.

A NumPy array passed to a compiled function is seven values, and its reference count; an address is one. The arrays
behind the addresses belong to Python, which keeps them alive for the length of the call. Importing this module
imports Numba: only compiled code uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

__all__ = [
    "floats",
    "load",
    "load_float",
    "prefetch",
    "stack_address",
    "store",
    "store_float",
    "take",
    "words",
    "wrapped_product",
]

_WORD = ir.IntType(64)
_DOUBLE = ir.DoubleType()


def _slot(builder: Any, address: Any, index: Any, kind: Any = _WORD) -> Any:
    pointer = builder.inttoptr(address, kind.as_pointer())
    return builder.gep(pointer, [index])


def _array(context: Any, builder: Any, args: Any, array_type: Any, kind: Any) -> Any:
    """An array of 64-bit numbers over memory that it does not own."""
    array = make_array(array_type)(context, builder)
    eight = context.get_constant(types.intp, 8)
    populate_array(
        array,
        data=builder.inttoptr(args[0], kind.as_pointer()),
        shape=cgutils.pack_array(builder, [args[1]]),
        strides=cgutils.pack_array(builder, [eight]),
        itemsize=eight,
        meminfo=None,
    )
    return array._getvalue()


if TYPE_CHECKING:

    def load(address: int, index: int) -> int: ...
    def store(address: int, index: int, value: int) -> None: ...
    def load_float(address: int, index: int) -> float: ...
    def store_float(address: int, index: int, value: float) -> None: ...
    def prefetch(address: int, index: int) -> None: ...
    def take(address: int, amount: int) -> int: ...
    def wrapped_product(first: int, second: int) -> int: ...
    def stack_address() -> int: ...
    def words(address: int, count: int) -> Any: ...
    def floats(address: int, count: int) -> Any: ...

else:

    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        """The 64-bit integer number ``index`` from ``address`` on."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_slot(builder, *args))

        return types.int64(types.int64, types.int64), code

    @intrinsic
    def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        """Writes the 64-bit integer number ``index`` from ``address`` on."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _slot(builder, args[0], args[1]))
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.int64), code

    @intrinsic
    def load_float(typing_context: Any, address: Any, index: Any) -> Any:
        """The 64-bit float number ``index`` from ``address`` on."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_slot(builder, *args, _DOUBLE))

        return types.float64(types.int64, types.int64), code

    @intrinsic
    def store_float(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        """Writes the 64-bit float number ``index`` from ``address`` on."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _slot(builder, args[0], args[1], _DOUBLE))
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.float64), code

    @intrinsic
    def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
        """Asks for a cache line ahead of its use."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.bitcast(_slot(builder, *args), ir.IntType(8).as_pointer())
            small = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), small, small, small])
            function = builder.module.declare_intrinsic("llvm.prefetch", [ir.IntType(8).as_pointer()], kind)
            builder.call(function, [pointer, ir.Constant(small, 0), ir.Constant(small, 3), ir.Constant(small, 1)])
            return context.get_dummy_value()

        return types.none(types.int64, types.int64), code

    @intrinsic
    def take(typing_context: Any, address: Any, amount: Any) -> Any:
        """Subtracts from the integer at an address that other threads subtract from too; what was there before."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw("sub", builder.inttoptr(args[0], _WORD.as_pointer()), args[1], "monotonic")

        return types.int64(types.int64, types.int64), code

    @intrinsic
    def wrapped_product(typing_context: Any, first: Any, second: Any) -> Any:
        """The low 64 bits of a product; that of ``*`` may not have more, or the compiler makes something up."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.mul(*args)

        return types.int64(types.int64, types.int64), code

    @intrinsic
    def stack_address(typing_context: Any) -> Any:
        """Where the calling function's memory on the stack lies."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ptrtoint(cgutils.alloca_once(builder, _WORD), _WORD)

        return types.int64(), code

    @intrinsic
    def words(typing_context: Any, address: Any, count: Any) -> Any:
        """The ``count`` integers from ``address`` on, as an array that owns nothing."""
        array_type = types.Array(types.int64, 1, "C")

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _array(context, builder, args, array_type, _WORD)

        return array_type(types.int64, types.int64), code

    @intrinsic
    def floats(typing_context: Any, address: Any, count: Any) -> Any:
        """The ``count`` floats from ``address`` on, as an array that owns nothing."""
        array_type = types.Array(types.float64, 1, "C")

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _array(context, builder, args, array_type, _DOUBLE)

        return array_type(types.int64, types.int64), code
