"""Expectimax against a model of the other players, in plain Python."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.scores import INFINITE_WINDOW, Frame, Score
from zermelo.agents.tree_search.chance.plain import average_visits
from zermelo.agents.tree_search.chance.plain_star import PlainStar
from zermelo.agents.tree_search.interface import ChanceOutcome, Visit
from zermelo.agents.tree_search.observer import NodeRole


class PlainReplies(PlainStar):
    """The actions of the other seats are averaged over, with the probabilities that a model gives them."""

    roles = NodeRole.MAX, NodeRole.CHANCE

    def best_of(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        frame: Frame,
        first: int | None,
        outcome: ChanceOutcome | None,
    ) -> Visit:
        if self.game.to_move(state) == self.max_seat:
            return super().best_of(state, depth, alpha, beta, ply, frame, first, outcome)
        assert self.config.replies is not None, "made only where others are averaged over"
        replies = [(action, p) for action, p in self.config.replies(self.game, state) if p > 0]
        founds = []
        lower, upper = INFINITE_WINDOW
        for action, p, child in self.following(state, replies):
            found = self.visit(child, depth - 1, lower, upper, ply + 1, action)
            founds.append((p, found._replace(score=frame.to_parent(found.score))))
        if not founds:
            return self.value_without_moves(state)
        # Rounded once, so that mirror images, whose replies come in another order, are worth exactly the same.
        value, distance = (math.fsum(p * found.score[part] for p, found in founds) for part in (0, 1))
        variance = sum(p * p * found.variance for p, found in founds)
        proven = all(found.proven for _, found in founds)
        return average_visits(founds, proven, None, self.seats)._replace(
            score=(value, distance), variance=variance
        )
