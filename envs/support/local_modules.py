"""Modules of the current folder, imported by name though Python's search path may lack that folder."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import ClassVar


class _Finder:
    """Finds what local modules import late, say when they make an environment; installed modules come first."""

    folders: ClassVar[list[str]] = []

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, cls.folders) if path is None else None


def search_path() -> list[str]:
    """The folders where another process has to look for the modules that this one can import."""
    folders = [path for path in sys.path if isinstance(path, str)]
    with contextlib.suppress(OSError):  # the current folder may have been removed
        folders = [path or os.getcwd() for path in folders]
    return folders + [folder for folder in _Finder.folders if folder not in folders]


def import_module(name: str) -> ModuleType:
    """Imports a module, which may be in the current folder; others beside it can then be imported at any time."""
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        return importlib.import_module(name)
    sys.path.insert(0, here)
    try:
        module = importlib.import_module(name)
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(here)
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    if here not in _Finder.folders and any(place.startswith(os.path.join(here, "")) for place in places):
        _Finder.folders.append(here)
        if _Finder not in sys.meta_path:
            sys.meta_path.append(_Finder)
    return module
