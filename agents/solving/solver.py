"""What both solvers share: limits that count from the start of the call, progress, and the solution at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.options import Compile
from zermelo.agents.solving.solution import Solution, SolvingProgress, outcome_of

_PERIOD: Final = 0.1
_NODES_BETWEEN: Final = 63


class WatchedBudget(Budget):
    """Counts what is spent, and reports ten times a second to ``on_progress``, if there is one.

    Attributes:
        solved: How many actions of the root have their exact value, and how many actions it has.
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


class Found(NamedTuple):
    """What a search to the end found; the fields are those of ``Solution``."""

    value_bounds: tuple[float, float]
    stopped_by: StoppedBy = StoppedBy.COMPLETED
    plies: int | None = None
    action_values: Mapping[int, float] = {}
    action_plies: Mapping[int, int] = {}
    principal_variation: tuple[int, ...] = ()


class Solver:
    """Solves positions of one game, of two players with a constant sum, without chance."""

    def __init__(self, game: Any, budget: WatchedBudget, *, memory_mb: float = 16, threads: int = 1) -> None:
        self.game, self.budget = game, budget
        self._memory_mb, self._threads = memory_mb, threads

    def solve(self, state: Any, *, outcome_only: bool = False) -> Solution:
        """Who wins from an unfinished state, or its value and those of all its actions."""
        traits, seat = self.game.traits, self.game.to_move(state)
        found = self._search(state, outcome_only=outcome_only)
        lower, upper = found.value_bounds
        value = lower if lower == upper else None
        outcome = outcome_of(traits, seat, lower, upper)
        return Solution(
            seat=seat,
            value=value,
            values_by_seat=() if value is None else traits.values_by_seat(seat, value),
            outcome=outcome,
            nodes=self.budget.nodes,
            seconds=self.budget.seconds,
            proven=(outcome if outcome_only else value) is not None,
            **found._asdict(),
        )

    def action_scores(self, state: Any) -> dict[int, tuple[float, float]]:
        """For each action, (value, mate distance) for the player to move; raises ``SearchStopped``."""
        raise NotImplementedError

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        raise NotImplementedError


def utility_range(game: Any, state: Any, seat: int) -> tuple[float, float]:
    """The lower and upper bound on the utility that a seat can end with from a state."""
    traits = game.traits
    lower, upper = traits.utility_bounds
    paid = game.utility(state)
    to_come = traits.constant - sum(paid)
    return paid[seat] + max(lower, to_come - upper), paid[seat] + min(upper, to_come - lower)
