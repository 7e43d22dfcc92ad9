"""Waiting: lines and a bar for the user on standard error, and a limit on how long something may take."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_said: set[tuple[object, ...]] = set()  # by the line and what it is about; nothing rests on it
_listeners: list[Callable[[str], None]] = []
_FIRST_LINE: Final = 0.5
_SECOND_LINE: Final = 2.0
"""Seconds after which a line says what is waited for, and after which another, or a bar, says how far it is."""
_CLOCK_TIMES: Final = 2.0
MOST_STARVED: Final = 4.0
"""So many times a limit may have passed while other programs kept the processors from what it is for."""


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


class DeadlinePassed(Exception):  # noqa: N818 - not an error: what has been found until now counts
    """The time for something is over."""


def starved(task: int | str = "thread-self") -> float:
    """The seconds in which a process could have run, but others did; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{task}/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class Deadline:
    """A limit for something: so many ``seconds`` of the processor's time, and twice as many by the clock.

    By the clock those do not count in which other programs had the processors (up to ``MOST_STARVED`` times the
    limit): beside other work as much is seen as without. A line says the ``text``, if there is one, after half a
    second.

    Attributes:
        seconds: The limit.
    """

    def __init__(self, seconds: float, text: str = "") -> None:
        self._begun, self._worked = time.perf_counter(), time.process_time()
        self._ends, self._work_ends = self._begun + _CLOCK_TIMES * seconds, self._worked + seconds
        self.seconds, self._text = seconds, text
        self._starved, self._granted = starved(), 0.0
        self._lines, self._bar = 0, contextlib.ExitStack()
        self._draw: Any = None

    @property
    def spent(self) -> float:
        """Seconds of the processor since it began."""
        return time.process_time() - self._worked

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        left, of_work = self._ends - time.perf_counter(), self._work_ends - time.process_time()
        if left <= 0.0 < of_work:
            granted = min(starved() - self._starved, MOST_STARVED * self.seconds)
            left += granted - self._granted
            self._ends += granted - self._granted
            self._granted = granted
        return min(left, of_work)

    def check(self, done: float = 0.0) -> None:
        """Raises ``DeadlinePassed`` where the time is over; ``done`` is the share that has been done."""
        if self.left <= 0.0:
            raise DeadlinePassed
        if not self._text:
            return
        waited = time.perf_counter() - self._begun
        if self._draw is not None:
            self._draw(done)
        elif self._lines < 1 and waited >= _FIRST_LINE:
            self._lines = 1
            say_once(f"{self._text} (once; about {self.seconds:.0f} s, longer beside other work)")
        elif self._lines == 1 and waited >= _SECOND_LINE:
            self._lines = 2
            if sys.stderr.isatty():
                self._draw = self._bar.enter_context(waiting_bar(self._text, total=1.0))
            else:
                say_once(f"{self._text}: {done:.0%} after {waited:.0f} s", self._text)

    @contextlib.contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Ends the block when this share of the time left is spent, without an error."""
        ends, now = (self._ends, self._work_ends), (time.perf_counter(), time.process_time())
        self._ends, self._work_ends = (at + share * (end - at) for at, end in zip(now, ends, strict=True))
        granted, is_over = self._granted, True
        try:
            with contextlib.suppress(DeadlinePassed):
                yield
                is_over = False
        finally:
            self._ends, self._work_ends = ends[0] + self._granted - granted, ends[1]
        if is_over and self.left <= 0.0:
            raise DeadlinePassed

    def end(self) -> None:
        """Takes the bar away."""
        self._bar.close()
