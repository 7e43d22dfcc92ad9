"""Kernels that come with the package for all platforms and versions of Python: one archive of LLVM's bitcode.

A name in it has a hash of the sources of everything that the kernel was made from (``fingerprint``). Sources that
were edited are not found, and are compiled. Beside bitcode there is machine code for baselines of processors.
``scripts/ship_kernels.py`` writes the archive.
"""

from __future__ import annotations

import ctypes
import lzma
import struct
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from zermelo.envs.jit.cache.code_cache import hashed_name
from zermelo.envs.jit.machine_code import LARGEST, Code, baselines, packed, platform_of, processor, unpacked
from zermelo.envs.support.files import replaced

ARCHIVE: Final = Path(__file__).with_name("kernels.zip")
_DATE: Final = (2000, 1, 1, 0, 0, 0)
"""The date of every file in the archive, so that the same kernels make the same archive."""
_DAMAGED: Final = (
    *(OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, OverflowError, MemoryError),
    *(struct.error, zipfile.BadZipFile, lzma.LZMAError),
)
"""What Python raises of an archive that is damaged, whichever byte it is."""


def portable_name(rules: Any, state: Any, kernel: Any) -> str:
    """The name of a kernel's bitcode for some rules.

    Raises:
        UncomparableError: There cannot be one: the source of something is not at hand.
    """
    return hashed_name(rules, state, kernel, by_source=True)


def object_name(name: str, triple: str, baseline: str) -> str:
    """The name of the machine code of the same kernel for a baseline of processors."""
    return "-".join((name, *platform_of(triple), baseline))


def can_use_archive() -> bool:
    """Whether there is an archive, and this platform has the sizes and the byte order that it is for."""
    has_layout = sys.byteorder == "little" and ctypes.sizeof(ctypes.c_void_p) == 8  # bytes
    return has_layout and ARCHIVE.exists()


def archived_object(name: str) -> Code | None:
    """The machine code of a kernel for this processor, by the name of its bitcode, if the archive has it."""
    here = processor().triple
    objects = (archived(object_name(name, here, baseline)) for baseline in baselines())
    return next((code for code in objects if code is not None), None)


def archived(name: str, path: Path | None = None) -> Code | None:
    """What an archive has under a name; None if it is damaged."""
    try:
        with zipfile.ZipFile(path or ARCHIVE) as archive, archive.open(name) as file:
            return unpacked(name, file.read(LARGEST))
    except _DAMAGED:
        return None


def names_in_archive(path: Path) -> frozenset[str]:
    """The names in an archive; none if there is no archive, or it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except _DAMAGED:
        return frozenset()


def write_archive(path: Path, kernels: Mapping[str, Code]) -> int:
    """Writes an archive, whole or not at all, and returns its bytes; the same kernels make the same archive.

    Raises:
        OSError: It cannot be written.
    """
    with replaced(path) as partial:
        with zipfile.ZipFile(partial, "w") as archive:
            for name in sorted(kernels):
                about = zipfile.ZipInfo(name, _DATE)
                archive.writestr(about, packed(name, kernels[name]), zipfile.ZIP_LZMA)
        return partial.stat().st_size


def kernels_in(path: Path) -> dict[str, Code]:
    """All that an archive has, by its names; what is damaged is left out."""
    found = {name: archived(name, path) for name in names_in_archive(path)}
    return {name: code for name, code in found.items() if code is not None}
