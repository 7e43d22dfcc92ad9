"""Runs kernels in threads of their own, so that Ctrl-C and time limits are answered while they compute.

Compiled code holds no interpreter lock, but Python can only act on Ctrl-C between two of its own instructions: so
the calling thread waits, and a kernel that must end is told through the stop flag in its context.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from zermelo.agents.compiled.context import Context

__all__ = ["race", "share"]

_AnyContext = TypeVar("_AnyContext", bound=Context)

_POLL = 0.01
"""Seconds between two looks at the clock while kernels run."""

_pool: ThreadPoolExecutor | None = None
_pool_owner = 0


def _threads() -> ThreadPoolExecutor:
    """The threads that kernels run in, made anew in a forked child."""
    global _pool, _pool_owner
    if _pool is None or _pool_owner != os.getpid():
        _pool = ThreadPoolExecutor(max_workers=max(64, 4 * (os.cpu_count() or 1)), thread_name_prefix="zermelo")
        _pool_owner = os.getpid()
    return _pool


def race(
    call: Callable[[_AnyContext], int],
    contexts: Sequence[_AnyContext],
    check: Callable[[], None],
    *,
    short: bool = False,
) -> int:
    """Lets every context's kernel search the same thing; the first to finish answers and the others are stopped.

    Args:
        call: Runs the kernel with one context.
        contexts: One a thread.
        check: Called every hundredth of a second; what it raises stops the kernels and is passed on.
        short: The call is known to be short: it is made here, in the calling thread.
    """
    if short and len(contexts) == 1:
        return call(contexts[0])
    running = [_threads().submit(call, context) for context in contexts]
    try:
        _wait(running, check, all_of_them=False)
        answer: int = next(future for future in running if future.done()).result()
    finally:
        _stop(running, contexts)
    return answer


def share(call: Callable[[_AnyContext], int], contexts: Sequence[_AnyContext], check: Callable[[], None]) -> None:
    """Lets every context's kernel do its part of a common work; all are waited for."""
    running = [_threads().submit(call, context) for context in contexts]
    try:
        _wait(running, check, all_of_them=True)
    finally:
        _stop(running, contexts)
    for future in running:
        future.result()


def _wait(running: Sequence[Future[int]], check: Callable[[], None], *, all_of_them: bool) -> None:
    waiting = set(running)
    while waiting:
        done, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
        if done and not all_of_them:
            return
        if waiting:
            check()


def _stop(running: Sequence[Future[int]], contexts: Sequence[Context]) -> None:
    """Ends what still runs, and waits until it has: the memory it writes to is about to go."""
    for future, context in zip(running, contexts, strict=True):
        if not future.done():
            context.stop()
    while True:
        try:
            wait(running)
            return
        except KeyboardInterrupt:  # pressed twice: the kernels are ending already
            continue
