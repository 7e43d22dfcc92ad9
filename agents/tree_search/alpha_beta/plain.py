"""Alpha-beta below the root in plain Python: the textbook's recursion with a table and move ordering.

Quiescence (``plain_quiet``), chance (``chance.plain_star``, ``chance.plain_probing``) and averages over replies
(``chance.plain_replies``) are subclasses; minimax, paranoid and best-reply search are settings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, Final

from zermelo.agents.base.branches import choices_in, skip_branch
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import Frame, Scale, Score
from zermelo.agents.tree_search.interface import Bound, ChanceOutcome, SearchSetup, Visit
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable, bound_of
from zermelo.envs.errors import EnvFailedError

_NO_ACTION: Final = -1


class PlainAlphaBeta(PlainSearch):
    """Fail-soft alpha-beta, or with ``pruning="none"`` minimax, of one seat against all others.

    For one player, two with a constant sum, or one against all; turns in any order.
    """

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: AlphaBetaConfig,
        *,
        table: TranspositionTable | None = None,
    ) -> None:
        game = root.view
        self._tables: Any = None
        if config.tables is not None:
            from zermelo.agents.knowledge.endgame_tables import table_for

            self._tables = table_for(config.tables, root.game)
        if self._tables is not None:
            self._rules: Any = game.rules
            if self._tables.gains:
                config = dataclasses.replace(config, prefer_short_wins=False)  # the table does not count moves
        self.config = config
        use_bounds = config.use_bounds
        if use_bounds is None:
            use_bounds = not config.prunes or root.evaluator is None or game.traits.terminal_rewards_only
        scale = Scale(
            game, prefer_short_wins=config.prefer_short_wins, use_bounds=use_bounds, seat=root.max_seat(config)
        )
        super().__init__(root, budget, config, scale=scale, table=table)
        self.prunes = config.prunes
        self._history_on_improvement = config.history_on_improvement

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
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.
        ``context`` is the outcome of chance that led to the state, None after an action.
        """
        self.budget.visit(ply)
        if self.game.is_terminal(state):
            return self.ended(state)
        return self.inside(state, depth, alpha, beta, ply, context)

    def inside(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, outcome: ChanceOutcome | None
    ) -> Visit:
        """The score of an unfinished state in which a player is to move."""
        if self._tables is not None and (known := self._probe_tables(state)) is not None:
            return known
        frame = self.scale.frame(state)
        if self.stops_at(state, depth, ply):
            return self.leaf(state, frame, alpha, beta, ply)
        if self.prunes:
            # Nobody gets more than the upper bound on utility, one ply from here; if that is no use, nothing is.
            if alpha >= frame.highest:
                return Visit(frame.highest, True)
            if beta <= frame.lowest:
                return Visit(frame.lowest, True)
        if self.table is None:
            return self.best_of(state, depth, alpha, beta, ply, frame, None, outcome)
        key = self.key(state, depth, ply)
        first: int | None = None
        if (entry := self.table.probe(key)) is not None:
            if (found := self.settled(state, entry, depth, alpha, beta, frame)) is not None:
                return found
            first = entry.action
        found = self.best_of(state, depth, alpha, beta, ply, frame, first, outcome)
        self.store(state, key, depth, found, bound_of(found.score, alpha, beta, frame), frame)
        return found

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
        """The best of a player's actions: the textbook's loop, ``first`` being the table's action."""
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        edge = alpha if maximizing else beta
        if self.prunes:
            alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        lower, upper = alpha, beta
        place, probed = ply, None
        if outcome is not None:
            place, probed = outcome.place(ply), outcome.visit
            first = first if probed is None else outcome.action
        actions = choices_in(game, state)
        ordered = self.ordered(state, actions, mover, depth, ply, place, first)
        best: Visit | None = None
        proven = len(ordered) == len(actions)
        for action in self.in_turn(ordered, depth, waits_for_first=self.prunes):
            if probed is not None and action == first:
                found = probed
            else:
                try:  # here and not in ``child_of``: most of the time goes by here
                    child = game.result(state, action)
                except EnvFailedError as error:
                    skip_branch(game, error)
                    continue
                if self.prunes:
                    lower, upper = frame.to_child(alpha), frame.to_child(beta)
                # With ``*window`` Python 3.12 allows a thousand calls inside of each other, whatever its limit.
                found = self.visit(child, depth - 1, lower, upper, ply + 1, action)
            score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if not self.prunes:
                continue
            if score > alpha if maximizing else score < beta:
                alpha, beta = (score, beta) if maximizing else (alpha, score)
                self.narrowed(alpha, beta)
            if alpha >= beta:
                if not self._history_on_improvement:
                    self.order.update_history(action, mover, place, depth)
                proven = best.proven  # what was not searched does not matter, so this action alone proves it
                self.cut(action, ordered)
                break
        if best is None:
            return self.value_without_moves(state)
        if self._history_on_improvement and (best.score > edge if maximizing else best.score < edge):
            self.order.update_history(best.line[0], mover, place, depth)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def ordered(
        self, state: Any, actions: Sequence[int], mover: int, depth: float, ply: int, place: int, first: int | None
    ) -> Sequence[int]:
        """The actions to search, most promising first; ``place`` is the slot of the order's statistics."""
        return self.order.order_moves(state, actions, mover, place, first)

    def leaf(self, state: Any, frame: Frame, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state at the depth limit."""
        return self.evaluated(state, frame)

    def settled(
        self, state: Any, entry: Entry, depth: float, alpha: Score, beta: Score, frame: Frame
    ) -> Visit | None:
        """The table's answer to a search of a state with this depth and window; None if it has none."""
        value, distance = entry.score
        score = value + frame.so_far, distance
        if not entry.serves(depth) or not entry.settles(score, alpha, beta):
            return None
        line = () if entry.action == _NO_ACTION else (entry.action,)
        values = self._totals(state, entry.values)
        return self.from_table(Visit(score, entry.proven, line, entry.variance, values))

    def store(self, state: Any, key: Hashable, depth: float, found: Visit, bound: Bound, frame: Frame) -> None:
        """Writes into the table what was found, without the rewards already received."""
        assert self.table is not None, "called only with a table"
        action = found.line[0] if found.line else _NO_ACTION
        score = found.score[0] - frame.so_far, found.score[1]
        to_come = self._totals(state, found.values, -1)
        self.table.store(key, Entry(depth, bound, score, action, found.proven, found.variance, to_come))

    def key(self, state: Any, depth: float, ply: int) -> Hashable:
        key = super().key(state, depth, ply)
        return key if self.prunes else (key, depth)  # a state may lead to itself

    def _probe_tables(self, state: Any) -> Visit | None:
        """The score of a state that the endgame tables have."""
        entry = self._tables.probe(self._rules, state)
        if entry is None:
            return None
        sign = 1 if self.game.to_move(state) == self.max_seat else -1
        plies = -sign * entry.value * (entry.plies or 0) if self.config.prefer_short_wins else 0
        return Visit((float(sign * entry.value), plies), True)
