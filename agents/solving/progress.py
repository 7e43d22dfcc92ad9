"""Clock, progress and outcomes, which both solvers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import Compile
from zermelo.agents.solving.solution import Outcome, Solution, SolvingProgress
from zermelo.envs import Traits

_PERIOD: Final = 0.1
_TOLERANCE: Final = 1e-9
_NODES_BETWEEN: Final = 63


class WatchedBudget(Budget):
    """Counts what is spent, and reports ten times a second to ``on_progress``, if there is one.

    Attributes:
        actions: How many actions the root has.
        actions_solved: How many of them have their exact value.
    """

    def __init__(
        self,
        limits: Limits,
        started: float,
        on_progress: Callable[[SolvingProgress], Any] | None,
        compile: Compile,  # noqa: A002 - the setting's name
    ) -> None:
        super().__init__(limits, started, compile=compile)
        self._on_progress = on_progress
        self._next = started + _PERIOD
        self.actions = 0
        self.actions_solved = 0

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
            self._on_progress(
                SolvingProgress(
                    nodes=self.nodes,
                    seconds=self.seconds,
                    actions_solved=self.actions_solved,
                    actions=self.actions,
                )
            )


class Solver:
    """Base of both solvers: a game, limits that count from ``started`` on, and settings of ``solve``."""

    def __init__(
        self,
        game: Any,
        limits: Limits,
        started: float,
        *,
        memory_mb: float,
        threads: int,
        on_progress: Callable[[SolvingProgress], Any] | None,
        compile: Compile = Compile.WAIT,  # noqa: A002 - the setting's name
    ) -> None:
        self.game = game
        self._limits = limits
        self._budget = WatchedBudget(limits, started, on_progress, compile)
        self._memory_mb, self._threads = memory_mb, threads

    def note(self, solved: int, known: int) -> None:
        """Says how far a work of many positions is."""
        self._budget.actions_solved, self._budget.actions = solved, known
        self._check()

    def _check(self) -> None:
        self._budget.check_clock()


def outcome_of(traits: Traits, seat: int, lower: float, upper: float) -> Outcome | None:
    """Who wins, if these bounds on the value for ``seat`` settle it."""
    half = traits.constant / 2
    if lower > half + _TOLERANCE:
        return (Outcome.FIRST, Outcome.SECOND)[seat]
    if upper < half - _TOLERANCE:
        return (Outcome.SECOND, Outcome.FIRST)[seat]
    return Outcome.NEITHER if abs(lower - half) <= _TOLERANCE and abs(upper - half) <= _TOLERANCE else None


def utility_range(game: Any, state: Any, seat: int) -> tuple[float, float]:
    """The lower and upper bound on the utility that a seat can end with from a state."""
    traits = game.traits
    lower, upper = traits.utility_bounds
    paid = game.utility(state)
    to_come = traits.constant - sum(paid)
    return paid[seat] + max(lower, to_come - upper), paid[seat] + min(upper, to_come - lower)


def solution(
    game: Any, state: Any, budget: Budget, bounds: tuple[float, float], *, outcome_only: bool = False, **more: Any
) -> Solution:
    """The solution of a state with these bounds on its value, for the player to move."""
    traits, seat = game.traits, game.to_move(state)
    value = bounds[0] if bounds[0] == bounds[1] else None
    outcome = outcome_of(traits, seat, *bounds)
    return Solution(
        seat=seat,
        value=value,
        value_bounds=bounds,
        values_by_seat=() if value is None else traits.values_by_seat(seat, value),
        outcome=outcome,
        nodes=budget.nodes,
        seconds=budget.seconds,
        proven=outcome is not None if outcome_only else value is not None,
        **more,
    )
