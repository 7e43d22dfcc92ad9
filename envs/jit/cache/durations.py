"""How long compiling takes on this machine: the times of the last kernels, kept in the cache folder."""

from __future__ import annotations

import contextlib
import statistics
from typing import Annotated, Final

import msgspec

from zermelo.envs.support.files import cache_root, read_checked, write_checked

_NAME: Final = "compile_seconds"
_MOST: Final = 9
_LARGEST: Final = 4096
_UNKNOWN: Final = "some 2 to 20 s"
_Seconds = Annotated[float, msgspec.Meta(ge=0)]


def _seconds() -> list[float]:
    """The last times; none where there is no file, or another."""
    content = read_checked(cache_root() / _NAME, _LARGEST)
    try:
        return [] if content is None else msgspec.json.decode(content, type=list[_Seconds])[-_MOST:]
    except (ValueError, RecursionError):
        return []


def about() -> str:
    """How long a kernel takes to compile, as a message says it."""
    known = _seconds()
    return f"about {max(statistics.median(known), 1):.0f} s" if known else _UNKNOWN


def add(seconds: float) -> None:
    """Keeps the time of one more kernel, where the folder can be written to."""
    with contextlib.suppress(OSError):
        write_checked(cache_root() / _NAME, msgspec.json.encode([*_seconds(), round(seconds, 2)][-_MOST:]))
