"""Maximum likelihood for repeated choices: the engine under the rating models.

Whoever wins is *chosen* among those that could have; so is, after that, whoever comes second. The chance of a
choice is proportional to ``exp(features @ parameters)``. The log-likelihood is concave, so its maximum, where
there is one, is found by SciPy's trust-region Newton method from anywhere.

There is none when somebody won every time: the likelihood then keeps rising as parameters run off to infinity (A.
Albert and J. A. Anderson, 1984, Biometrika 71:1). The method follows them until what never happened has next to no
probability; those directions are told from all others by their information, which has faded.

``p`` is the number of parameters, ``a`` that of alternatives in all choices together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile

Vector = npt.NDArray[np.float64]

# Multiplications up to which dense products are the faster ones. Beyond, OpenBLAS starts threads, which on a
# machine with other work to do were measured to take several times as long.
_DENSE = 250_000
_RIDGE = 1e-9  # Keeps parameters that may run to infinity finite; at 20 units it costs 2e-7 of log-likelihood.
_GRADIENT = 1e-6
_TOLERANCE = 1e-5
_FADED = 1e-3
"""Information below which parameters run off in a direction: a single choice against it gives about 1."""
_FAR = 40.0
"""Log-ability that is as good as infinite."""

FINITE, ABOVE, BELOW, UNDETERMINED = "finite", "plus infinity", "minus infinity", "undetermined"
"""The most likely value of a combination of parameters; undetermined where any is as likely as any other, or where
it may run off to either side."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A combination of parameters, on the natural logarithmic scale.

    Attributes:
        name: What it is.
        estimate: Most likely value; infinite if every game says so.
        lower: Lower end of its interval.
        upper: Upper end.
        standard_error: From the curvature of the likelihood; infinite if the estimate is.
        status: ``finite``, ``plus infinity``, ``minus infinity`` or ``undetermined``.
        method: How the interval was found: ``standard error``, ``profile likelihood``, ``exact`` for an infinite
            estimate, ``anchor`` for what is zero by definition, or ``none``.
    """

    name: str
    estimate: float
    lower: float
    upper: float
    standard_error: float
    status: str = FINITE
    method: str = "anchor"

    @property
    def elo(self) -> float:
        """The estimate times 400 / ln 10."""
        return self.estimate * ELO_PER_LOG_ABILITY


class Choices:
    """Choices with their alternatives and how often each was made.

    Args:
        features: One mapping from parameter to coefficient for each of the ``a`` alternatives, set by set.
        sizes: How many alternatives each set has.
        counts: How often each alternative was chosen, in all ``a``.
        parameters: ``p``.
    """

    def __init__(
        self, features: Sequence[dict[int, float]], sizes: Sequence[int], counts: Sequence[float], parameters: int
    ) -> None:
        from scipy.sparse import csr_matrix

        self.given, self.parameters = (features, sizes, counts), parameters
        entries = [(value, row, column) for row, one in enumerate(features) for column, value in one.items()]
        data, rows, columns = zip(*entries, strict=True)
        matrix = csr_matrix((data, (rows, columns)), shape=(len(features), parameters))
        self._matrix: Any = matrix.toarray() if len(features) * parameters**2 <= _DENSE else matrix
        self._counts = np.asarray(counts, float)
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._set_of = np.repeat(np.arange(len(sizes)), sizes)
        self._set_counts = np.add.reduceat(self._counts, self._starts)
        ones, alternatives = np.ones(len(features)), np.arange(len(features))
        self._sum_sets = csr_matrix((ones, (self._set_of, alternatives)), shape=(len(sizes), len(features)))

    def _log_shares(self, theta: Vector) -> Vector:
        utility = self._matrix @ theta
        utility -= np.maximum.reduceat(utility, self._starts)[self._set_of]
        return np.asarray(utility - np.log(np.add.reduceat(np.exp(utility), self._starts))[self._set_of])

    def log_likelihood(self, theta: Vector) -> float:
        """In natural logarithms, without the multinomial constant."""
        return float(self._counts @ self._log_shares(theta))

    def gradient(self, theta: Vector) -> Vector:
        """Gradient of the log-likelihood, shape (p,)."""
        expected = self._set_counts[self._set_of] * np.exp(self._log_shares(theta))
        return np.asarray(self._matrix.T @ (self._counts - expected))

    def information(self, theta: Vector, set_counts: Vector | None = None) -> Vector:
        """The negative Hessian of the log-likelihood, observed and expected alike, shape (p, p)."""
        times = self._set_counts if set_counts is None else set_counts
        shares = np.exp(self._log_shares(theta))
        means = self._sum_sets @ _scaled(self._matrix, shares)
        within = self._matrix.T @ _scaled(self._matrix, times[self._set_of] * shares)
        found = within - means.T @ _scaled(means, times)
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())

    def null_space(self) -> Vector:
        """An orthonormal basis of what the choices cannot see, however often each was made, shape (p, k)."""
        from scipy.linalg import eigh

        values, vectors = eigh(self.information(np.zeros(self.parameters), np.ones(len(self._starts))))
        return np.asarray(vectors[:, values < 1e-9 * max(1.0, values[-1])])

    def maximize(
        self, start: Vector, basis: Vector, ridge: float | Vector = _RIDGE, offset: Vector | None = None
    ) -> Vector:
        """The most likely parameters of the form ``offset + basis @ anything``, shape (p,).

        Args:
            start: Where to begin, shape (p,).
            basis: Orthonormal columns, shape (p, k).
            ridge: Of each parameter's square, half that much is taken off the log-likelihood.
            offset: Zeros if None.
        """
        from scipy.linalg import LinAlgError, cho_factor, cho_solve
        from scipy.optimize import minimize

        offset = np.zeros(self.parameters) if offset is None else offset
        if basis.shape[1] == 0:
            return offset
        scale = 1.0 / max(1.0, float(self._counts.sum()))
        ridge = np.broadcast_to(np.asarray(ridge, float), (self.parameters,))

        def value(x: Vector) -> float:
            theta = offset + basis @ x
            return -scale * (self.log_likelihood(theta) - 0.5 * float(ridge @ theta**2))

        def slope(x: Vector) -> Vector:
            theta = offset + basis @ x
            return np.asarray(-scale * (basis.T @ (self.gradient(theta) - ridge * theta)))

        def curvature(x: Vector) -> Vector:
            theta = offset + basis @ x
            return np.asarray(scale * (basis.T @ (self.information(theta) + np.diag(ridge)) @ basis))

        tolerance = min(1e-8, _GRADIENT * scale)
        start = basis.T @ (start - offset)
        x = minimize(
            value, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": tolerance}
        ).x  # fmt: skip
        # Newton's last steps go further than the comparison of function values can.
        for _ in range(2):
            try:
                step = -cho_solve(cho_factor(curvature(x)), slope(x))
            except LinAlgError:
                break  # Flat: a parameter on its way to infinity, far enough already.
            if not float(np.abs(step).max()) < 1e-3:
                break
            x = x + step
        return np.asarray(offset + basis @ x)


def _scaled(matrix: Any, weights: Vector) -> Any:
    """The rows of a dense or sparse matrix times the weights."""
    if isinstance(matrix, np.ndarray):
        return weights[:, None] * matrix
    from scipy.sparse import diags

    return diags(weights) @ matrix


class ChoiceFit:
    """The most likely parameters ``theta``, what is uncertain about them, and what has no finite answer.

    Only contrasts that are finite mean anything. ``log_likelihood`` is the supremum; ``unseen`` is the number of
    directions that the choices cannot see.
    """

    def __init__(self, choices: Choices) -> None:
        from scipy.linalg import eigh

        self.choices, self._unseen = choices, choices.null_space()
        self.unseen = self._unseen.shape[1]
        basis = _complement(self._unseen)
        self.theta = choices.maximize(np.zeros(choices.parameters), basis)
        self.log_likelihood = choices.log_likelihood(self.theta)
        sizes, vectors = np.ones(0), basis
        if basis.size:
            sizes, vectors = eigh(basis.T @ choices.information(self.theta) @ basis)
        settled = sizes > _FADED
        known, drifting = basis @ vectors[:, settled], basis @ vectors[:, ~settled]
        self._covariance: Vector = known / sizes[settled] @ known.T
        self.separated = drifting.shape[1] > 0
        self._unknown = np.column_stack([self._unseen, drifting])

    def is_finite(self, contrast: Vector) -> bool:
        """Whether ``contrast @ parameters`` has a finite most likely value."""
        return bool(np.abs(self._unknown.T @ contrast).max(initial=0.0) < _TOLERANCE)

    def status(self, contrast: Vector) -> str:
        """The direction of the most likely value of ``contrast @ parameters``."""
        if self.is_finite(contrast):
            return FINITE
        if np.abs(self._unseen.T @ contrast).max(initial=0.0) > _TOLERANCE:
            return UNDETERMINED
        far = _FAR + abs(float(contrast @ self.theta))
        rises, falls = (self.log_likelihood - self.profile(contrast, end)[0] < 0.1 for end in (far, -far))
        return UNDETERMINED if rises and falls else ABOVE if rises else BELOW

    def profile(self, contrast: Vector, value: float, start: Vector | None = None) -> tuple[float, Vector]:
        """The maximum log-likelihood with ``contrast @ parameters`` held at ``value``, and where it is."""
        norm = float(contrast @ contrast)
        basis = _complement(np.column_stack([self._unseen, contrast / math.sqrt(norm)]))
        offset = contrast * (value / norm)
        theta = self.choices.maximize(self.theta if start is None else start, basis, offset=offset)
        return self.choices.log_likelihood(theta), theta

    def effect(self, contrast: Vector, name: str, confidence: float) -> Effect:
        """``contrast @ parameters`` with its interval."""
        status, estimate, error = self.status(contrast), float(contrast @ self.theta), self._error(contrast)
        if status == UNDETERMINED:
            estimate, error, lower, upper, method = 0.0, math.inf, -math.inf, math.inf, "none"
        elif status != FINITE:
            drop, sign = -math.log(1.0 - confidence), 1.0 if status == ABOVE else -1.0
            is_below = self._fallen(contrast) > drop
            end = self._crossing(contrast, drop, 0.0, sign if is_below else -sign)
            estimate, error, method = sign * math.inf, math.inf, "exact"
            lower, upper = (end, math.inf) if status == ABOVE else (-math.inf, end)
        elif not np.abs(contrast).max() > 0.0:
            estimate = error = lower = upper = 0.0
            method = "anchor"
        else:
            drop = normal_quantile(confidence) ** 2 / 2.0
            reach = math.sqrt(2.0 * drop) * error
            lower, upper, method = estimate - reach, estimate + reach, "standard error"
            if not self._is_normal(contrast, drop):
                lower, upper = (self._crossing(contrast, drop, estimate, step) for step in (-reach, reach))
                method = "profile likelihood"
        return Effect(
            name=name, estimate=estimate, lower=lower, upper=upper, standard_error=error, status=status,
            method=method,
        )  # fmt: skip

    def superiority(self, contrast: Vector, confidence: float) -> float:
        """The probability that a contrast is positive, found as its interval is; 0.5 where unknown."""
        status, estimate, error = self.status(contrast), float(contrast @ self.theta), self._error(contrast)
        if status == UNDETERMINED or (status == FINITE and error == 0.0):
            return 0.5
        if status != FINITE:
            other = 0.5 * math.exp(min(0.0, -self._fallen(contrast)))
            return 1.0 - other if status == ABOVE else other
        if self._is_normal(contrast, normal_quantile(confidence) ** 2 / 2.0):
            return NormalDist().cdf(estimate / error)
        root = math.sqrt(max(0.0, 2.0 * self._fallen(contrast)))
        return NormalDist().cdf(math.copysign(root, estimate))

    def _error(self, contrast: Vector) -> float:
        return math.sqrt(max(0.0, float(contrast @ self._covariance @ contrast)))

    def _fallen(self, contrast: Vector) -> float:
        return self.log_likelihood - self.profile(contrast, 0.0)[0]

    def _is_normal(self, contrast: Vector, drop: float) -> bool:
        """Whether the likelihood agrees with the standard error of a finite contrast.

        On the straight way that is best near the maximum, the log-likelihood must have fallen by ``drop`` to
        within a tenth at both ends of the interval, which makes them right to within a twentieth.
        """
        reach = math.sqrt(2.0 * drop) * self._error(contrast)
        if reach == 0.0:
            return True
        step = self._covariance @ contrast * (2.0 * drop / reach)
        falls = [self.log_likelihood - self.choices.log_likelihood(self.theta + way) for way in (-step, step)]
        return 0.9 * drop < min(falls) and max(falls) < 1.1 * drop

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
    if columns.shape[1] == 0:
        return np.eye(len(columns))
    left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    return np.asarray(left[:, int((sizes > _TOLERANCE).sum()) :])
