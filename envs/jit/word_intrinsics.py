"""What compiled code has in the place of ``zermelo.envs.rules.words``: the same on tuples, without a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from zermelo.envs.rules import words

_INT = ir.IntType(64)


def _constant(value: int) -> Any:
    return ir.Constant(_INT, value)


def _by_word(combine: Callable[[Any, Any, Any], Any]) -> Any:
    """An intrinsic of two sets that works word by word."""

    @intrinsic
    def made(typing_context: Any, first: Any, second: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pairs = zip(*(cgutils.unpack_tuple(builder, one) for one in args), strict=True)
            return context.make_tuple(
                builder, signature.return_type, [combine(builder, one, other) for one, other in pairs]
            )

        return first(first, first), code

    return made


def _folded(builder: Any, values: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = combine(total, value)
    return total


@intrinsic
def _is_empty(typing_context: Any, places: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = _folded(builder, cgutils.unpack_tuple(builder, args[0]), builder.or_)
        return builder.icmp_signed("==", whole, _constant(0))

    return types.boolean(places), code


@intrinsic
def _count(typing_context: Any, places: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _folded(
            builder, [builder.ctpop(word) for word in cgutils.unpack_tuple(builder, args[0])], builder.add
        )

    return types.int64(places), code


@intrinsic
def _single(typing_context: Any, like: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = []
        for number in range(len(like)):
            above = builder.sub(args[1], _constant(words.WORD * number))
            is_here = builder.icmp_unsigned("<", above, _constant(words.WORD))
            bit = builder.shl(_constant(1), builder.and_(above, _constant(63)))
            found.append(builder.select(is_here, bit, _constant(0)))
        return context.make_tuple(builder, signature.return_type, found)

    return like(like, types.int64), code


def _chosen(builder: Any, values: list[Any], number: Any) -> Any:
    """The value of a number; 0 if there is none."""
    found = _constant(0)
    for place, value in enumerate(values):
        found = builder.select(builder.icmp_signed("==", number, _constant(place)), value, found)
    return found


@intrinsic
def _contains(typing_context: Any, places: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, below = (getattr(builder, do)(args[1], _constant(words.WORD)) for do in ("udiv", "urem"))
        word = _chosen(builder, cgutils.unpack_tuple(builder, args[0]), number)
        return builder.and_(builder.lshr(word, below), _constant(1))

    return types.int64(places, types.int64), code


@intrinsic
def _window(typing_context: Any, places: Any, start: Any, width: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, below = (getattr(builder, do)(args[1], _constant(words.WORD)) for do in ("udiv", "urem"))
        values = cgutils.unpack_tuple(builder, args[0])
        low = builder.lshr(_chosen(builder, values, number), below)
        high = _chosen(builder, values, builder.add(number, _constant(1)))
        both = builder.or_(low, builder.shl(high, builder.sub(_constant(words.WORD), below)))
        mask = builder.sub(builder.shl(_constant(1), args[2]), _constant(1))
        return builder.and_(both, mask)

    return types.int64(places, types.int64, types.int64), code


def _moved(*, up: bool) -> Any:
    """An intrinsic that moves all places of a set."""

    @intrinsic
    def made(typing_context: Any, places: Any, by: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = cgutils.unpack_tuple(builder, args[0])
            rest = builder.sub(_constant(words.WORD), args[1])
            others = [_constant(0), *values[:-1]] if up else [*values[1:], _constant(0)]
            there, back = (builder.shl, builder.lshr) if up else (builder.lshr, builder.shl)
            found = [
                builder.and_(builder.or_(there(one, args[1]), back(other, rest)), _constant((1 << words.WORD) - 1))
                for one, other in zip(values, others, strict=True)
            ]
            return context.make_tuple(builder, signature.return_type, found)

        return places(places, types.int64), code

    return made


WORD_INTRINSICS: Final[dict[Any, Any]] = {
    words.union: _by_word(lambda builder, one, other: builder.or_(one, other)),
    words.common: _by_word(lambda builder, one, other: builder.and_(one, other)),
    words.without: _by_word(lambda builder, one, other: builder.and_(one, builder.not_(other))),
    words.is_empty: _is_empty,
    words.count: _count,
    words.single: _single,
    words.contains: _contains,
    words.window: _window,
    words.moved_up: _moved(up=True),
    words.moved_down: _moved(up=False),
}
"""Plain functions, and what compiled code has in their place."""
