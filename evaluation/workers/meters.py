"""Which processes a process has started, and what they use: as Linux's /proc says it, elsewhere as psutil does.

On Linux psutil would read the state of every process there is to find the children of one, after each move.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def children(pid: int) -> list[int]:
    """The child processes of a process, ended ones that nobody has waited for included."""
    pids: list[int] = []
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    pids += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    else:
        import psutil

        with contextlib.suppress(psutil.Error):
            pids += [child.pid for child in psutil.Process(pid).children()]
    return pids


def is_zombie(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True
    else:
        import psutil

        try:
            return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return True


def resident_mb(pid: int) -> float:
    """Resident memory of a process and those that it has started, in MiB."""
    total, family = 0.0, [pid]
    for one in family:
        family.extend(children(one))  # which come next
        if sys.platform == "linux":
            with contextlib.suppress(OSError, ValueError, IndexError):
                total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        else:
            import psutil

            with contextlib.suppress(psutil.Error):
                total += psutil.Process(one).memory_info().rss
    return total / 2**20
