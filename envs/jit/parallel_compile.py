"""Several kernels compiled at once, on several processors: further ones in processes of their own.

Numba compiles one function at a time in a process. What such a process has compiled is in the cache when this one
comes to it; it waits if it comes earlier.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
from collections.abc import Sequence

from zermelo.envs.jit.build import build, is_to_be_compiled
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.support.processes import FreshProcess


def start_compilers(wanted: Sequence[Wanted], processors: int) -> None:
    """Starts compilers for kernels that are neither built nor in the cache.

    The first is left to this process. Where there is one processor, or one kernel to compile, there is nothing to
    start. Processes end with their work, or with this one.
    """
    distinct = {(type(each.rules), each.kernel): each for each in wanted}
    missing = [each for each in distinct.values() if is_to_be_compiled(*each)]
    count = min(len(missing), processors) - 1
    for place in range(count):
        _start(list(reversed(missing[1 + place :: count])))


def _start(share: list[Wanted]) -> None:
    try:
        work = pickle.dumps(share)
        process = FreshProcess("zermelo.envs.jit.parallel_compile:serve")
    except Exception:  # rules that another process cannot import, or no room for one: this one compiles them
        return
    threading.Thread(target=_feed, args=(process, work), daemon=True).start()


def _feed(process: FreshProcess, work: bytes) -> None:
    """Sends a process its work, and holds the pipe open: where this process ends, that one sees it."""
    with contextlib.suppress(OSError):  # it has ended
        process.pipe.write(work)
        process.pipe.flush()
    process.close()


def serve(source: int) -> None:
    """What such a process does: it compiles what it is sent, and keeps it in the cache."""
    with open(source, "rb", closefd=False) as file:
        share: list[Wanted] = pickle.load(file)
    threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
    for rules, kernel in share:
        if is_to_be_compiled(rules, kernel):
            build(rules, kernel)


def _end_with_parent(source: int) -> None:
    os.read(source, 1)  # there is nothing more to come but its end
    os._exit(0)
