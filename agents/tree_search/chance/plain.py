"""Averages over chance, and their bounds: Star1 and Star2.

No outcome is worth more or less than the game can give, so the average is bounded before all are known, and the
search may stop once it must fall outside the window: Star1. Star2 first probes one reply in every outcome, which
tightens those bounds before anything is searched in full.

Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21 (1983);
Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", Computers and Games (2004).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from zermelo.agents.base.scores import SLACK, Score
from zermelo.agents.tree_search.interface import Visit


def sum_left_to_right(numbers: Iterable[float]) -> float:
    """The sum, from left to right, as compiled code adds (``sum`` is cleverer from Python 3.12 on)."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def average_visits(founds: Sequence[tuple[float, Visit]], proven: bool, width: int | None, seats: int) -> Visit:
    """The average of what is known of every outcome, with its probability; for draws, how much it scatters.

    ``width`` is how many draws they stand for (None where they are all there are), ``seats`` how many seats'
    values to average too.
    """
    value = sum_left_to_right(p * found.score[0] for p, found in founds)
    distance = sum_left_to_right(p * found.score[1] for p, found in founds)
    values: tuple[float, ...] = ()
    if seats and all(found.values for _, found in founds):
        values = tuple(sum_left_to_right(p * found.values[seat] for p, found in founds) for seat in range(seats))
    variance = 0.0 if width is None else sample_variance(founds, value, width)
    return Visit((value, distance), proven and width is None, (), variance, values)


def sample_variance(founds: Sequence[tuple[float, Visit]], value: float, width: int) -> float:
    """The variance of an average of so many draws."""
    scatter = sum(p * (found.score[0] - value) ** 2 for p, found in founds)
    variance = scatter / (width - 1) if width > 1 else math.nan
    return variance + sum(p * p * found.variance for p, found in founds)


class AverageBounds:
    """The bounds of an average in a window, from the probabilities and the bounds of what is averaged."""

    def __init__(self, probabilities: list[float], lower: float, upper: float, alpha: float, beta: float) -> None:
        self._p = probabilities
        self._alpha, self._beta = alpha, beta
        self._lows, self._highs = [lower] * len(probabilities), [upper] * len(probabilities)
        total = sum_left_to_right(probabilities)
        self._low, self._high = total * lower, total * upper
        self.bounded = math.isfinite(self._low) and math.isfinite(self._high)
        # Sums are rounded, and what is as good as the window's edge is not outside: cuts keep this distance.
        self._slack = SLACK * max(1.0, abs(lower), abs(upper)) if self.bounded else 0.0
        self.can_rise_above = self.bounded and beta < upper
        self.can_fall_below = self.bounded and alpha > lower

    def window(self, index: int) -> tuple[float, float]:
        """The values of an outcome between which the average can stay inside the window."""
        if not self.bounded:
            return -math.inf, math.inf
        p = self._p[index]
        others_low = self._low - p * self._lows[index]
        others_high = self._high - p * self._highs[index]
        return (self._alpha - self._slack - others_high) / p, (self._beta + self._slack - others_low) / p

    def raise_low(self, index: int, value: float) -> None:
        if self.bounded and value > self._lows[index]:
            self._low += self._p[index] * (value - self._lows[index])
            self._lows[index] = value

    def lower_high(self, index: int, value: float) -> None:
        if self.bounded and value < self._highs[index]:
            self._high -= self._p[index] * (self._highs[index] - value)
            self._highs[index] = value

    def outside(self) -> Score | None:
        """A bound of the average, once that lies outside the window."""
        if self.bounded and self._high < self._alpha - self._slack / 2:
            return self._high, math.inf
        if self.bounded and self._low > self._beta + self._slack / 2:
            return self._low, -math.inf
        return None
