"""Expectiminimax in plain Python: alpha-beta with chance nodes, pruned by Star1; and beams, without pruning."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from zermelo.agents.base.branches import child_of
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import INFINITE_WINDOW, Score, evaluates_chance
from zermelo.agents.tree_search.alpha_beta.plain_quiet import PlainQuiescence
from zermelo.agents.tree_search.chance.plain import AverageBounds, average_visits
from zermelo.agents.tree_search.interface import Bound, ChanceOutcome, SearchSetup, Visit
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.agents.tree_search.transposition_table import TranspositionTable
from zermelo.envs.capabilities import rules_of
from zermelo.envs.game import CHANCE


class PlainStar(PlainQuiescence):
    """Alpha-beta with chance nodes, whose cuts need finite ``utility_bounds``.

    Where the game pays before its end they are not used together with evaluations, which may go beyond them.
    """

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: AlphaBetaConfig,
        *,
        table: TranspositionTable | None = None,
    ) -> None:
        super().__init__(root, budget, config, table=table)
        self._continues_move = getattr(rules_of(self.game), "continues_move", None)
        is_evaluated = evaluates_chance(config.chance_at_limit, root.game, root.evaluator)
        self._at_chance = is_evaluated and root.width is None
        # Sampled outcomes are not met again.
        self._chance_table = self.table if self.prunes and self.width is None else None

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        taken: int | None = None,
        context: ChanceOutcome | None = None,
    ) -> Visit:
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self.ended(state)
        if self._continues_move is not None and self._continues_move(state):
            depth += 1
        if game.to_move(state) != CHANCE:
            return self.inside(state, depth, alpha, beta, ply, context)
        if self._at_chance and self.stops_at(state, depth, ply):
            return self.evaluated(state, self.scale.frame(state))
        if self._chance_table is None:
            return self.average(state, depth, alpha, beta, ply)
        return self._chance_visit(state, depth, alpha, beta, ply, self._chance_table)

    def _chance_visit(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, table: TranspositionTable
    ) -> Visit:
        """The average of a chance state by the table, or else from its outcomes."""
        frame = self.scale.frame(state)
        key: Hashable = self.key(state, depth, ply), CHANCE
        entry = table.probe(key)
        if entry is not None and (found := self.settled(state, entry, depth, alpha, beta, frame)) is not None:
            return found
        found = self.average(state, depth, alpha, beta, ply)
        distance = found.score[1]  # that of a bound is infinite
        bound = Bound.EXACT if math.isfinite(distance) else Bound.UPPER if distance > 0 else Bound.LOWER
        self.store(state, key, depth, found, bound, frame)
        return found

    def average(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The average over a chance state's outcomes, or a bound of it outside the window.

        A bound's second number is infinite: plus for an upper, minus for a lower one.
        """
        ways = self.following(state, [(number, p) for number, p in self.game.chance_outcomes(state) if p > 0])
        if not ways:
            return self.value_without_moves(state)
        lower, upper = -math.inf, math.inf
        if self.prunes:
            frame = self.scale.frame(state)
            lower, upper = frame.lowest[0], frame.highest[0]
        average = AverageBounds([p for _, p, _ in ways], lower, upper, alpha[0], beta[0])
        outcomes = [ChanceOutcome(number) for number, _, _ in ways]
        children = [child for _, _, child in ways]
        proven = self.tighten(average, children, outcomes, depth, ply) and self.width is None
        founds: list[Visit] = []
        for index, (outcome, child) in enumerate(zip(outcomes, children, strict=True)):
            if average.outside():
                break
            low, high = average.window(index)
            found = self.visit(child, depth, (low, -math.inf), (high, math.inf), ply, outcome.number, outcome)
            founds.append(found)
            if found.score[0] >= low:
                average.raise_low(index, found.score[0])
            if found.score[0] <= high:
                average.lower_high(index, found.score[0])
        searched = self.width is None and all(found.proven for found in founds)
        bound = average.outside()
        if bound:
            self.cut(None, [outcome.number for outcome in outcomes[len(founds) :]])
            return Visit(bound, proven and searched)
        chances = [(p, found) for (_, p, _), found in zip(ways, founds, strict=True)]
        return average_visits(chances, searched, self.width, self.seats)

    def tighten(
        self, average: AverageBounds, children: list[Any], outcomes: list[ChanceOutcome], depth: float, ply: int
    ) -> bool:
        """Tightens an average's bounds before its outcomes are searched; False if unproven values went into them.

        Star1 does nothing.
        """
        return True


class PlainBeam(PlainStar):
    """Without pruning; of a player's actions only those are searched that look best one move ahead."""

    def ordered(
        self, state: Any, actions: Sequence[int], mover: int, depth: float, ply: int, place: int, first: int | None
    ) -> Sequence[int]:
        ordered = super().ordered(state, actions, mover, depth, ply, place, first)
        width = self.config.beam_width
        if len(ordered) <= width or depth <= 1:
            return ordered
        sign = -1 if mover == self.max_seat else 1
        lower, upper = INFINITE_WINDOW
        worth = {}
        for action in ordered:
            child = child_of(self.game, state, action)
            if child is not None:
                worth[action] = sign * self.visit(child, 0, lower, upper, ply + 1, action).score[0]
        return sorted(worth, key=worth.__getitem__)[:width]
