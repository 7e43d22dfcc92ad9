"""The search that looks at everything: minimax, expectiminimax where there is chance, expectimax."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, Frame, Scale, Score
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.tree.chance_nodes import averaged
from zermelo.agents.search.tree.plain_search import PlainSearch
from zermelo.envs import CHANCE, Game

_NO_ACTION: Final = -1
_ANY_FACTOR: Final = (0.0, math.inf)


class FullWidthSearch(PlainSearch):
    """Visits every node down to the depth; one seat maximizes, the others minimize, chance averages.

    Args:
        game: Of one player, or of two with a constant sum; with ``replies``, of any players.
        sooner: Whether wins should come sooner and losses later.
        replies: ``replies(game, state)``, the actions of the other seats with their probabilities, if they are
            averaged over instead.
        min_probability: Where a search may stop, it does so at states that chance leads to with less probability
            than this, counted from the root.
        others: As ``PlainSearch`` takes them.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        seat: int = 0,
        replies: Callable[[Game[Any], Any], Sequence[tuple[int, float]]] | None = None,
        min_probability: float = 0.0,
        **others: Any,
    ) -> None:
        scale = Scale(game, sooner=sooner, seat=seat)
        super().__init__(game, budget, evaluator, scale=scale, order=MoveOrder(game), seat=seat, **others)
        self._replies = replies
        self._min_probability = min_probability
        # By which factors the probability of the node being searched may change without another cut below it.
        self._factors = _ANY_FACTOR

    def window(self, state: Any) -> tuple[Score, Score]:
        """Everything: this search prunes nothing."""
        return INFINITE_WINDOW

    def visit(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, probability: float = 1.0
    ) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted. No window is used.

        ``probability`` is that of all chance events between the root and the state.
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self._ended(state)
        mover = game.to_move(state)
        is_chance = mover == CHANCE
        if (self._at_chance or not is_chance) and (
            depth <= 0 or (self.cutoff is not None and self.cutoff(game, state, ply))
        ):
            return self.evaluated(state, self.scale.frame(state))
        if self._min_probability and is_chance == self._at_chance and self._is_improbable(probability):
            return self.evaluated(state, self.scale.frame(state))
        if is_chance:
            return self._expectation(state, depth, ply, probability)
        frame = self.scale.frame(state)
        key: Hashable = None
        if self.table is not None:
            key = self._key(state, depth, ply)
            entry = self.table.probe(key)
            if entry is not None and entry.least <= probability < entry.below:
                self._narrow(entry.least / probability, entry.below / probability)
                value, distance = entry.score
                return self._from_table(state, entry, (value + frame.so_far, distance))
        before, self._factors = self._factors, _ANY_FACTOR
        if self._replies is not None and mover != self.max_seat:
            best = self._reply(state, depth, ply, frame)
        else:
            best = self._best(state, depth, ply, frame, mover == self.max_seat, probability)
        if self.table is not None:
            action = best.line[0] if best.line else _NO_ACTION
            entry = self._to_table(state, depth, Bound.EXACT, best, action, frame)
            least, below = self._factors
            self.table.store(key, entry._replace(least=probability * least, below=probability * below))
        self._narrow(*before)
        return best

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state; what an improbable state was searched for is nothing to go by."""
        return None if self._min_probability else super().recall(state, depth, ply)

    def _is_improbable(self, probability: float) -> bool:
        """Whether the search stops at a state, and by which factor it would have to change for another answer."""
        factor = self._min_probability / max(probability, sys.float_info.min)
        if probability < self._min_probability:
            self._narrow(0.0, factor)
            return True
        self._narrow(factor, math.inf)
        return False

    def _narrow(self, least: float, below: float) -> None:
        self._factors = max(self._factors[0], least), min(self._factors[1], below)

    def _best(
        self, state: Any, depth: float, ply: int, frame: Frame, maximizing: bool, probability: float
    ) -> Visit:
        """The textbook's loop over the actions."""
        game = self.game
        best: Visit | None = None
        proven = True
        for action in game.legal_actions(state):
            self.taken = action
            found = self.visit(game.result(state, action), depth - 1, *INFINITE_WINDOW, ply + 1, probability)
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
        founds = []
        for action, p in self._replies(self.game, state):
            self.taken, self.chance = action, p
            found = self.visit(self.game.result(state, action), depth - 1, *INFINITE_WINDOW, ply + 1)
            founds.append((p, found._replace(score=frame.to_parent(found.score))))
        # Rounded once, so that mirror images, whose replies come in another order, are worth exactly the same.
        value, distance = (math.fsum(p * found.score[part] for p, found in founds) for part in (0, 1))
        variance = sum(p * p * found.variance for p, found in founds)
        proven = all(found.proven for _, found in founds)
        return averaged(founds, proven, None, self.seats)._replace(score=(value, distance), variance=variance)

    def _key(self, state: Any, depth: float, ply: int) -> Hashable:
        """States that are reached again with as many moves to look ahead have the same value.

        Depth is part of it so that a state that returns to itself has one entry for each.
        """
        return self.game.key(state), depth, None if self.cutoff is None else ply

    def _expectation(self, state: Any, depth: float, ply: int, probability: float) -> Visit:
        """The average over a chance state's outcomes; where they are draws, how much it scatters."""
        game = self.game
        outcomes: list[tuple[float, Visit]] = []
        for outcome, p in game.chance_outcomes(state):
            if p > 0:
                self.taken, self.chance = outcome, p
                child = game.result(state, outcome)
                outcomes.append((p, self.visit(child, depth, *INFINITE_WINDOW, ply, probability * p)))
        proven = all(found.proven for _, found in outcomes)
        return averaged(outcomes, proven, self.width, self.seats)
