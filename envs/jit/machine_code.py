"""Machine code in files: written from LLVM's text, read back without Numba.

A file says what it is, then come a checksum, a line that says what to call, and one object file in the platform's
own format. The checksum covers all that follows it, and the file's name: a file that is torn, damaged or another's
is as good as none. There are no Python objects in it, so reading one runs no code but the kernel's.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import llvmlite.binding as llvm

from zermelo.envs.errors import RulesError
from zermelo.envs.rules.arrays import TABLE
from zermelo.envs.support.files import read_file, replaced

MAGIC: Final = b"zermelo machine code 2"
LARGEST: Final = 1 << 28
"""Bytes of a kernel's file; of a larger one nothing is read."""
_MEMORY: Final = {"NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor"}
_MEMORY_OF_C: Final = """
declare ptr @malloc(i64)
declare void @free(ptr)
define void @NRT_MemInfo_call_dtor(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %step = zext i32 %align to i64
  %head = add i64 %step, 48
  %all = add i64 %size, %head
  %memory = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %filled
filled:
  %address = ptrtoint ptr %memory to i64
  %behind = add i64 %address, %head
  %rest = urem i64 %behind, %step
  %start = sub i64 %behind, %rest
  %data = inttoptr i64 %start to ptr
  store { i64, ptr, ptr, ptr, i64, ptr } { i64 1, ptr null, ptr null, ptr null, i64 0, ptr null }, ptr %memory
  %slot = getelementptr i8, ptr %memory, i64 24
  store ptr %data, ptr %slot
  %bytes = getelementptr i8, ptr %memory, i64 32
  store i64 %size, ptr %bytes
  br label %end
end:
  ret ptr %memory
}
"""
"""What gives and frees an array's memory, as ``MemInfo`` of Numba's ``nrt.cpp`` lays it out, without Numba."""
_COUNTING: Final = """
declare void @NRT_MemInfo_call_dtor(ptr)
define void @NRT_decref(ptr %memory) noinline {
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %counted
counted:
  fence release
  %before = atomicrmw sub ptr %memory, i64 1 monotonic
  %last = icmp eq i64 %before, 1
  br i1 %last, label %free, label %end
free:
  fence acquire
  call void @NRT_MemInfo_call_dtor(ptr %memory)
  br label %end
end:
  ret void
}
"""
"""Numba's function that counts references down: its own is written for this processor already."""
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


class Processor(NamedTuple):
    """The processor that machine code is made for.

    Attributes:
        triple: The platform, as LLVM writes it.
        name: The processor, as LLVM calls it.
        features: What it has besides.
    """

    triple: str
    name: str
    features: str = ""


@functools.cache
def processor() -> Processor:
    """This processor, or the one that Numba is told to compile for."""
    name, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = "" if name else ",".join(f"{'+' if has else '-'}{each}" for each, has in _features().items())
    return Processor(llvm.get_process_triple(), name or llvm.get_host_cpu_name(), features)


def _features() -> dict[str, bool]:
    try:
        return dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM does not know this processor's
        return {}


_V2: Final = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}
_V3: Final = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
BASELINES: Final[dict[str, dict[str, set[str]]]] = {
    "x86_64": {"x86-64-v3": _V3, "x86-64-v2": _V2},
    "aarch64": {"generic": set()},
}
"""Baselines of processors, the best first, by architecture: LLVM's name, and the features that it takes."""


def platform_of(triple: str) -> tuple[str, str]:
    """The architecture and the system in a triple of LLVM's, whose versions count for nothing."""
    architecture, *system = triple.replace("arm64-", "aarch64-").split("-")
    return architecture, next((name for name in ("linux", "darwin", "windows") if name in "".join(system)), "")


@functools.cache
def baselines() -> list[str]:
    """The baselines that this processor has, the best first; none where Numba is told what to compile for."""
    if os.environ.get("NUMBA_CPU_NAME") or os.environ.get("NUMBA_CPU_FEATURES") is not None:
        return []
    known = BASELINES.get(platform_of(llvm.get_process_triple())[0], {})
    has = {name for name, is_there in _features().items() if is_there}
    return [name for name, needed in known.items() if needed <= has]


def machine_for(of: Processor) -> Any:
    """LLVM's description of a processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(of.triple).create_target_machine(
        cpu=of.name, features=of.features, opt=3, reloc="default", codemodel="jitdefault", jit=True
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
    passes.add_strip_symbols_pass()  # half of the size of bitcode
    passes.run(module, builder)


def emit(module: Any, entry: str, of: Processor | None = None) -> Code:
    """The machine code of a module of LLVM's, which is optimized, for this processor or another."""
    machine = machine_for(of or processor())
    if of is not None:
        module.triple, module.data_layout = of.triple, str(machine.target_data)
    _optimize(module, machine)
    return Code(entry, _needs(module), machine.emit_object(module), _ADDRESS.search(str(module)) is None)


ANY_PROCESSOR: Final = Processor("x86_64-unknown-linux-gnu", "x86-64-v3")
"""The processor by whose costs bitcode for all of them is optimized: what is left is to write its machine code."""
_OF_C: Final = {
    *("acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "expm1", "floor", "fmod", "free", "hypot"),
    *("log", "log10", "log1p", "log2", "malloc", "memcpy", "memmove", "memset", "pow", "sin", "sinh", "sqrt"),
    *("tan", "tanh"),
}
"""Functions of C that every platform has."""
_OF_ONE = re.compile(r"@llvm\.(x86|aarch64|arm|ppc|riscv|s390|wasm|loongarch)\.| asm ")
"""Instructions that only some processors have."""


def portable(module: Any, entry: str) -> Code:
    """The bitcode of a module of LLVM's, which is optimized, for all platforms with the same sizes and byte order.

    It cannot be kept if it needs functions that only Numba has, or that not all platforms have.
    """
    machine = machine_for(ANY_PROCESSOR)
    module.triple, module.data_layout = ANY_PROCESSOR.triple, str(machine.target_data)
    for function in module.functions:
        if function.name == "NRT_decref" and not function.is_declaration:
            function.linkage = "weak_any"
            _link_in(module, _COUNTING)
            module.get_function("NRT_decref").linkage = "internal"
    _optimize(module, machine)
    needs = _needs(module)
    module.triple = module.data_layout = ""
    text = str(module)
    is_everywhere = all(name in _OF_C or name.startswith(TABLE) for name in needs)
    is_free = is_everywhere and not _ADDRESS.search(text) and not _OF_ONE.search(text)
    return Code(entry, needs, module.as_bitcode(), is_free)


def _link_in(module: Any, text: str) -> None:
    added = llvm.parse_assembly(text)
    added.triple, added.data_layout = module.triple, module.data_layout
    module.link_in(added)


def emit_portable(bitcode: Code, of: Processor | None = None) -> Code | None:
    """The machine code of a kernel's bitcode, for this processor or another.

    None if this LLVM cannot read it, or this process does not have a function that it needs.
    """
    _import_c()
    if of is None and not all(name.startswith(TABLE) or llvm.address_of_symbol(name) for name in bitcode.needs):
        return None
    of = of or processor()
    machine = machine_for(of)
    try:
        module = llvm.parse_bitcode(bitcode.data)
        module.triple, module.data_layout = of.triple, str(machine.target_data)
        module.verify()
    except RuntimeError:
        return None
    return Code(bitcode.entry, bitcode.needs, machine.emit_object(module))


def _needs(module: Any) -> tuple[str, ...]:
    """The symbols that a module expects from elsewhere; memory comes from C where that is all it asks of Numba."""
    asked = {name for name in _missing(module) if name.startswith("NRT_")}
    if asked and asked <= _MEMORY:
        _link_in(module, _MEMORY_OF_C)
    return tuple(_missing(module))


def _missing(module: Any) -> list[str]:
    """The symbols that a module expects from elsewhere."""
    declared = [*module.functions, *module.global_variables]
    return [each.name for each in declared if each.is_declaration and not each.name.startswith("llvm.")]


def _import_functions() -> None:
    """Makes the functions known that Numba's machine code calls, such as those that arrays get memory from."""
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    rtsys.initialize(cpu_target.target_context)


@functools.cache
def _import_c() -> None:
    """Makes functions of C known, also for instructions that become calls of them, such as a logarithm."""
    names = {"win32": ("ucrtbase",), "linux": (None, "libm.so.6")}.get(sys.platform, (None,))
    for name in names:
        with contextlib.suppress(OSError):  # another C library, which has all in one
            library = ctypes.CDLL(name)
            for each in _OF_C:
                if llvm.address_of_symbol(each) is None and hasattr(library, each):
                    llvm.add_symbol(each, ctypes.cast(library[each], ctypes.c_void_p).value)


_LINKING: Final = threading.Lock()
"""A symbol has one address at a time, and tables of two rules may have one name."""


def link(
    code: Code, arguments: Sequence[str], tables: Mapping[str, Callable[[], int]] = MappingProxyType({})
) -> Callable[..., int]:
    """The function in some machine code, for arguments of these types; it runs without the interpreter's lock.

    ``tables`` are those that it may read, by their symbols.
    """
    with _LINKING:
        return _linked(code, arguments, {name: tables[name] for name in code.needs if name in tables})


def _linked(code: Code, arguments: Sequence[str], tables: Mapping[str, Callable[[], int]]) -> Callable[..., int]:
    _import_c()
    for name, address in tables.items():
        llvm.add_symbol(name, address())
    if any(llvm.address_of_symbol(name) is None for name in code.needs):
        _import_functions()
        missing = [name for name in code.needs if llvm.address_of_symbol(name) is None]
        if missing:
            raise RulesError(f"compiled rules need {', '.join(missing)}, which this process does not have")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine_for(processor()))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.data))
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *(_KINDS[kind] for kind in arguments))
    found: Any = function(engine.get_function_address(code.entry))
    found.engine, found.tables = engine, tables  # the code lives as long as its engine, and needs its tables
    return found  # type: ignore[no-any-return]  # a ctypes function


def packed(name: str, code: Code) -> bytes:
    """Code as the content of the file with this name."""
    content = json.dumps({"entry": code.entry, "needs": code.needs}).encode() + b"\n" + code.data
    return b"\n".join((MAGIC, _checksum(name, content), content))


def unpacked(name: str, packed: bytes) -> Code | None:
    """The code in the content of a file; None if it is not what was written, as it was, under this name."""
    try:
        magic, checksum, content = packed.split(b"\n", 2)
        if magic != MAGIC or checksum != _checksum(name, content):
            return None
        head, data = content.split(b"\n", 1)
        header = json.loads(head)
        return Code(str(header["entry"]), tuple(map(str, header["needs"])), data)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(os.fsencode(name) + b"\n" + content).hexdigest().encode()


def read(path: Path) -> Code | None:
    """The machine code in a file; None if there is none that was written, as it is, under this name."""
    try:
        return unpacked(path.name, read_file(path, LARGEST))
    except OSError:
        return None


def write(path: Path, code: Code) -> None:
    """Writes a file, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    with replaced(path) as partial:
        partial.write_bytes(packed(path.name, code))
