"""Instructions of LLVM over bits, memory and sets, in place of plain functions.

Importing this module imports Numba.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin
from numba.np.arrayobj import make_array, populate_array

from zermelo.envs.jit import memory
from zermelo.envs.jit.dispatch import type_calls
from zermelo.envs.rules import arrays, bits, words
from zermelo.envs.rules.arrays import NAMES

_INT: Final = ir.IntType(64)
_FLOAT: Final = ir.DoubleType()
_SHORT: Final = ir.IntType(16)
_int, _float, _none = types.int64, types.float64, types.none


def _constant(value: int) -> Any:
    return ir.Constant(_INT, value)


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
        return context.get_dummy_value() if signature.return_type == _none else value

    type_calls(function, lambda args: typed(*map(types.unliteral, args)) if len(args) == arity else None, key)
    lower_builtin(key or function, types.VarArg(types.Any))(code)


Instruction = tuple[Callable[..., Any], Callable[..., Any]]
"""How its signature follows from the types of arguments, and what writes its code (``_teach``)."""


def _fixed(signature: Any, emit: Callable[..., Any]) -> Instruction:
    """An instruction of fixed types, whose code needs only the builder and the arguments."""
    return lambda *kinds: signature, lambda context, builder, given, *args: emit(builder, *args)


# -- bits --------------------------------------------------------------------------------------------------------


def _mixed(builder: Any, number: Any) -> Any:
    """``bits.mix``. Numba's own sums and products of integers may not overflow: the compiler relies on it."""
    number = builder.add(number, _constant(-7046029254386353131))
    for places, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        number = builder.mul(builder.xor(number, builder.lshr(number, _constant(places))), _constant(factor))
    return builder.xor(number, builder.lshr(number, _constant(31)))


_BITS: Final[dict[Any, Instruction]] = {
    bits.popcount: _fixed(_int(_int), lambda builder, value: builder.ctpop(value)),
    bits.bit_index: _fixed(_int(_int), lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 0))),
    bits.shift_right: _fixed(_int(_int, _int), lambda builder, value, places: builder.lshr(value, places)),
    bits.mix: _fixed(_int(_int), _mixed),
    bits.swapped_bytes: _fixed(_int(_int), lambda builder, value: builder.bswap(value)),
    bits.wrapped_difference: _fixed(_int(_int, _int), lambda builder, one, other: builder.sub(one, other)),
}


# -- memory ------------------------------------------------------------------------------------------------------


def _pointer(builder: Any, address: Any, kind: Any = _INT) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _slot(builder: Any, address: Any, index: Any, kind: Any = _INT) -> Any:
    return builder.gep(_pointer(builder, address, kind), [index])


def _loads(of: Any, kind: Any) -> Instruction:
    """Reads a number of some kind at an address and an index."""
    return _fixed(of(_int, _int), lambda builder, at, index: builder.load(_slot(builder, at, index, kind)))


def _stores(of: Any, kind: Any) -> Instruction:
    """Writes one."""
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
    """Writes a word where another one is expected."""
    both = [builder.bitcast(each, _INT) for each in (expected, value)]
    return builder.extract_value(builder.cmpxchg(_pointer(builder, address), *both, "acq_rel", "acquire"), 1)


def _array(of: Any, kind: Any, size: int) -> Instruction:
    """Takes memory for an array of numbers of so many bytes, which owns nothing."""
    array_type = types.Array(of, 1, "C")

    def emit(context: Any, builder: Any, signature: Any, address: Any, count: Any) -> Any:
        array = make_array(array_type)(context, builder)
        bytes_each = context.get_constant(types.intp, size)
        populate_array(
            array,
            data=_pointer(builder, address, kind),
            shape=cgutils.pack_array(builder, [count]),
            strides=cgutils.pack_array(builder, [bytes_each]),
            itemsize=bytes_each,
            meminfo=None,
        )
        return array._getvalue()

    return lambda *kinds: array_type(_int, _int), emit


def _tuple_at(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """A tuple of some type, tuples inside it too, from the words at an address."""
    places = itertools.count()

    def filled(some: Any) -> Any:
        if isinstance(some, types.BaseTuple):
            return context.make_tuple(builder, some, [filled(part) for part in some.types])
        place = _constant(next(places))
        if some == _float:
            return builder.load(_slot(builder, address, place, _FLOAT))
        word = builder.load(_slot(builder, address, place))
        if some == types.boolean:
            return builder.icmp_signed("!=", word, _constant(0))
        return context.cast(builder, word, _int, some)

    return filled(kind)


def _flattened(context: Any, builder: Any, value: Any, kind: Any) -> list[Any]:
    """The words of a tuple, and of the tuples inside it."""
    if not isinstance(kind, types.BaseTuple):
        return [context.cast(builder, value, kind, _int)]
    return [
        word
        for number, part in enumerate(kind.types)
        for word in _flattened(context, builder, builder.extract_value(value, number), part)
    ]


def _store_state(context: Any, builder: Any, signature: Any, state: Any, address: Any) -> None:
    for place, word in enumerate(_flattened(context, builder, state, signature.args[0])):
        builder.store(word, _slot(builder, address, _constant(place)))


_MEMORY: Final[dict[Any, Instruction]] = {
    memory.load: _loads(_int, _INT),
    memory.store: _stores(_int, _INT),
    memory.load_float: _loads(_float, _FLOAT),
    memory.store_float: _stores(_float, _FLOAT),
    memory.load_short: _fixed(
        _int(_int, _int),
        lambda builder, *at: builder.sext(builder.load(_slot(builder, at[0], at[1], _SHORT)), _INT),
    ),
    memory.store_short: _fixed(
        _none(_int, _int, _int),
        lambda builder, *at: builder.store(builder.trunc(at[2], _SHORT), _slot(builder, at[0], at[1], _SHORT)),
    ),
    memory.prefetch: _fixed(_none(_int, _int), _prefetch),
    memory.take: _fixed(
        _int(_int, _int), lambda builder, at, by: builder.atomic_rmw("sub", _pointer(builder, at), by, "monotonic")
    ),
    memory.add_float: _fixed(
        _float(_int, _float),
        lambda builder, at, by: builder.atomic_rmw("fadd", _pointer(builder, at, _FLOAT), by, "monotonic"),
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
    memory.stack_address: _fixed(
        _int(), lambda builder: builder.ptrtoint(cgutils.alloca_once(builder, _INT), _INT)
    ),
    memory.words: _array(_int, _INT, 8),
    memory.floats: _array(_float, _FLOAT, 8),
    memory.int8s: _array(types.int8, ir.IntType(8), 1),
    memory.load_state: (
        lambda like, address: like(like, _int),
        lambda context, builder, signature, like, address: _tuple_at(context, builder, signature.args[0], address),
    ),
    memory.store_state: (lambda state, address: _none(state, _int), _store_state),
}


# -- sets of places ----------------------------------------------------------------------------------------------


def _parts(builder: Any, value: Any) -> list[Any]:
    """The words of a set: an integer is a set of one word."""
    return [value] if isinstance(value.type, ir.IntType) else cgutils.unpack_tuple(builder, value)


def _set(of_words: Callable[..., list[Any]], *also: Any) -> Instruction:
    """Makes a set of a set and other arguments of these types, word by word."""

    def emit(context: Any, builder: Any, signature: Any, *args: Any) -> Any:
        return context.make_tuple(builder, signature.return_type, of_words(builder, *args))

    return lambda first, *rest: first(first, *also), emit


def _number(of_set: Callable[..., Any], result: Any = _int) -> Instruction:
    """Makes a number of a set and other numbers."""
    return (
        lambda places, *rest: result(places, *(_int,) * len(rest)),
        lambda context, builder, signature, *args: of_set(builder, *args),
    )


def _is_empty(builder: Any, places: Any) -> Any:
    total, *others = _parts(builder, places)
    for word in others:
        total = builder.or_(total, word)
    return builder.icmp_signed("==", total, _constant(0))


def _count(builder: Any, places: Any) -> Any:
    total, *others = [builder.ctpop(word) for word in _parts(builder, places)]
    for number in others:
        total = builder.add(total, number)
    return total


def _spread(builder: Any, like: Any, place: Any, bits: Any) -> list[Any]:
    found = []
    for number in range(len(_parts(builder, like))):
        above = builder.sub(place, _constant(words.WORD * number))
        is_here = builder.icmp_unsigned("<", above, _constant(words.WORD))
        moved = builder.shl(bits, builder.and_(above, _constant(63)))
        found.append(builder.select(is_here, moved, _constant(0)))
    return found


def _first_places(builder: Any, like: Any, how_many: Any) -> list[Any]:
    found = []
    for number in range(len(_parts(builder, like))):
        left = builder.sub(how_many, _constant(words.WORD * number))
        left = builder.select(builder.icmp_signed("<", left, _constant(0)), _constant(0), left)
        left = builder.select(builder.icmp_signed(">", left, _constant(words.WORD)), _constant(words.WORD), left)
        found.append(builder.sub(builder.shl(_constant(1), left), _constant(1)))
    return found


def _chosen(builder: Any, values: list[Any], number: Any) -> Any:
    """The value of a number; 0 if there is none."""
    found = _constant(0)
    for place, value in enumerate(values):
        found = builder.select(builder.icmp_signed("==", number, _constant(place)), value, found)
    return found


def _divided(builder: Any, place: Any) -> tuple[Any, Any]:
    """The number of the word that a place is in, and its bit there."""
    return builder.udiv(place, _constant(words.WORD)), builder.urem(place, _constant(words.WORD))


_FEW: Final = 3


def _contains(builder: Any, places: Any, place: Any) -> Any:
    if isinstance(places.type, ir.IntType):
        return builder.and_(builder.lshr(places, place), _constant(1))
    values = _parts(builder, places)
    if len(values) > _FEW:
        number, below = _divided(builder, place)
        return builder.and_(builder.lshr(_chosen(builder, values, number), below), _constant(1))
    found = _constant(0)
    for number, word in enumerate(values):  # without a division
        above = builder.sub(place, _constant(words.WORD * number))
        is_here = builder.icmp_unsigned("<", above, _constant(words.WORD))
        found = builder.select(is_here, builder.lshr(word, builder.and_(above, _constant(63))), found)
    return builder.and_(found, _constant(1))


def _window(builder: Any, places: Any, start: Any, width: Any) -> Any:
    number, below = _divided(builder, start)
    values = _parts(builder, places)
    low = builder.lshr(_chosen(builder, values, number), below)
    high = _chosen(builder, values, builder.add(number, _constant(1)))
    both = builder.or_(low, builder.shl(high, builder.sub(_constant(words.WORD), below)))
    return builder.and_(both, builder.sub(builder.shl(_constant(1), width), _constant(1)))


def _moved(*, up: bool) -> Instruction:
    """Moves all places of a set."""

    def of_words(builder: Any, places: Any, by: Any) -> list[Any]:
        values = _parts(builder, places)
        rest = builder.sub(_constant(words.WORD), by)
        others = [_constant(0), *values[:-1]] if up else [*values[1:], _constant(0)]
        there, back = (builder.shl, builder.lshr) if up else (builder.lshr, builder.shl)
        return [
            builder.and_(builder.or_(there(one, by), back(other, rest)), _constant((1 << words.WORD) - 1))
            for one, other in zip(values, others, strict=True)
        ]

    return _set(of_words, _int)


def _flat(context: Any, builder: Any, signature: Any, state: Any) -> Any:
    return context.make_tuple(
        builder, signature.return_type, _flattened(context, builder, state, signature.args[0])
    )


def _words_in(kind: Any) -> int:
    return sum(map(_words_in, kind.types)) if isinstance(kind, types.BaseTuple) else 1


_SETS: Final[dict[Any, Instruction]] = {
    words.is_empty: _number(_is_empty, types.boolean),
    words.count: _number(_count),
    words.single: _set(lambda builder, like, place: _spread(builder, like, place, _constant(1)), _int),
    words.spread: _set(_spread, _int, _int),
    words.first_places: _set(_first_places, _int),
    words.contains: _number(_contains),
    words.window: _number(_window),
    words.moved_up: _moved(up=True),
    words.moved_down: _moved(up=False),
    words.flat: (lambda state: types.UniTuple(_int, _words_in(state))(state), _flat),
}

# -- vectors -----------------------------------------------------------------------------------------------------


def _row_sum(sums: Any, rows: Any, numbers: Any, factors: Any, count: Any) -> None:
    sums[:] = 0
    for entry in range(count):
        row, factor = numbers[entry], factors[entry]
        for place in range(len(sums)):
            sums[place] += rows[row, place] * factor


def _row_product(values: Any, rows: Any, row: Any) -> Any:
    total = 0
    for place in range(len(values)):
        total += max(values[place], 0) * rows[row, place]
    return total


LOOPS: Final[dict[Any, Any]] = {arrays.row_sum: _row_sum, arrays.row_product: _row_product}
"""Functions that are compiled in place of others."""

INSTRUCTIONS: Final = frozenset((*_BITS, *_MEMORY, *_SETS))
"""Plain functions for which compiled code has an instruction."""
for _function, (_typed, _emit) in (_BITS | _MEMORY | _SETS).items():
    _teach(_function, _typed, _emit)


@functools.cache
def teach_table(function: Any) -> None:
    """Has compiled code take the address of a large table from its symbol."""
    name = NAMES[function]
    add_symbol(name, function())  # Numba itself links what it compiles for ``check_rules``

    def at_symbol(context: Any, builder: Any, signature: Any) -> Any:
        symbol = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, ir.IntType(8), name)
        return builder.ptrtoint(symbol, _INT)

    _teach(function, lambda: _int(), at_symbol, ("zermelo table", name))


# -- the way into a kernel ---------------------------------------------------------------------------------------


def write_entry(kernel: Any, name: str) -> Any:
    """A module of LLVM's with a function that calls a compiled kernel, as C calls functions.

    It takes the addresses of the words of the rules and of the state, then the kernel's arguments, records by
    address, and the address of the result. It returns 0, or 1 if an exception was raised.
    """
    context, kinds = kernel.target_context, kernel.signature.args
    module = context.create_module(name)
    plain = [_FLOAT if kind == _float else _INT for kind in kinds]
    function = ir.Function(module, ir.FunctionType(_INT, [*plain, _INT]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    passed = [_passed(context, builder, kind, given) for kind, given in zip(kinds, function.args, strict=False)]
    callee = context.declare_function(module, kernel.fndesc)
    status, result = context.call_conv.call_function(builder, callee, kernel.signature.return_type, kinds, passed)
    builder.store(result, _pointer(builder, function.args[-1]))
    builder.ret(builder.zext(status.is_error, _INT))
    return module


def _passed(context: Any, builder: Any, kind: Any, given: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        return _tuple_at(context, builder, kind, given)
    return builder.inttoptr(given, context.get_value_type(kind)) if isinstance(kind, types.Record) else given
