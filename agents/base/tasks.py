"""Independent tasks, which runners (``zermelo.evaluation.workers``) spread over processes and machines."""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from zermelo.envs.errors import ZermeloError

AHEAD: Final = 8192
"""Tasks that are handed out before the first of them has ended."""


@dataclasses.dataclass
class PureWork(abc.ABC):
    """A base for dataclasses of tasks whose results depend only on their items; workers are sent the fields.

    Attributes:
        hang_seconds: After so long without a sign of life a worker is taken to hang; None waits for ever.
    """

    hang_seconds: float | None = dataclasses.field(default=None, init=False)

    @abc.abstractmethod
    def run(self, item: Any, on_turn: Callable[[int], None] | None = None) -> Any:
        """Returns the result for an item; ``on_turn`` is not called."""

    def lost(self, item: Any, loss: Any) -> Any:
        """Ends the run: the same item would end the next worker too."""
        raise ZermeloError(
            f"a worker ended (exit code {loss.exit_code}) in the middle of a task: if memory ran out, use fewer "
            "workers; then give the same command again"
        )

    def close(self) -> None:  # noqa: B027 - only work that starts something has to end it
        """Ends what was started: nothing."""

    def __reduce__(self) -> Any:
        fields = (field for field in dataclasses.fields(self) if field.init)
        return type(self), tuple(getattr(self, field.name) for field in fields)


@dataclasses.dataclass
class _Numbered(PureWork):
    work: Any

    def __post_init__(self) -> None:
        self.hang_seconds = self.work.hang_seconds

    def run(self, item: tuple[int, Any], on_turn: Callable[[int], None] | None = None) -> tuple[int, Any]:
        return item[0], self.work.run(item[1], on_turn)

    def lost(self, item: tuple[int, Any], loss: Any) -> tuple[int, Any]:
        return item[0], self.work.lost(item[1], loss)

    def close(self) -> None:
        self.work.close()


class Tasks:
    """Gives work to one run of a runner as it comes up; None stands for this process. Close it afterwards."""

    def __init__(self, work: Any, runner: Any = None) -> None:
        self._items: list[Any] = []  # which grows while the run goes on
        numbered = _Numbered(work)
        self._found = map(numbered.run, self._items) if runner is None else runner.run(numbered, self._items)
        self._early: dict[int, Any] = {}

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yields the results in the order of the items, which are taken as they are needed."""
        left, done = iter(items), len(self._items)
        while True:
            new = itertools.islice(left, AHEAD - len(self._items) + done)
            self._items.extend(enumerate(list(new), len(self._items)))
            if done == len(self._items):
                return
            while done not in self._early:
                number, result = next(self._found)
                self._early[number] = result
            self._items[done] = None
            yield self._early.pop(done)
            done += 1

    def close(self) -> None:
        if hasattr(self._found, "close"):
            self._found.close()
