"""Independent tasks, and what runs them: this process, worker processes, or a Ray cluster.

A runner takes items and yields their results, in any order. It neither knows nor decides which items there are,
and it stores nothing.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from zermelo.envs import InvalidSettingError

Item = TypeVar("Item")
Result = TypeVar("Result")
Given = TypeVar("Given", contravariant=True)
Found = TypeVar("Found", covariant=True)

NOBODY: Final = -1
"""Stands for a seat where no agent runs."""


@dataclass(frozen=True)
class Loss:
    """The end of a worker in the middle of a task.

    Attributes:
        seat: The seat whose agent ran, or ``NOBODY``.
        exit_code: Of the worker; below zero the number of a signal.
        hung: Whether the worker was ended because nothing happened for ``Work.hang_seconds``.
    """

    seat: int
    exit_code: int | None
    hung: bool


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

    def lost(self, item: Given, loss: Loss) -> Found:
        """Returns the result for an item whose worker ended.

        Raises:
            ZermeloError: No task should run any more.
        """

    def close(self) -> None:
        """Ends what tasks have started."""


class Runner(Protocol):
    """Runs tasks."""

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yields the results, each once, as tasks end. Closing the iterator stops all work.

        Raises:
            InvalidSettingError: The work cannot be sent to other processes.
            WorkerError: No worker can be started, or one does not get ready.
            ZermeloError: What a task raised.
        """


def require_picklable(value: Any, name: str) -> None:
    """Checks that worker processes can be sent a value."""
    try:
        pickle.dumps(value)
    except Exception as error:
        raise InvalidSettingError(
            f"{name} cannot be sent to worker processes ({type(error).__name__}: {error}): give a name or a "
            "function at the top level of a module, or play with workers=1"
        ) from error


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
