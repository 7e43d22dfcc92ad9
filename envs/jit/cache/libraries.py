"""Which modules, classes and functions are a library's, and so known by their name and the library's version."""

from __future__ import annotations

import sys
import sysconfig
import types
from typing import Any

_PACKAGES = {"numpy", "numba", "llvmlite"}
"""Besides Python's own modules, these are known by their names: their versions are part of every file's name."""


def name_in_library(value: Any) -> str:
    """The name of a module, class or function of Python's own, or of a package whose version counts.

    Empty for anything else, whatever it says of itself: the library must have it under that name.
    """
    if isinstance(value, types.ModuleType):
        is_named = sys.modules.get(value.__name__) is value
        return value.__name__ if is_named and _is_library(value.__name__) else ""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or not _is_library(module):
        return ""
    if isinstance(value, types.FunctionType) and not _is_library(str(value.__globals__.get("__name__"))):
        return ""
    for called in ("__qualname__", "__name__"):
        if isinstance(name := getattr(value, called, None), str):
            found: Any = sys.modules.get(module)
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is value:
                return f"{module}.{name}"
    return ""


def _is_library(module: str) -> bool:
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:  # unless it is a file of the user's, called like one of them
        file = getattr(sys.modules.get(package), "__file__", None)
        return file is None or bool(file.startswith(sysconfig.get_path("stdlib")))
    return package in _PACKAGES
