"""Maximum likelihood for repeated choices: the engine under the rating models.

Whoever wins is *chosen* among those that could have; so is, after that, whoever comes second. The chance of a
choice is proportional to ``exp(features @ parameters)``. The log-likelihood is concave, so its maximum, where
there is one, is found by SciPy's trust-region Newton method from anywhere.

There is none when somebody won every time: the likelihood then keeps rising as parameters run off to infinity. A
linear program tells that before anything is fitted and says in which directions (A. Albert and J. A. Anderson,
1984, Biometrika 71:1). In the limit the choices that the direction settles drop out, and what is left has a
maximum in the remaining directions (C. J. Geyer, 2009, Electronic Journal of Statistics 3, section 3.4).

``p`` is the number of parameters, ``a`` that of alternatives in all choices together.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ChoiceFit", "ChoiceSets", "Direction"]

Vector = npt.NDArray[np.float64]

_TOLERANCE = 1e-7
_RIDGE = 1e-9  # Keeps parameters that may run to infinity finite; at 20 units it costs 2e-7 of log-likelihood.


class Direction(enum.Enum):
    """What the choices say about a combination of parameters."""

    FINITE = "finite"
    PLUS_INFINITY = "plus infinity"
    MINUS_INFINITY = "minus infinity"
    UNDETERMINED = "undetermined"
    """Nothing: any value is as likely as any other, or it may run off to either side."""


class ChoiceSets:
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

        rows = [row for row, entries in enumerate(features) for _ in entries]
        columns = [column for entries in features for column in entries]
        data = [value for entries in features for value in entries.values()]
        shape = (len(features), parameters)
        self._assign(
            csr_matrix((data, (rows, columns)), shape=shape), np.asarray(sizes), np.asarray(counts, float)
        )

    def _assign(self, matrix: Any, sizes: npt.NDArray[np.int64], counts: Vector) -> None:
        from scipy.sparse import csr_matrix

        self.matrix = matrix
        self.sizes = sizes
        self.counts = counts
        self.parameters: int = matrix.shape[1]
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._set_of = np.repeat(np.arange(len(sizes)), sizes)
        self._set_counts = np.add.reduceat(counts, self._starts) if len(sizes) else np.zeros(0)
        ones = np.ones(len(counts))
        self._sum_sets = csr_matrix(
            (ones, (self._set_of, np.arange(len(counts)))), shape=(len(sizes), len(counts))
        )

    def shares(self, theta: Vector) -> Vector:
        """The probability of each alternative in its set, shape (a,)."""
        return np.exp(self._log_shares(theta))

    def _log_shares(self, theta: Vector) -> Vector:
        utility = self.matrix @ theta
        if not len(utility):
            return np.zeros(0)
        top = np.maximum.reduceat(utility, self._starts)
        utility = utility - top[self._set_of]
        total = np.add.reduceat(np.exp(utility), self._starts)
        return np.asarray(utility - np.log(total)[self._set_of])

    def log_likelihood(self, theta: Vector) -> float:
        """In natural logarithms, without the multinomial constant."""
        return float(self.counts @ self._log_shares(theta))

    def gradient(self, theta: Vector) -> Vector:
        """Of the log-likelihood, shape (p,)."""
        expected = self._set_counts[self._set_of] * self.shares(theta)
        return np.asarray(self.matrix.T @ (self.counts - expected))

    def information(self, theta: Vector) -> Vector:
        """The negative Hessian of the log-likelihood, observed and expected alike, shape (p, p)."""
        from scipy.sparse import diags

        shares = self.shares(theta)
        weights = self._set_counts[self._set_of] * shares
        means = self._sum_sets @ diags(shares) @ self.matrix
        spread = self.matrix.T @ diags(weights) @ self.matrix - means.T @ diags(self._set_counts) @ means
        return np.asarray(spread.toarray())

    def null_space(self) -> Vector:
        """An orthonormal basis of what the choices cannot see, shape (p, k)."""
        from scipy.linalg import eigh

        # Counts do not matter to what can be seen: every set once, and equal shares.
        weighted = ChoiceSets.__new__(ChoiceSets)
        weighted._assign(self.matrix, self.sizes, np.repeat(1.0 / self.sizes, self.sizes))
        values, vectors = eigh(weighted.information(np.zeros(self.parameters)))
        return np.asarray(vectors[:, values < 1e-9 * max(1.0, values[-1])] if len(values) else vectors)

    def _dominance(self) -> Any:
        """Rows (chosen - other) for everything that was ever chosen, without repeats; sparse, shape (m, p)."""
        from scipy.sparse import csr_matrix

        chosen, other = [], []
        for start, size in zip(self._starts.tolist(), self.sizes.tolist(), strict=True):
            for c in range(start, start + size):
                if self.counts[c] > 0:
                    chosen += [c] * (size - 1)
                    other += [o for o in range(start, start + size) if o != c]
        rows = csr_matrix(self.matrix[chosen] - self.matrix[other]) if chosen else csr_matrix((0, self.parameters))
        rows.sum_duplicates()
        rows.eliminate_zeros()
        seen: dict[tuple[bytes, bytes], int] = {}
        for k in range(rows.shape[0]):
            part = slice(rows.indptr[k], rows.indptr[k + 1])
            seen.setdefault((rows.indices[part].tobytes(), rows.data[part].tobytes()), k)
        return rows[sorted(seen.values())]

    def recession(self) -> Vector | None:
        """A direction in which the likelihood never falls and rises in as many choices as it can; None if none."""
        from scipy.optimize import linprog
        from scipy.sparse import hstack, identity

        rows = self._dominance()
        m, p = rows.shape
        if m == 0:
            return None
        answer = linprog(
            np.concatenate([np.zeros(p), -np.ones(m)]),
            A_ub=hstack([-rows, identity(m)]).tocsr(),
            b_ub=np.zeros(m),
            bounds=[(None, None)] * p + [(0.0, 1.0)] * m,
            method="highs",
        )
        solution = np.asarray(answer.x)
        return solution[:p] if solution[p:].sum() > 0.5 else None

    def extremes(self, contrast: Vector) -> tuple[bool, bool]:
        """Whether ``contrast @ parameters`` can rise, and fall, for ever without making the likelihood fall."""
        from scipy.optimize import linprog

        rows = self._dominance()
        found = []
        for sign in (-1.0, 1.0):
            answer = linprog(
                sign * contrast, A_ub=-rows, b_ub=np.zeros(rows.shape[0]), bounds=(-1.0, 1.0), method="highs"
            )
            found.append(sign * float(contrast @ np.asarray(answer.x)) < -_TOLERANCE)
        return found[0], found[1]

    def limit(self, direction: Vector) -> ChoiceSets:
        """The same choices without the alternatives that vanish far out in ``direction``."""
        utility = self.matrix @ direction
        top = np.maximum.reduceat(utility, self._starts)[self._set_of]
        keep = utility > top - 1e-6
        limit = ChoiceSets.__new__(ChoiceSets)
        sizes = np.add.reduceat(keep.astype(np.int64), self._starts)
        limit._assign(self.matrix[np.flatnonzero(keep)], sizes, self.counts[keep])
        return limit

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
        scale = 1.0 / max(1.0, float(self.counts.sum()))
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

        x0 = basis.T @ (start - offset)
        found = minimize(value, x0, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
        x = found.x
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

    def likelihood_interval(self, contrast: Vector, drop: float) -> tuple[float, float]:
        """All values of a finite contrast whose log-likelihood is at most ``drop`` below the greatest."""
        from scipy.optimize import brentq

        centre = float(contrast @ self.theta)
        step = math.sqrt(2.0 * drop * float(contrast @ self.covariance @ contrast))
        if step == 0.0:
            return centre, centre

        def excess(value: float) -> float:
            # The root of the drop is nearly straight in the value, which suits the solver.
            fallen = self.log_likelihood - self.profile(contrast, value)[0]
            return math.sqrt(max(0.0, fallen)) - math.sqrt(drop)

        ends = []
        for sign in (-1.0, 1.0):
            inside, outside = 0.0, step
            while excess(centre + sign * outside) < 0.0:
                inside, outside = outside, outside * 1.5
                if outside > 1e3 * step:
                    break
            else:
                root = brentq(
                    lambda x, s=sign: excess(centre + s * x), inside, outside, xtol=1e-7 * step, rtol=1e-12
                )
                ends.append(centre + sign * float(root))
                continue
            ends.append(sign * math.inf)
        return ends[0], ends[1]

    def bound(self, contrast: Vector, direction: Direction, drop: float) -> float:
        """The finite end for a contrast that is infinite: ``drop`` below the supremum of the log-likelihood."""
        from scipy.optimize import brentq

        sign = 1.0 if direction is Direction.PLUS_INFINITY else -1.0

        def excess(x: float) -> float:
            return self.log_likelihood - self.profile(contrast, sign * x)[0] - drop

        low = high = 0.0
        step = 1.0
        if excess(0.0) > 0.0:
            while excess(high := high + step) > 0.0:
                low, step = high, step * 2.0
        else:
            while excess(low := low - step) <= 0.0:
                high, step = low, step * 2.0
        return sign * float(brentq(excess, low, high, xtol=1e-9, rtol=1e-12))


def _complement(columns: Vector) -> Vector:
    """An orthonormal basis of all that is orthogonal to ``columns``, shape (p, p - rank)."""
    p, k = columns.shape
    if k == 0:
        return np.eye(p)
    left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
    return np.asarray(left[:, int((sizes > _TOLERANCE).sum()) :])
