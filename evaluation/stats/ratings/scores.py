"""The mean of a distribution over a few scores: maximum likelihood under a constraint, and intervals.

The most likely distribution of a given mean is Proposition 1.1 of M. Van den Bergh
(https://www.cantate.be/Fishtest/comparing_approximations.pdf), that of a given mean over standard deviation
section 4.1 of https://www.cantate.be/Fishtest/normalized_elo_practical.pdf. ``values`` are ascending, and
``frequencies`` sum to one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_ITERATIONS = 100
_CONVERGED = 1e-12
_INSET = 2.0**-45
"""Distance from the ends of a range, as a part of it, at which a function that has poles there shows its sign."""
_FAR = 12.0  # standard deviations beyond which a sum of scores has no probability worth counting


def mean_and_variance(values: Sequence[float], frequencies: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of the distribution."""
    mean = math.fsum(v * f for v, f in zip(values, frequencies, strict=True))
    variance = math.fsum(f * (v - mean) ** 2 for v, f in zip(values, frequencies, strict=True))
    return mean, variance


def _tilt(deviations: Sequence[float], frequencies: Sequence[float]) -> float:
    """The theta at which sum f * d / (1 + theta * d), which falls from -1 / max(d) to -1 / min(d), is zero.

    It is the end of its range where an outermost deviation was never observed, whose the missing probability is.
    """
    from scipy.optimize import brentq

    low, high = -1.0 / max(deviations), -1.0 / min(deviations)
    seen = [(d, f) for d, f in zip(deviations, frequencies, strict=True) if f > 0.0]

    def slope(theta: float) -> float:
        return math.fsum(f * d / (1.0 + theta * d) for d, f in seen)

    inset = (high - low) * _INSET
    if slope(low + inset) <= 0.0:
        return low
    if slope(high - inset) >= 0.0:
        return high
    return float(brentq(slope, low + inset, high - inset, xtol=1e-15 * (high - low), rtol=1e-14, maxiter=500))


def fit_mean(values: Sequence[float], frequencies: Sequence[float], mean: float) -> list[float]:
    """The most likely distribution of that mean, one probability a value."""
    deviations = [v - mean for v in values]
    theta = _tilt(deviations, frequencies)
    chances = [f / (1.0 + theta * d) if f > 0.0 else 0.0 for f, d in zip(frequencies, deviations, strict=True)]
    # Missing probability belongs to the outermost value, never observed, on the far side of the mean.
    observed_mean, _ = mean_and_variance(values, frequencies)
    chances[0 if mean < observed_mean else -1] += max(0.0, 1.0 - math.fsum(chances))
    return chances


def fit_t_value(values: Sequence[float], frequencies: Sequence[float], reference: float, t: float) -> list[float]:
    """The most likely distribution whose (mean - ``reference``) / standard deviation is ``t``.

    Found by repeated tilting, each time with the constraint made linear at the last answer. ``frequencies`` must
    all be positive, and ``reference`` in the middle of the values.
    """
    first = 0.5 - 0.5 * t / math.sqrt(1.0 + t * t)
    probabilities = [first, *[0.0] * (len(values) - 2), 1.0 - first]
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


def upper_tail(values: Sequence[float], counts: Sequence[int], mean: float) -> float:
    """The probability, if ``mean`` is the truth, of a greater sum than observed and half that of the same (mid-p).

    All sums come from one Fourier transform of the distribution of a single score, long enough for all that lies
    within ``_FAR`` standard deviations. ``values`` are at equal distances from 0 to 1; ``mean`` lies between.
    """
    total = sum(counts)
    chances = fit_mean(values, [n / total for n in counts], mean)
    steps = len(values) - 1
    observed = sum(k * n for k, n in enumerate(counts))
    beyond = observed - total * mean * steps
    deviation = math.sqrt(total * mean_and_variance(values, chances)[1]) * steps
    if deviation < 1e-6:  # without spread there is one sum
        return 0.5 if abs(beyond) < 1e-6 else float(beyond < 0.0)
    if abs(beyond) > _FAR * deviation + steps:
        return float(beyond < 0.0)
    size = 2 ** math.ceil(math.log2(2.0 * (abs(beyond) + _FAR * deviation + 2 * steps)))
    turned = np.exp(2j * np.pi * observed / size * np.arange(size // 2 + 1))  # the observed sum comes first
    sums = np.fft.irfft(np.fft.rfft(chances, size) ** total * turned, size)
    # The transform is exact to about 1e-12, so that a sum next to certain may exceed 1.
    return min(max(float(sums[1 : size // 2].sum() + sums[0] / 2.0), 0.0), 1.0)


def mean_interval(values: Sequence[float], counts: Sequence[int], tail: float) -> tuple[float, float]:
    """The ends of all means under which neither tail of the observed sum is less probable than ``tail``.

    An end is 0 or 1 itself only if all observations are there, and the observed mean where its own tail is less
    probable, as happens if ``tail`` is nearly a half.
    """
    from scipy.optimize import brentq

    total = sum(counts)
    best, _ = mean_and_variance(values, [n / total for n in counts])

    def excess(mean: float) -> float:
        above = upper_tail(values, counts, mean)
        return (above if mean < best else 1.0 - above) - tail

    ends = []
    for limit in (0.0, 1.0):
        if best == limit:
            ends.append(limit)
            continue
        # Halve the way to the limit until the tail is improbable enough.
        inside, outside = best, (best + limit) / 2.0
        while excess(outside) > 0.0:
            inside, outside = outside, (outside + limit) / 2.0
        if inside == best:
            inside += (outside - best) * 1e-9
        if excess(inside) <= 0.0:
            ends.append(best)
            continue
        ends.append(float(brentq(excess, inside, outside, xtol=1e-300, rtol=1e-12)))
    return ends[0], ends[1]
