"""Tasks in this process, one after another."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Self

from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.faults import AgentFault
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.runners.games import kept_globals
from zermelo.evaluation.runners.work import NOBODY, Item, Result, Work


class SerialRunner:
    """Runs tasks in this process: the easiest to debug.

    An agent that ends the process ends the run, unless it has a process of its own.
    """

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yields one result after another, in order; at the end the global generators are as before."""
        with kept_globals(), contextlib.closing(work), _Watchdog(work.hang_seconds) as watchdog:
            for item in items:
                result = work.run(item, watchdog.on_turn)
                watchdog.rest()
                yield result


class _Watchdog:
    """Stops what takes too long in this process, by a signal: Python code, that is, and in the main thread.

    Args:
        seconds: That an agent, or the environment between two of them, may take; None for any time.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._seat, self._due = NOBODY, math.inf
        self._ended = threading.Event()
        number: int | None = getattr(signal, "SIGVTALRM", None)
        is_main = threading.current_thread() is threading.main_thread()
        is_free = number is not None and is_main and signal.getsignal(number) is signal.SIG_DFL
        self._number = number if seconds is not None and is_free else None

    def __enter__(self) -> Self:
        if self._number is not None:
            signal.signal(self._number, self._bark)
            threading.Thread(target=self._watch, args=[self._number], daemon=True, name="zermelo watchdog").start()
        return self

    def on_turn(self, seat: int) -> None:
        """Begins to count anew: for a seat, or for the environment (-1)."""
        self._seat = seat
        self._due = math.inf if self._seconds is None else time.monotonic() + self._seconds

    def rest(self) -> None:
        """Counts nothing until the next turn."""
        self._due = math.inf

    def _watch(self, number: int) -> None:
        # Again and again: an agent may catch whatever is raised.
        while not self._ended.wait(min(1.0, (self._seconds or 1.0) / 4)):
            if time.monotonic() > self._due:
                signal.pthread_kill(threading.main_thread().ident or 0, number)

    def _bark(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() <= self._due:
            return
        if self._seat == NOBODY:
            raise EnvironmentFailureError(f"the environment did not return for {self._seconds:g} s")
        raise AgentFault(FailureKind.TIMEOUT, f"did not answer within {self._seconds:g} s")

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._number is not None:
            signal.signal(self._number, signal.SIG_DFL)
