"""Operators, ``min``, ``max`` and ``int`` of whole numbers of eight bytes, whose types are found at once.

And the operators of sets of places (``zermelo.envs.rules.words``), word by word.

Numba tries its templates for arrays, text and other types first: a quarter of the compiler's time went into
finding out that a sum of two words is a word; and it compiles a function of its own for each kind of ``min``.
Templates for its processor come before those for any target.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, Final

from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, typeof_impl

from zermelo.envs.rules.words import Words

_SAME: Final = "add sub mul and_ or_ xor iadd isub imul iand ior ixor"
_COMPARING: Final = "lt le gt ge eq ne"


def _register(function: Callable[..., Any], result: Any, count: int, *kinds: Any) -> None:
    """Has a function of as many arguments, all of one of these kinds, return that result; None is that kind."""

    class Integers(AbstractTemplate):  # type: ignore[misc]  # Numba has no types
        key = function
        metadata: ClassVar = {"target": "cpu"}

        def generic(self, args: Any, kws: Any) -> Any:
            """The signature, or None where the arguments are others."""
            plain = {types.unliteral(each) for each in args}
            if len(args) == count and len(plain) == 1 and plain <= set(kinds):
                return signature(result or next(iter(plain)), *[*plain] * count)
            return None

    infer_global(function)(Integers)


def teach_operators() -> None:
    """Makes the types known to Numba, once a process."""
    for name in _SAME.split():
        _register(getattr(operator, name), types.int64, 2, types.int64)
    for name in _COMPARING.split():
        _register(getattr(operator, name), types.boolean, 2, types.int64)
    _register(bool, types.boolean, 1, types.boolean, types.int64)
    _register(int, types.int64, 1, types.int64)
    lower_builtin(int, types.int64)(lambda context, builder, signature, args: args[0])
    for function, sign in (max, ">"), (min, "<"):
        _register(function, None, 2, types.int64, types.float64)
        _lower_choice(function, sign)
    typeof_impl.register(Words)(lambda places, context: types.UniTuple(types.int64, len(places)))
    _teach_sets(operator.or_, lambda builder, one, other: builder.or_(one, other))
    _teach_sets(operator.and_, lambda builder, one, other: builder.and_(one, other))
    _teach_sets(operator.sub, lambda builder, one, other: builder.and_(one, builder.not_(other)))


def _teach_sets(function: Callable[..., Any], combine: Callable[..., Any]) -> None:
    class Sets(AbstractTemplate):  # type: ignore[misc]  # Numba has no types
        key = function
        metadata: ClassVar = {"target": "cpu"}

        def generic(self, args: Any, kws: Any) -> Any:
            """The signature of two sets of one length; None for other arguments."""
            if len(args) == 2 and args[0] == args[1] and isinstance(args[0], types.UniTuple):
                return signature(args[0], *args)
            return None

    infer_global(function)(Sets)

    def combined(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        both = zip(*(cgutils.unpack_tuple(builder, each) for each in args), strict=True)
        return context.make_tuple(builder, signature.return_type, [combine(builder, *pair) for pair in both])

    lower_builtin(function, types.UniTuple, types.UniTuple)(combined)


def _lower_choice(function: Callable[..., Any], sign: str) -> None:
    """Has ``min`` or ``max`` give the second of two numbers where the sign holds between it and the first."""
    for kind, compared in (types.int64, "icmp_signed"), (types.float64, "fcmp_ordered"):

        def chosen(context: Any, builder: Any, signature: Any, args: Any, compared: str = compared) -> Any:
            first, second = args
            return builder.select(getattr(builder, compared)(sign, second, first), second, first)

        lower_builtin(function, kind, kind)(chosen)
