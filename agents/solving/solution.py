"""The solution of a position, and how far a solver is."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.solving.policy_table import PolicyTable
from zermelo.envs import Traits

_TOLERANCE: Final = 1e-9


class Outcome(enum.StrEnum):
    """The three colours of a position: who gets more than half of what there is, when both play best.

    The first player is seat 0, the second seat 1, whoever is to move.
    """

    FIRST = "first wins"
    SECOND = "second wins"
    NEITHER = "neither wins"


@dataclass(frozen=True, kw_only=True)
class SolvingProgress:
    """Progress of a solver.

    Attributes:
        seconds: Time spent.
        nodes: States visited.
        actions_solved: Root actions whose exact value is known, of ``actions``.
        actions: Root actions.
        iterations: Iterations of ``solve_equilibrium``.
        exploitability: That of its policy so far; None for other solvers.
    """

    seconds: float
    nodes: int = 0
    actions_solved: int = 0
    actions: int = 0
    iterations: int = 0
    exploitability: float | None = None


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The result of solving: perfect play, or bounds of the value where that is not known exactly.

    Values are for the player to move at the root, in the game's own utility, rewards so far included.

    Attributes:
        seat: The player to move at the root; 0 where both move at the same time.
        value: The exact value for the player to move; None where it was not asked for or not found out.
        value_bounds: The value is at least the first and at most the second number.
        values_by_seat: The exact value for both seats, in seat order; empty where ``value`` is None.
        outcome: Who wins; None where that is not settled.
        plies: Moves to the end of the game under best play: a win comes as soon, a loss as late as can be. Of a
            draw, and of games that are won by a margin, the length of ``principal_variation``: one line of best
            play, others may be longer or shorter. None where not known.
        action_values: The exact value of each root action, for the player to move, ascending by action; all of
            them where nothing stopped the search, and none with ``outcome_only``.
        action_plies: Moves to the end after choosing that action, itself included, where known.
        principal_variation: A line of best play to the end; empty where it was not asked for or not found out.
        nodes: States visited.
        seconds: Time spent.
        stopped_by: What ended the search.
        proven: All that was asked for is proven: the outcome, and unless ``outcome_only`` the value.
        policy: In a game of hidden information, what both players play: no player can gain more than its
            ``exploitability``, on average over both. Only the bounds of the value are known then, for the first
            player, from the start of the game.
        policies: Where players move at the same time, the probability of each action of each one that moves.
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

    @property
    def best_actions(self) -> tuple[int, ...]:
        """All root actions whose exact value is that of the position, ascending."""
        return tuple(action for action, value in self.action_values.items() if value == self.value)

    @property
    def mover_wins(self) -> bool | None:
        """True if the player to move wins, False if it loses, None if neither or not settled."""
        if self.outcome in (None, Outcome.NEITHER):
            return None
        return (self.outcome is Outcome.FIRST) == (self.seat == 0)


def outcome_of(traits: Traits, seat: int, lower: float, upper: float) -> Outcome | None:
    """Returns who wins, if these bounds on the value for ``seat`` settle it."""
    half = traits.constant / 2
    if lower > half + _TOLERANCE:
        return (Outcome.FIRST, Outcome.SECOND)[seat]
    if upper < half - _TOLERANCE:
        return (Outcome.SECOND, Outcome.FIRST)[seat]
    return Outcome.NEITHER if abs(lower - half) <= _TOLERANCE and abs(upper - half) <= _TOLERANCE else None
