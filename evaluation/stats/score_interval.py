"""Confidence intervals for a mean score, right at 0 % and 100 % too.

Two seats: the mean score is (1 + delta) / 2 with delta = (wins - losses) / n, a difference of paired proportions,
for which Tango's interval holds its level in small samples (T. Tango, 1998, *Statistics in Medicine* 17(8),
891-908). More than two: Wilson's interval with the largest variance that a mean score p allows, p (1 - p) (the
Bhatia-Davis inequality). One: Student's for the mean return. All three take games to be independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95
"""Of all intervals and the words about them."""
PERCENT: Final = f"{100 * CONFIDENCE:g} %"
INTERVAL: Final = f"{PERCENT} interval"
"""The heading of columns of intervals."""
UPPER_TAIL: Final = 0.5 + CONFIDENCE / 2
_Z: Final = NormalDist().inv_cdf(UPPER_TAIL)


def paired_interval(wins: float, draws: float, losses: float) -> tuple[float, float]:
    """Tango's interval for the mean score (wins + draws / 2) / n, in [0, 1]; (0, 1) when there are no games."""
    if wins + draws + losses == 0:
        return 0.0, 1.0
    low = _lower_delta(wins, draws, losses)
    high = -_lower_delta(losses, draws, wins)
    return (1 + low) / 2, (1 + high) / 2


def _lower_delta(wins: float, draws: float, losses: float) -> float:
    """The lowest delta in [-1, 1] whose score statistic is at most ``_Z``, by bisection."""
    games = wins + draws + losses
    estimate = (wins - losses) / games
    low, high = -1.0, estimate
    for _ in range(60):
        delta = (low + high) / 2
        # The chance of a loss that is most likely when delta is the true difference (Tango's equation for q21).
        a = 2 * games
        b = -wins - losses + (2 * games - wins + losses) * delta
        c = -losses * delta * (1 - delta)
        loss_chance = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
        variance = games * max(2 * loss_chance + delta * (1 - delta), 0.0)
        if games * (estimate - delta) > _Z * math.sqrt(variance):
            low = delta
        else:
            high = delta
    return high


def wilson_interval(score: float, games: int) -> tuple[float, float]:
    """Wilson's interval for a mean score in [0, 1] over ``games`` games; (0, 1) when there are none."""
    if games == 0:
        return 0.0, 1.0
    z = _Z
    shrink = 1 + z * z / games
    middle = (score + z * z / (2 * games)) / shrink
    half = z / shrink * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games))
    return max(0.0, middle - half), min(1.0, middle + half)


def student_interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's interval for the mean; (-inf, inf) for fewer than two values, or an infinite one."""
    count = len(values)
    if count < 2:
        return -math.inf, math.inf
    from scipy.special import stdtrit  # Student's quantiles, without loading all of scipy.stats

    if not all(map(math.isfinite, values)):
        return -math.inf, math.inf
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = float(stdtrit(count - 1, UPPER_TAIL)) * deviation / math.sqrt(count)
    return mean - half, mean + half
