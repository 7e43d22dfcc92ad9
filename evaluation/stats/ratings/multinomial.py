"""What counts of a few scores say about their mean: maximum likelihood under a constraint.

The scores of a game (0, 1/2, 1) or of a pair of games (0, 1/4, 1/2, 3/4, 1) are draws from a distribution of
unknown probabilities over known values. The most likely distribution among those of a given mean is that of
Proposition 1.1 in M. Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a
multinomial distribution" (https://www.cantate.be/Fishtest/comparing_approximations.pdf); the one of a given mean
over standard deviation is section 4.1 of his "Comments on normalized Elo"
(https://www.cantate.be/Fishtest/normalized_elo_practical.pdf).

``values`` are ascending and ``frequencies`` sum to one throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["deviation_at_mean", "fit_mean", "fit_t_value", "mean_and_variance", "mean_interval"]

_ITERATIONS = 100
_CONVERGED = 1e-12


def mean_and_variance(values: Sequence[float], frequencies: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of the distribution."""
    mean = math.fsum(v * f for v, f in zip(values, frequencies, strict=True))
    variance = math.fsum(f * (v - mean) ** 2 for v, f in zip(values, frequencies, strict=True))
    return mean, variance


def _tilt(deviations: Sequence[float], frequencies: Sequence[float]) -> float:
    """The theta at which sum f * d / (1 + theta * d) is zero, or the end of its range where it never is.

    The sum falls all the way from -1 / max(d) to -1 / min(d). It has no zero when an outermost deviation was never
    observed; at the end of the range the missing probability is that outcome's.
    """
    from scipy.optimize import brentq

    low, high = -1.0 / max(deviations), -1.0 / min(deviations)
    seen = [(d, f) for d, f in zip(deviations, frequencies, strict=True) if f > 0.0]

    def slope(theta: float) -> float:
        return math.fsum(f * d / (1.0 + theta * d) for d, f in seen)

    # Step inside the poles, ever closer, until the sign shows.
    left = right = None
    for k in range(1, 52):
        inset = (high - low) * 0.5**k
        left = low + inset if left is None and slope(low + inset) > 0.0 else left
        right = high - inset if right is None and slope(high - inset) < 0.0 else right
        if left is not None and right is not None:
            return float(brentq(slope, left, right, xtol=1e-15 * (high - low), rtol=1e-14, maxiter=500))
    return low if left is None else high


def fit_mean(values: Sequence[float], frequencies: Sequence[float], mean: float) -> list[float]:
    """The factors that turn ``frequencies`` into the most likely distribution of that mean.

    Args:
        values: Ascending scores.
        frequencies: Observed shares of each.
        mean: Strictly between the first and the last value.

    Returns:
        One factor a value: probability over frequency. Where a frequency is 0 the factor says nothing.
    """
    deviations = [v - mean for v in values]
    theta = _tilt(deviations, frequencies)
    return [1.0 / x if (x := 1.0 + theta * d) > 0.0 else math.inf for d in deviations]


def deviation_at_mean(values: Sequence[float], frequencies: Sequence[float], mean: float) -> float:
    """The standard deviation of the most likely distribution of that mean, strictly inside the values."""
    factors = fit_mean(values, frequencies, mean)
    probabilities = [f * x if f > 0.0 else 0.0 for f, x in zip(frequencies, factors, strict=True)]
    # What is missing belongs to the outermost value, never observed, on the far side of the mean.
    observed_mean, _ = mean_and_variance(values, frequencies)
    probabilities[0 if mean < observed_mean else -1] += max(0.0, 1.0 - math.fsum(probabilities))
    return math.sqrt(math.fsum(p * (v - mean) ** 2 for p, v in zip(probabilities, values, strict=True)))


def fit_t_value(values: Sequence[float], frequencies: Sequence[float], reference: float, t: float) -> list[float]:
    """The most likely distribution whose (mean - ``reference``) / standard deviation is ``t``.

    Found by repeated tilting from the uniform distribution, each time with the constraint made linear at the
    last answer. ``frequencies`` must all be positive.

    Returns:
        One probability a value.
    """
    probabilities = [1.0 / len(values)] * len(values)
    for _ in range(_ITERATIONS):
        mean, variance = mean_and_variance(values, probabilities)
        sigma = math.sqrt(variance)
        # The derivative of mean - reference - t * sigma with respect to each probability.
        slopes = [v - reference - 0.5 * t * sigma * (1.0 + ((v - mean) / sigma) ** 2) for v in values]
        theta = _tilt(slopes, frequencies)
        updated = [f / (1.0 + theta * s) for f, s in zip(frequencies, slopes, strict=True)]
        change = max(abs(a - b) for a, b in zip(updated, probabilities, strict=True))
        probabilities = updated
        if change < _CONVERGED:
            break
    return probabilities


def mean_interval(values: Sequence[float], counts: Sequence[float], drop: float) -> tuple[float, float]:
    """All means whose log-likelihood is at most ``drop`` below the greatest.

    Args:
        values: Ascending scores.
        counts: Observations of each; at least one in all.
        drop: In natural logarithms; 1.92 for a 95 % interval.

    Returns:
        The lower and upper end. An end is the first or last value itself only if all observations are there.
    """
    from scipy.optimize import brentq

    total = math.fsum(counts)
    frequencies = [c / total for c in counts]
    best, _ = mean_and_variance(values, frequencies)

    def excess(mean: float) -> float:
        factors = fit_mean(values, frequencies, mean)
        return -math.fsum(c * math.log(f) for c, f in zip(counts, factors, strict=True) if c > 0) - drop

    ends = []
    for limit in (values[0], values[-1]):
        if best == limit:
            ends.append(limit)
            continue
        # Halve the way to the limit until the likelihood has dropped far enough.
        inside, outside = best, best
        while excess(outside := (outside + limit) / 2.0) < 0.0:
            inside = outside
        if inside == best:
            inside = best + (outside - best) * 1e-12
        ends.append(float(brentq(excess, inside, outside, xtol=1e-300, rtol=1e-13)))
    return ends[0], ends[1]
