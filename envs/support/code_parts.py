"""What functions, classes and objects are made of, for hashes of code: nothing here is called."""

from __future__ import annotations

import ast
import contextlib
import copyreg
import dis
import enum
import functools
import importlib
import importlib.util
import inspect
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.support.source import lines_of, source_of

_BY_NAME: Final = {"numpy", "numba", "llvmlite"}
"""Packages whose modules, classes and functions are known by their names, as Python's own are: where they decide
something, their versions count too."""
_OF_CLASSES: Final = {
    *("__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__", "__slots__"),
    *("__firstlineno__", "__static_attributes__", "__orig_bases__", "__parameters__", "__match_args__"),
    "__slotnames__",  # which a first copy or pickle writes into the class
    *("__abstractmethods__", "_abc_impl", "_is_protocol", "_is_runtime_protocol", "__protocol_attrs__"),
    *("__non_callable_proto_members__", "__dataclass_fields__", "__dataclass_params__", "__classcell__"),
    *("__subclasshook__", "__type_params__"),
}  # fmt: skip
"""Names in a class that Python writes."""
_OF_TUPLES: Final = {
    *("__new__", "__repr__", "__getnewargs__", "__replace__", "_make", "_replace", "_asdict"),
    *("_fields", "_field_defaults"),
}
_SLOTS: Final = types.MemberDescriptorType, types.GetSetDescriptorType
LRU_CACHE: Final = type(functools.lru_cache(len))


class UncomparableError(Exception):
    """Something that rules depend on cannot be compared with what another process has."""


class Reads(NamedTuple):
    """The names that a function reads, and the functions inside it."""

    names: frozenset[str]  # with those of attributes
    globals: frozenset[str]
    imports: frozenset[tuple[int, tuple[str, ...], str]]  # the level, the names, and of which module


@functools.lru_cache(maxsize=4096)  # by the code alone: equal code reads the same names
def reads_of(code: types.CodeType) -> Reads:
    """The names that code reads."""
    instructions = [each for each in dis.get_instructions(code) if each.opname not in ("EXTENDED_ARG", "CACHE")]
    names, found = set(code.co_names), {each.argval for each in instructions if each.opname in _LOADS}
    imports = {
        (level.argval, wanted.argval or (), each.argval)
        for level, wanted, each in zip(instructions, instructions[1:], instructions[2:], strict=False)
        if each.opname == "IMPORT_NAME"
    }
    for inner in (reads_of(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)):
        names, found, imports = names | inner.names, found | inner.globals, imports | inner.imports
    return Reads(frozenset(names), frozenset(found), frozenset(imports))


_LOADS: Final = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def imported(function: types.FunctionType, imports: frozenset[tuple[int, tuple[str, ...], str]]) -> Iterator[Any]:
    """The modules that a function imports, loaded as when it runs."""
    for level, wanted, name in sorted(imports):
        try:
            package = function.__globals__.get("__package__") or ""
            module = importlib.import_module(importlib.util.resolve_name("." * level + name, package))
        except (ImportError, ValueError):
            raise UncomparableError(f"{name or 'a package'}, which {function.__qualname__} imports") from None
        yield sys.modules[module.__name__.partition(".")[0]]
        yield module
        for each in wanted:
            with contextlib.suppress(ImportError):
                hasattr(module, each) or importlib.import_module(f"{module.__name__}.{each}")


def library_name(value: Any) -> str:
    """The name of a module, class or function of Python's own, or of a package that counts by name.

    Empty for anything else, whatever it says of itself: the library must have it under that name.
    """
    is_module = isinstance(value, types.ModuleType)
    module = value.__name__ if is_module else getattr(value, "__module__", None)
    name = "" if is_module else getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not _is_library(module):
        return ""
    if isinstance(value, types.FunctionType) and not _is_library(str(value.__globals__.get("__name__"))):
        return ""
    found: Any = sys.modules.get(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part, None)
    return f"library {module} {name}" if found is value else ""


def _is_library(module: str) -> bool:
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:  # unless it is a file of the user's, called like one of them
        file = getattr(sys.modules.get(package), "__file__", None)
        return file is None or bool(file.startswith(sysconfig.get_path("stdlib")))
    return package in _BY_NAME


def members(cls: Any) -> Iterator[tuple[str, Any]]:
    """What somebody has written into a class."""
    written = {*_OF_CLASSES, *(_OF_TUPLES.union(cls._fields) if "_fields" in vars(cls) else ())}
    is_enum, is_dataclass = issubclass(cls, enum.Enum), "__dataclass_fields__" in vars(cls)
    for name, value in sorted(vars(cls).items()):
        function = isinstance(value, types.FunctionType)
        if name in written or isinstance(value, _SLOTS):
            continue
        if is_enum and (name in cls.__members__ or (name.startswith("_") and not function) or library_name(value)):
            continue
        if is_dataclass and function and (name == "__repr__" or value.__code__.co_filename == "<string>"):
            continue  # its fields say it
        yield name, value


_DESCRIPTORS: Final = types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType


def parts_of(value: Any, name: str) -> tuple[Any, ...]:
    """The parts that an object is made of: what is called when it is used, or what copies it."""
    if hasattr(value, "py_func"):  # compiled by Numba
        return (value.py_func,)
    if isinstance(value, property):
        return value.fget, value.fset
    if isinstance(value, functools.cached_property):
        return (value.func,)
    if isinstance(value, staticmethod | classmethod):
        return (value.__func__,)
    if isinstance(value, types.MethodType):
        return value.__func__, value.__self__
    if isinstance(value, LRU_CACHE):
        return (value.__wrapped__,)
    if isinstance(value, _DESCRIPTORS):
        return value.__objclass__, value.__name__
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
        if value.__self__ is None or isinstance(value.__self__, types.ModuleType):
            raise UncomparableError(f"{name}, a function of a compiled module")
        return value.__self__, value.__name__
    if isinstance(value, np.ufunc):
        return (value.__name__,)
    try:
        reduce = copyreg.dispatch_table.get(type(value))
        made = reduce(value) if reduce else value.__reduce_ex__(2)
    except Exception:  # whatever its author raises
        raise UncomparableError(f"{name}, of type {type(value).__name__}") from None
    if isinstance(made, str):
        return (made,)
    return tuple(list(each) if isinstance(each, Iterator) else each for each in made)


def annotation_text(annotation: Any) -> str:
    """An annotation as it is written."""
    return annotation.__qualname__ if type(annotation) is type else str(annotation)


def content_of(cell: Any, name: str) -> Any:
    """The value of a variable of a closure."""
    try:
        return cell.cell_contents
    except ValueError:
        raise UncomparableError(f"{name}, which has no value yet") from None


def has_docstring(code: types.CodeType) -> bool:
    """True if the first constant of a function is its docstring."""
    is_first = bool(code.co_consts) and isinstance(code.co_consts[0], str) and not code.co_name.startswith("<")
    flag = inspect.CO_OPTIMIZED if sys.version_info < (3, 14) else 0x4000000  # CO_HAS_DOCSTRING
    return is_first and bool(code.co_flags & flag)


def tree_of(function: types.FunctionType) -> str:
    """The syntax tree of a function, without comments and docstrings."""
    code = function.__code__
    text = source_of(code)
    if not text or code not in _codes_in("\n".join(lines_of(code.co_filename))):
        raise UncomparableError(f"{function.__qualname__}, whose source is not at hand")
    tree = ast.parse(f"if 1:\n{text}" if text[0].isspace() else text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node):
            del node.body[0]
    return _dumped(tree)


@functools.lru_cache(maxsize=64)  # by the text itself
def _codes_in(text: str) -> frozenset[types.CodeType]:
    """The functions that a file's text is compiled to; those that run may be of an earlier text."""
    found, waiting = set[types.CodeType](), [compile(text, "", "exec", dont_inherit=True)]
    while waiting:
        inner = {each for each in waiting.pop().co_consts if isinstance(each, types.CodeType)}
        found |= inner
        waiting += inner
    return frozenset(found)


def _dumped(node: Any) -> str:
    """A syntax tree as text, the same in all versions of Python that know its nodes."""
    if isinstance(node, list):
        return f"[{','.join(map(_dumped, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = {name: getattr(node, name, None) for name in node._fields if name not in ("kind", "type_comment")}
    parts = (f"{name}={_dumped(each)}" for name, each in fields.items() if each is not None and each != [])
    return f"{type(node).__name__}({','.join(parts)})"
