"""What a process and its children use, as Linux says it (elsewhere nothing)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from zermelo.evaluation.sandbox.child_process import children

__all__ = ["cpu_seconds", "resident_mb"]


def _family(pid: int) -> Iterator[int]:
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += children(one)


def resident_mb(pid: int) -> float:
    """Resident memory, in MiB."""
    total = 0.0
    for one in _family(pid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return total


def cpu_seconds(pid: int) -> float:
    """Processor time, of all threads and of children that have ended too."""
    total = 0
    for one in _family(pid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return total / os.sysconf("SC_CLK_TCK")
