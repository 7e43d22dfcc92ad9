"""Functions of kernels that do not depend on rules, compiled ahead: those of a kernel in one module of bitcode.

They are as Numba left them, and are optimized together with what is compiled here. A symbol says which function it
is: its module and name, a hash of its arguments' types, and the type that it returns. The archive of portable
kernels has these modules, under names with a hash of the functions' sources and of the versions of Numba and
llvmlite, which decide how compiled functions call each other.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import llvmlite.binding as llvm
from numba import types
from numba.core.compiler import compile_result
from numba.core.funcdesc import ExternalFunctionDescriptor
from numba.core.typing.templates import signature

from zermelo.envs.jit.cache.fingerprint import digest_of_kernel
from zermelo.envs.jit.cache.kernel_archive import archived, can_use_archive
from zermelo.envs.jit.extensions.parts import KernelPart, PartDispatcher, link_parts
from zermelo.envs.jit.machine_code import ANY_PROCESSOR, Code, machine_for
from zermelo.envs.support.code_parts import UncomparableError

if TYPE_CHECKING:
    from zermelo.envs.jit.kernel import Kernel

_PREFIX: Final = "zermelo.part"
_SCALARS: Final = (*types.number_domain, types.boolean, types.none)
_RETURNED: Final = {
    str(kind): kind for kind in (*_SCALARS, *(types.UniTuple(each, 2) for each in (types.int64, types.float64)))
}
"""The types that such functions return, by the names that Numba gives them."""


def name_of_parts(kernel: Kernel) -> str:
    """The name of the module of functions that a kernel's code for all rules has in common.

    Raises:
        UncomparableError: There cannot be one: the source of something is not at hand.
    """
    about = [
        digest_of_kernel(kernel, by_source=True),
        repr([str(kind) for kind in kernel.arguments]),
        *(importlib.metadata.version(package) for package in ("numba", "llvmlite")),
    ]
    return f"parts-{kernel.function.__name__}-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}.bin"


def parts_of(compiled: Any, dispatchers: Iterable[PartDispatcher]) -> Code | None:
    """The functions in a kernel's code that no type of rules reaches; None if there are none.

    Args:
        compiled: Numba's result for the kernel.
        dispatchers: The functions that may be in it.
    """
    needed: dict[Any, None] = {}
    compiled.library.add_needed(needed)
    symbols, parts = {}, []
    for dispatcher in dispatchers:
        for result in dispatcher.overloads.values():
            arguments, returned = result.signature.args, str(result.signature.return_type)
            if result.library in needed and all(map(_is_free, arguments)) and returned in _RETURNED:
                symbols[result.fndesc.mangled_name] = f"{_PREFIX} {_called(dispatcher, arguments)} -> {returned}"
                parts.append(result.library)
    if not parts:
        return None
    module = link_parts(parts, dispatcher.targetctx.codegen()._create_empty_module("parts"))
    for name, symbol in symbols.items():
        module.get_function(name).name = symbol
    machine = machine_for(ANY_PROCESSOR)
    module.triple, module.data_layout = ANY_PROCESSOR.triple, str(machine.target_data)
    _tidy(module, machine)
    module.triple = module.data_layout = ""
    return Code("", (), module.as_bitcode())


def _tidy(module: Any, machine: Any) -> None:
    """Has values in registers and no dead branches: half of the size, and nothing decided that callers decide."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _is_free(kind: Any) -> bool:
    """Whether no rules and no state of a game are in a type."""
    if isinstance(kind, types.UniTuple):
        return not isinstance(kind, types.NamedUniTuple) and _is_free(kind.dtype)
    return isinstance(kind, types.Record | types.Array) or kind in _SCALARS


def _called(dispatcher: PartDispatcher, arguments: Sequence[Any]) -> str:
    function = dispatcher.py_func
    digest = hashlib.sha256(repr([str(kind) for kind in arguments]).encode()).hexdigest()[:16]
    return f"{function.__module__}.{function.__qualname__} {digest}"


class PrecompiledParts:
    """The functions of one module of bitcode, each given to its dispatcher when that is asked for it.

    Raises:
        RuntimeError: This LLVM cannot read the bitcode.
    """

    def __init__(self, bitcode: bytes, leaves_out: Callable[[Any], bool] = lambda function: False) -> None:
        self._bitcode, self._leaves_out = bitcode, leaves_out
        self._mark = f" of {hashlib.sha256(bitcode).hexdigest()[:16]}"
        self._part: KernelPart | None = None
        self._returned = {}
        for function in llvm.parse_bitcode(bitcode).functions:
            if function.name.startswith(_PREFIX) and not function.is_declaration:
                called, _, returned = function.name.removeprefix(_PREFIX + " ").partition(" -> ")
                self._returned[called] = returned

    def without(self, leaves_out: Callable[[Any], bool]) -> PrecompiledParts:
        """The same, without some functions."""
        return PrecompiledParts(self._bitcode, leaves_out)

    def add_to(self, dispatcher: PartDispatcher, arguments: tuple[Any, ...]) -> bool:
        """Gives a dispatcher its compiled function for these types, if it is here."""
        called = _called(dispatcher, arguments)
        name = self._returned.get(called)
        if name is None or self._leaves_out(dispatcher.plain):
            return False
        context, returned = dispatcher.targetctx, _RETURNED[name]
        if self._part is None:
            self._part = KernelPart.of_bitcode(context.codegen(), self._bitcode, self._mark)
        function = ExternalFunctionDescriptor(f"{_PREFIX} {called} -> {name}{self._mark}", returned, arguments)
        context.insert_user_function(function, function, [self._part])
        dispatcher.overloads[arguments] = compile_result(
            typing_context=dispatcher.typingctx,
            target_context=context,
            entry_point=function,
            signature=signature(returned, *arguments),
            objectmode=False,
            fndesc=function,
            library=self._part,
        )
        return True


def precompiled_parts(kernel: Kernel) -> PrecompiledParts | None:
    """What the archive has of a kernel's functions; None if it has none, or LLVM cannot read them."""
    try:
        code = archived(name_of_parts(kernel)) if can_use_archive() else None
        return None if code is None else PrecompiledParts(code.data)
    except (UncomparableError, RuntimeError):
        return None
