"""The code of a kernel's functions, put together before it is optimized.

Left alone, Numba optimizes each function with all that it calls, and makes machine code of it, before it goes on
to the caller, where the same happens again: half of the compiler's time, for code that nobody calls. Here each
function is a part, which stays as Numba wrote it; the kernel is optimized when it is whole.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import llvmlite.binding as llvm
from numba import types
from numba.core import ir, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import get_definition, guard
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from zermelo.envs.jit.waiting import check_interrupt

_LATER = ".numba.unresolved$"
_FOUND = """
@".numba.unresolved${name}" = linkonce_odr constant ptr @"{name}"
declare void @"{name}"()
"""
"""What says where a function is that was called before it was compiled, as where two call each other."""


class _NoEngine:
    """A stand-in for the engine of machine code, which a part is never given to."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: only functions that call back into Python read their environment."""


class KernelPart(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """One function's code, which other parts call."""

    @property
    def codegen(self) -> Any:
        """The place where Numba would announce the function's address."""
        return _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        """No address: a part is not called from outside."""
        self._ensure_finalized()
        return 0

    @classmethod
    def of_bitcode(cls, codegen: Any, bitcode: bytes, mark: str) -> KernelPart:
        """Functions that were compiled before, of which each kernel takes those that it calls.

        ``mark`` is put behind their names: those of a kernel with other variants have the same names, and where
        two of one name are linked, only one is kept.
        """
        part = cls(codegen, "ready")
        module = llvm.parse_bitcode(bitcode)
        for function in module.functions:
            if not function.is_declaration:
                function.name += mark
        module.triple, module.data_layout = part._final_module.triple, codegen._data_layout
        _mark(module, "linkonce_odr")
        part._final_module, part.is_ready, part._finalized = module, True, True
        return part

    is_ready = False
    """Whether this is not one function but many, which were compiled before."""

    def finalize(self) -> None:
        """Nothing is to be done before the whole is there."""
        self._raise_if_finalized()
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        """For a library that is no part, such as a compiled function of the author's that calls one."""
        self._ensure_finalized()
        whole = self.link_all()
        _mark(whole, "linkonce_odr")
        return whole

    def add_needed(self, seen: dict[Any, None]) -> None:
        """Adds this library and those that it needs, each once."""
        if self not in seen:
            seen[self] = None
            for library in self._linking_libraries:
                if isinstance(library, KernelPart):
                    library.add_needed(seen)
                else:
                    seen[library] = None

    def link_all(self, way_in: Any = None, entry: str = "") -> Any:
        """This function and all that it calls, as one module of LLVM's.

        ``way_in`` is llvmlite's module of a function that calls this one, ``entry``, which alone is in sight then.
        """
        begun = self._codegen._create_empty_module(self.name) if way_in is None else way_in
        whole = link_parts([self], begun)
        if entry:
            _mark(whole, "internal", entry)
        whole.verify()
        return whole


def link_parts(parts: Iterable[KernelPart], begun: Any) -> Any:
    """Parts and all that they need, linked into a module that llvmlite has begun."""
    whole = llvm.parse_assembly(str(begun))
    needed: dict[Any, None] = {}
    for part in parts:
        part.add_needed(needed)
    for library in sorted(needed, key=_order):
        module = library._final_module if isinstance(library, KernelPart) else library._get_module_for_linking()
        whole.link_in(module, preserve=True)
    there = {function.name for function in whole.functions if not function.is_declaration}
    asked = [variable.name for variable in whole.global_variables if variable.is_declaration]
    for name in there & {name.removeprefix(_LATER) for name in asked if name.startswith(_LATER)}:
        whole.link_in(llvm.parse_assembly(_FOUND.format(name=name)))
    return whole


def _order(library: Any) -> int:
    """Functions first: of the other libraries only that is linked which somebody has asked for by then."""
    return (1 if library.is_ready else 0) if isinstance(library, KernelPart) else 2


def _mark(module: Any, linkage: str, but: str = "") -> None:
    for function in module.functions:
        if not function.is_declaration and function.name != but:
            function.linkage = linkage


_FOR_CLOSURES: Final = {untyped_passes.InlineClosureLikes, untyped_passes.MakeFunctionToJitFunction}
"""A third of the compiler's time, for functions and comprehensions inside functions, and for ``reduce``."""
_UNUSED: Final = {untyped_passes.WithLifting, typed_passes.DumpParforDiagnostics}


@register_pass(mutates_CFG=True, analysis_only=False)
class RewriteArrayExpressions(typed_passes.NopythonRewrites):  # type: ignore[misc]  # as above
    """Numba's pass that makes one loop of an expression over arrays, where there is one."""

    _name = "zermelo_array_expressions"

    def run_pass(self, state: Any) -> bool:
        """Whether anything was changed."""
        arrays = (
            isinstance(getattr(signature, "return_type", None), types.Array) and expression.op != "call"
            for expression, signature in state.calltypes.items()
            if hasattr(expression, "op")
        )
        return any(arrays) and bool(super().run_pass(state))


@register_pass(mutates_CFG=False, analysis_only=False)
class FoldVariants(FunctionPass):  # type: ignore[misc]  # as above
    """Writes the fields of named tuples that modules hold where functions read them, before dead branches go.

    Those are variants of kernels: Numba's own pass takes out only what a global name itself decides.
    """

    _name = "zermelo_fold_variants"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Whether anything was changed."""
        code, is_changed = state.func_ir, False
        for block in code.blocks.values():
            for place in block.find_insts(ir.Assign):
                read = place.value
                if isinstance(read, ir.Expr) and read.op == "getattr":
                    owner = guard(get_definition, code, read.value)
                    value = _field(owner.value, read.attr) if isinstance(owner, ir.Global | ir.FreeVar) else None
                    if value is not None:
                        called = isinstance(value, PartDispatcher)
                        folded = ir.Global(read.attr, value, read.loc) if called else ir.Const(value, read.loc)
                        found = code._definitions[place.target.name]
                        found[found.index(read)] = place.value = folded
                        is_changed = True
        return is_changed


def _field(owner: Any, name: str) -> Any:
    """A field of a named tuple that code can have in it: a number, a flag or a compiled function; else None."""
    if not isinstance(owner, tuple) or name not in getattr(owner, "_fields", ()):
        return None
    value = getattr(owner, name)
    return value if isinstance(value, bool | int | float | PartDispatcher) else None


class PartCompiler(CompilerBase):  # type: ignore[misc]  # as above
    """Numba's compiler, which leaves a function's code as a part, and passes out that have nothing to do."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes for this function, which begin here."""
        check_interrupt()
        state = self.state
        state.library = KernelPart(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        code = state.func_id.code
        has_closures = "reduce" in code.co_names or any(
            isinstance(constant, python_types.CodeType) for constant in code.co_consts
        )
        left_out = _UNUSED if has_closures else _UNUSED | _FOR_CLOSURES
        manager = PassManager("part")
        for each, description in DefaultPassBuilder.define_nopython_pipeline(state).passes:
            if each is untyped_passes.DeadBranchPrune:
                manager.add_pass(FoldVariants, "fold variants")
            if each is typed_passes.NopythonRewrites:
                manager.add_pass(RewriteArrayExpressions, description)
            elif each not in left_out:
                manager.add_pass(each, description)
        manager.finalize()
        return [manager]


class PartDispatcher(CPUDispatcher):  # type: ignore[misc]  # as above
    """A function compiled once for all numbers: Numba has another one for each that is written out.

    ``ready`` give it a compiled function for some types, if they have one; ``plain`` is the function that it is a
    copy of.
    """

    def __init__(
        self,
        function: python_types.FunctionType,
        plain: python_types.FunctionType,
        options: dict[str, Any],
        ready: Sequence[Callable[[Any, tuple[Any, ...]], bool]] = (),
    ) -> None:
        super().__init__(function, {}, {"nopython": True, "boundscheck": None, **options}, PartCompiler)
        self.plain, self._ready = plain, ready

    def compile(self, signature: Any) -> Any:
        """Compiles the function for these types, unless it is at hand."""
        arguments = tuple(normalize_signature(signature)[0])
        if arguments not in self.overloads:
            any(add(self, arguments) for add in self._ready)
        return super().compile(signature)

    def __call__(self, *args: Any) -> Any:
        """Runs the function as Python: its machine code has no address that Python could call."""
        return self.py_func(*args)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For numbers that are not known, unless the function needs to know them, as to take a part of a tuple."""
        plain = tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
        try:
            return super().get_call_template(*plain)
        except TypingError:
            if plain == (tuple(args), dict(kws)):
                raise
            return super().get_call_template(args, kws)
