"""The search that looks at everything: minimax, expectiminimax where there is chance, expectimax."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, Frame, Scale, Score
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.chance_nodes import averaged
from zermelo.agents.search.evaluation import StateEvaluation
from zermelo.agents.search.transposition_table import Entry, TranspositionTable
from zermelo.envs import CHANCE, Game, RewardSum

__all__ = ["FullWidthSearch"]

_NO_ACTION = -1


class FullWidthSearch:
    """Visits every node down to the depth; one seat maximizes, the others minimize, chance averages.

    Args:
        game: Of one player, or of two with a constant sum; with ``replies``, of any players.
        budget: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        table: Positions already searched, or None.
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
        seat: The seat that maximizes.
        replies: ``replies(game, state)``, the actions of the other seats with their probabilities, if they are
            averaged over instead.
        at_chance: Whether a chance state at the depth limit is evaluated, not averaged over.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        table: TranspositionTable | None = None,
        width: int | None = None,
        seat: int = 0,
        replies: Callable[[Game[Any], Any], Sequence[tuple[int, float]]] | None = None,
        at_chance: bool = False,
    ) -> None:
        self.game = game
        self.budget = budget
        self.max_seat = seat
        self.scale = Scale(game, sooner=sooner, seat=seat)
        self.table = table
        traits = game.traits
        keeps_values = traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL)
        self._seats = traits.seats if keeps_values else 0
        self._replies = replies
        self._evaluation = StateEvaluation(game, evaluator, budget, seat)
        self._cutoff = cutoff
        self._width = width
        self._at_chance = at_chance and width is None

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None and self._cutoff is None and self._width is None

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Everything: this search prunes nothing."""
        return INFINITE_WINDOW

    def root_actions(self, state: Any) -> Sequence[int]:
        """Ascending."""
        return self.game.legal_actions(state)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted. No window is used."""
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            values = game.utility(state) if self._seats else ()
            return Visit(self.scale.terminal(state), self._width is None, values=values)
        mover = game.to_move(state)
        is_chance = mover == CHANCE
        if (self._at_chance or not is_chance) and (
            depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply))
        ):
            if not self._seats:
                return Visit(self._evaluation.score(state, self.scale.frame(state)), False)
            values = self._evaluation.values(state)
            return Visit((values[self.max_seat], 0), False, values=values)
        if is_chance:
            return self._expectation(state, depth, ply)
        frame = self.scale.frame(state)
        key: Hashable = None
        if self.table is not None:
            key = self._key(state, depth, ply)
            entry = self.table.get(key)
            if entry is not None:
                return self._remembered(state, entry, frame)
        if self._replies is not None and mover != self.max_seat:
            best = self._reply(state, depth, ply, frame)
        else:
            best = self._best(state, depth, ply, frame, mover == self.max_seat)
        if self.table is not None:
            value, promptness = best.score
            stored = (value - frame.so_far, promptness)
            action = best.line[0] if best.line else _NO_ACTION
            to_come = self._totals(state, best.values, sign=-1)
            self.table.put(key, Entry(depth, Bound.EXACT, stored, action, best.proven, best.variance, to_come))
        return best

    def _remembered(self, state: Any, entry: Entry, frame: Frame) -> Visit:
        """What the table knows of a state."""
        value, promptness = entry.score
        values = self._totals(state, entry.values)
        return Visit((value + frame.so_far, promptness), entry.proven, (entry.action,), entry.variance, values)

    def _best(self, state: Any, depth: float, ply: int, frame: Frame, maximizing: bool) -> Visit:
        """The textbook's loop over the actions."""
        game = self.game
        best: Visit | None = None
        proven = True
        for action in game.legal_actions(state):
            found = self.visit(game.result(state, action), depth - 1, *INFINITE_WINDOW, ply + 1)
            score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
        if best is None:
            raise no_legal_action(game)
        if best.proven and best.score[0] == (frame.highest if maximizing else frame.lowest)[0]:
            proven = True
        return best._replace(proven=proven)

    def _reply(self, state: Any, depth: float, ply: int, frame: Frame) -> Visit:
        """The average over what another seat may do."""
        assert self._replies is not None, "only where others are averaged over"
        game = self.game
        founds = [
            (p, self.visit(game.result(state, action), depth - 1, *INFINITE_WINDOW, ply + 1))
            for action, p in self._replies(game, state)
        ]
        # Rounded once, so that mirror images, whose replies come in another order, are worth exactly the same.
        value = math.fsum(p * found.score[0] for p, found in founds)
        promptness = math.fsum(p * frame.to_parent(found.score)[1] for p, found in founds)
        variance = sum(p * p * found.variance for p, found in founds)
        proven = all(found.proven for _, found in founds)
        values = averaged(founds, proven, None, self._seats).values
        return Visit((value, promptness), proven, (), variance, values)

    def _totals(self, state: Any, values: tuple[float, ...], sign: int = 1) -> tuple[float, ...]:
        """Values to come as totals, or, with the other sign, totals as values to come."""
        if not values:
            return ()
        return tuple(value + sign * paid for paid, value in zip(self.game.utility(state), values, strict=True))

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        entry = self.table.get(self._key(state, depth, ply)) if self.table is not None else None
        return None if entry is None else entry.action

    def _key(self, state: Any, depth: float, ply: int) -> Hashable:
        """States that are reached again with as many moves to look ahead have the same value.

        Depth is part of it so that a state that returns to itself keeps one entry for each.
        """
        return self.game.key(state), depth, None if self._cutoff is None else ply

    def _expectation(self, state: Any, depth: float, ply: int) -> Visit:
        """The average over a chance state's outcomes; where they are draws, how much it scatters."""
        game = self.game
        outcomes = [
            (probability, self.visit(game.result(state, outcome), depth, *INFINITE_WINDOW, ply))
            for outcome, probability in game.chance_outcomes(state)
            if probability > 0
        ]
        proven = all(found.proven for _, found in outcomes)
        return averaged(outcomes, proven, self._width, self._seats)
