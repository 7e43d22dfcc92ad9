"""Numba's cache file, with the classes of a game called by name.

Numba keeps the types of a kernel's arguments with its machine code, and the classes in them by value where they
cannot be imported: those of a script that is being run, of a notebook, of a function. Read back they would be
other classes, and the machine code would be of no use. Here the rules' classes are written as a name, and read
as the class that the reader has.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import NumbaPickler

__all__ = ["call_classes_by_name"]


def call_classes_by_name(dispatcher: Any, classes: Mapping[str, type]) -> bool:
    """Has a caching dispatcher write and read these classes as names; False where this Numba works otherwise."""
    cache: Any = getattr(dispatcher, "_cache", None)
    old = getattr(cache, "_cache_file", None)
    if type(old) is not IndexDataCacheFile or not hasattr(old, "_source_stamp"):
        return False
    cache._cache_file = _NamedClassesFile(old, classes)
    return True


class _NamedClassesFile(IndexDataCacheFile):
    """One kernel's index and machine code on disk."""

    def __init__(self, old: Any, classes: Mapping[str, type]) -> None:
        self.__dict__.update(vars(old))
        self._classes = dict(classes)
        self._names = {kind: name for name, kind in classes.items()}

    def _dump(self, thing: Any) -> bytes:
        names = self._names

        class Pickler(NumbaPickler):
            def persistent_id(self, thing: Any) -> str | None:
                return names.get(thing) if isinstance(thing, type) else None

        with io.BytesIO() as buffer:
            Pickler(buffer, protocol=4).dump(thing)
            return buffer.getvalue()

    def _read(self, data: bytes) -> Any:
        classes = self._classes

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, name: str) -> type:
                return classes[name]

        return Unpickler(io.BytesIO(data)).load()

    def _load_index(self) -> Any:
        try:
            with open(self._index_path, "rb") as file:
                version = pickle.load(file)
                data = file.read()
        except FileNotFoundError:
            return {}
        if version != self._version:
            return {}
        stamp, overloads = self._read(data)
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            return self._read(file.read())
