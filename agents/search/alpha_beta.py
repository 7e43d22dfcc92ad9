"""Alpha-beta below the root: the textbook's recursion with a table, move ordering, quiescence and chance nodes.

Alpha-beta of two players, Star1 and Star2 through chance, paranoid and best-reply search are this one search with
other settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.tree_search import Bound, TableCounts, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.chance_nodes import ChanceNodes, Searched, place_of
from zermelo.agents.search.evaluation import StateEvaluation
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.selective import Selective
from zermelo.agents.search.transposition_table import Entry, TranspositionTable, bound_of
from zermelo.envs import CHANCE, Chance, Game, RewardSum

__all__ = ["AlphaBetaSearch"]

_NO_ACTION: Final = -1


class AlphaBetaSearch:
    """Fail-soft alpha-beta below the root.

    Cuts at chance nodes need finite ``utility_bounds``; where the game pays before its end they are not used
    together with evaluations, which may go beyond them.

    Args:
        game: Of one player, of two with a constant sum, or of one against all; turns in any order, also chance's.
        budget: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        use_bounds: Whether to use that no utility lies outside the game's bounds; None does where evaluations
            cannot either.
        order: In which order actions are tried. What it learns after an outcome it keeps apart from others.
        table: Positions already searched, or None. An entry is used if it was searched to the same depth, or if it
            is proven and was not searched deeper: then it says what searching again would say.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        quiescence: How many moves beyond the depth to follow noisy actions, if the game has ``is_noisy``.
        seat: The seat that maximizes; all others minimize.
        credits_best: Whether the order learns from every action that was better than what was known before, where
            the seat had chosen it; without, only from those that cut off. Searches through chance and of one
            against all do.
        late_move_reductions: How many actions of a node are searched to the full depth before later ones are
            searched one move less deep first; 0 reduces none.
        null_move: How many moves less deep, beyond the skipped turn, a null move is searched; 0 makes none.
        futility: How much a quiet action may add to the evaluation, one move before the limit; 0 for anything.
        singular: By how much an action must beat all others to be searched one move deeper; 0 for none.
        probing: Whether to probe chance nodes first (Star2).
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
        at_chance: Whether a chance state at the depth limit is evaluated, not averaged over.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        order: MoveOrder,
        table: TranspositionTable | None,
        use_bounds: bool | None = None,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        quiescence: int = 0,
        seat: int = 0,
        credits_best: bool = False,
        late_move_reductions: int = 0,
        null_move: int = 0,
        futility: float = 0.0,
        singular: float = 0.0,
        probing: bool = False,
        width: int | None = None,
        at_chance: bool = False,
    ) -> None:
        traits = game.traits
        if use_bounds is None:
            use_bounds = evaluator is None or traits.terminal_rewards_only
        self.game = game
        self.budget = budget
        self.max_seat = seat
        self.scale = Scale(game, sooner=sooner, use_bounds=use_bounds, seat=seat)
        self._keeps_values = traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL)
        self._evaluation = StateEvaluation(game, evaluator, budget, seat)
        self._order = order
        self._table = table
        self._cutoff = cutoff
        self._is_noisy = getattr(game, "is_noisy", None) if quiescence else None
        self._quiescence = quiescence
        self._credits_best = credits_best
        self._selective: Selective | None = None
        if late_move_reductions or null_move or futility or singular:
            self._selective = Selective(
                game,
                self._evaluation,
                self.visit,
                seat=seat,
                late_moves=late_move_reductions,
                null_move=null_move,
                futility=futility,
                singular=singular,
            )
        self._width = width
        self._at_chance = at_chance and width is None
        self._chance_nodes: ChanceNodes | None = None
        if traits.chance is not Chance.NONE:
            self._chance_nodes = ChanceNodes(
                game,
                budget,
                self.visit,
                self._entry,
                scale=self.scale,
                order=order,
                seat=seat,
                cutoff=cutoff,
                probing=probing,
                width=width,
                seats=traits.seats if self._keeps_values else 0,
            )

    @property
    def selective(self) -> bool:
        """Whether some moves are searched less deep than others."""
        return self._selective is not None

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""
        self._selective = None
        if self._table is not None:
            self._table.clear()

    @property
    def table(self) -> TableCounts | None:
        """The transposition table, if there is one."""
        return self._table

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None and self._cutoff is None and self._width is None

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

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        outcome: int = -1,
        probed: Searched | None = None,
    ) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.

        Args:
            state: The state.
            depth: How many moves to look ahead.
            alpha: What the seat can already get elsewhere.
            beta: What the others can already hold it to elsewhere.
            ply: How many moves below the root it lies.
            outcome: The outcome that led to it, -1 for an action.
            probed: One of its actions that has been searched, and what was found.
        """
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self._ended(state)
        if self._chance_nodes is not None and game.to_move(state) == CHANCE:
            return self._visit_chance(state, depth, alpha, beta, ply)
        frame = self.scale.frame(state)
        if depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply)):
            if self._is_noisy is not None:
                return self._quiet(state, self._quiescence, alpha, beta, ply)
            return self._evaluated(state, frame)
        # Nobody gets more than the greatest utility, one ply from here; if that is no use, nothing is.
        if alpha >= frame.highest:
            return Visit(frame.highest, True)
        if beta <= frame.lowest:
            return Visit(frame.lowest, True)

        key: Hashable = None
        first: int | None = None
        entry: Entry | None = None
        if self._table is not None:
            key = self._key(state, ply)
            entry = self._table.get(key)
            if entry is not None:
                first = entry.action
                if entry.serves(depth):
                    value, promptness = entry.score
                    score = (value + frame.so_far, promptness)
                    if entry.settles(score, alpha, beta):
                        return self._remembered(state, entry, score)

        selective = self._selective if depth < math.inf else None
        extended: int | None = None
        if selective is not None:
            if ply == 1:
                selective.begin(depth)
            cut = selective.null_cut(state, depth, alpha, beta, ply, frame)
            if cut is not None:
                return cut  # not for the table: it is no proof, and has no action to try first
            if entry is not None:
                known = entry.score[0] + frame.so_far, entry.score[1]
                if selective.is_singular(state, entry, known, depth, ply, frame, game.legal_actions(state)):
                    extended = entry.action
        if probed is not None:
            first = probed.action
        best = self._best(state, depth, alpha, beta, ply, frame, first, outcome, probed, extended)
        if self._table is not None:
            bound = bound_of(best.score, alpha, beta, frame)
            self._table.put(key, self._to_store(state, depth, bound, best, best.line[0], frame))
        return best

    def _visit_chance(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a chance state, which has been counted."""
        game = self.game
        assert self._chance_nodes is not None, "only for games with chance"
        frame = self.scale.frame(state)
        if self._at_chance and (depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply))):
            return self._evaluated(state, frame)
        # Draws belong to their path, and are not met again.
        table = self._table if self._width is None else None
        key: Hashable = None
        if table is not None:
            key = (self._key(state, ply), CHANCE)
            entry = table.get(key)
            if entry is not None and entry.serves(depth):
                value, promptness = entry.score
                score = (value + frame.so_far, promptness)
                if entry.settles(score, alpha, beta):
                    return self._remembered(state, entry, score)._replace(line=())
        found = self._chance_nodes.visit(state, depth, alpha, beta, ply)
        if math.isinf(found.score[1]):
            self._cut_off(None, *self._chance_nodes.cut)
        if table is not None:
            bound = Bound.EXACT
            if math.isinf(found.score[1]):  # as cuts at chance nodes leave it
                bound = Bound.UPPER if found.score[1] > 0 else Bound.LOWER
            table.put(key, self._to_store(state, depth, bound, found, _NO_ACTION, frame))
        return found

    def _ended(self, state: Any) -> Visit:
        """The outcome of a finished state."""
        values = self.game.utility(state) if self._keeps_values else ()
        return Visit(self.scale.terminal(state), self._width is None, values=values)

    def _evaluated(self, state: Any, frame: Frame) -> Visit:
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

    def _to_store(self, state: Any, depth: float, bound: Bound, found: Visit, action: int, frame: Frame) -> Entry:
        """What the table keeps of a state: without the rewards already received."""
        value, promptness = found.score
        values = found.values
        if values:
            values = tuple(value - paid for paid, value in zip(self.game.utility(state), values, strict=True))
        return Entry(
            depth, bound, (value - frame.so_far, promptness), action, found.proven, found.variance, values
        )

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        entry = self._entry(state, ply)
        if entry is None or entry.bound is not Bound.EXACT or not (entry.proven or entry.depth == depth):
            return None
        return entry.action

    def _entry(self, state: Any, ply: int) -> Entry | None:
        """What the table has of a state."""
        return self._table.get(self._key(state, ply)) if self._table is not None else None

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
        first: int | None,
        outcome: int,
        probed: Searched | None,
        extended: int | None,
    ) -> Visit:
        """The textbook's loop over the actions; one of them may have been searched by a probe, or go deeper."""
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        edge = alpha if maximizing else beta
        alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        best: Visit | None = None
        proven = True
        selective = self._selective if depth < math.inf else None
        futile = None
        if selective is not None:
            futile = selective.futility_bound(state, depth, alpha, beta, frame, maximizing)
        place = ply if outcome < 0 else place_of(ply, outcome)
        ordered = self._order.ordered(state, game.legal_actions(state), mover, place, first)
        for number, action in enumerate(ordered):
            if probed is not None and action == probed.action:
                found = probed.found
                score = frame.to_parent(found.score)
            else:
                child = game.result(state, action)
                ahead, is_reduced = depth - 1, False
                if selective is not None:
                    if futile is not None and number and selective.is_futile(state, action, child, mover):
                        proven = False
                        if best is None or (futile > best.score if maximizing else futile < best.score):
                            best = Visit(futile, False, (action,))
                        continue
                    ahead += action == extended
                    is_reduced = selective.is_reduced(state, action, child, mover, number, depth)
                window = frame.to_child(alpha), frame.to_child(beta)
                found = self.visit(child, ahead - is_reduced, *window, ply + 1)
                score = frame.to_parent(found.score)
                if is_reduced and not found.proven and (score > alpha if maximizing else score < beta):
                    found = self.visit(child, ahead, *window, ply + 1)  # better than thought: now in earnest
                    score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if maximizing:
                alpha = max(alpha, score)
            else:
                beta = min(beta, score)
            if alpha >= beta:
                if not self._credits_best:
                    self._order.cut_off(action, mover, place, depth)
                proven = best.proven  # what was not searched does not matter, so this action alone proves it
                self._cut_off(action, ordered, number)
                break
        if best is None:
            raise no_legal_action(game)
        if self._credits_best and (best.score > edge if maximizing else best.score < edge):
            self._order.cut_off(best.line[0], mover, place, depth)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def _cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        """Says that at a node ``choices`` after number ``last`` need not be looked at; nobody listens here."""

    def _quiet(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        """Quiescence: the mover may stand pat on the evaluation, or play on with a noisy action.

        The node itself has been counted, and is not finished.
        """
        game = self.game
        frame = self.scale.frame(state)
        best = self._evaluated(state, frame)
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
