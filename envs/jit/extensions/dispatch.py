"""Teaches Numba the methods of rules: which function ``rules.result`` is follows from the type of ``rules``.

It also says at once what type operators of whole numbers have, and does sets of places
(``zermelo.envs.rules.words``) word by word. Importing this module imports Numba.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, Final

from numba import types
from numba.core import cgutils
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, models, register_model, typeof_impl

from zermelo.envs.rules.words import Words


class NoParameters(types.NamedTuple):
    """The type of rules without parameters.

    Numba asks of the type of a method's object whether it is there with ``if recvr``, which that of an empty tuple
    answers with its length.
    """

    def __bool__(self) -> bool:
        return True


register_model(NoParameters)(models.TupleModel)


def recursive_call(*arguments: Any) -> int:
    """The function that a recursive function calls in place of itself, if it returns an integer.

    Numba infers the types of recursion by inferring those of the whole function anew at each call of itself.
    """
    raise NotImplementedError("only compiled code calls it")


@infer_global(recursive_call)
class _Itself(AbstractTemplate):
    key = recursive_call

    def generic(self, args: Any, kws: Any) -> Any:
        """The signature of the function whose types are inferred."""
        return signature(types.int64, *self.context.callstack[0].args)


@lower_builtin(recursive_call, types.VarArg(types.Any))
def _call_itself(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    convention = context.call_conv
    status, result = convention.call_function(
        builder, builder.function, signature.return_type, signature.args, args
    )
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


def register_methods(method: Callable[[type, str], Any], compiled: Callable[[type, Any], Any]) -> None:
    """Makes methods of named tuples, and operators, known to Numba, once a process.

    Args:
        method: The function behind a method of a class; None if it has none, or is no class of rules.
        compiled: Its compiled form for that class.
    """
    _teach_operators()
    lowered: set[str] = set()

    def lower(name: str) -> None:
        """Has calls of methods of this name call the compiled method of the rules class at hand."""
        if name in lowered:
            return
        lowered.add(name)

        @lower_builtin(("zermelo rules", name), types.BaseNamedTuple, types.VarArg(types.Any))
        def call_method(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            rules_class = signature.args[0].instance_class
            kind = types.Dispatcher(compiled(rules_class, method(rules_class, name)))
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
            lower(attr)

            class MethodTemplate(AbstractTemplate):
                key = ("zermelo rules", attr)

                def generic(self, args: Any, kws: Any) -> Any:
                    # Asked for anew: Numba gives this template again where the method was edited meanwhile.
                    kind = types.Dispatcher(compiled(typ.instance_class, method(typ.instance_class, attr)))
                    return kind.get_call_type(self.context, (typ, *args), kws).as_method()

            return types.BoundFunction(MethodTemplate, typ)


# -- operators ----------------------------------------------------------------------------------------------------

_SAME: Final = "add sub mul and_ or_ xor iadd isub imul iand ior ixor"
_COMPARING: Final = "lt le gt ge eq ne"


def type_calls(function: Callable[..., Any], find: Callable[[tuple[Any, ...]], Any], key: Any = None) -> None:
    """Has a function give the signature of an operator for its arguments' types, or None.

    ``key`` is what its code is found by, where that is not the function.
    """

    class Operator(AbstractTemplate):
        metadata: ClassVar = {"target": "cpu"}

        def generic(self, args: Any, kws: Any) -> Any:
            return find(tuple(args))

    infer_global(function, typing_key=key or function)(Operator)


def _register(function: Callable[..., Any], result: Any, count: int, *kinds: Any) -> None:
    """Has a function of as many arguments, all of one of these kinds, return that result; None is that kind."""

    def find(args: tuple[Any, ...]) -> Any:
        plain = {types.unliteral(each) for each in args}
        if len(args) == count and len(plain) == 1 and plain <= set(kinds):
            return signature(result or next(iter(plain)), *[*plain] * count)
        return None

    type_calls(function, find)


def _teach_operators() -> None:
    """Operators, ``min``, ``max`` and ``int`` of whole numbers of eight bytes, and operators of sets of places.

    Numba tries its templates for arrays, text and other types first: a quarter of the compiler's time went into
    finding out that a sum of two words is a word; and it compiles a function of its own for each kind of ``min``.
    Templates for its processor come before those for any target.
    """
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
    def find(args: tuple[Any, ...]) -> Any:
        are_sets = len(args) == 2 and args[0] == args[1] and isinstance(args[0], types.UniTuple)
        return signature(args[0], *args) if are_sets else None

    def combined(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        both = zip(*(cgutils.unpack_tuple(builder, each) for each in args), strict=True)
        return context.make_tuple(builder, signature.return_type, [combine(builder, *pair) for pair in both])

    type_calls(function, find)
    lower_builtin(function, types.UniTuple, types.UniTuple)(combined)


def _lower_choice(function: Callable[..., Any], sign: str) -> None:
    """Has ``min`` or ``max`` give the second of two numbers where the sign holds between it and the first."""
    for kind, compared in (types.int64, "icmp_signed"), (types.float64, "fcmp_ordered"):

        def chosen(context: Any, builder: Any, signature: Any, args: Any, compared: str = compared) -> Any:
            first, second = args
            return builder.select(getattr(builder, compared)(sign, second, first), second, first)

        lower_builtin(function, kind, kind)(chosen)
