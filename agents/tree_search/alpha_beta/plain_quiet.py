"""Quiescence in plain Python: what is searched at the depth limit while there are noisy actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import Frame, Score
from zermelo.agents.tree_search.alpha_beta.plain import PlainAlphaBeta
from zermelo.agents.tree_search.interface import SearchSetup, Visit
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.agents.tree_search.transposition_table import TranspositionTable
from zermelo.envs.capabilities import SupportsQuiescence, offers


def quiescence_of(game: Any, config: AlphaBetaConfig) -> int:
    """How many noisy actions a search follows below the depth limit."""
    return config.quiescence if config.prunes and offers(game, SupportsQuiescence) else 0


class PlainQuiescence(PlainAlphaBeta):
    """Alpha-beta that goes on below the depth limit: the mover may stand pat, or play a noisy action."""

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: AlphaBetaConfig,
        *,
        table: TranspositionTable | None = None,
    ) -> None:
        super().__init__(root, budget, config, table=table)
        self._quiescence = quiescence_of(self.game, config)

    def leaf(self, state: Any, frame: Frame, alpha: Score, beta: Score, ply: int) -> Visit:
        if not self._quiescence:
            return self.evaluated(state, frame)
        return self._stand_pat_or_play(state, 0, alpha, beta, ply, frame)

    def quiet_visit(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int | None = None
    ) -> Visit:
        """The score of a state that a noisy action has led to; ``depth`` is below 0."""
        self.budget.visit(ply)
        if self.game.is_terminal(state):
            return self.ended(state)
        return self._stand_pat_or_play(state, depth, alpha, beta, ply, self.scale.frame(state))

    def _stand_pat_or_play(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, frame: Frame
    ) -> Visit:
        game: Any = self.game
        best = self.evaluated(state, frame)
        if self._quiescence + depth <= 0:
            return best
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        is_noisy = game.is_noisy
        noisy = [action for action in choices_in(game, state) if is_noisy(state, action)]
        ordered = self.order.order_moves(state, noisy, mover, ply, None)
        choices: Sequence[int | None] = (None, *ordered)
        for action in choices:
            if action is not None:
                child = child_of(game, state, action)
                if child is None:
                    continue
                lower, upper = frame.to_child(alpha), frame.to_child(beta)
                found = self.quiet_visit(child, depth - 1, lower, upper, ply + 1, action)
                score = frame.to_parent(found.score)
                if score > best.score if maximizing else score < best.score:
                    best = Visit(score, False, (action, *found.line), values=found.values)
            if best.score > alpha if maximizing else best.score < beta:
                alpha, beta = (best.score, beta) if maximizing else (alpha, best.score)
                self.narrowed(alpha, beta)
            if alpha >= beta:
                self.cut(action, ordered)
                break
        return best
