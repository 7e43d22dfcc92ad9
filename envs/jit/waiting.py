"""How another thread stops the compiler: it asks before each function that it compiles."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _OfThread(threading.local):
    stop: threading.Event | None = None


_of_thread = _OfThread()


class CompilerInterrupted(Exception):  # noqa: N818 - not an error: nobody waits for the compiler any more
    """Another thread asked the compiler to stop."""


@contextlib.contextmanager
def interruptible(stop: threading.Event) -> Iterator[None]:
    """Has ``check_interrupt`` look at an event in this thread."""
    _of_thread.stop = stop
    try:
        yield
    finally:
        _of_thread.stop = None


def check_interrupt() -> None:
    """Raises ``CompilerInterrupted`` where this thread was asked to stop."""
    stop = _of_thread.stop
    if stop is not None and stop.is_set():
        raise CompilerInterrupted
