"""Memory and processors of this machine, and how much of them the settings of an agent may ask for.

An agent is refused when it is made, not when it takes the machine down. The limits are generous: they tell a slip,
such as two zeros too many, from a choice, however poor.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from pathlib import Path
from typing import Any, Final

from zermelo.agents.base.settings import check_number, check_whole, declared
from zermelo.envs.errors import InvalidSettingError

_FOR_EACH: Final = 8
_FEWEST: Final = 64
_LEAST_MB: Final = 1024.0
_CONTAINER: Final = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
"""Where Linux says how much memory a container may use."""


def default_threads() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads() -> int:
    """How many threads or processes a setting may ask for: eight for each processor, and 64 on any machine."""
    return max(_FEWEST, _FOR_EACH * default_threads())


@functools.cache
def most_megabytes() -> float:
    """How much memory a setting may ask for, in MiB: all of the machine's or container's, and 1,024 on any."""
    found = math.inf
    with contextlib.suppress(ValueError, OSError, AttributeError):
        found = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _CONTAINER:
        with contextlib.suppress(OSError, ValueError):  # there is none, or it says "max"
            found = min(found, float(Path(path).read_text()))
    return max(_LEAST_MB, found / 2**20)


def check_threads(name: str, value: Any) -> None:
    """A number of threads or processes, from 1 to ``most_threads()``."""
    check_whole(name, value, lower=1)
    if value > (most := most_threads()):
        raise InvalidSettingError(
            f"{name} must be at most {most:,} here, on {_processors()}, not {value:,}: take fewer"
        )


def check_memory(name: str, value: Any, *, lower: float = 0, above: bool = False) -> None:
    """Memory in MiB, from ``lower`` (or, with ``above``, from more than that) to ``most_megabytes()``."""
    check_number(name, value, lower=lower, above=above)
    if value > (most := most_megabytes()):
        raise InvalidSettingError(
            f"{name} must be at most {most:,.0f} here, the memory of this machine in MiB, not {value:,}: take less"
        )


def thread_count(default: int) -> Any:
    """A setting that ``check_threads`` checks."""
    return declared(default, check_threads, "a whole number of at least 1", "threads")


def megabytes(default: float) -> Any:
    """A setting that ``check_memory`` checks."""
    return declared(default, check_memory, "a number from 0", "MiB")


def _processors() -> str:
    count = default_threads()
    return f"{count} processor{'s' * (count > 1)}"
