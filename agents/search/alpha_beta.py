"""The search behind ``AlphaBetaAgent``: the textbook's recursion with a table, move ordering and quiescence."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import Frame, Scale, Score, just_above, just_below
from zermelo.agents.core.tree_search import Bound, TableCounts, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.evaluation import StateEvaluation
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.transposition_table import Entry, TranspositionTable
from zermelo.envs import Game, RewardSum

__all__ = ["LEAST_REDUCED_DEPTH", "AlphaBetaSearch", "bound_of", "settles"]

LEAST_REDUCED_DEPTH: Final = 3
"""Late moves are searched less deep only at nodes with at least so many moves to look ahead."""


class AlphaBetaSearch:
    """Fail-soft alpha-beta below the root.

    Args:
        game: Of two players with a constant sum, or of one against all, without chance; turns in any order.
        budget: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        use_bounds: Whether to use that no utility lies outside the game's bounds.
        order: In which order actions are tried.
        table: Positions already searched, or None. An entry is used if it was searched to the same depth, or if it
            is proven and was not searched deeper: then it says what searching again would say.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        quiescence: How many moves beyond the depth to follow noisy actions, if the game has ``is_noisy``.
        seat: The seat that maximizes; all others minimize.
        late_move_reductions: How many actions of a node are searched to the full depth before later ones are
            searched one move less deep first; 0 reduces none.
        null_move: How many moves less deep, beyond the skipped turn, a null move is searched; 0 makes none.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        use_bounds: bool,
        order: MoveOrder,
        table: TranspositionTable | None,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        quiescence: int = 0,
        seat: int = 0,
        late_move_reductions: int = 0,
        null_move: int = 0,
    ) -> None:
        self.game = game
        self.budget = budget
        self.max_seat = seat
        self.scale = Scale(game, sooner=sooner, use_bounds=use_bounds, seat=seat)
        traits = game.traits
        self._keeps_values = traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL)
        self._evaluation = StateEvaluation(game, evaluator, budget, seat)
        self._order = order
        self._table = table
        self._cutoff = cutoff
        self._is_noisy = getattr(game, "is_noisy", None) if quiescence else None
        self._quiescence = quiescence
        self._late_moves = late_move_reductions
        self._null_move = null_move
        self._passed_ply = 0  # where a null move has just led to, so that another does not follow
        self._pass_turn: Callable[[Any], Any] = getattr(game, "pass_turn", lambda state: state)
        self._is_forcing = getattr(game, "is_noisy", None)

    @property
    def selective(self) -> bool:
        """Whether some moves are searched less deep than others."""
        return bool(self._late_moves or self._null_move)

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""
        self._late_moves = self._null_move = 0
        if self._table is not None:
            self._table.clear()

    @property
    def table(self) -> TableCounts | None:
        """The transposition table, if there is one."""
        return self._table

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None and self._cutoff is None

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta at the root."""
        frame = self.scale.frame(state)
        return frame.lowest, frame.highest

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        return self._order.ordered(state, self.game.legal_actions(state), self.game.to_move(state), 0, None)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self._ended(state)
        frame = self.scale.frame(state)
        if depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply)):
            if self._is_noisy is not None:
                return self._quiet(state, self._quiescence, alpha, beta, ply)
            return self._judged(state, frame)
        # Nobody gets more than the greatest utility, one ply from here; if that is no use, nothing is.
        if alpha >= frame.highest:
            return Visit(frame.highest, True)
        if beta <= frame.lowest:
            return Visit(frame.lowest, True)

        key: Hashable = None
        table_action: int | None = None
        if self._table is not None:
            key = self._key(state, ply)
            entry = self._table.get(key)
            if entry is not None:
                table_action = entry.action
                if entry.depth == depth or (entry.proven and entry.depth <= depth):
                    value, promptness = entry.score
                    score = (value + frame.so_far, promptness)
                    if settles(entry.bound, score, alpha, beta):
                        return self._remembered(state, entry, score)

        if self._null_move and self._null_move < depth < math.inf and self._passed_ply != ply:
            cut = self._null_cut(state, depth, alpha, beta, ply, frame)
            if cut is not None:
                return cut  # not for the table: it is no proof, and has no action to try first
        best = self._best(state, depth, alpha, beta, ply, frame, table_action)
        if self._table is not None:
            value, promptness = best.score
            bound = bound_of(best.score, alpha, beta, frame)
            stored = (value - frame.so_far, promptness)
            values = self._to_come(state, best.values)
            self._table.put(key, Entry(depth, bound, stored, best.line[0], best.proven, best.variance, values))
        return best

    def _ended(self, state: Any) -> Visit:
        """The outcome of a finished state."""
        values = self.game.utility(state) if self._keeps_values else ()
        return Visit(self.scale.terminal(state), True, values=values)

    def _judged(self, state: Any, frame: Frame) -> Visit:
        """What the evaluator says of an unfinished state."""
        if not self._keeps_values:
            return Visit(self._evaluation.score(state, frame), False)
        values = self._evaluation.values(state)
        return Visit((values[self.max_seat], 0), False, values=values)

    def _remembered(self, state: Any, entry: Entry, score: Score) -> Visit:
        """What the table knows of a state."""
        values = entry.values
        if values:
            values = tuple(paid + value for paid, value in zip(self.game.utility(state), values, strict=True))
        return Visit(score, entry.proven, (entry.action,), entry.variance, values)

    def _to_come(self, state: Any, values: tuple[float, ...]) -> tuple[float, ...]:
        """Totals without the rewards already received."""
        if not values:
            return ()
        return tuple(value - paid for paid, value in zip(self.game.utility(state), values, strict=True))

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        entry = self._table.get(self._key(state, ply)) if self._table is not None else None
        if entry is None or entry.bound is not Bound.EXACT or not (entry.proven or entry.depth == depth):
            return None
        return entry.action

    def _key(self, state: Any, ply: int) -> Hashable:
        """What the table calls a state; with a cut-off test of the user's, how deep it lies may matter."""
        return self.game.key(state) if self._cutoff is None else (self.game.key(state), ply)

    def _best(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        frame: Frame,
        table_action: int | None,
    ) -> Visit:
        """The textbook's loop over the actions."""
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        best: Visit | None = None
        proven = True
        late = self._late_moves if LEAST_REDUCED_DEPTH <= depth < math.inf else 0
        ordered = self._order.ordered(state, game.legal_actions(state), mover, ply, table_action)
        for number, action in enumerate(ordered):
            child = game.result(state, action)
            less = 1 if late and number >= late and self._is_quiet(state, action, child, mover) else 0
            window = frame.to_child(alpha), frame.to_child(beta)
            found = self.visit(child, depth - 1 - less, *window, ply + 1)
            score = frame.to_parent(found.score)
            if less and not found.proven and (score > alpha if maximizing else score < beta):
                found = self.visit(child, depth - 1, *window, ply + 1)  # better than thought: now in earnest
                score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if maximizing:
                alpha = max(alpha, score)
            else:
                beta = min(beta, score)
            if alpha >= beta:
                self._order.cut_off(action, mover, ply, depth)
                return best  # what was not searched does not matter, so this action alone proves it
        if best is None:
            raise no_legal_action(game)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def _is_quiet(self, state: Any, action: int, child: Any, mover: int) -> bool:
        """Whether an action leaves the turn to the other player and is not noisy."""
        if self.game.to_move(child) == mover:
            return False
        return self._is_forcing is None or not self._is_forcing(state, action)

    def _null_cut(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, frame: Frame
    ) -> Visit | None:
        """The bound that the mover keeps to even if it skips its turn, so that it need not search; else None.

        C. Donninger, "Null move and deep search", ICCA Journal 16 (1993). It takes for granted that having to move
        never hurts, so nothing follows from it for certain: the bound lies inside the game's limits, and is not
        proven.
        """
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        value, promptness = edge = beta if maximizing else alpha
        if not frame.lowest[0] < value < frame.highest[0]:
            return None
        after = self._pass_turn(state)
        if game.to_move(after) == mover:
            return None
        low, high = (just_below(edge), edge) if maximizing else (edge, just_above(edge))
        window = frame.to_child(low), frame.to_child(high)
        self._passed_ply = ply + 1
        found = self.visit(after, depth - 1 - self._null_move, *window, ply + 1)
        self._passed_ply = 0
        score = frame.to_parent(found.score)
        if maximizing:
            return Visit((value, math.ceil(promptness)), False) if score >= edge else None
        return Visit((value, math.floor(promptness)), False) if score <= edge else None

    def _quiet(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        """Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.

        The node itself has been counted, and is not finished.
        """
        game = self.game
        frame = self.scale.frame(state)
        best = self._judged(state, frame)
        if not left:
            return best
        assert self._is_noisy is not None, "only for games with noisy actions"
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        noisy = [action for action in game.legal_actions(state) if self._is_noisy(state, action)]
        for action in (None, *self._order.ordered(state, noisy, mover, ply, None)):
            if action is not None:
                self.budget.visit(ply + 1)
                child = game.result(state, action)
                if game.is_terminal(child):
                    found = self._ended(child)
                else:
                    found = self._quiet(child, left - 1, frame.to_child(alpha), frame.to_child(beta), ply + 1)
                score = frame.to_parent(found.score)
                if score > best.score if maximizing else score < best.score:
                    best = Visit(score, False, (action, *found.line), values=found.values)
            if maximizing:
                alpha = max(alpha, best.score)
            else:
                beta = min(beta, best.score)
            if alpha >= beta:
                break
        return best


def settles(bound: Bound, score: Score, alpha: Score, beta: Score) -> bool:
    """Whether a stored score answers a search with this window."""
    if bound is Bound.EXACT:
        return True
    return score >= beta if bound is Bound.LOWER else score <= alpha


def bound_of(score: Score, alpha: Score, beta: Score, frame: Frame) -> Bound:
    """What a score found with this window says; at the limits of the game it is exact anyway."""
    if score <= frame.lowest or score >= frame.highest or alpha < score < beta:
        return Bound.EXACT
    return Bound.UPPER if score <= alpha else Bound.LOWER
