"""Independent tasks, and what runs them: this process, worker processes, or a Ray cluster."""

from __future__ import annotations

import contextlib
import math
import random
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Final, Generic, Protocol, Self, TypeVar

import numpy as np

from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.faults import AgentFault
from zermelo.evaluation.match.record import FailureKind

Item = TypeVar("Item")
Result = TypeVar("Result")
Given = TypeVar("Given", contravariant=True)
Found = TypeVar("Found", covariant=True)

NOBODY: Final = -1
"""Stands for a seat where no agent runs."""


@dataclass(frozen=True)
class WorkerExit:
    """The end of a worker in the middle of a task."""

    seat: int  # whose agent ran, or NOBODY
    exit_code: int | None  # of the worker; below zero the number of a signal
    hung: bool  # whether it was ended because nothing happened for ``Work.hang_seconds``


class Work(Protocol[Given, Found]):
    """Tasks of one kind, one at a time; worker processes are sent one of these, pickled."""

    @property
    def hang_seconds(self) -> float | None:
        """After so long without a turn a task is taken to hang; None waits."""

    def run(self, item: Given, on_turn: Callable[[int], None] | None = None) -> Found:
        """Returns the result for an item; ``on_turn`` is told the seat whose agent runs, or ``NOBODY``.

        Raises:
            ZermeloError: No task should run any more.
        """

    def lost(self, item: Given, loss: WorkerExit) -> Found:
        """Returns the result for an item whose worker ended, or raises as ``run`` does."""

    def close(self) -> None:
        """Ends what tasks have started."""


class Runner(Protocol):
    """Runs tasks, in any order; it stores nothing."""

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Generator[Result]:
        """Yields the results, each once, as tasks end. Closing the iterator stops all work.

        Raises:
            InvalidSettingError: The work cannot be sent to other processes.
            WorkerError: No worker can be started, or one does not get ready.
            ZermeloError: What a task raised.
        """


class Waiting(Generic[Item]):
    """Items to hand out: those that were given back, then the rest, each worked out when it is needed."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items, self._next = items, 0
        self._back: list[Item] = []

    def __len__(self) -> int:
        return len(self._back) + len(self._items) - self._next

    def take(self, count: int) -> list[Item]:
        """Returns the next so many items, or as many as there are."""
        batch, self._back = self._back[:count], self._back[count:]
        end = min(len(self._items), self._next + count - len(batch))
        batch += self._items[self._next : end]
        self._next = end
        return batch

    def give_back(self, items: Sequence[Item]) -> None:
        """Takes items that have to be handed out again."""
        self._back = [*items, *self._back]


def seed_globals(seed: int) -> None:
    """Seeds Python's and NumPy's global generators, for agents and environments that draw from them."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


@contextlib.contextmanager
def kept_globals() -> Iterator[None]:
    """Python's and NumPy's global generators are after it as they were before."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


class SerialRunner:
    """Runs tasks in this process: the easiest to debug.

    An agent that ends the process ends the run, unless it has a process of its own.
    """

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Generator[Result]:
        """Yields one result after another, in order; at the end the global generators are as before."""
        with kept_globals(), contextlib.closing(work), _Watchdog(work.hang_seconds) as watchdog:
            for item in items:
                result = work.run(item, watchdog.on_turn)
                watchdog.rest()
                yield result


class _Watchdog:
    """Stops what takes too long in this process, by a signal: Python code, that is, and in the main thread."""

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
            signal.signal(self._number, self._raise_timeout)
            threading.Thread(target=self._watch, args=[self._number], daemon=True, name="zermelo watchdog").start()
        return self

    def on_turn(self, seat: int) -> None:
        self._seat = seat
        self._due = math.inf if self._seconds is None else time.monotonic() + self._seconds

    def rest(self) -> None:
        self._due = math.inf

    def _watch(self, number: int) -> None:
        # Again and again: an agent may catch whatever is raised.
        while not self._ended.wait(min(1.0, (self._seconds or 1.0) / 4)):
            if time.monotonic() > self._due:
                signal.pthread_kill(threading.main_thread().ident or 0, number)

    def _raise_timeout(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() <= self._due:
            return
        if self._seat == NOBODY:
            raise EnvironmentFailureError(f"the environment did not return for {self._seconds:g} s")
        raise AgentFault(FailureKind.TIMEOUT, f"did not answer within {self._seconds:g} s")

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._number is not None:
            signal.signal(self._number, signal.SIG_DFL)
