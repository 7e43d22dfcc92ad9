"""Chance nodes of alpha-beta: Star1 and Star2.

No outcome is worth more or less than the game can give, so the average is bounded before all are known, and the
search may stop once it must fall outside the window: Star1. Star2 first probes one reply in every outcome, which
tightens those bounds before anything is searched in full.

Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21 (1983);
Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", Computers and Games (2004).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from zermelo.agents.core.mate_distance import SLACK, Score
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.tree.plain_search import PlainSearch
from zermelo.envs import CHANCE

_PLACES = 64
"""Plies that an order tells apart after an outcome."""


def added(numbers: Iterable[float]) -> float:
    """The sum, from left to right, as compiled code adds (``sum`` is cleverer from Python 3.12 on)."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def averaged(founds: Sequence[tuple[float, Visit]], proven: bool, width: int | None, seats: int) -> Visit:
    """The average of what is known of every outcome; where they are draws, how much it scatters.

    ``founds`` have each outcome's probability and what is known of it; ``proven`` is for outcomes that are no
    draws, ``width`` how many draws they stand for (None where they are all there are), ``seats`` how many seats'
    values to average too.
    """
    value = added(p * found.score[0] for p, found in founds)
    distance = added(p * found.score[1] for p, found in founds)
    values: tuple[float, ...] = ()
    if seats and all(found.values for _, found in founds):
        values = tuple(added(p * found.values[seat] for p, found in founds) for seat in range(seats))
    if width is None:
        return Visit((value, distance), proven, (), 0.0, values)
    return Visit((value, distance), False, (), scattered(founds, value, width), values)


def scattered(founds: Sequence[tuple[float, Visit]], value: float, width: int) -> float:
    """The variance of an average of so many draws."""
    scatter = sum(p * (found.score[0] - value) ** 2 for p, found in founds)
    variance = scatter / (width - 1) if width > 1 else math.nan
    return variance + sum(p * p * found.variance for p, found in founds)


def place_of(ply: int, outcome: int) -> int:
    """Where an order keeps what it learns at a ply: after an outcome, apart from other outcomes."""
    return ply if outcome < 0 else min(ply, _PLACES - 1) << 32 | outcome + 1


class Searched(NamedTuple):
    """An action whose child has been searched already."""

    action: int
    found: Visit


class ChanceNodes:
    """Searches the chance nodes of an alpha-beta search, whose ``visit`` may be told an outcome and a probe.

    With ``probing`` it probes first (Star2).
    """

    def __init__(self, search: PlainSearch, visit: Callable[..., Visit], *, probing: bool) -> None:
        self._search, self._visit = search, visit
        self._probing = probing
        self.cut: tuple[Sequence[int], int] = ((), 0)
        """At the last cut-off, the outcomes and the number of the last one that was searched."""

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The average over a chance state's outcomes, or a bound of it outside the window.

        The node itself has been counted. A bound's second number is infinite: plus for an upper, minus for a lower
        one.
        """
        search = self._search
        game = search.game
        outcomes = [(o, p, game.result(state, o)) for o, p in game.chance_outcomes(state) if p > 0]
        lower, upper = -math.inf, math.inf
        if search.width is None or game.traits.terminal_rewards_only:  # of draws one cannot ask what was paid
            frame = search.scale.frame(state)
            lower, upper = frame.lowest[0], frame.highest[0]
        average = _Bounds([p for _, p, _ in outcomes], lower, upper, alpha[0], beta[0])
        probed: dict[int, Searched] = {}
        proven = search.width is None
        if self._probing and average.bounded and depth > 0:
            proven = self._probe(outcomes, average, depth, ply, probed) and proven
        founds: list[Visit] = []
        for index, (outcome, probability, child) in enumerate(outcomes):
            if average.is_outside():
                break
            low, high = average.window(index)
            window = (low, -math.inf), (high, math.inf)
            search.taken, search.chance = outcome, probability
            found = self._visit(child, depth, *window, ply, outcome, probed.get(index))
            founds.append(found)
            value = found.score[0]
            if value >= low:
                average.raise_low(index, value)
            if value <= high:
                average.lower_high(index, value)
        searched = search.width is None and all(found.proven for found in founds)
        bound = average.is_outside()
        if bound:
            self.cut = [outcome for outcome, _, _ in outcomes], len(founds) - 1
            return Visit(bound, proven and searched)
        chances = [(p, found) for (_, p, _), found in zip(outcomes, founds, strict=True)]
        return averaged(chances, searched, search.width, search.seats)

    def _probe(
        self,
        outcomes: list[tuple[int, float, Any]],
        average: _Bounds,
        depth: float,
        ply: int,
        probed: dict[int, Searched],
    ) -> bool:
        """Tries one action in every outcome: what its player can get there bounds the outcome from one side.

        What the table knows of the outcome comes first. What was found is written into ``probed``, so that it need
        not be found again: the windows of later searches lie inside those that are used here. Whether all that
        the bounds now rest on is proven, is the answer.
        """
        search = self._search
        game = search.game
        proven = True
        for index, (outcome, probability, child) in enumerate(outcomes):
            if game.is_terminal(child) or (mover := game.to_move(child)) == CHANCE:
                continue
            maximizing = mover == search.max_seat
            if not (average.can_rise_above if maximizing else average.can_fall_below):
                continue
            if search.cutoff is not None and search.cutoff(game, child, ply):
                continue
            entry = search.entry(child, depth, ply)
            if entry is not None and entry.serves(depth):
                value = entry.score[0] + search.scale.frame(child).so_far
                proven = proven and entry.proven
                if entry.bound is not Bound.UPPER:
                    average.raise_low(index, value)
                if entry.bound is not Bound.LOWER:
                    average.lower_high(index, value)
                if average.is_outside():
                    return proven
                if entry.bound is Bound.EXACT:
                    continue
            search.budget.visit(ply)
            first = entry.action if entry is not None else None
            actions = search.order.order_moves(
                child, game.legal_actions(child), mover, place_of(ply, outcome), first
            )
            if not actions:
                continue
            low, high = average.window(index)
            window = ((-math.inf, 0.0), (high, math.inf)) if maximizing else ((low, -math.inf), (math.inf, 0.0))
            search.taken, search.chance = outcome, probability
            found = search.probe(child, actions[0], depth, window, ply)
            probed[index] = Searched(actions[0], found)
            proven = proven and found.proven
            if maximizing:
                average.raise_low(index, found.score[0])
            else:
                average.lower_high(index, found.score[0])
            if average.is_outside():
                return proven
        return proven


class _Bounds:
    """The bounds of an average in a window, from the probabilities and the bounds of what is averaged."""

    def __init__(self, probabilities: list[float], lower: float, upper: float, alpha: float, beta: float) -> None:
        self._p = probabilities
        self._alpha, self._beta = alpha, beta
        self._lows, self._highs = [lower] * len(probabilities), [upper] * len(probabilities)
        total = added(probabilities)
        self._low, self._high = total * lower, total * upper
        self.bounded = math.isfinite(self._low) and math.isfinite(self._high)
        # Sums are rounded, and what is as good as the window's edge is not outside: cuts keep this distance.
        self._slack = SLACK * max(1.0, abs(lower), abs(upper)) if self.bounded else 0.0
        self.can_rise_above = self.bounded and beta < upper
        self.can_fall_below = self.bounded and alpha > lower

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
