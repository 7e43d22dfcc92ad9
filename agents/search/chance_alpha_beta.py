"""Alpha-beta through chance nodes: Star1 and Star2.

A chance node is worth the average of its outcomes. No outcome is worth more or less than the game can give, so the
average is bounded before all are known, and the search may stop once it must fall outside the window: Star1.
Star2 first probes one reply in every outcome, which tightens those bounds before anything is searched in full.

Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21 (1983);
Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", Computers and Games (2004).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Hashable
from typing import Any

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.alpha_beta import AlphaBetaSearch, bound_of, settles
from zermelo.agents.search.full_width import added
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.transposition_table import Entry, TranspositionTable
from zermelo.envs import CHANCE, Game

__all__ = ["SLACK", "ChancePruning", "StarSearch"]

_NO_ACTION = -1
SLACK = 1e-9
_PLACES = 64
"""Plies that an order tells apart."""


class ChancePruning(enum.StrEnum):
    """What a search leaves out, where there is chance. It never changes a value."""

    NONE = "none"
    """Nothing: every node down to the depth is visited."""
    STAR1 = "star1"
    """What cannot bring the average of a chance node back into the window."""
    STAR2 = "star2"
    """The same, after probing one action in each outcome."""


class StarSearch(AlphaBetaSearch):
    """Fail-soft alpha-beta below the root, through chance nodes; a game without them is searched by alpha-beta.

    Cuts at chance nodes need finite ``utility_bounds``; where the game pays before its end they are not used
    together with evaluations, which may go beyond them.

    Args:
        game: Of one player, of two with a constant sum, or of one against all.
        budget: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        order: In which order actions are tried. What it learns at a ply it is told apart by what was rolled there.
        table: Decision and chance states already searched, or None.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        seat: The seat that maximizes; all others minimize.
        probing: Whether to probe first (Star2).
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
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        seat: int = 0,
        probing: bool = False,
        width: int | None = None,
        at_chance: bool = False,
    ) -> None:
        super().__init__(
            game,
            budget,
            evaluator,
            sooner=sooner,
            use_bounds=evaluator is None or game.traits.terminal_rewards_only,
            order=order,
            table=table,
            cutoff=cutoff,
            seat=seat,
        )
        self._probing = probing
        self._width = width
        self._at_chance = at_chance and width is None

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return super().transposes and self._width is None

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.
        """
        return self._visit(state, depth, alpha, beta, ply)

    def _visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        rolled: int = _NO_ACTION,
        known: tuple[int, Visit] | None = None,
    ) -> Visit:
        """``visit``, where the outcome that led here and what a probe found of one action may be known."""
        self.budget.visit(ply)
        game = self.game
        if game.is_terminal(state):
            return self._ended(state)
        frame = self.scale.frame(state)
        is_chance = game.to_move(state) == CHANCE
        if (self._at_chance or not is_chance) and (
            depth <= 0 or (self._cutoff is not None and self._cutoff(game, state, ply))
        ):
            return self._judged(state, frame)
        # Nobody gets more than the greatest utility, one ply from here; if that is no use, nothing is.
        if not is_chance and alpha >= frame.highest:
            return Visit(frame.highest, True)
        if not is_chance and beta <= frame.lowest:
            return Visit(frame.lowest, True)

        key: Hashable = None
        first = known[0] if known is not None else None
        # Draws belong to their path, and are not met again.
        table = None if is_chance and self._width is not None else self._table
        if table is not None:
            key = self._key(state, ply)
            entry = table.get((key, CHANCE) if is_chance else key)
            if entry is not None:
                first = entry.action if first is None else first
                if self._serves(entry, depth):
                    value, promptness = entry.score
                    score = (value + frame.so_far, promptness)
                    if settles(entry.bound, score, alpha, beta):
                        found = self._remembered(state, entry, score)
                        return found._replace(line=()) if is_chance else found

        if is_chance:
            found = self._average(state, depth, alpha, beta, ply)
            action = _NO_ACTION
            bound = Bound.EXACT
            if math.isinf(found.score[1]):  # as cuts at chance nodes leave it
                bound = Bound.UPPER if found.score[1] > 0 else Bound.LOWER
        else:
            found = self._decide(state, depth, alpha, beta, ply, frame, first, rolled, known)
            action = found.line[0]
            bound = bound_of(found.score, alpha, beta, frame)
        if table is not None:
            value, promptness = found.score
            stored, values = (value - frame.so_far, promptness), self._to_come(state, found.values)
            table.put(
                (key, CHANCE) if is_chance else key,
                Entry(depth, bound, stored, action, found.proven, found.variance, values),
            )
        return found

    def _ended(self, state: Any) -> Visit:
        return super()._ended(state)._replace(proven=self._width is None)

    @staticmethod
    def _serves(entry: Entry, depth: float) -> bool:
        """Whether an entry says what a search to that depth would."""
        return entry.depth == depth or (entry.proven and entry.depth <= depth)

    def _decide(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        frame: Frame,
        first: int | None,
        rolled: int,
        known: tuple[int, Visit] | None,
    ) -> Visit:
        """Alpha-beta's loop over the actions; one of them may have been searched by a probe."""
        game = self.game
        mover = game.to_move(state)
        maximizing = mover == self.max_seat
        edge = alpha if maximizing else beta
        alpha, beta = max(alpha, frame.lowest), min(beta, frame.highest)
        best: Visit | None = None
        proven = True
        place = _place(ply, rolled)
        for action in self._order.ordered(state, game.legal_actions(state), mover, place, first):
            if known is not None and action == known[0]:
                found = known[1]
            else:
                window = frame.to_child(alpha), frame.to_child(beta)
                found = self._visit(game.result(state, action), depth - 1, *window, ply + 1)
            score = frame.to_parent(found.score)
            proven = proven and found.proven
            if best is None or (score > best.score if maximizing else score < best.score):
                best = Visit(score, found.proven, (action, *found.line), found.variance, found.values)
            if maximizing:
                alpha = max(alpha, score)
            else:
                beta = min(beta, score)
            if alpha >= beta:
                proven = best.proven  # what was not searched does not matter, so this action alone proves it
                break
        if best is None:
            raise no_legal_action(game)
        if best.score > edge if maximizing else best.score < edge:
            self._order.cut_off(best.line[0], mover, place, depth)
        limit = frame.highest if maximizing else frame.lowest
        # All actions together prove a value; one alone does if nothing can be better.
        return best._replace(proven=proven or (best.proven and best.score[0] == limit[0]))

    def _average(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The average over a chance state's outcomes, or a bound of it outside the window."""
        game = self.game
        outcomes = [(o, p, game.result(state, o)) for o, p in game.chance_outcomes(state) if p > 0]
        least, greatest = -math.inf, math.inf
        if self._width is None or self.game.traits.terminal_rewards_only:  # of draws one cannot ask what was paid
            frame = self.scale.frame(state)
            least, greatest = frame.lowest[0], frame.highest[0]
        average = _Average([p for _, p, _ in outcomes], least, greatest, alpha[0], beta[0])
        probed: dict[int, tuple[int, Visit]] = {}
        proven = self._width is None
        if self._probing and average.bounded and depth > 0:
            proven = self._probe(outcomes, average, depth, ply, probed) and proven
        founds: list[Visit] = []
        for index, (outcome, _, child) in enumerate(outcomes):
            if average.is_outside():
                break
            low, high = average.window(index)
            window = (low, -math.inf), (high, math.inf)
            found = self._visit(child, depth, *window, ply, outcome, probed.get(index))
            founds.append(found)
            value = found.score[0]
            if value >= low:
                average.raise_low(index, value)
            if value <= high:
                average.lower_high(index, value)
        searched = self._width is None and all(found.proven for found in founds)
        bound = average.is_outside()
        if bound:
            return Visit(bound, proven and searched)
        return self._averaged([(p, found) for (_, p, _), found in zip(outcomes, founds, strict=True)], searched)

    def _averaged(self, founds: list[tuple[float, Visit]], proven: bool) -> Visit:
        """The average of what is known of every outcome; where they are draws, how much it scatters."""
        value = added(p * found.score[0] for p, found in founds)
        promptness = added(p * found.score[1] for p, found in founds)
        values: tuple[float, ...] = ()
        if self._keeps_values and all(found.values for _, found in founds):
            seats = range(self.game.traits.seats)
            values = tuple(added(p * found.values[seat] for p, found in founds) for seat in seats)
        variance = 0.0
        if self._width is not None:
            scatter = sum(p * (found.score[0] - value) ** 2 for p, found in founds)
            variance = scatter / (self._width - 1) if self._width > 1 else math.nan
            variance += sum(p * p * found.variance for p, found in founds)
        return Visit((value, promptness), proven, (), variance, values)

    def _probe(
        self,
        outcomes: list[tuple[int, float, Any]],
        average: _Average,
        depth: float,
        ply: int,
        probed: dict[int, tuple[int, Visit]],
    ) -> bool:
        """Tries one action in every outcome: what its player can get there bounds the outcome from one side.

        What the table knows of the outcome comes first. What was found is written into ``probed``, so that it need
        not be found again: the windows of later searches lie inside those that are used here. Whether all that
        the bounds now rest on is proven, is the answer.
        """
        game = self.game
        proven = True
        for index, (outcome, _, child) in enumerate(outcomes):
            if game.is_terminal(child) or (mover := game.to_move(child)) == CHANCE:
                continue
            maximizing = mover == self.max_seat
            if not (average.can_rise_above if maximizing else average.can_fall_below):
                continue
            if self._cutoff is not None and self._cutoff(game, child, ply):
                continue
            entry = self._table.get(self._key(child, ply)) if self._table is not None else None
            if entry is not None and self._serves(entry, depth):
                value = entry.score[0] + self.scale.frame(child).so_far
                proven = proven and entry.proven
                if entry.bound is not Bound.UPPER:
                    average.raise_low(index, value)
                if entry.bound is not Bound.LOWER:
                    average.lower_high(index, value)
                if average.is_outside():
                    return proven
                if entry.bound is Bound.EXACT:
                    continue
            self.budget.visit(ply)
            first = entry.action if entry is not None else None
            actions = self._order.ordered(child, game.legal_actions(child), mover, _place(ply, outcome), first)
            if not actions:
                continue
            low, high = average.window(index)
            window = ((-math.inf, 0.0), (high, math.inf)) if maximizing else ((low, -math.inf), (math.inf, 0.0))
            found = self._visit(game.result(child, actions[0]), depth - 1, *window, ply + 1)
            probed[index] = (actions[0], found)
            proven = proven and found.proven
            if maximizing:
                average.raise_low(index, found.score[0])
            else:
                average.lower_high(index, found.score[0])
            if average.is_outside():
                return proven
        return proven


def _place(ply: int, rolled: int) -> int:
    """Where an order keeps what it learns at a ply after an outcome."""
    return min(ply, _PLACES - 1) << 32 | rolled + 1


class _Average:
    """The bounds of an average, from the bounds of what is averaged.

    Args:
        probabilities: Of the outcomes.
        least: No outcome is worth less.
        greatest: No outcome is worth more.
        alpha: Where the average is of no interest below.
        beta: Where it is of no interest above.
    """

    def __init__(
        self, probabilities: list[float], least: float, greatest: float, alpha: float, beta: float
    ) -> None:
        self._p = probabilities
        self._alpha, self._beta = alpha, beta
        self._lows, self._highs = [least] * len(probabilities), [greatest] * len(probabilities)
        total = added(probabilities)
        self._low, self._high = total * least, total * greatest
        self.bounded = math.isfinite(self._low) and math.isfinite(self._high)
        # Sums are rounded, and what is as good as the window's edge is not outside: cuts keep this distance.
        self._slack = SLACK * max(1.0, abs(least), abs(greatest)) if self.bounded else 0.0
        self.can_rise_above = self.bounded and beta < greatest
        self.can_fall_below = self.bounded and alpha > least

    def window(self, index: int) -> tuple[float, float]:
        """Between which values an outcome can leave the average inside the window."""
        if not self.bounded:
            return -math.inf, math.inf
        p = self._p[index]
        others_low = self._low - p * self._lows[index]
        others_high = self._high - p * self._highs[index]
        return (self._alpha - self._slack - others_high) / p, (self._beta + self._slack - others_low) / p

    def raise_low(self, index: int, value: float) -> None:
        """An outcome is worth at least that."""
        if self.bounded and value > self._lows[index]:
            self._low += self._p[index] * (value - self._lows[index])
            self._lows[index] = value

    def lower_high(self, index: int, value: float) -> None:
        """An outcome is worth at most that."""
        if self.bounded and value < self._highs[index]:
            self._high -= self._p[index] * (self._highs[index] - value)
            self._highs[index] = value

    def is_outside(self) -> Score | None:
        """A bound of the average, once that lies outside the window."""
        if self.bounded and self._high < self._alpha - self._slack / 2:
            return self._high, math.inf
        if self.bounded and self._low > self._beta + self._slack / 2:
            return self._low, -math.inf
        return None
