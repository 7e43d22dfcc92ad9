"""Waiting for the compiler: lines and a bar for the user on standard error, and how another thread stops it."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_said: set[tuple[object, ...]] = set()


def say_once(text: str, *about: object) -> None:
    """Writes a line, unless this process has written it before, about the same."""
    if (text, *about) not in _said:
        _said.add((text, *about))
        print(f"zermelo: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def say_after(seconds: float, text: str) -> Iterator[None]:
    """Writes a line if the block takes longer than ``seconds``, unless this process has written it before."""
    timer = threading.Timer(seconds, say_once, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def compiling_bar(name: str) -> Iterator[None]:
    """A progress bar, in a terminal, while the rules of that name are compiled."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("zermelo: {task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(f"compiling the rules of {name}", total=None)
        yield


# -- stopping it: the compiler asks before each function that it compiles ---------------------------------------

_of_thread = threading.local()


class CompilerInterrupted(Exception):  # noqa: N818 - not an error: nobody waits for the compiler any more
    """Another thread asked the compiler to stop."""


@contextlib.contextmanager
def interruptible(stop: threading.Event) -> Iterator[None]:
    """Has ``check_interrupt`` look at an event in this thread."""
    _of_thread.stop = stop
    try:
        yield
    finally:
        del _of_thread.stop


def check_interrupt() -> None:
    """Raises ``CompilerInterrupted`` where this thread was asked to stop."""
    stop: threading.Event | None = getattr(_of_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise CompilerInterrupted
