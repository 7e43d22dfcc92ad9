"""Lines for the user, on standard error, each once a process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_said: set[tuple[object, ...]] = set()


def say_once(text: str, *about: object) -> None:
    """Writes a line, unless this process has written it before, about the same."""
    if (text, *about) not in _said:
        _said.add((text, *about))
        print(f"zermelo: {text}", file=sys.stderr, flush=True)


@contextmanager
def say_after(seconds: float, text: str) -> Iterator[None]:
    """Writes a line if the block takes longer than ``seconds``, unless this process has written it before."""
    timer = threading.Timer(seconds, say_once, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
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
