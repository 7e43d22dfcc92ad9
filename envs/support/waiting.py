"""Waiting: lines and a bar for the user on standard error, and a limit on how long something may take."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

_said: set[tuple[object, ...]] = set()  # by the line and what it is about; nothing rests on it
_listeners: list[Callable[[str], None]] = []
_FIRST_LINE: Final = 0.5
_SECOND_LINE: Final = 2.0
"""Seconds after which a line says what is waited for, and after which another, or a bar, says how far it is."""


def say_once(text: str, *about: object) -> None:
    """Writes a line, unless this process has written it before, about the same."""
    say_once_about(text, text, *about)


def say_once_about(text: str, *about: object) -> None:
    """Writes a line, unless this process has written one about the same before."""
    if about not in _said:
        _said.add(about)
        print(f"zermelo: {text}", file=sys.stderr, flush=True)
        for listener in _listeners:
            listener(text)


@contextlib.contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Calls a function with each line that is written in the block, without the program's name."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


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
def waiting_bar(text: str, total: float | None = None) -> Iterator[Any]:
    """A progress bar, in a terminal: a function that is told how much of the total is done; else nothing."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("zermelo: {task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=total)
        yield lambda done: progress.update(task, completed=done)


class OutOfPatience(Exception):  # noqa: N818 - not an error: what has been found until now counts
    """The time for something is over."""


class Patience:
    """A limit of ``seconds`` for something; a line says its ``text`` after half a second."""

    def __init__(self, seconds: float, text: str) -> None:
        self._begun = time.perf_counter()
        self._ends, self._seconds, self._text = self._begun + seconds, seconds, text
        self._lines, self._bar = 0, contextlib.ExitStack()
        self._draw: Any = None

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._begun

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        return self._ends - time.perf_counter()

    def check(self, done: float = 0.0) -> None:
        """Raises ``OutOfPatience`` where the time is over; ``done`` is the share that has been done."""
        now = time.perf_counter()
        if now >= self._ends:
            raise OutOfPatience
        if self._draw is not None:
            self._draw(done)
        elif self._lines < 1 and now - self._begun >= _FIRST_LINE:
            self._lines = 1
            say_once(f"{self._text} (once; at most {self._seconds:.0f} s)")
        elif self._lines == 1 and now - self._begun >= _SECOND_LINE:
            self._lines = 2
            if sys.stderr.isatty():
                self._draw = self._bar.enter_context(waiting_bar(self._text, total=1.0))
            else:
                say_once(f"{self._text}: {done:.0%} after {now - self._begun:.0f} s", self._text)

    def end(self) -> None:
        """Takes the bar away."""
        self._bar.close()
