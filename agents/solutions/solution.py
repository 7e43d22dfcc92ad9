"""The solution of a position, and the progress of a solver, which its budget reports."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.result import one_line, table_lines
from zermelo.agents.base.scores import bounds_to_come
from zermelo.agents.base.settings import Compile
from zermelo.agents.solutions.policy_table import PolicyTable
from zermelo.envs.game import Game, Traits

_TOLERANCE: Final = 1e-9
_PERIOD: Final = 0.1
_NODES_BETWEEN: Final = 63
_FIRST_LINE: Final = 2.0


class Outcome(enum.StrEnum):
    """The three colours of a position: who gets more than half of what there is, when both play best.

    The first player is seat 0, the second seat 1, whoever is to move.
    """

    FIRST = "first wins"
    SECOND = "second wins"
    NEITHER = "neither wins"


@dataclass(frozen=True, kw_only=True)
class SolvingProgress:
    """Progress of a solver: ``actions_solved`` of the root's ``actions`` have an exact value.

    The last two are of ``solve_equilibrium`` and its policy so far.
    """

    seconds: float
    nodes: int = 0
    actions_solved: int = 0
    actions: int = 0
    iterations: int = 0
    exploitability: float | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Solution:
    """The result of solving: perfect play, or bounds of the value where that is not known exactly.

    Values are for the player to move at the root, in the game's own utility, rewards so far included. What a live
    environment has paid before is not known: searched as copies, its values are what is paid from here on.

    Attributes:
        seat: The player to move at the root; 0 where both move at the same time.
        value: The exact value for the player to move; None if unknown.
        value_bounds: Lower and upper bound of the value.
        values_by_seat: The exact values of both seats; empty if unknown.
        outcome: The winner; None if unknown, as in a live environment that pays on the way.
        plies: Moves to the end under best play, wins as soon and losses as late as possible; of draws and games
            won by a margin the length of ``principal_variation``. None if unknown.
        action_values: The exact value of each root action, ascending by action; none with ``outcome_only``.
        action_plies: Moves to the end after each action, itself included, where known.
        principal_variation: Best play to the end; empty if unknown.
        nodes, seconds: States visited, and time spent.
        stopped_by: The limit that ended the search, or ``completed``.
        proven: True if the outcome, and unless ``outcome_only`` the value, is proven.
        policy: With hidden information, both players' strategies; bounds are then those of the first player, from
            the start of the game.
        policies: With simultaneous moves, the probability of each action of each player that moves.
    """

    seat: int
    value: float | None
    value_bounds: tuple[float, float]
    values_by_seat: tuple[float, ...] = ()
    outcome: Outcome | None = None
    plies: int | None = None
    action_values: Mapping[int, float] = field(default_factory=dict)
    action_plies: Mapping[int, int] = field(default_factory=dict)
    principal_variation: tuple[int, ...] = ()
    nodes: int = 0
    seconds: float = 0.0
    stopped_by: StoppedBy = StoppedBy.COMPLETED
    proven: bool = False
    policy: PolicyTable | None = None
    policies: Mapping[int, Mapping[int, float]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Solution: {self._verdict}>"

    def __str__(self) -> str:
        """Who wins, a table of the actions, the best first, the principal variation, and what the search took."""
        lines = [self._verdict]
        if self.action_values:
            ranked = sorted(self.action_values.items(), key=lambda item: (-item[1], item[0]))
            rows = [(f"{act}", f"{value:.6g}", f"{self.action_plies.get(act, '')}") for act, value in ranked]
            width = 3 if self.action_plies else 2
            lines += ["", *table_lines(("action", "value", "plies")[:width], [row[:width] for row in rows]), ""]
        for seat, policy in self.policies.items():
            mixed = [f"{action} ({share:.3g})" for action, share in policy.items() if share > 0]
            lines.append(f"policy of seat {seat}: {one_line(mixed, len(mixed))}")
        if self.policy is not None:
            lines.append(f"policy of both players: {len(self.policy):,} information states")
        if self.principal_variation:
            moves = self.principal_variation
            lines.append(f"principal variation {one_line(moves, len(moves))}")
        return "\n".join(
            [*lines, f"{self.nodes:,} nodes, {self.seconds:.2f} s; stopped by: {self.stopped_by.value}"]
        )

    @property
    def _verdict(self) -> str:
        lower, upper = self.value_bounds
        value = f"{lower:.6g} to {upper:.6g}" if self.value is None else f"{self.value:.6g}"
        parts = [] if self.outcome is None else [self.outcome.value]
        if self.plies is not None:
            parts.append(f"{self.plies:,} plies to the end")
        return ", ".join(
            [*parts, f"value {value} for seat {self.seat}", "proven" if self.proven else "not proven"]
        )

    @property
    def best_actions(self) -> tuple[int, ...]:
        """All root actions whose exact value is that of the position, ascending."""
        return tuple(action for action, value in self.action_values.items() if value == self.value)


def outcome_of(traits: Traits, seat: int, lower: float, upper: float) -> Outcome | None:
    """Returns who wins, if these bounds on the value for ``seat`` settle it."""
    half = traits.constant / 2
    if lower > half + _TOLERANCE:
        return (Outcome.FIRST, Outcome.SECOND)[seat]
    if upper < half - _TOLERANCE:
        return (Outcome.SECOND, Outcome.FIRST)[seat]
    return Outcome.NEITHER if abs(lower - half) <= _TOLERANCE and abs(upper - half) <= _TOLERANCE else None


def utility_range(game: Game[Any], state: Any, seat: int) -> tuple[float, float]:
    """The lower and upper bound on the utility that a seat can end with from a state."""
    paid = game.utility(state)
    lower, upper = bounds_to_come(game.traits, paid)
    return paid[seat] + lower, paid[seat] + upper


def unknown_solution(
    game: Game[Any], state: Any, seat: int, nodes: int, seconds: float, why: StoppedBy
) -> Solution:
    """The solution where a limit was reached before anything was known."""
    bounds = utility_range(game, state, seat)
    return Solution(seat=seat, value=None, value_bounds=bounds, nodes=nodes, seconds=seconds, stopped_by=why)


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
