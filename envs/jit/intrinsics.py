"""What Numba is taught, once, when the first rules are compiled: methods of named tuples, bits, raw memory.

Importing this module imports Numba. ``zermelo.envs.jit.compiling`` does so when it is time.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_builtin, models, overload, register_model
from numba.np.arrayobj import make_array, populate_array

from zermelo.envs.jit import memory
from zermelo.envs.jit.compiling import dispatcher, method
from zermelo.envs.jit.word_intrinsics import WORD_INTRINSICS
from zermelo.envs.rules import bits

_lowered: set[str] = set()


class NoParameters(types.NamedTuple):
    """The type of rules without parameters.

    Numba asks of the type of a method's object whether it is there with ``if recvr``, which that of an empty tuple
    answers with its length.
    """

    def __bool__(self) -> bool:
        return True


register_model(NoParameters)(models.TupleModel)


def _lower(name: str) -> None:
    """Has calls of methods of this name call the compiled method of the rules class at hand."""
    if name in _lowered:
        return
    _lowered.add(name)

    @lower_builtin(("zermelo rules", name), types.BaseNamedTuple, types.VarArg(types.Any))
    def call_method(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = method(signature.args[0].instance_class, name)
        assert function is not None, "its type was found before"
        kind = types.Dispatcher(dispatcher(signature.args[0].instance_class, function))
        full = kind.get_call_type(context.typing_context, signature.args, {})
        call = context.get_function(kind, full)
        context.add_linking_libs(getattr(call, "libs", ()))
        return call(builder, args)


@infer_getattr
class RulesMethods(AttributeTemplate):
    """The methods of a named tuple: there are some if its class is one of prepared rules."""

    key = types.BaseNamedTuple

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        """The type of ``rules.attr``, None if it is no method."""
        function = method(typ.instance_class, attr)
        if function is None:
            return None
        _lower(attr)
        kind = types.Dispatcher(dispatcher(typ.instance_class, function))

        class MethodTemplate(AbstractTemplate):
            key = ("zermelo rules", attr)

            def generic(self, args: Any, kws: Any) -> Any:
                return kind.get_call_type(self.context, (typ, *args), kws).as_method()

        return types.BoundFunction(MethodTemplate, typ)


@intrinsic
def _count_ones(typing_context: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), code


@intrinsic
def _count_trailing_zeros(typing_context: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), code


@intrinsic
def _shift_down(typing_context: Any, value: Any, places: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.lshr(args[0], args[1])

    return types.int64(types.int64, types.int64), code


@overload(bits.popcount, strict=False)
def _popcount(bits: Any) -> Any:
    return lambda bits: _count_ones(bits)


@overload(bits.bit_index, strict=False)
def _bit_index(bits: Any) -> Any:
    return lambda bits: _count_trailing_zeros(bits)


@overload(bits.shift_right, strict=False)
def _shift_right(bits: Any, places: Any) -> Any:
    return lambda bits, places: _shift_down(bits, places)


@intrinsic
def _scrambled(typing_context: Any, value: Any) -> Any:
    """``bits.mix``. Numba's own sums and products of integers may not overflow: the compiler relies on it."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def shifted(number: Any, places: int) -> Any:
            return builder.xor(number, builder.lshr(number, ir.Constant(number.type, places)))

        number = builder.add(args[0], ir.Constant(args[0].type, -7046029254386353131))
        number = builder.mul(shifted(number, 30), ir.Constant(number.type, -4658895280553007687))
        number = builder.mul(shifted(number, 27), ir.Constant(number.type, -7723592293110705685))
        return shifted(number, 31)

    return types.int64(types.int64), code


@overload(bits.mix, strict=False)
def _mix(bits: Any) -> Any:
    return lambda bits: _scrambled(bits)


@intrinsic
def _byte_swap(typing_context: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.int64(types.int64), code


@intrinsic
def _difference(typing_context: Any, first: Any, second: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sub(*args)

    return types.int64(types.int64, types.int64), code


@overload(bits.swapped_bytes, strict=False)
def _swapped_bytes(bits: Any) -> Any:
    return lambda bits: _byte_swap(bits)


@overload(bits.wrapped_difference, strict=False)
def _wrapped_difference(first: Any, second: Any) -> Any:
    return lambda first, second: _difference(first, second)


# -- raw memory --------------------------------------------------------------------------------------------------

_WORD = ir.IntType(64)
_DOUBLE = ir.DoubleType()


def _slot(builder: Any, address: Any, index: Any, kind: Any = _WORD) -> Any:
    pointer = builder.inttoptr(address, kind.as_pointer())
    return builder.gep(pointer, [index])


def _array(context: Any, builder: Any, args: Any, array_type: Any, kind: Any, size: int = 8) -> Any:
    """An array of numbers of so many bytes over memory that it does not own."""
    array = make_array(array_type)(context, builder)
    bytes_each = context.get_constant(types.intp, size)
    populate_array(
        array,
        data=builder.inttoptr(args[0], kind.as_pointer()),
        shape=cgutils.pack_array(builder, [args[1]]),
        strides=cgutils.pack_array(builder, [bytes_each]),
        itemsize=bytes_each,
        meminfo=None,
    )
    return array._getvalue()


@intrinsic
def _load(typing_context: Any, address: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_slot(builder, *args))

    return types.int64(types.int64, types.int64), code


@intrinsic
def _store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _slot(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), code


@intrinsic
def _load_float(typing_context: Any, address: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_slot(builder, args[0], args[1], _DOUBLE))

    return types.float64(types.int64, types.int64), code


@intrinsic
def _store_float(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _slot(builder, args[0], args[1], _DOUBLE))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.float64), code


@intrinsic
def _prefetch(typing_context: Any, address: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.bitcast(_slot(builder, *args), ir.IntType(8).as_pointer())
        small = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), small, small, small])
        function = builder.module.declare_intrinsic("llvm.prefetch", [ir.IntType(8).as_pointer()], kind)
        builder.call(function, [pointer, ir.Constant(small, 0), ir.Constant(small, 3), ir.Constant(small, 1)])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), code


@intrinsic
def _take(typing_context: Any, address: Any, amount: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("sub", builder.inttoptr(args[0], _WORD.as_pointer()), args[1], "monotonic")

    return types.int64(types.int64, types.int64), code


@intrinsic
def _add_float(typing_context: Any, address: Any, amount: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("fadd", builder.inttoptr(args[0], _DOUBLE.as_pointer()), args[1], "monotonic")

    return types.float64(types.int64, types.float64), code


@intrinsic
def _load_acquire(typing_context: Any, address: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_slot(builder, *args), "acquire", 8)

    return types.int64(types.int64, types.int64), code


@intrinsic
def _store_release(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _slot(builder, args[0], args[1]), "release", 8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), code


def _swapping(kind: Any) -> Any:
    """An intrinsic that writes a word of a type where another one is."""

    @intrinsic
    def made(typing_context: Any, address: Any, expected: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = [builder.bitcast(each, _WORD) for each in args[1:]]
            pointer = builder.inttoptr(args[0], _WORD.as_pointer())
            return builder.extract_value(builder.cmpxchg(pointer, *words, "acq_rel", "acquire"), 1)

        return types.boolean(types.int64, kind, kind), code

    return made


@intrinsic
def _wrapped_product(typing_context: Any, first: Any, second: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.mul(*args)

    return types.int64(types.int64, types.int64), code


@intrinsic
def _stack_address(typing_context: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ptrtoint(cgutils.alloca_once(builder, _WORD), _WORD)

    return types.int64(), code


@intrinsic
def _words(typing_context: Any, address: Any, count: Any) -> Any:
    """The ``count`` integers from ``address`` on, as an array that owns nothing."""
    array_type = types.Array(types.int64, 1, "C")

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, args, array_type, _WORD)

    return array_type(types.int64, types.int64), code


@intrinsic
def _floats(typing_context: Any, address: Any, count: Any) -> Any:
    """The ``count`` floats from ``address`` on, as an array that owns nothing."""
    array_type = types.Array(types.float64, 1, "C")

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, args, array_type, _DOUBLE)

    return array_type(types.int64, types.int64), code


@intrinsic
def _int8s(typing_context: Any, address: Any, count: Any) -> Any:
    """The ``count`` bytes from ``address`` on, as an array that owns nothing."""
    array_type = types.Array(types.int8, 1, "C")

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, args, array_type, ir.IntType(8), 1)

    return array_type(types.int64, types.int64), code


def _tuple_at(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """A tuple of some type, tuples inside it too, from the words at an address."""
    places = itertools.count()

    def filled(some: Any) -> Any:
        if isinstance(some, types.BaseTuple):
            return context.make_tuple(builder, some, [filled(part) for part in some.types])
        place = ir.Constant(_WORD, next(places))
        if some == types.float64:
            return builder.load(_slot(builder, address, place, _DOUBLE))
        return context.cast(builder, builder.load(_slot(builder, address, place)), types.int64, some)

    return filled(kind)


@intrinsic
def _load_state(typing_context: Any, like: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _tuple_at(context, builder, like, args[1])

    return like(like, types.int64), code


@intrinsic
def _store_state(typing_context: Any, state: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = itertools.count()

        def write(value: Any, some: Any) -> None:
            if isinstance(some, types.BaseTuple):
                for number, part in enumerate(some.types):
                    write(builder.extract_value(value, number), part)
            else:
                slot = _slot(builder, args[1], ir.Constant(_WORD, next(places)))
                builder.store(context.cast(builder, value, some, types.int64), slot)

        write(args[0], state)
        return context.get_dummy_value()

    return types.none(state, types.int64), code


INTRINSICS: Final[dict[Any, Any]] = {
    bits.popcount: _count_ones,
    bits.bit_index: _count_trailing_zeros,
    bits.shift_right: _shift_down,
    bits.mix: _scrambled,
    bits.swapped_bytes: _byte_swap,
    bits.wrapped_difference: _difference,
    memory.load: _load,
    memory.store: _store,
    memory.load_float: _load_float,
    memory.store_float: _store_float,
    memory.prefetch: _prefetch,
    memory.take: _take,
    memory.add_float: _add_float,
    memory.load_acquire: _load_acquire,
    memory.store_release: _store_release,
    memory.compare_and_swap: _swapping(types.int64),
    memory.compare_and_swap_float: _swapping(types.float64),
    memory.wrapped_product: _wrapped_product,
    memory.stack_address: _stack_address,
    memory.words: _words,
    memory.floats: _floats,
    memory.int8s: _int8s,
    memory.load_state: _load_state,
    memory.store_state: _store_state,
    **WORD_INTRINSICS,
}
"""Plain functions, and what compiled code has in their place."""


# -- arguments of kernels ----------------------------------------------------------------------------------------


def as_tuple(kind: Any) -> Any:
    """A function that makes a named tuple of some type, tuples inside it too, from the words at an address."""

    @intrinsic
    def made(typing_context: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _tuple_at(context, builder, kind, args[0])

        return kind(types.int64), code

    return made


def as_record(kind: Any) -> Any:
    """A function that takes what is at an address for a record of some type."""

    @intrinsic
    def made(typing_context: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.int64), code

    return made
