"""The search that looks at everything: minimax, and expectiminimax where there is chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from zermelo.agents.deepening import Visit
from zermelo.agents.effort import Effort
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.gate import no_legal_action
from zermelo.agents.leaf import LeafValue
from zermelo.agents.scores import Frame, Scale, Score
from zermelo.agents.transposition import Bound, Entry, TranspositionTable
from zermelo.envs import CHANCE, Game

__all__ = ["FullWidthSearch"]

INFINITE_WINDOW: tuple[Score, Score] = ((-math.inf, 0), (math.inf, 0))


class FullWidthSearch:
    """Visits every node down to the depth; seat 0 maximizes, seat 1 minimizes, chance averages.

    Args:
        game: Of one player, or of two with a constant sum.
        effort: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        table: Positions already searched, or None.
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
    """

    def __init__(
        self,
        game: Game[Any],
        effort: Effort,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        table: TranspositionTable | None = None,
        width: int | None = None,
    ) -> None:
        self.game = game
        self.effort = effort
        self.scale = Scale(game, sooner=sooner)
        self.table = table
        self._leaf = LeafValue(game, evaluator, effort)
        self._cutoff = cutoff
        self._width = width

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
        self.effort.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return Visit(self.scale.terminal(state), self._width is None)
        mover = game.to_move(state)
        if mover == CHANCE:
            return self._expectation(state, depth, ply)
        if depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply)):
            return Visit(self._leaf.score(state, self.scale.frame(state)), False)
        frame = self.scale.frame(state)
        key: Hashable = None
        if self.table is not None:
            key = self._key(state, depth, ply)
            entry = self.table.get(key)
            if entry is not None:
                value, promptness = entry.score
                return Visit((value + frame.so_far, promptness), entry.proven, (entry.action,), entry.variance)
        best: Visit | None = None
        proven = True
        for action in game.legal_actions(state):
            found = self.visit(game.result(state, action), depth - 1, alpha, beta, ply + 1)
            score = frame.delayed(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if mover == 0 else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance)
        if best is None:
            raise no_legal_action(game)
        if best.proven and best.score[0] == (frame.highest if mover == 0 else frame.lowest)[0]:
            proven = True
        best = best._replace(proven=proven)
        if self.table is not None:
            value, promptness = best.score
            stored = (value - frame.so_far, promptness)
            self.table.put(key, Entry(depth, Bound.EXACT, stored, best.line[0], proven, best.variance))
        return best

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
        ]
        value = sum(p * found.score[0] for p, found in outcomes)
        promptness = sum(p * found.score[1] for p, found in outcomes)
        if self._width is None:
            return Visit((value, promptness), all(found.proven for _, found in outcomes))
        scatter = sum(p * (found.score[0] - value) ** 2 for p, found in outcomes)
        variance = scatter / (self._width - 1) if self._width > 1 else math.nan
        variance += sum(p * p * found.variance for p, found in outcomes)
        return Visit((value, promptness), False, (), variance)
