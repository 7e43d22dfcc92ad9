"""The most likely parameters of a choice model, their intervals, and which of them have no finite answer."""

from __future__ import annotations

import enum
import math
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from zermelo.evaluation.stats.ratings.choice_model import ChoiceSets
from zermelo.evaluation.stats.ratings.scales import normal_quantile

Vector = npt.NDArray[np.float64]

_TOLERANCE = 1e-7


class Direction(enum.Enum):
    """What the choices say about a combination of parameters."""

    FINITE = "finite"
    PLUS_INFINITY = "plus infinity"
    MINUS_INFINITY = "minus infinity"
    UNDETERMINED = "undetermined"
    """Nothing: any value is as likely as any other, or it may run off to either side."""


class ChoiceFit:
    """The most likely parameters, what is uncertain about them, and what has no finite answer.

    Attributes:
        sets: The choices.
        limit: The choices that are left once the settled ones have dropped out; the same object if none are.
        theta: Most likely parameters of ``limit``, shape (p,). Only contrasts that are finite mean anything.
        log_likelihood: The supremum of the log-likelihood.
        separated: Whether some parameter is infinite.
    """

    def __init__(self, sets: ChoiceSets) -> None:
        self.sets = sets
        self.limit = sets
        self._blind = self._limit_blind = sets.null_space()
        self._limit_basis = _complement(self._blind)
        self.theta = sets.maximize(np.zeros(sets.parameters), self._limit_basis)
        direction = None if self._is_stationary() else sets.recession()
        self.separated = direction is not None
        if direction is not None:
            self.limit = sets.limit(direction)
            self._limit_blind = self.limit.null_space()
            self._limit_basis = _complement(self._limit_blind)
            self.theta = self.limit.maximize(np.zeros(sets.parameters), self._limit_basis)
        self.log_likelihood = self.limit.log_likelihood(self.theta)

    def _is_stationary(self) -> bool:
        """Whether ``theta`` is a maximum beyond doubt, so that no linear program need be asked.

        On the way to infinity the gradient fades too, but only as fast as the chance of what never happened.
        """
        if not len(self.sets.counts):
            return True
        gradient = float(np.abs(self.sets.gradient(self.theta)).max())
        return gradient < 1e-6 and float(self.sets.shares(self.theta).min()) > 1e-4

    @cached_property
    def covariance(self) -> Vector:
        """Of the parameters, shape (p, p); right for finite contrasts, in which what is unknown cancels."""
        from scipy.linalg import inv

        basis = self._limit_basis
        if basis.shape[1] == 0:
            return np.zeros((self.sets.parameters, self.sets.parameters))
        return np.asarray(basis @ inv(basis.T @ self.limit.information(self.theta) @ basis) @ basis.T)

    def sees(self, contrast: Vector) -> bool:
        """Whether ``contrast @ parameters`` makes any difference to the likelihood."""
        return bool(np.abs(self._blind.T @ contrast).max(initial=0.0) < _TOLERANCE)

    def is_finite(self, contrast: Vector) -> bool:
        """Whether ``contrast @ parameters`` has a finite most likely value."""
        return bool(np.abs(self._limit_blind.T @ contrast).max(initial=0.0) < _TOLERANCE)

    def direction(self, contrast: Vector) -> Direction:
        """What can be said about ``contrast @ parameters``."""
        if self.is_finite(contrast):
            return Direction.FINITE
        if not self.sees(contrast):
            return Direction.UNDETERMINED
        rises, falls = self.sets.extremes(contrast)
        if rises and not falls:
            return Direction.PLUS_INFINITY
        if falls and not rises:
            return Direction.MINUS_INFINITY
        return Direction.UNDETERMINED

    def profile(self, contrast: Vector, value: float, start: Vector | None = None) -> tuple[float, Vector]:
        """The greatest log-likelihood with ``contrast @ parameters`` held at ``value``, and where it is.

        For a contrast without a finite estimate all choices count, for others only those of ``limit``.
        """
        finite = self.is_finite(contrast)
        sets, blind = (self.limit, self._limit_blind) if finite else (self.sets, self._blind)
        norm = float(contrast @ contrast)
        basis = _complement(np.column_stack([blind, contrast / math.sqrt(norm)]))
        theta = sets.maximize(self.theta if start is None else start, basis, offset=contrast * (value / norm))
        return sets.log_likelihood(theta), theta

    def interval(self, contrast: Vector, direction: Direction, confidence: float) -> tuple[float, float, str]:
        """The ends for a contrast of that direction, and how they were found.

        One that is zero for all parameters is an ``anchor``; an infinite one has an ``exact`` end; of a finite one
        it is the ``standard error`` where the likelihood agrees, else the ``profile likelihood``.
        """
        if direction is Direction.UNDETERMINED:
            return -math.inf, math.inf, "none"
        if direction is not Direction.FINITE:
            end = self.bound(contrast, direction, -math.log(1.0 - confidence))
            return (end, math.inf, "exact") if direction is Direction.PLUS_INFINITY else (-math.inf, end, "exact")
        if not np.abs(contrast).max() > 0.0:
            return 0.0, 0.0, "anchor"
        drop = normal_quantile(confidence) ** 2 / 2.0
        if self._is_normal(contrast, drop):
            centre = float(contrast @ self.theta)
            reach = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))
            return centre - reach, centre + reach, "standard error"
        return *self.likelihood_interval(contrast, drop), "profile likelihood"

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
        falls = [self.log_likelihood - self.limit.log_likelihood(self.theta + sign * step) for sign in (-1.0, 1.0)]
        return 0.9 * drop < min(falls) and max(falls) < 1.1 * drop

    def likelihood_interval(self, contrast: Vector, drop: float) -> tuple[float, float]:
        """All values of a finite contrast whose log-likelihood is at most ``drop`` below the greatest."""
        if float(contrast @ self.covariance @ contrast) == 0.0:
            centre = float(contrast @ self.theta)
            return centre, centre
        lower, upper = (self._end(contrast, drop, sign) for sign in (-1.0, 1.0))
        return lower, upper

    def _end(self, contrast: Vector, drop: float, sign: float) -> float:
        """One end by D. J. Venzon and S. H. Moolgavkar's iteration (1988, Applied Statistics 37:87)."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        basis, sets = self._limit_basis, self.limit
        along = basis.T @ contrast
        reach = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))
        theta = self.theta + sign * self.covariance @ contrast * (2.0 * drop / reach)
        target = self.log_likelihood - drop
        for _ in range(20):
            above = sets.log_likelihood(theta) - target
            gradient = basis.T @ sets.gradient(theta)
            try:
                factor = cho_factor(basis.T @ sets.information(theta) @ basis)
            except LinAlgError:
                break
            # The end of the contour of the quadratic model here.
            newton, tangent = cho_solve(factor, gradient), cho_solve(factor, along)
            square = (2.0 * above + float(gradient @ newton)) / float(along @ tangent)
            if not square > 0.0:
                break
            step = basis @ (newton + sign * math.sqrt(square) * tangent)
            if not float(np.abs(step).max()) < 5.0:
                break
            theta = theta + step
            if abs(above) < 1e-7 and abs(float(contrast @ step)) < 1e-8 * reach:
                return float(contrast @ theta)
        return self._end_by_profile(contrast, drop, sign)

    def _end_by_profile(self, contrast: Vector, drop: float, sign: float) -> float:
        """The same, slowly and surely: a root of the profile likelihood."""
        from scipy.optimize import brentq

        centre = float(contrast @ self.theta)
        reach = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))

        def excess(distance: float) -> float:
            # The root of the drop is nearly straight in the value, which suits the solver.
            fallen = self.log_likelihood - self.profile(contrast, centre + sign * distance)[0]
            return math.sqrt(max(0.0, fallen)) - math.sqrt(drop)

        inside, outside = 0.0, reach
        while excess(outside) < 0.0:
            inside, outside = outside, outside * 1.5
            if outside > 1e3 * reach:
                return sign * math.inf
        return centre + sign * float(brentq(excess, inside, outside, xtol=1e-7 * reach, rtol=1e-12))

    def bound(self, contrast: Vector, direction: Direction, drop: float) -> float:
        """The finite end for a contrast that is infinite: ``drop`` below the supremum of the log-likelihood."""
        from scipy.optimize import brentq

        sign = 1.0 if direction is Direction.PLUS_INFINITY else -1.0
        theta = self.theta

        def excess(x: float) -> float:
            # What is missing to the supremum fades exponentially, so that its logarithm is nearly straight.
            nonlocal theta
            value, theta = self.profile(contrast, sign * x, theta)
            return math.log(max(self.log_likelihood - value, 1e-12) / drop)

        low = high = 0.0
        step = 1.0
        if excess(0.0) > 0.0:
            while excess(high := high + step) > 0.0:
                low, step = high, step * 2.0
        else:
            while excess(low := low - step) <= 0.0:
                high, step = low, step * 2.0
        return sign * float(brentq(excess, low, high, xtol=1e-7, rtol=1e-10))


def _complement(columns: Vector) -> Vector:
    """An orthonormal basis of all that is orthogonal to ``columns``, shape (p, p - rank)."""
    p, k = columns.shape
    if k == 0:
        return np.eye(p)
    left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    return np.asarray(left[:, int((sizes > _TOLERANCE).sum()) :])
