"""What Numba is taught, once, when the first rules are compiled: methods of named tuples, and the bit functions.

Importing this module imports Numba. ``zermelo.envs.jit.compiling`` does so when it is time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typeinfer import TypeInferer
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from zermelo.envs.jit.compiling import dispatcher, method
from zermelo.envs.rules import bits

__all__ = ["NoParameters", "RulesMethods"]

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
        kind = types.Dispatcher(dispatcher(function))
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
        kind = types.Dispatcher(dispatcher(function))

        class MethodTemplate(AbstractTemplate):
            key = ("zermelo rules", attr)

            def generic(self, args: Any, kws: Any) -> Any:
                return kind.get_call_type(self.context, (typ, *args), kws).as_method()

        return types.BoundFunction(MethodTemplate, typ)


_inferred_result = TypeInferer.return_types_from_partial


def _declared_result(self: Any) -> Any:
    """The result's type of a function that calls itself: the declared one where there is one.

    At each call of itself Numba infers it from the rest of the function, all over again, though ``build`` declares
    it: without this the compiler takes twice as long.
    """
    variables = (self.typevars.get(variable.name) for variable in self._get_return_vars())
    declared = {variable.type for variable in variables if variable is not None and variable.locked}
    return declared.pop() if len(declared) == 1 else _inferred_result(self)


TypeInferer.return_types_from_partial = _declared_result


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
