"""The most likely parameters of a choice model, their intervals, and which of them have no finite answer."""

from __future__ import annotations

import enum
import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from zermelo.evaluation.stats.ratings.choice_model import ChoiceSets
from zermelo.evaluation.stats.ratings.scales import normal_quantile

Vector = npt.NDArray[np.float64]

_TOLERANCE = 1e-5
_FADED = 1e-3
"""Information below which parameters run off in a direction: a single choice against it gives about 1."""
_FAR = 40.0
"""Log-ability that is as good as infinite."""


class Direction(enum.Enum):
    """The direction of the most likely value of a combination of parameters."""

    FINITE = "finite"
    PLUS_INFINITY = "plus infinity"
    MINUS_INFINITY = "minus infinity"
    UNDETERMINED = "undetermined"
    """Nothing: any value is as likely as any other, or it may run off to either side."""


class ChoiceFit:
    """The most likely parameters, what is uncertain about them, and what has no finite answer.

    Attributes:
        sets: The choices.
        theta: Most likely parameters, shape (p,). Only contrasts that are finite mean anything.
        log_likelihood: The supremum of the log-likelihood.
        covariance: Covariance of the parameters, shape (p, p); only variances of finite contrasts mean anything.
        separated: Whether some parameter is infinite.
    """

    def __init__(self, sets: ChoiceSets) -> None:
        from scipy.linalg import eigh

        self.sets = sets
        self._unseen = sets.null_space()
        basis = _complement(self._unseen)
        self.theta = sets.maximize(np.zeros(sets.parameters), basis)
        self.log_likelihood = sets.log_likelihood(self.theta)
        sizes, vectors = (
            eigh(basis.T @ sets.information(self.theta) @ basis) if basis.size else (np.ones(0), basis)
        )
        settled = sizes > _FADED
        known, drifting = basis @ vectors[:, settled], basis @ vectors[:, ~settled]
        self.covariance: Vector = known / sizes[settled] @ known.T
        self.separated = drifting.shape[1] > 0
        self._unknown = np.column_stack([self._unseen, drifting])

    def is_finite(self, contrast: Vector) -> bool:
        """Whether ``contrast @ parameters`` has a finite most likely value."""
        return bool(np.abs(self._unknown.T @ contrast).max(initial=0.0) < _TOLERANCE)

    def direction(self, contrast: Vector) -> Direction:
        """The direction of the most likely value of ``contrast @ parameters``."""
        if self.is_finite(contrast):
            return Direction.FINITE
        if np.abs(self._unseen.T @ contrast).max(initial=0.0) > _TOLERANCE:
            return Direction.UNDETERMINED
        far = _FAR + abs(float(contrast @ self.theta))
        rises, falls = (self.log_likelihood - self.profile(contrast, end)[0] < 0.1 for end in (far, -far))
        if rises and falls:
            return Direction.UNDETERMINED
        return Direction.PLUS_INFINITY if rises else Direction.MINUS_INFINITY

    def profile(self, contrast: Vector, value: float, start: Vector | None = None) -> tuple[float, Vector]:
        """The maximum log-likelihood with ``contrast @ parameters`` held at ``value``, and where it is."""
        norm = float(contrast @ contrast)
        basis = _complement(np.column_stack([self._unseen, contrast / math.sqrt(norm)]))
        offset = contrast * (value / norm)
        theta = self.sets.maximize(self.theta if start is None else start, basis, offset=offset)
        return self.sets.log_likelihood(theta), theta

    def interval(self, contrast: Vector, direction: Direction, confidence: float) -> tuple[float, float, str]:
        """The ends for a contrast of that direction, and how they were found.

        One that is zero for all parameters is an ``anchor``; an infinite one has an ``exact`` end; the interval of
        a finite one is by ``standard error`` where the likelihood agrees, else by ``profile likelihood``.
        """
        if direction is Direction.UNDETERMINED:
            return -math.inf, math.inf, "none"
        if direction is not Direction.FINITE:
            end = self._bound(contrast, direction, -math.log(1.0 - confidence))
            return (end, math.inf, "exact") if direction is Direction.PLUS_INFINITY else (-math.inf, end, "exact")
        if not np.abs(contrast).max() > 0.0:
            return 0.0, 0.0, "anchor"
        drop = normal_quantile(confidence) ** 2 / 2.0
        centre = float(contrast @ self.theta)
        reach = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))
        if self._is_normal(contrast, drop):
            return centre - reach, centre + reach, "standard error"
        lower, upper = (self._crossing(contrast, drop, centre, step) for step in (-reach, reach))
        return lower, upper, "profile likelihood"

    def superiority(self, contrast: Vector, confidence: float) -> float:
        """The probability that a contrast is positive, by what its ``interval`` is found by; 0.5 where unknown."""
        direction = self.direction(contrast)
        if direction is Direction.UNDETERMINED:
            return 0.5
        if direction is not Direction.FINITE:
            other = 0.5 * math.exp(min(0.0, self.profile(contrast, 0.0)[0] - self.log_likelihood))
            return 1.0 - other if direction is Direction.PLUS_INFINITY else other
        centre, error = float(contrast @ self.theta), math.sqrt(float(contrast @ self.covariance @ contrast))
        if error == 0.0:
            return 0.5
        if self._is_normal(contrast, normal_quantile(confidence) ** 2 / 2.0):
            return NormalDist().cdf(centre / error)
        fallen = self.log_likelihood - self.profile(contrast, 0.0)[0]
        return NormalDist().cdf(math.copysign(math.sqrt(max(0.0, 2.0 * fallen)), centre))

    def _is_normal(self, contrast: Vector, drop: float) -> bool:
        """Whether the likelihood agrees with the standard error of a finite contrast.

        On the straight way that is best near the maximum, the log-likelihood must have fallen by ``drop`` to
        within a tenth at both ends of the interval, which makes them right to within a twentieth.
        """
        reach = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))
        if reach == 0.0:
            return True
        step = self.covariance @ contrast * (2.0 * drop / reach)
        falls = [self.log_likelihood - self.sets.log_likelihood(self.theta + sign * step) for sign in (-1.0, 1.0)]
        return 0.9 * drop < min(falls) and max(falls) < 1.1 * drop

    def _bound(self, contrast: Vector, direction: Direction, drop: float) -> float:
        """The finite end for a contrast that is infinite: ``drop`` below the supremum of the log-likelihood."""
        sign = 1.0 if direction is Direction.PLUS_INFINITY else -1.0
        is_below = self.log_likelihood - self.profile(contrast, 0.0)[0] > drop
        return self._crossing(contrast, drop, 0.0, sign if is_below else -sign)

    def _crossing(self, contrast: Vector, drop: float, start: float, step: float) -> float:
        """The value at which the profile log-likelihood is ``drop`` below its supremum, from ``start`` on."""
        from scipy.optimize import brentq

        theta = self.theta

        def excess(value: float) -> float:
            # The root of the drop is nearly straight in the value, which suits the solver.
            nonlocal theta
            found, theta = self.profile(contrast, value, theta)
            return math.sqrt(max(0.0, self.log_likelihood - found)) - math.sqrt(drop)

        is_inside = excess(start) < 0.0
        before, after, size = start, start + step, step
        while (excess(after) < 0.0) is is_inside:
            size *= 1.5
            before, after = after, after + size
            if abs(size) > 1e3 * abs(step):
                return math.copysign(math.inf, step)
        return float(brentq(excess, before, after, xtol=1e-7 * abs(step), rtol=1e-12))


def _complement(columns: Vector) -> Vector:
    """An orthonormal basis of all that is orthogonal to ``columns``, shape (p, p - rank)."""
    p, k = columns.shape
    if k == 0:
        return np.eye(p)
    left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    return np.asarray(left[:, int((sizes > _TOLERANCE).sum()) :])
