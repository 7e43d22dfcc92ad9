"""Instructions of LLVM over bits and memory, in place of plain functions.

Importing this module imports Numba.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from zermelo.envs.jit import memory
from zermelo.envs.rules import bits

INT: Final = ir.IntType(64)
FLOAT: Final = ir.DoubleType()
_SHORT: Final = ir.IntType(16)
_int, _float, _none = types.int64, types.float64, types.none


def constant(value: int) -> Any:
    """A constant of LLVM's."""
    return ir.Constant(INT, value)


Instruction = tuple[Callable[..., Any], Callable[..., Any]]
"""How its signature follows from the types of arguments, and what writes its code (``_teach``)."""


def _fixed(signature: Any, emit: Callable[..., Any]) -> Instruction:
    """An instruction of fixed types, whose code needs only the builder and the arguments."""
    return lambda *kinds: signature, lambda context, builder, given, *args: emit(builder, *args)


# -- bits --------------------------------------------------------------------------------------------------------


def _mixed(builder: Any, number: Any) -> Any:
    """``bits.mix``. Numba's own sums and products of integers may not overflow: the compiler relies on it."""
    number = builder.add(number, constant(-7046029254386353131))
    for places, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        number = builder.mul(builder.xor(number, builder.lshr(number, constant(places))), constant(factor))
    return builder.xor(number, builder.lshr(number, constant(31)))


BITS: Final[dict[Any, Instruction]] = {
    bits.popcount: _fixed(_int(_int), lambda builder, value: builder.ctpop(value)),
    bits.bit_index: _fixed(_int(_int), lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 0))),
    bits.shift_right: _fixed(_int(_int, _int), lambda builder, value, places: builder.lshr(value, places)),
    bits.mix: _fixed(_int(_int), _mixed),
    bits.swapped_bytes: _fixed(_int(_int), lambda builder, value: builder.bswap(value)),
    bits.wrapped_difference: _fixed(_int(_int, _int), lambda builder, one, other: builder.sub(one, other)),
}


# -- memory ------------------------------------------------------------------------------------------------------


def pointer(builder: Any, address: Any, kind: Any = INT) -> Any:
    """An address as a pointer to numbers of some kind."""
    return builder.inttoptr(address, kind.as_pointer())


def _slot(builder: Any, address: Any, index: Any, kind: Any = INT) -> Any:
    return builder.gep(pointer(builder, address, kind), [index])


def _loads(of: Any, kind: Any) -> Instruction:
    """Reads a number of some kind at an address and an index."""
    return _fixed(of(_int, _int), lambda builder, at, index: builder.load(_slot(builder, at, index, kind)))


def _stores(of: Any, kind: Any) -> Instruction:
    return _fixed(
        _none(_int, _int, of),
        lambda builder, at, index, value: builder.store(value, _slot(builder, at, index, kind)),
    )


def _prefetch(builder: Any, address: Any, index: Any) -> None:
    small, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, small, small, small])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    where = builder.bitcast(_slot(builder, address, index), byte)
    builder.call(function, [where, *(ir.Constant(small, value) for value in (0, 3, 1))])


def _swap(builder: Any, address: Any, expected: Any, value: Any) -> Any:
    both = [builder.bitcast(each, INT) for each in (expected, value)]
    return builder.extract_value(builder.cmpxchg(pointer(builder, address), *both, "acq_rel", "acquire"), 1)


def _array(of: Any, kind: Any, size: int) -> Instruction:
    """Takes memory for an array of numbers of so many bytes, which owns nothing."""
    array_type = types.Array(of, 1, "C")

    def emit(context: Any, builder: Any, signature: Any, address: Any, count: Any) -> Any:
        array = make_array(array_type)(context, builder)
        bytes_each = context.get_constant(types.intp, size)
        populate_array(
            array,
            data=pointer(builder, address, kind),
            shape=cgutils.pack_array(builder, [count]),
            strides=cgutils.pack_array(builder, [bytes_each]),
            itemsize=bytes_each,
            meminfo=None,
        )
        return array._getvalue()

    return lambda *kinds: array_type(_int, _int), emit


def tuple_at(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """A tuple of some type, tuples inside it too, from the words at an address."""
    places = itertools.count()

    def filled(some: Any) -> Any:
        if isinstance(some, types.BaseTuple):
            return context.make_tuple(builder, some, [filled(part) for part in some.types])
        place = constant(next(places))
        if some == _float:
            return builder.load(_slot(builder, address, place, FLOAT))
        word = builder.load(_slot(builder, address, place))
        if some == types.boolean:
            return builder.icmp_signed("!=", word, constant(0))
        return context.cast(builder, word, _int, some)

    return filled(kind)


def flattened(context: Any, builder: Any, value: Any, kind: Any) -> list[Any]:
    """The words of a tuple, and of the tuples inside it."""
    if not isinstance(kind, types.BaseTuple):
        return [context.cast(builder, value, kind, _int)]
    return [
        word
        for number, part in enumerate(kind.types)
        for word in flattened(context, builder, builder.extract_value(value, number), part)
    ]


def _store_state(context: Any, builder: Any, signature: Any, state: Any, address: Any) -> None:
    for place, word in enumerate(flattened(context, builder, state, signature.args[0])):
        builder.store(word, _slot(builder, address, constant(place)))


MEMORY: Final[dict[Any, Instruction]] = {
    memory.load: _loads(_int, INT),
    memory.store: _stores(_int, INT),
    memory.load_float: _loads(_float, FLOAT),
    memory.store_float: _stores(_float, FLOAT),
    memory.load_short: _fixed(
        _int(_int, _int),
        lambda builder, *at: builder.sext(builder.load(_slot(builder, at[0], at[1], _SHORT)), INT),
    ),
    memory.store_short: _fixed(
        _none(_int, _int, _int),
        lambda builder, *at: builder.store(builder.trunc(at[2], _SHORT), _slot(builder, at[0], at[1], _SHORT)),
    ),
    memory.prefetch: _fixed(_none(_int, _int), _prefetch),
    memory.take: _fixed(
        _int(_int, _int), lambda builder, at, by: builder.atomic_rmw("sub", pointer(builder, at), by, "monotonic")
    ),
    memory.add_float: _fixed(
        _float(_int, _float),
        lambda builder, at, by: builder.atomic_rmw("fadd", pointer(builder, at, FLOAT), by, "monotonic"),
    ),
    memory.load_acquire: _fixed(
        _int(_int, _int), lambda builder, *at: builder.load_atomic(_slot(builder, *at), "acquire", 8)
    ),
    memory.store_release: _fixed(
        _none(_int, _int, _int),
        lambda builder, *at: builder.store_atomic(at[2], _slot(builder, *at[:2]), "release", 8),
    ),
    memory.compare_and_swap: _fixed(types.boolean(_int, _int, _int), _swap),
    memory.compare_and_swap_float: _fixed(types.boolean(_int, _float, _float), _swap),
    memory.wrapped_product: _fixed(_int(_int, _int), lambda builder, one, other: builder.mul(one, other)),
    memory.stack_address: _fixed(_int(), lambda builder: builder.ptrtoint(cgutils.alloca_once(builder, INT), INT)),
    memory.words: _array(_int, INT, 8),
    memory.floats: _array(_float, FLOAT, 8),
    memory.int8s: _array(types.int8, ir.IntType(8), 1),
    memory.shorts: _array(types.int16, _SHORT, 2),
    memory.load_state: (
        lambda like, address: like(like, _int),
        lambda context, builder, signature, like, address: tuple_at(context, builder, signature.args[0], address),
    ),
    memory.store_state: (lambda state, address: _none(state, _int), _store_state),
}
