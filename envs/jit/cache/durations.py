"""How long compiling takes on this machine: the times of the last kernels, kept in the cache folder."""

from __future__ import annotations

import contextlib
import json
import math
import statistics
from typing import Any, Final

from zermelo.envs.support.files import cache_root, read_file, replaced

_MOST: Final = 9
_LARGEST: Final = 4096
_UNKNOWN: Final = "some 2 to 20 s"


def _seconds() -> list[float]:
    """The last times; none where there is no file, or another."""
    try:
        found: Any = json.loads(read_file(cache_root() / "compile_seconds.json", _LARGEST))
    except (OSError, ValueError, RecursionError):
        return []
    is_right = isinstance(found, list) and all(type(one) is float and math.isfinite(one) for one in found)
    return [max(one, 0.0) for one in found[-_MOST:]] if is_right else []


def about() -> str:
    """How long a kernel takes to compile, as a message says it."""
    known = _seconds()
    return f"about {max(statistics.median(known), 1):.0f} s" if known else _UNKNOWN


def add(seconds: float) -> None:
    """Keeps the time of one more kernel, where the folder can be written to."""
    path = cache_root() / "compile_seconds.json"
    with contextlib.suppress(OSError), replaced(path) as partial:
        partial.write_text(json.dumps([*_seconds(), round(seconds, 2)][-_MOST:]))
