"""Budgets of solvers, which say how far they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.options import Compile
from zermelo.agents.base.solution import SolvingProgress

_PERIOD: Final = 0.1
_NODES_BETWEEN: Final = 63
_FIRST_LINE: Final = 2.0


class WatchedBudget(Budget):
    """A budget that reports ten times a second to ``on_progress``.

    ``solved`` says how many actions of the root have their exact value, and how many actions it has.
    """

    def __init__(
        self,
        limits: Limits,
        started: float | None = None,
        *,
        compile: Compile = Compile.WAIT,  # noqa: A002 - the setting's name
        on_progress: Callable[[SolvingProgress], Any] | None = None,
    ) -> None:
        super().__init__(limits, started, compile=compile)
        self._on_progress = on_progress
        self._next = self.started + _PERIOD
        self.solved: Callable[[], tuple[int, int]] = lambda: (0, 0)

    def visit(self, ply: int) -> None:
        super().visit(ply)
        if self._on_progress is not None and not self.nodes & _NODES_BETWEEN:
            self._report()

    def check_clock(self) -> None:
        super().check_clock()
        self._report()

    def _report(self) -> None:
        now = self.now()
        if self._on_progress is not None and now >= self._next:
            self._next = now + _PERIOD
            solved, actions = self.solved()
            self._on_progress(
                SolvingProgress(nodes=self.nodes, seconds=self.seconds, actions_solved=solved, actions=actions)
            )


class ProgressLines:
    """Lines on standard error that say how far solving all states is: after 2 seconds, 4, 8, 16 and so on.

    Args:
        name: The game.
    """

    def __init__(self, name: str) -> None:
        self._name, self._next = name, _FIRST_LINE

    def __call__(self, now: SolvingProgress) -> None:
        if now.seconds < self._next:
            return
        while self._next <= now.seconds:
            self._next *= 2
        print(
            f"zermelo: solving {self._name}: {now.nodes:,} states found, {now.actions_solved:,} solved in "
            f"{now.seconds:.0f} s; seconds limits that, and Ctrl-C ends it",
            file=sys.stderr,
            flush=True,
        )
