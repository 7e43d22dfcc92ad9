"""Maximum likelihood for repeated choices: the engine under the rating models.

Whoever wins is *chosen* among those that could have; so is, after that, whoever comes second. The chance of a
choice is proportional to ``exp(features @ parameters)``. The log-likelihood is concave, so its maximum, where
there is one, is found by SciPy's trust-region Newton method from anywhere.

There is none when somebody won every time: the likelihood then keeps rising as parameters run off to infinity (A.
Albert and J. A. Anderson, 1984, Biometrika 71:1). The method follows them until what never happened has next to no
probability; ``choice_fit`` tells those directions by their information, which has faded, from all others.

``p`` is the number of parameters, ``a`` that of alternatives in all choices together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

# Multiplications up to which dense products are the faster ones. Beyond, OpenBLAS starts threads, which on a
# machine with other work to do were measured to take several times as long.
_DENSE = 250_000
_RIDGE = 1e-9  # Keeps parameters that may run to infinity finite; at 20 units it costs 2e-7 of log-likelihood.
_GRADIENT = 1e-6


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
        self._dense = matrix.toarray() if matrix.shape[0] * self.parameters**2 <= _DENSE else None
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
        utility = (self.matrix if self._dense is None else self._dense) @ theta
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
        """Gradient of the log-likelihood, shape (p,)."""
        expected = self._set_counts[self._set_of] * self.shares(theta)
        matrix = self.matrix if self._dense is None else self._dense
        return np.asarray(matrix.T @ (self.counts - expected))

    def information(self, theta: Vector) -> Vector:
        """The negative Hessian of the log-likelihood, observed and expected alike, shape (p, p)."""
        shares = self.shares(theta)
        weights = self._set_counts[self._set_of] * shares
        if self._dense is not None:
            means = np.add.reduceat(shares[:, None] * self._dense, self._starts) if len(shares) else self._dense
            within = self._dense.T @ (weights[:, None] * self._dense)
        else:
            from scipy.sparse import diags

            sparse_means = self._sum_sets @ diags(shares) @ self.matrix
            between = sparse_means.T @ diags(self._set_counts) @ sparse_means
            return np.asarray((self.matrix.T @ diags(weights) @ self.matrix - between).toarray())
        return np.asarray(within - means.T @ (self._set_counts[:, None] * means))

    def null_space(self) -> Vector:
        """An orthonormal basis of what the choices cannot see, shape (p, k)."""
        from scipy.linalg import eigh

        # Counts do not matter to what can be seen: every set once, and equal shares.
        weighted = ChoiceSets.__new__(ChoiceSets)
        weighted._assign(self.matrix, self.sizes, np.repeat(1.0 / self.sizes, self.sizes))
        values, vectors = eigh(weighted.information(np.zeros(self.parameters)))
        return np.asarray(vectors[:, values < 1e-9 * max(1.0, values[-1])] if len(values) else vectors)

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
        found = minimize(
            value,
            x0,
            jac=slope,
            hess=curvature,
            method="trust-exact",
            options={"gtol": min(1e-8, _GRADIENT * scale)},
        )
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
