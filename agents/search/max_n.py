"""The search behind ``MaxNAgent``: every seat maximizes its own component of a vector of utilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.options import TieRule
from zermelo.agents.core.tree_search import Bound, RootMove, SumNotConstantError, TableCounts, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.evaluation import StateEvaluation
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.transposition_table import Entry, TranspositionTable
from zermelo.envs import CHANCE, Game, RewardSum

__all__ = ["MaxNSearch", "Parent", "Vector", "tie_key"]

Vector = tuple[float, ...]
"""Every seat's total, in seat order."""

_TOLERANCE = 1e-9


def tie_key(rule: TieRule, values: Vector, mover: int, root_seat: int) -> float:
    """What the player to move minimizes among actions that are as good for itself."""
    if rule is TieRule.PARANOID:
        return values[root_seat]
    if rule is TieRule.FRIENDLY:
        return -values[root_seat]
    if rule is TieRule.FIRST:
        return 0.0
    others = math.fsum(value for seat, value in enumerate(values) if seat != mover)
    return others if rule is TieRule.SPITEFUL else -others


class Parent(NamedTuple):
    """Who moved to a state, and what that player can already get elsewhere."""

    seat: int
    value: float


class MaxNSearch:
    """max^n below the root, with shallow pruning.

    Args:
        game: Of any number of players and any sums.
        budget: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        seat: The seat to move at the root.
        tie_rule: Which of several actions a player takes that are as good for itself.
        sooner: Whether, of actions that are the same for everybody, wins come sooner and losses later.
        order: In which order actions are tried.
        prunes: Whether to prune: the game's sum is constant and its utilities have a lower bound, also where
            evaluations stand for them.
        table: Positions already searched, or None.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
    """

    def __init__(
        self,
        game: Game[Any],
        budget: Budget,
        evaluator: Evaluator | None,
        *,
        seat: int,
        tie_rule: TieRule,
        sooner: bool,
        order: MoveOrder,
        prunes: bool,
        table: TranspositionTable | None,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        width: int | None = None,
    ) -> None:
        self.game = game
        self.budget = budget
        self.max_seat = seat
        self._scale = Scale(game, sooner=False, use_bounds=False, seat=seat)
        self._rule = tie_rule
        self._sooner = sooner
        self._order = order
        self._prunes = prunes
        self._traits = game.traits
        self._evaluation = StateEvaluation(game, evaluator, budget, seat)
        self._table = table
        self._cutoff = cutoff
        self._width = width

    @property
    def table(self) -> TableCounts | None:
        """The transposition table, if there is one."""
        return self._table

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None and self._cutoff is None and self._width is None

    def frame(self, state: Any) -> Frame:
        """How scores read at a state, for the seat to move at the root."""
        return self._scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Everything: nothing is left out because it is too good."""
        return (-math.inf, 0), (math.inf, 0)

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        return self._order.ordered(state, self.game.legal_actions(state), self.max_seat, 0, None)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The values of a state, looking ``depth`` moves ahead; below alpha only a bound for the root's seat."""
        parent = Parent(self.max_seat, alpha[0])
        return self._visit(state, depth, parent, ply)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        entry = self._table.get(self._key(state, ply)) if self._table is not None else None
        if entry is None or entry.bound is not Bound.EXACT or not (entry.proven or entry.depth == depth):
            return None
        return entry.action

    def preferred(self, moves: Sequence[RootMove]) -> list[RootMove]:
        """Of root moves that are as good for the seat to move, those that the rule for ties takes."""
        least = min(tie_key(self._rule, move.values, self.max_seat, self.max_seat) for move in moves)
        tied = [m for m in moves if tie_key(self._rule, m.values, self.max_seat, self.max_seat) == least]
        first = min(tied, key=lambda move: move.action)
        same = [move for move in tied if move.values == first.values]
        haste = [self._haste(first.values, move.plies, self.max_seat) for move in same]
        return [move for move, hurry in zip(same, haste, strict=True) if hurry == min(haste)]

    def _key(self, state: Any, ply: int) -> Hashable:
        """What the table calls a state; with a cut-off test of the user's, how deep it lies may matter."""
        return self.game.key(state) if self._cutoff is None else (self.game.key(state), ply)

    def _visit(self, state: Any, depth: float, parent: Parent | None, ply: int) -> Visit:
        """The values of a state; where the parent has no use for it, only a bound of the parent's."""
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self._told(game.utility(state), 0.0, self._width is None)
        if game.to_move(state) == CHANCE:
            return self._expectation(state, depth, ply)
        if depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply)):
            return self._judged(state)
        paid = game.utility(state)
        table_action: int | None = None
        key: Hashable = None
        if self._table is not None:
            key = self._key(state, ply)
            entry = self._table.get(key)
            if entry is not None:
                table_action = entry.action
                serves = entry.depth == depth or (entry.proven and entry.depth <= depth)
                if serves and entry.bound is Bound.LOWER:  # what its player keeps at least may be too much again
                    mover = game.to_move(state)
                    bound = self._parent_bound(paid, parent, mover, entry.score[0] + paid[mover])
                    if bound is not None:
                        return self._told(bound, 0.0, entry.proven)
                elif serves:
                    values = tuple(value + so_far for value, so_far in zip(entry.values, paid, strict=True))
                    return self._told(values, entry.score[1], entry.proven, (entry.action,), entry.variance)
        best, is_bound = self._best(state, depth, parent, ply, paid, table_action)
        if is_bound:
            if self._table is not None:
                score = (best.score[0] - paid[game.to_move(state)], best.plies)
                self._table.put(key, Entry(depth, Bound.LOWER, score, best.line[0], best.proven))
            return best._replace(score=(best.values[self.max_seat], 0))
        if self._table is not None:
            to_come = tuple(value - so_far for value, so_far in zip(best.values, paid, strict=True))
            score = (to_come[self.max_seat], best.plies)
            entry = Entry(depth, Bound.EXACT, score, best.line[0], best.proven, best.variance, to_come)
            self._table.put(key, entry)
        return best

    def _best(
        self,
        state: Any,
        depth: float,
        parent: Parent | None,
        ply: int,
        paid: Vector,
        table_action: int | None,
    ) -> tuple[Visit, bool]:
        """The loop over the actions; and whether the parent's bound ended it early.

        Then the values are the parent's bound, and the score what the player to move has at least.
        """
        game = self.game
        mover = game.to_move(state)
        greatest = self._most(paid, mover)
        tied: list[tuple[int, Visit]] = []
        best = -math.inf
        proven = True
        ordered = self._order.ordered(state, game.legal_actions(state), mover, ply, table_action)
        for number, action in enumerate(ordered):
            if tied and best >= greatest and self._settled(tied, action):
                continue
            found = self._visit(game.result(state, action), depth - 1, Parent(mover, best), ply + 1)
            proven = proven and found.proven
            found = found._replace(line=(action, *found.line), plies=found.plies + 1)
            own = found.values[mover]
            if own > best:
                best, tied = own, [(action, found)]
                bound = self._parent_bound(paid, parent, mover, best)
                if bound is not None:
                    self._order.cut_off(action, mover, ply, depth)
                    self._cut_off(action, ordered, number)
                    return found._replace(score=(best, 0), values=bound), True
            elif own == best:
                tied.append((action, found))
        if not tied:
            raise no_legal_action(game)
        return self._chosen(tied, mover)._replace(proven=proven), False

    def _cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        """Says that at a node ``choices`` after number ``last`` need not be looked at; nobody listens here."""

    def _chosen(self, tied: Sequence[tuple[int, Visit]], mover: int) -> Visit:
        """What the player to move takes of several that are as good for it: by the rule; then, sooner or later."""
        if len(tied) == 1:
            return tied[0][1]
        keys = [tie_key(self._rule, found.values, mover, self.max_seat) for _, found in tied]
        left = sorted((action, found) for (action, found), key in zip(tied, keys, strict=True) if key == min(keys))
        values = left[0][1].values
        same = [found for _, found in left if found.values == values]
        return min(same, key=lambda found: self._haste(values, found.plies, mover))

    def _haste(self, values: Vector, plies: float, mover: int) -> float:
        """What a player minimizes of actions that are the same for everybody: wins come sooner, losses later."""
        if not self._sooner:
            return 0.0
        middle = 0.0
        if self._traits.reward_sum is not RewardSum.GENERAL:
            middle = self._traits.constant / self._traits.seats
        return plies if values[mover] > middle else -plies if values[mover] < middle else 0.0

    def _most(self, paid: Vector, mover: int) -> float:
        """No total of that seat is greater, where that may be used: all others get at least the least."""
        if not self._prunes or self._rule is not TieRule.FIRST:
            return math.inf
        least, greatest = self._traits.utility_bounds
        others = math.fsum(so_far + least for seat, so_far in enumerate(paid) if seat != mover)
        return min(paid[mover] + greatest, self._traits.constant - others)

    def _settled(self, tied: Sequence[tuple[int, Visit]], action: int) -> bool:
        """Whether an action that is as good at best would not be taken; the rule is to take the first."""
        first, found = min(tied)
        return action > first and (not self._sooner or found.plies <= 1)

    def _parent_bound(self, paid: Vector, parent: Parent | None, mover: int, best: float) -> Vector | None:
        """Shallow pruning (Korf, "Multi-player alpha-beta pruning", Artificial Intelligence 48, 1991).

        What the player to move keeps for itself, and what the others get at least, cannot go to the parent. If
        that leaves the parent less than it has elsewhere, it will not come here. Ties are searched, as a rule
        decides them.
        Only the parent's bound may be used so: deeper ones prune wrongly in max^n.
        """
        if not self._prunes or parent is None or parent.seat == mover or parent.value == -math.inf:
            return None
        least = self._traits.utility_bounds[0]
        others = math.fsum(paid[seat] + least for seat in range(len(paid)) if seat not in (mover, parent.seat))
        most = self._traits.constant - best - others
        if most >= parent.value - _TOLERANCE:
            return None
        return tuple(most if seat == parent.seat else math.nan for seat in range(len(paid)))

    def _judged(self, state: Any) -> Visit:
        """What the evaluator says."""
        values = self._evaluation.values(state)
        if self._prunes and abs(math.fsum(values) - self._traits.constant) > _TOLERANCE:
            raise SumNotConstantError(values)
        return self._told(values, 0.0, False)

    def _expectation(self, state: Any, depth: float, ply: int) -> Visit:
        """The average over a chance state's outcomes; where they are draws, how much it scatters."""
        game = self.game
        founds = [
            (p, self._visit(game.result(state, outcome), depth, None, ply))
            for outcome, p in game.chance_outcomes(state)
        ]
        values = tuple(
            math.fsum(p * found.values[seat] for p, found in founds) for seat in range(self._traits.seats)
        )
        plies = math.fsum(p * found.plies for p, found in founds)
        if self._width is None:
            return self._told(values, plies, all(found.proven for _, found in founds))
        value = values[self.max_seat]
        scatter = sum(p * (found.values[self.max_seat] - value) ** 2 for p, found in founds)
        variance = scatter / (self._width - 1) if self._width > 1 else math.nan
        variance += sum(p * p * found.variance for p, found in founds)
        return self._told(values, plies, False, (), variance)

    def _told(
        self, values: Vector, plies: float, proven: bool, line: tuple[int, ...] = (), variance: float = 0.0
    ) -> Visit:
        return Visit((values[self.max_seat], 0), proven, line, variance, tuple(values), plies)
