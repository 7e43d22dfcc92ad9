"""What all searches in plain Python share: the values of states where they look no further, and their table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.tree_search import Bound, TreeSearch, Visit
from zermelo.agents.evaluators.protocol import Evaluator, seat_values
from zermelo.agents.search.transposition_table import Entry, TranspositionTable
from zermelo.envs import Game, RewardSum

Cutoff: TypeAlias = Callable[[Game[Any], Any, int], bool]
"""``cutoff(game, state, ply)``: true where the search should evaluate instead of going on."""


class PlainSearch(TreeSearch):
    """A search over any game.

    Args:
        game, scale, order: As ``TreeSearch`` has them.
        budget: Counts nodes; its clock interrupts evaluators that take long.
        evaluator: Values states at the depth limit; None only where the search never stops early.
        table: Positions already searched, or None.
        cutoff: Where to evaluate instead of going on, or None.
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
        at_chance: Whether a chance state at the depth limit is evaluated, not averaged over.
    """

    table: TranspositionTable | None

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        scale: Scale,
        order: MoveOrder,
        table: TranspositionTable | None = None,
        cutoff: Cutoff | None = None,
        width: int | None = None,
        seat: int = 0,
        at_chance: bool = False,
    ) -> None:
        self.game, self.budget, self.scale, self.order, self.table = game, budget, scale, order, table
        self.max_seat = seat
        self.transposes = table is not None and cutoff is None and width is None
        traits = game.traits
        keeps_values = traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL)
        self.seats = traits.seats if keeps_values else 0  # whose values a visit has besides its score
        watched = getattr(evaluator, "watched", None)
        self._evaluate: Evaluator | None = evaluator if watched is None else watched(budget.check_clock)
        self.cutoff = cutoff
        self.width = width
        self._at_chance = at_chance and width is None

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        entry = self.entry(state, depth, ply)
        if entry is None or entry.bound is not Bound.EXACT or not (entry.proven or entry.depth == depth):
            return None
        return entry.action

    def evaluated(self, state: Any, frame: Frame) -> Visit:
        """The rewards so far and what the evaluator expects to come, of an unfinished state."""
        assert self._evaluate is not None, "a search that stops early is given an evaluator"
        began = self.budget.now()
        self.leaves += 1
        try:
            expected = seat_values(self._evaluate, self.game, state)
        finally:  # an evaluator may be stopped
            self.leaf_seconds += self.budget.now() - began
        if not self.seats:
            return Visit((frame.so_far + expected[self.max_seat], 0), False)
        values = self._totals(state, expected)
        return Visit((values[self.max_seat], 0), False, values=values)

    def _ended(self, state: Any) -> Visit:
        """The outcome of a finished state."""
        values = self.game.utility(state) if self.seats else ()
        return Visit(self.scale.terminal(state), self.width is None, values=values)

    def _from_table(self, state: Any, entry: Entry, score: Score) -> Visit:
        """What the table knows of a state."""
        values = self._totals(state, entry.values)
        return self._on_table(Visit(score, entry.proven, (entry.action,), entry.variance, values))

    def _to_table(self, state: Any, depth: float, bound: Bound, found: Visit, action: int, frame: Frame) -> Entry:
        """What the table stores of a state: without the rewards already received."""
        value, distance = found.score
        to_come = self._totals(state, found.values, -1)
        return Entry(depth, bound, (value - frame.so_far, distance), action, found.proven, found.variance, to_come)

    def _totals(self, state: Any, values: Sequence[float], sign: int = 1) -> tuple[float, ...]:
        """Values to come as totals, or, with the other sign, totals as values to come."""
        if not values:
            return ()
        return tuple(value + sign * paid for paid, value in zip(self.game.utility(state), values, strict=True))

    def entry(self, state: Any, depth: float, ply: int) -> Entry | None:
        """What the table has of a state."""
        return self.table.probe(self._key(state, depth, ply)) if self.table is not None else None

    def _key(self, state: Any, depth: float, ply: int) -> Hashable:
        """What the table calls a state; with a cut-off test of the user's, how deep it lies may matter."""
        return self.game.key(state) if self.cutoff is None else (self.game.key(state), ply)

    def _on_table(self, found: Visit) -> Visit:
        """Called where the table has answered for a node; nobody listens here."""
        return found

    def _on_cutoff(self, action: int | None, choices: Sequence[int], last: int) -> None:
        """Called where ``choices`` of a node after number ``last`` need not be looked at; nobody listens here."""

    def _on_window(self, alpha: Score, beta: Score) -> None:
        """Called where the window of a node has become narrower; nobody listens here."""

    def probe(self, state: Any, action: int, depth: float, window: tuple[Score, Score], ply: int) -> Visit:
        """Searches one action of a state, for a bound of it (Star2); ``window`` is that of the action's result."""
        self.taken = action
        return self.visit(self.game.result(state, action), depth - 1, *window, ply + 1)
