"""Runs kernels in threads of their own, so that Ctrl-C and time limits are answered while they compute.

Compiled code holds no interpreter lock, but Python can only act on Ctrl-C between two of its own instructions: so
the calling thread waits, and a kernel that must end is told through the ``stop`` of its search.

The threads have a stack of a known size, which the kernels mind (``memory.has_room``): how much the caller's own
thread has left, nobody knows.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final, TypeVar

from zermelo.agents.base.machine import check_threads, default_threads, most_threads
from zermelo.agents.kernels.layout import OUT_OF_NODES, KernelRecord

Record = TypeVar("Record", bound=KernelRecord)

_POLL: Final = 0.01
"""Seconds between two looks at the clock while kernels run."""
_STACK: Final = 64 << 20
"""Bytes of stack for a thread. The system gives memory only to what is used."""
_SPARE_STACK: Final = 1 << 18
"""Stack for Python and for functions that a kernel calls."""
_CALLERS_STACK: Final = 1 << 17
"""Stack for a kernel that is called in the caller's thread."""

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_owner = 0
_stack = _STACK


def _start(call: Callable[[Record], Any], search: Record) -> Future[int]:
    """Has a thread run a kernel. The pool is made anew in a forked child."""
    global _pool, _pool_owner
    with _lock:
        if _pool is None or _pool_owner != os.getpid():
            _pool = ThreadPoolExecutor(max_workers=most_threads(), thread_name_prefix="zermelo")
            _pool_owner = os.getpid()
            _find_stack()
        before = threading.stack_size(_stack)
        try:
            search.stack_room = _stack - _SPARE_STACK
            return _pool.submit(_call, call, search)
        finally:
            threading.stack_size(before)


def _find_stack() -> None:
    """Finds out how much stack a thread can have here, where memory may be scarce."""
    global _stack
    before = threading.stack_size()
    for _stack in (_STACK, _STACK // 4, _STACK // 16, _STACK // 64):
        try:
            threading.stack_size(_stack)
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
            break
        except (RuntimeError, ValueError):
            continue
        finally:
            threading.stack_size(before)


def _call(call: Callable[[Record], Any], search: Record) -> int:
    """Runs a kernel; why it stopped.

    The reason is read before anybody else can know that the kernel is done: 0 means that what it found holds.
    """
    search.stack_start = 0
    call(search)
    return search.stop


def run_in_caller(call: Callable[[Record], Any], search: Record) -> tuple[int, Record]:
    """Runs a kernel in the calling thread that will not take long, and not look far."""
    search.stack_room, search.stack_start = _CALLERS_STACK, 0
    call(search)
    return search.stop, search


def run_first_done(
    call: Callable[[Record], Any], searches: Sequence[Record], check: Callable[[], None]
) -> tuple[int, Record]:
    """Lets every search's kernel search the same thing; the first to finish answers and the others are stopped.

    One that runs out of nodes leaves the rest of them to the others. ``check`` is called every hundredth of a
    second; what it raises stops the kernels and is passed on.

    Returns:
        Why the kernel stopped, and its search.
    """
    running = {_start(call, search): search for search in searches}
    waiting = set(running)
    try:
        while True:
            done, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
            answers = [(future.result(), running[future]) for future in done]
            answers.sort(key=lambda answer: answer[0] == OUT_OF_NODES)
            if answers and (answers[0][0] != OUT_OF_NODES or not waiting):
                return answers[0]
            check()
    finally:
        _stop(running)


def run_all(call: Callable[[Record], Any], searches: Sequence[Record], check: Callable[[], None]) -> None:
    """Lets every search's kernel do its part of a common work; all are waited for."""
    running = {_start(call, search): search for search in searches}
    waiting = set(running)
    try:
        while waiting:
            _, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
            check()
    finally:
        _stop(running)
    for future in running:
        future.result()


def _stop(running: dict[Future[int], Record]) -> None:
    """Ends what still runs, and waits until it has: the memory it writes to is about to go."""
    for future, search in running.items():
        if not future.done():
            search.ask_to_stop()
    while True:
        try:
            wait(running)
            return
        except KeyboardInterrupt:  # pressed twice: the kernels are ending already
            continue


def pad_row(row: int) -> int:
    """The words of a row, so that rows do not compete for the same few lines of the cache."""
    return row if row <= 8 else (row + 7) // 8 * 8 + (8 if (row + 7) // 8 % 8 == 0 else 0)


def number_of_threads(threads: int | None) -> int:
    """The ``threads`` setting as a number: one for each processor that this process may use, if not given."""
    if threads is not None:
        check_threads("threads", threads)
    return threads or default_threads()
