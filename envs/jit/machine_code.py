"""Machine code in files: written from LLVM's text, read back without Numba.

A file has one object file in the platform's own format, after a line that says what to call in it and a hash that
shows a torn file. It holds no Python objects, so reading one runs no code but the kernel's.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from zermelo.envs.errors import RulesError
from zermelo.envs.files import replaced

__all__ = ["MAGIC", "Code", "emit", "link", "processor", "read", "write"]

MAGIC = b"zermelo machine code 1\n"
_FREE = "NRT_MemInfo_call_dtor"
"""What frees an array's memory: never called where nothing allocates any, as memory is only borrowed then."""
_DAY = 24 * 3600.0
_ADDRESS = re.compile(r"inttoptr \(i64 -?\d{6,}")
_KINDS: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double}


class Code(NamedTuple):
    """A kernel's object file.

    Attributes:
        entry: The symbol to call.
        needs: Symbols that it expects from elsewhere.
        data: The object file.
        can_be_kept: Whether another process can use it: no address of this one is in it.
    """

    entry: str
    needs: tuple[str, ...]
    data: bytes
    can_be_kept: bool = True


@functools.cache
def processor() -> tuple[str, str]:
    """The processor that code is made for, and its features: this one's, or what Numba is told to take."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know this processor's
        features = ""
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    return name, os.environ.get("NUMBA_CPU_FEATURES", "" if os.environ.get("NUMBA_CPU_NAME") else features)


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=name, features=features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def _optimize(module: Any, machine: Any) -> None:
    """Optimizes a module as a whole; counts of references that cancel out are dropped, as Numba does."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)


def emit(module: Any, entry: str) -> Code:
    """The machine code of a module of LLVM's, which is optimized."""
    machine = _machine()
    _optimize(module, machine)
    needs = _missing(module)
    if [name for name in needs if name.startswith("NRT_")] == [_FREE]:
        module.link_in(llvm.parse_assembly(f"define void @{_FREE}(ptr %memory) {{ ret void }}"))
        needs.remove(_FREE)
    return Code(entry, tuple(needs), machine.emit_object(module), _ADDRESS.search(str(module)) is None)


def _missing(module: Any) -> list[str]:
    """The symbols that a module expects from elsewhere."""
    declared = [*module.functions, *module.global_variables]
    return [each.name for each in declared if each.is_declaration and not each.name.startswith("llvm.")]


def _import_functions() -> None:
    """Makes the functions known that Numba's machine code calls, such as those that arrays get memory from."""
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    rtsys.initialize(cpu_target.target_context)


def link(code: Code, arguments: Sequence[str]) -> Callable[..., int]:
    """The function in some machine code, for arguments of these types; it runs without the interpreter's lock."""
    if any(llvm.address_of_symbol(name) is None for name in code.needs):
        _import_functions()
        missing = [name for name in code.needs if llvm.address_of_symbol(name) is None]
        if missing:
            raise RulesError(f"compiled rules need {', '.join(missing)}, which this process does not have")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.data))
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *(_KINDS[kind] for kind in arguments))
    found: Any = function(engine.get_function_address(code.entry))
    found.engine = engine  # the code lives as long as its engine
    return found  # type: ignore[no-any-return]  # a ctypes function


def read(path: Path) -> Code | None:
    """The machine code in a file; None if there is none, or not a whole one."""
    try:
        magic, head, data = path.read_bytes().split(b"\n", 2)
        told = json.loads(head)
        if magic + b"\n" != MAGIC or hashlib.sha256(data).hexdigest() != told["sha256"]:
            return None
        if time.time() - path.stat().st_mtime > _DAY:
            with contextlib.suppress(OSError):
                os.utime(path)  # what is used is not cleared away
        return Code(str(told["entry"]), tuple(map(str, told["needs"])), data)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write(path: Path, code: Code) -> None:
    """Writes a file, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    head = {"entry": code.entry, "needs": code.needs, "sha256": hashlib.sha256(code.data).hexdigest()}
    with replaced(path) as partial:
        partial.write_bytes(MAGIC + json.dumps(head).encode() + b"\n" + code.data)
