"""Star2 in plain Python: one action is probed in each outcome of chance before any outcome is searched in full."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.scores import Score
from zermelo.agents.tree_search.chance.plain import AverageBounds
from zermelo.agents.tree_search.chance.plain_star import PlainStar
from zermelo.agents.tree_search.interface import Bound, ChanceOutcome, Visit
from zermelo.envs.game import CHANCE


class PlainProbing(PlainStar):
    """Star2: a player's value of one action bounds an outcome from one side, and so the average."""

    def tighten(
        self, average: AverageBounds, children: list[Any], outcomes: list[ChanceOutcome], depth: float, ply: int
    ) -> bool:
        """Probes one action in each outcome, or asks the table.

        Visits are written into ``outcomes`` and not made again: the windows of later searches lie inside those
        that are used here.
        """
        if not average.bounded or depth <= 0:
            return True
        game = self.game
        proven = True
        for index, (outcome, child) in enumerate(zip(outcomes, children, strict=True)):
            if game.is_terminal(child) or (mover := game.to_move(child)) == CHANCE:
                continue
            maximizing = mover == self.max_seat
            if not (average.can_rise_above if maximizing else average.can_fall_below):
                continue
            if self.stops_at(child, depth, ply):
                continue
            entry = self.entry(child, depth, ply)
            if entry is not None and entry.serves(depth):
                value = entry.score[0] + self.scale.frame(child).so_far
                proven = proven and entry.proven
                if entry.bound is not Bound.UPPER:
                    average.raise_low(index, value)
                if entry.bound is not Bound.LOWER:
                    average.lower_high(index, value)
                if average.outside():
                    return proven
                if entry.bound is Bound.EXACT:
                    continue
            self.budget.visit(ply)
            first = entry.action if entry is not None else None
            actions = self.order.order_moves(child, choices_in(game, child), mover, outcome.place(ply), first)
            if not actions or child_of(game, child, actions[0]) is None:
                continue
            low, high = average.window(index)
            alpha = (-math.inf, 0.0) if maximizing else (low, -math.inf)
            beta = (high, math.inf) if maximizing else (math.inf, 0.0)
            found = self.probe(child, depth, alpha, beta, ply, outcome.number, actions[0])
            outcomes[index] = outcome._replace(action=actions[0], visit=found)
            proven = proven and found.proven
            if maximizing:
                average.raise_low(index, found.score[0])
            else:
                average.lower_high(index, found.score[0])
            if average.outside():
                return proven
        return proven

    def probe(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int, action: int
    ) -> Visit:
        """The visit of one action in the state that the outcome ``taken`` has led to."""
        return self.visit(self.game.result(state, action), depth - 1, alpha, beta, ply + 1, action)
