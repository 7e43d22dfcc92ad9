"""Teaches Numba the methods of rules: which function ``rules.result`` is follows from the type of ``rules``.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, models, register_model


class NoParameters(types.NamedTuple):
    """The type of rules without parameters.

    Numba asks of the type of a method's object whether it is there with ``if recvr``, which that of an empty tuple
    answers with its length.
    """

    def __bool__(self) -> bool:
        return True


register_model(NoParameters)(models.TupleModel)


def itself(*arguments: Any) -> int:
    """The function that a recursive function calls in place of itself, if it returns an integer.

    Numba infers the types of recursion by inferring those of the whole function anew at each call of itself.
    """
    raise NotImplementedError("only compiled code calls it")


@infer_global(itself)
class _Itself(AbstractTemplate):
    key = itself

    def generic(self, args: Any, kws: Any) -> Any:
        """The signature of the function whose types are inferred."""
        return signature(types.int64, *self.context.callstack[0].args)


@lower_builtin(itself, types.VarArg(types.Any))
def _call_itself(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    convention = context.call_conv
    status, result = convention.call_function(
        builder, builder.function, signature.return_type, signature.args, args
    )
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


def teach(method: Callable[[type, str], Any], compiled: Callable[[type, Any], Any]) -> None:
    """Makes methods of named tuples known to Numba, once a process.

    Args:
        method: The function behind a method of a class; None if it has none, or is no class of rules.
        compiled: Its compiled form for that class.
    """
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
            kind = types.Dispatcher(compiled(typ.instance_class, function))

            class MethodTemplate(AbstractTemplate):
                key = ("zermelo rules", attr)

                def generic(self, args: Any, kws: Any) -> Any:
                    return kind.get_call_type(self.context, (typ, *args), kws).as_method()

            return types.BoundFunction(MethodTemplate, typ)
