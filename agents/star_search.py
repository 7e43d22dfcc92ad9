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
from collections.abc import Callable
from typing import Any

from zermelo.agents.alpha_beta_search import AlphaBetaSearch, settles
from zermelo.agents.deepening import Visit
from zermelo.agents.effort import Effort
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.ordering import MoveOrder
from zermelo.agents.scores import Score
from zermelo.agents.transposition import Bound, Entry, TranspositionTable
from zermelo.envs import CHANCE, Game

__all__ = ["ChancePruning", "StarSearch"]

_NO_ACTION = -1
_SLACK = 1e-9


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
        effort: Counts nodes.
        evaluator: Values states at the depth limit; None where there is no limit.
        sooner: Whether wins should come sooner and losses later.
        order: In which order actions are tried.
        table: Decision and chance states already searched, or None.
        cutoff: ``cutoff(game, state, ply)``, true where the search should evaluate instead of going on.
        seat: The seat that maximizes; all others minimize.
        probing: Whether to probe first (Star2).
        width: How many draws a chance state stands for, where chance is sampled; None where it is exact.
    """

    def __init__(
        self,
        game: Game[Any],
        effort: Effort,
        evaluator: Evaluator | None,
        *,
        sooner: bool,
        order: MoveOrder,
        table: TranspositionTable | None,
        cutoff: Callable[[Game[Any], Any, int], bool] | None = None,
        seat: int = 0,
        probing: bool = False,
        width: int | None = None,
    ) -> None:
        super().__init__(
            game,
            effort,
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

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, chance not counted.

        Between alpha and beta it is exact; at or below alpha an upper bound, at or above beta a lower bound.
        """
        if self.game.is_terminal(state) or self.game.to_move(state) != CHANCE:
            return super().visit(state, depth, alpha, beta, ply)
        self.effort.visit(ply)
        if self._table is None or self._width is not None:  # draws belong to their path, and are not met again
            return self._average(state, depth, alpha, beta, ply)
        key, so_far = (self._key(state, ply), CHANCE), self.scale.frame(state).so_far
        entry = self._table.get(key)
        if entry is not None and (entry.depth == depth or (entry.proven and entry.depth <= depth)):
            value, promptness = entry.score
            score = (value + so_far, promptness)
            if settles(entry.bound, score, alpha, beta):
                return self._remembered(state, entry, score)._replace(line=())
        found = self._average(state, depth, alpha, beta, ply)
        value, promptness = found.score
        bound = Bound.EXACT
        if math.isinf(promptness):  # as cuts at chance nodes leave it
            bound = Bound.UPPER if promptness > 0 else Bound.LOWER
        values = self._to_come(state, found.values)
        stored = (value - so_far, promptness)
        self._table.put(key, Entry(depth, bound, stored, _NO_ACTION, found.proven, found.variance, values))
        return found

    def _ended(self, state: Any) -> Visit:
        return super()._ended(state)._replace(proven=self._width is None)

    def _average(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The average over a chance state's outcomes, or a bound of it outside the window."""
        game = self.game
        outcomes = [(p, game.result(state, outcome)) for outcome, p in game.chance_outcomes(state) if p > 0]
        least, greatest = -math.inf, math.inf
        if self._width is None or self.game.traits.terminal_rewards_only:  # of draws one cannot ask what was paid
            frame = self.scale.frame(state)
            least, greatest = frame.lowest[0], frame.highest[0]
        average = _Average([p for p, _ in outcomes], least, greatest, alpha[0], beta[0])
        if self._probing and average.bounded and depth > 0:
            self._probe(outcomes, average, depth, ply)
        founds: list[Visit] = []
        for index, (_, child) in enumerate(outcomes):
            if average.is_outside():
                break
            low, high = average.window(index)
            found = self.visit(child, depth, (low, -math.inf), (high, math.inf), ply)
            founds.append(found)
            value = found.score[0]
            if value >= low:
                average.raise_low(index, value)
            if value <= high:
                average.lower_high(index, value)
        proven = self._width is None and all(found.proven for found in founds)
        bound = average.is_outside()
        if bound:
            return Visit(bound, proven)
        return self._averaged([(p, found) for (p, _), found in zip(outcomes, founds, strict=True)], proven)

    def _averaged(self, founds: list[tuple[float, Visit]], proven: bool) -> Visit:
        """The average of what is known of every outcome; where they are draws, how much it scatters."""
        value = sum(p * found.score[0] for p, found in founds)
        promptness = sum(p * found.score[1] for p, found in founds)
        values: tuple[float, ...] = ()
        if self._keeps_values and all(found.values for _, found in founds):
            seats = range(self.game.traits.seats)
            values = tuple(sum(p * found.values[seat] for p, found in founds) for seat in seats)
        variance = 0.0
        if self._width is not None:
            scatter = sum(p * (found.score[0] - value) ** 2 for p, found in founds)
            variance = scatter / (self._width - 1) if self._width > 1 else math.nan
            variance += sum(p * p * found.variance for p, found in founds)
        return Visit((value, promptness), proven, (), variance, values)

    def _probe(self, outcomes: list[tuple[float, Any]], average: _Average, depth: float, ply: int) -> None:
        """Tries one action in every outcome: what its player can get there bounds the outcome from one side."""
        game = self.game
        for index, (_, child) in enumerate(outcomes):
            if game.is_terminal(child) or (mover := game.to_move(child)) == CHANCE:
                continue
            maximizing = mover == self.max_seat
            if not (average.can_rise_above if maximizing else average.can_fall_below):
                continue
            if self._cutoff is not None and self._cutoff(game, child, ply):
                continue
            self.effort.visit(ply)
            actions = self._order.ordered(
                child, game.legal_actions(child), mover, ply, self.recall(child, depth, ply)
            )
            if not actions:
                continue
            low, high = average.window(index)
            window = ((-math.inf, 0.0), (high, math.inf)) if maximizing else ((low, -math.inf), (math.inf, 0.0))
            value = self.visit(game.result(child, actions[0]), depth - 1, *window, ply + 1).score[0]
            if maximizing:
                average.raise_low(index, value)
            else:
                average.lower_high(index, value)
            if average.is_outside():
                return


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
        total = sum(probabilities)
        self._low, self._high = total * least, total * greatest
        self.bounded = math.isfinite(self._low) and math.isfinite(self._high)
        # Sums are rounded, and what is as good as the window's edge is not outside: cuts keep this distance.
        self._slack = _SLACK * max(1.0, abs(least), abs(greatest)) if self.bounded else 0.0
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
