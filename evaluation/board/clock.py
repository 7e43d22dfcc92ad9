"""The players' clocks."""

from __future__ import annotations

import time
from collections.abc import Callable

from zermelo.evaluation.sandbox.settings import Isolation


class Clock:
    """Time for a game and for each move, as people write it: ``300+5``.

    Args:
        control: Seconds for the game, and what each move adds after a plus.
        seats: How many players there are.
        now: What tells the time, in seconds.

    Attributes:
        control: As it was given.
    """

    def __init__(self, control: str, seats: int, now: Callable[[], float] = time.monotonic) -> None:
        read = Isolation(clock=control)
        assert read.clock_seconds is not None, "a clock was given"
        self.control = control
        self._added = read.increment_seconds
        self._left = [read.clock_seconds] * seats
        self._now = now
        self._running: int | None = None
        self._since = 0.0

    def start(self, seat: int | None) -> None:
        """Lets a seat's clock run, and no other; None stops them all, and the move is not counted."""
        self._stop()
        self._running, self._since = seat, self._now()

    def press(self) -> None:
        """Ends a move: the running clock stops, and gets what a move adds."""
        seat = self._running
        self._stop()
        if seat is not None:
            self._left[seat] += self._added

    def _stop(self) -> None:
        if self._running is not None:
            self._left[self._running] = self.left(self._running)
        self._running = None

    def left(self, seat: int) -> float:
        """The seconds that a seat has left, at least 0."""
        spent = self._now() - self._since if seat == self._running else 0.0
        return max(self._left[seat] - spent, 0.0)

    def fallen(self) -> int | None:
        """The seat whose time is over while it is to move; None if there is none."""
        return self._running if self._running is not None and self.left(self._running) == 0 else None
