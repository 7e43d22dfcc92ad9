"""Instructions of LLVM over sets of places and vectors, in place of plain functions.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils

from zermelo.envs.jit.extensions.memory_instructions import Instruction, constant, flattened
from zermelo.envs.rules import arrays, words

_int = types.int64


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
    return builder.icmp_signed("==", total, constant(0))


def _count(builder: Any, places: Any) -> Any:
    total, *others = [builder.ctpop(word) for word in _parts(builder, places)]
    for number in others:
        total = builder.add(total, number)
    return total


def _spread(builder: Any, like: Any, place: Any, bits: Any) -> list[Any]:
    found = []
    for number in range(len(_parts(builder, like))):
        above = builder.sub(place, constant(words.WORD * number))
        is_here = builder.icmp_unsigned("<", above, constant(words.WORD))
        moved = builder.shl(bits, builder.and_(above, constant(63)))
        found.append(builder.select(is_here, moved, constant(0)))
    return found


def _first_places(builder: Any, like: Any, how_many: Any) -> list[Any]:
    found = []
    for number in range(len(_parts(builder, like))):
        left = builder.sub(how_many, constant(words.WORD * number))
        left = builder.select(builder.icmp_signed("<", left, constant(0)), constant(0), left)
        left = builder.select(builder.icmp_signed(">", left, constant(words.WORD)), constant(words.WORD), left)
        found.append(builder.sub(builder.shl(constant(1), left), constant(1)))
    return found


def _chosen(builder: Any, values: list[Any], number: Any) -> Any:
    """The value of a number; 0 if there is none."""
    found = constant(0)
    for place, value in enumerate(values):
        found = builder.select(builder.icmp_signed("==", number, constant(place)), value, found)
    return found


def _divided(builder: Any, place: Any) -> tuple[Any, Any]:
    return builder.udiv(place, constant(words.WORD)), builder.urem(place, constant(words.WORD))


_FEW: Final = 3


def _contains(builder: Any, places: Any, place: Any) -> Any:
    if isinstance(places.type, ir.IntType):
        return builder.and_(builder.lshr(places, place), constant(1))
    values = _parts(builder, places)
    if len(values) > _FEW:
        number, below = _divided(builder, place)
        return builder.and_(builder.lshr(_chosen(builder, values, number), below), constant(1))
    found = constant(0)
    for number, word in enumerate(values):  # without a division
        above = builder.sub(place, constant(words.WORD * number))
        is_here = builder.icmp_unsigned("<", above, constant(words.WORD))
        found = builder.select(is_here, builder.lshr(word, builder.and_(above, constant(63))), found)
    return builder.and_(found, constant(1))


def _window(builder: Any, places: Any, start: Any, width: Any) -> Any:
    number, below = _divided(builder, start)
    values = _parts(builder, places)
    low = builder.lshr(_chosen(builder, values, number), below)
    high = _chosen(builder, values, builder.add(number, constant(1)))
    both = builder.or_(low, builder.shl(high, builder.sub(constant(words.WORD), below)))
    return builder.and_(both, builder.sub(builder.shl(constant(1), width), constant(1)))


def _moved(*, up: bool) -> Instruction:
    def of_words(builder: Any, places: Any, by: Any) -> list[Any]:
        values = _parts(builder, places)
        rest = builder.sub(constant(words.WORD), by)
        others = [constant(0), *values[:-1]] if up else [*values[1:], constant(0)]
        there, back = (builder.shl, builder.lshr) if up else (builder.lshr, builder.shl)
        return [
            builder.and_(builder.or_(there(one, by), back(other, rest)), constant((1 << words.WORD) - 1))
            for one, other in zip(values, others, strict=True)
        ]

    return _set(of_words, _int)


def _flat(context: Any, builder: Any, signature: Any, state: Any) -> Any:
    return context.make_tuple(
        builder, signature.return_type, flattened(context, builder, state, signature.args[0])
    )


def _words_in(kind: Any) -> int:
    return sum(map(_words_in, kind.types)) if isinstance(kind, types.BaseTuple) else 1


SETS: Final[dict[Any, Instruction]] = {
    words.is_empty: _number(_is_empty, types.boolean),
    words.count: _number(_count),
    words.single: _set(lambda builder, like, place: _spread(builder, like, place, constant(1)), _int),
    words.spread: _set(_spread, _int, _int),
    words.first_places: _set(_first_places, _int),
    words.contains: _number(_contains),
    words.window: _number(_window),
    words.moved_up: _moved(up=True),
    words.moved_down: _moved(up=False),
    words.flatten_state: (lambda state: types.UniTuple(_int, _words_in(state))(state), _flat),
}

# -- vectors -----------------------------------------------------------------------------------------------------


def _row_sum(sums: Any, rows: Any, numbers: Any, factors: Any, count: Any) -> None:
    sums[:] = 0
    for entry in range(count):
        start, factor = numbers[entry] * len(sums), factors[entry]
        row = rows[start : start + len(sums)]
        for place in range(len(sums)):
            sums[place] += row[place] * factor


def _row_product(values: Any, rows: Any, row: Any) -> Any:
    total, numbers = 0, rows[row * len(values) : (row + 1) * len(values)]
    for place in range(len(values)):
        total += max(values[place], 0) * numbers[place]
    return total


LOOPS: Final[dict[Any, Any]] = {arrays.row_sum: _row_sum, arrays.row_product: _row_product}
"""Functions that are compiled in place of others."""
