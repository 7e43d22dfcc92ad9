"""The code of a kernel's functions, put together before it is optimized.

Left alone, Numba optimizes each function with all that it calls, and makes machine code of it, before it goes on
to the caller, where the same happens again: half of the compiler's time, for code that nobody calls. Here each
function is a part, which stays as Numba wrote it; the kernel is optimized when it is whole.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from zermelo.envs.jit.waiting import check_interrupt

_LATER = ".numba.unresolved$"
_FOUND = """
@".numba.unresolved${name}" = linkonce_odr constant ptr @"{name}"
declare void @"{name}"()
"""
"""What says where a function is that was called before it was compiled, as where two call each other."""


class _NoEngine:
    """What stands for the engine of machine code that a part is never given to."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: only functions that call back into Python read their environment."""


class Part(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """One function's code, which other parts call."""

    @property
    def codegen(self) -> Any:
        """Where Numba would announce the function's address."""
        return _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        """No address: a part is not called from outside."""
        self._ensure_finalized()
        return 0

    def finalize(self) -> None:
        """Nothing is to be done before the whole is there."""
        self._raise_if_finalized()
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        """For a library that is no part, such as a compiled function of the author's that calls one."""
        self._ensure_finalized()
        whole = self.whole()
        _mark(whole, "linkonce_odr")
        return whole

    def _needed(self, seen: dict[Any, None]) -> dict[Any, None]:
        """This library and those that it needs, each once."""
        if self not in seen:
            seen[self] = None
            for library in self._linking_libraries:
                if isinstance(library, Part):
                    library._needed(seen)
                else:
                    seen[library] = None
        return seen

    def whole(self, entry: str = "") -> Any:
        """This function and all that it calls, as one module of LLVM's, of which only ``entry`` is in sight."""
        whole = llvm.parse_assembly(str(self._codegen._create_empty_module(self.name)))
        needed = self._needed({})
        # Parts first: of the other libraries only that is linked which somebody has asked for by then.
        for library in sorted(needed, key=lambda library: not isinstance(library, Part)):
            module = library._final_module if isinstance(library, Part) else library._get_module_for_linking()
            whole.link_in(module, preserve=True)
        there = {function.name for function in whole.functions if not function.is_declaration}
        asked = [variable.name for variable in whole.global_variables if variable.is_declaration]
        for name in there & {name.removeprefix(_LATER) for name in asked if name.startswith(_LATER)}:
            whole.link_in(llvm.parse_assembly(_FOUND.format(name=name)))
        if entry:
            _mark(whole, "internal", entry)
        whole.verify()
        return whole


def _mark(module: Any, linkage: str, but: str = "") -> None:
    for function in module.functions:
        if not function.is_declaration and function.name != but:
            function.linkage = linkage


class PartCompiler(CompilerBase):  # type: ignore[misc]  # as above
    """Numba's compiler, which leaves a function's code as a part."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, which begin here for each function."""
        check_interrupt()
        self.state.library = Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]
