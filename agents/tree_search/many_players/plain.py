"""The search behind ``MaxNAgent``: every seat maximizes its own component of a vector of utilities."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Final

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import Frame, Scale, Score, finite
from zermelo.agents.tree_search.chance.plain import sample_variance, sum_left_to_right
from zermelo.agents.tree_search.interface import Bound, SearchSetup, Vector, Visit
from zermelo.agents.tree_search.many_players.interface import MaxNRoot, SumNotConstantError, tie_key
from zermelo.agents.tree_search.observer import NodeRole
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.settings import MaxNConfig, TieRule
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable
from zermelo.envs.game import CHANCE

_TOLERANCE: Final = 1e-9
_NOBODY: Final = -1


class PlainMaxN(MaxNRoot, PlainSearch):
    """max^n below the root, with shallow pruning where the settings ask for it."""

    roles = NodeRole.OWN, NodeRole.OWN

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: MaxNConfig,
        *,
        table: TranspositionTable | None = None,
    ) -> None:
        scale = Scale(root.game, prefer_short_wins=False, use_bounds=False, seat=root.max_seat(config))
        super().__init__(root, budget, config, scale=scale, table=table)
        self._traits = root.game.traits
        self.prefer_by(config, self._traits)
        self.seats = self._traits.seats
        self.prunes = config.prunes

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        taken: int | None = None,
        context: int | None = None,
    ) -> Visit:
        """The values of a state, looking ``depth`` moves ahead.

        Where they are of no use to the player who moved there, only a bound of that player's, who can already get
        ``alpha`` elsewhere. ``context`` is that player: -1 if it was chance, None for the seat to move at the
        root. ``beta`` is not used.
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self.ended(state)
        if game.to_move(state) == CHANCE:
            return self._expectation(state, depth, ply)
        if self.stops_at(state, depth, ply):
            return self.evaluated(state, self.scale.frame(state))
        parent = self.max_seat if context is None else context
        paid = game.utility(state)
        table_action: int | None = None
        key: Hashable = None
        if self.table is not None:
            key = self.key(state, depth, ply)
            entry = self.table.probe(key)
            if entry is not None:
                table_action = entry.action
                found = self._answer(state, entry, depth, paid, parent, alpha[0])
                if found is not None:
                    return found
        best, is_bound = self._best(state, depth, parent, alpha[0], ply, paid, table_action)
        if is_bound:
            if self.table is not None:
                score = (best.score[0] - paid[game.to_move(state)], best.plies)
                self.table.store(key, Entry(depth, Bound.LOWER, score, best.line[0], best.proven))
            return best._replace(score=(best.values[self.max_seat], 0))
        if self.table is not None and best.line:
            to_come = self._totals(state, best.values, -1)
            score = (to_come[self.max_seat], best.plies)
            entry = Entry(depth, Bound.EXACT, score, best.line[0], best.proven, best.variance, to_come)
            self.table.store(key, entry)
        return best

    def _answer(
        self, state: Any, entry: Entry, depth: float, paid: Vector, parent: int, value: float
    ) -> Visit | None:
        if not entry.serves(depth):
            return None
        if entry.bound is Bound.EXACT:
            values, line = self._totals(state, entry.values), (entry.action,)
            return self.from_table(self._visited(values, entry.score[1], entry.proven, line, entry.variance))
        mover = self.game.to_move(state)  # what it keeps at least may be too much again
        bound = self._parent_bound(paid, parent, value, mover, entry.score[0] + paid[mover])
        return None if bound is None else self.from_table(self._visited(bound, 0.0, entry.proven))

    def _best(
        self, state: Any, depth: float, parent: int, value: float, ply: int, paid: Vector, table_action: int | None
    ) -> tuple[Visit, bool]:
        """What was found, and whether the parent's bound ended the loop early.

        Then the values are that bound, and the score what the player to move has at least.
        """
        game = self.game
        mover = game.to_move(state)
        upper = self._upper(paid, mover)
        tied: list[tuple[int, Visit]] = []
        best = -math.inf
        proven = True
        ordered = self.order.order_moves(state, choices_in(game, state), mover, ply, table_action)
        for action in self.in_turn(ordered, depth, waits_for_first=self.prunes):
            if tied and best >= upper and self._settled(tied, action):
                continue
            child = child_of(game, state, action)
            if child is None:
                continue
            found = self.visit(child, depth - 1, (best, 0), (math.inf, 0), ply + 1, action, mover)
            proven = proven and found.proven
            found = found._replace(line=(action, *found.line), plies=found.plies + 1)
            own = found.values[mover]
            if own > best:
                best, tied = own, [(action, found)]
                bound = self._parent_bound(paid, parent, value, mover, best)
                if bound is not None:
                    self.order.update_history(action, mover, ply, depth)
                    self.cut(action, ordered)
                    return found._replace(score=(best, 0), values=bound), True
            elif own == best:
                tied.append((action, found))
        if not tied:
            return self.value_without_moves(state), False
        return self._chosen(tied, mover)._replace(proven=proven), False

    def _chosen(self, tied: Sequence[tuple[int, Visit]], mover: int) -> Visit:
        if len(tied) == 1:
            return tied[0][1]
        keys = [tie_key(self.rule, found.values, mover, self.max_seat) for _, found in tied]
        left = sorted((action, found) for (action, found), key in zip(tied, keys, strict=True) if key == min(keys))
        values = left[0][1].values
        same = [found for _, found in left if found.values == values]
        return min(same, key=lambda found: self.distance_preference(values, found.plies, mover))

    def _upper(self, paid: Vector, mover: int) -> float:
        """No total of that seat is greater, where that may be used: all others get at least the lower bound."""
        if not self.prunes or self.rule is not TieRule.FIRST:
            return math.inf
        lower, upper = self._traits.utility_bounds
        others = math.fsum(so_far + lower for seat, so_far in enumerate(paid) if seat != mover)
        return float(min(paid[mover] + upper, self._traits.constant - others))

    def _settled(self, tied: Sequence[tuple[int, Visit]], action: int) -> bool:
        """True if an action that is as good at best would not be taken, where the rule is to take the first."""
        first, found = min(tied)
        return action > first and (not self._prefer_short_wins or found.plies <= 1)

    def _parent_bound(self, paid: Vector, parent: int, value: float, mover: int, best: float) -> Vector | None:
        """Shallow pruning (Korf, "Multi-player alpha-beta pruning", Artificial Intelligence 48, 1991).

        What the player to move keeps for itself, and what the others get at least, cannot go to the parent. If
        that leaves the parent less than it has elsewhere, it will not come here. Ties are searched, as a rule
        decides them. Only the parent's bound may be used so: deeper ones prune wrongly in max^n.
        """
        if not self.prunes or parent in (mover, _NOBODY) or value == -math.inf:
            return None
        lower = self._traits.utility_bounds[0]
        others = math.fsum(paid[seat] + lower for seat in range(len(paid)) if seat not in (mover, parent))
        most = self._traits.constant - best - others
        if most >= value - _TOLERANCE:
            return None
        return tuple(most if seat == parent else math.nan for seat in range(len(paid)))

    def ended(self, state: Any) -> Visit:
        return self._visited(tuple(finite(self._traits, self.game.utility(state))), 0.0, self.width is None)

    def evaluated(self, state: Any, frame: Frame) -> Visit:
        found = super().evaluated(state, frame)
        if self.prunes and abs(math.fsum(found.values) - self._traits.constant) > _TOLERANCE:
            raise SumNotConstantError(found.values)
        return found

    def _expectation(self, state: Any, depth: float, ply: int) -> Visit:
        founds: list[tuple[float, Visit]] = []
        for outcome, p, child in self.following(state, self.game.chance_outcomes(state)):
            founds.append((p, self.visit(child, depth, (-math.inf, 0), (math.inf, 0), ply, outcome, _NOBODY)))
        if not founds:
            return self.value_without_moves(state)
        values = tuple(
            sum_left_to_right(p * found.values[seat] for p, found in founds) for seat in range(self.seats)
        )
        plies = sum_left_to_right(p * found.plies for p, found in founds)
        if self.width is None:
            return self._visited(values, plies, all(found.proven for _, found in founds))
        variance = sample_variance(founds, values[self.max_seat], self.width)
        return self._visited(values, plies, False, (), variance)

    def _visited(
        self, values: Vector, plies: float, proven: bool, line: tuple[int, ...] = (), variance: float = 0.0
    ) -> Visit:
        return Visit((values[self.max_seat], 0), proven, line, variance, values, plies)
