"""Maximum likelihood for repeated choices: the engine under the rating models.

Whoever wins is *chosen* among those that could have; so is, after that, whoever comes second. The chance of a
choice is proportional to ``exp(features @ parameters)``, and the log-likelihood is concave.

``p`` is the number of parameters, ``a`` that of alternatives in all choices together.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_RIDGE = 1e-9  # Keeps parameters that may run to infinity finite; at 20 units it costs 2e-7 of log-likelihood.
_GRADIENT = 1e-6
_ITERATIONS = 100  # steps of the method: it needs 3 to 10, and 30 on the way to infinity
_HALVINGS = 30
_FEW = 4


class Choices:
    """Choices with their alternatives and how often each was made.

    Args:
        features: One mapping from parameter to coefficient for each of the ``a`` alternatives, set by set.
        sizes: How many alternatives each set has.
        counts: How often each alternative was chosen.
        weight: What one choice counts.
    """

    def __init__(
        self,
        features: Sequence[dict[int, float]],
        sizes: Sequence[int],
        counts: Sequence[float],
        parameters: int,
        weight: float = 1.0,
    ) -> None:
        self.given, self.parameters, self.weight = (features, sizes, counts), parameters, weight
        self._tilt = np.zeros(parameters)
        self._last = np.zeros(0), np.zeros(0)  # parameters, and the logarithms of the shares there
        self._counts = weight * np.asarray(counts, float)
        self._sets = _Groups(sizes)
        self._set_of = np.repeat(np.arange(len(sizes)), sizes)
        self._set_counts = self._sets.sum(self._counts)
        # The entries of the features, alternative by alternative, and all pairs of those of one alternative.
        lengths = np.array([len(one) for one in features])
        self._alternative = np.repeat(np.arange(len(features)), lengths)
        self._entries = _Groups(lengths)
        self._columns = np.array([column for one in features for column in one])
        self._values = np.array([value for one in features for value in one.values()])
        one, other = _pairs(lengths)
        self._products = self._values[one] * self._values[other], self._alternative[one]
        within = self._columns[one] * parameters + self._columns[other]
        # The columns of each set, and all pairs of those of one set.
        slots, self._slot = np.unique(
            self._set_of[self._alternative] * parameters + self._columns, return_inverse=True
        )
        self._slot_set = slots // parameters
        self._slot_pairs = _pairs(np.bincount(self._slot_set))
        one, other = self._slot_pairs
        between = (slots % parameters)[one] * parameters + (slots % parameters)[other]
        self._places = np.concatenate([within, between])

    def tilted(self, tilt: Vector) -> Choices:
        """The same with ``tilt @ parameters`` added to the log-likelihood, as if results differed by that much."""
        other = copy.copy(self)
        other._tilt = self._tilt + self.weight * tilt
        return other

    def _log_shares(self, theta: Vector) -> Vector:
        # The likelihood and its derivatives are asked for at the same parameters, one after another.
        if not np.array_equal(theta, self._last[0]):
            self._last = theta.copy(), self._shares_at(theta)
        return self._last[1]

    def _shares_at(self, theta: Vector) -> Vector:
        utility = self._entries.sum(self._values * theta[self._columns])
        utility -= self._sets.reduce(np.maximum, utility)[self._set_of]
        return np.asarray(utility - np.log(self._sets.sum(np.exp(utility)))[self._set_of])

    def log_likelihood(self, theta: Vector) -> float:
        """In natural logarithms, without the multinomial constant."""
        return float(self._counts @ self._log_shares(theta) + self._tilt @ theta)

    def gradient(self, theta: Vector) -> Vector:
        """Gradient of the log-likelihood, shape (p,)."""
        expected = self._set_counts[self._set_of] * np.exp(self._log_shares(theta))
        surplus = (self._counts - expected)[self._alternative]
        return np.bincount(self._columns, self._values * surplus, self.parameters) + self._tilt

    @property
    def rows(self) -> Indices:
        """Of ``entries``."""
        return np.asarray(self._places // self.parameters)

    @property
    def columns(self) -> Indices:
        """Of ``entries``."""
        return np.asarray(self._places % self.parameters)

    def entries(self, theta: Vector, set_counts: Vector | None = None) -> Vector:
        """The entries of the information in ``rows`` and ``columns``, to be added where both are equal."""
        times = self._set_counts if set_counts is None else set_counts
        shares = np.exp(self._log_shares(theta))
        means = np.bincount(self._slot, self._values * shares[self._alternative])
        products, alternative = self._products
        one, other = self._slot_pairs
        within = products * (times[self._set_of] * shares)[alternative]
        between = times[self._slot_set[one]] * means[one] * means[other]
        return np.concatenate([within, -between])

    def information(self, theta: Vector, set_counts: Vector | None = None) -> Vector:
        """The negative Hessian of the log-likelihood, observed and expected alike, shape (p, p)."""
        size = self.parameters
        entries = np.bincount(self._places, self.entries(theta, set_counts), size * size)
        return np.asarray(entries.reshape(size, size))

    @functools.cached_property
    def duels(self) -> tuple[Indices, Indices] | None:
        """The parameters of the two alternatives of each set, where that is all there is, else None."""
        features, sizes, _ = self.given
        if {*sizes} != {2} or any([*one.values()] != [1.0] for one in features):
            return None
        return self._columns[::2], self._columns[1::2]

    def duel_information(self, theta: Vector) -> Vector:
        """The information of each of the ``duels``."""
        shares = np.exp(self._log_shares(theta))
        return np.asarray(self._set_counts * shares[::2] * shares[1::2])

    def null_space(self) -> Vector:
        """An orthonormal basis of what the choices cannot see, however often each was made, shape (p, k)."""
        from scipy.linalg import eigh

        values, vectors = eigh(self.information(np.zeros(self.parameters), np.ones(len(self._set_counts))))
        return np.asarray(vectors[:, values < 1e-9 * max(1.0, values[-1])])

    def maximize(
        self, start: Vector, fixed: Vector, ridge: float | Vector = _RIDGE, offset: Vector | None = None
    ) -> Vector:
        """The most likely parameters whose parts along ``fixed`` are those of ``offset``, from ``start`` on.

        ``fixed`` has orthonormal columns, shape (p, k); ``ridge`` takes half of it times each parameter's square
        off the log-likelihood. Newton's method, with steps that are halved until they gain.
        """
        ridge = np.broadcast_to(np.asarray(ridge, float), (self.parameters,))
        theta = start - fixed @ (fixed.T @ (start if offset is None else start - offset))
        tolerance = max(_GRADIENT, 1e-14 * float(self._counts.sum()))

        def value(theta: Vector) -> float:
            return self.log_likelihood(theta) - 0.5 * float(ridge @ theta**2)

        best, last = value(theta), False
        for _ in range(_ITERATIONS):
            slope = self.gradient(theta) - ridge * theta
            slope -= fixed @ (fixed.T @ slope)
            last = last or float(np.abs(slope).max(initial=0.0)) < tolerance
            step = _solve_within(self.information(theta) + np.diag(ridge), fixed, slope)
            if last:  # one more, which goes further than values can be compared
                return theta + step if float(np.abs(step).max(initial=0.0)) < 1e-3 else theta
            for halvings in range(_HALVINGS):
                tried = theta + step * 0.5**halvings
                if (now := value(tried)) >= best:
                    break
            else:
                return theta
            last = now - best < 1e-12 * (1.0 + abs(best))
            theta, best = tried, now
        return theta


def _bordered(matrix: Vector, fixed: Vector) -> Vector:
    """A matrix with columns and rows that hold what it is multiplied with orthogonal to ``fixed``."""
    return np.block([[matrix, fixed], [fixed.T, np.zeros((fixed.shape[1],) * 2)]])


def _solve_within(matrix: Vector, fixed: Vector, right: Vector) -> Vector:
    """The solution of ``matrix @ x = right`` among what is orthogonal to the columns of ``fixed``."""
    return np.asarray(
        np.linalg.solve(_bordered(matrix, fixed), np.append(right, np.zeros(fixed.shape[1])))[: len(right)]
    )


def log_determinant_within(matrix: Vector, fixed: Vector) -> float:
    """The logarithm of the determinant of a matrix on all that is orthogonal to the columns of ``fixed``."""
    return float(np.linalg.slogdet(_bordered(matrix, fixed))[1])


class _Groups:
    """Groups of numbers in a row of an array; those of one small size are reduced column by column."""

    def __init__(self, sizes: Sequence[int] | Indices) -> None:
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._size = int(sizes[0]) if len({*sizes}) == 1 and sizes[0] <= _FEW else 0

    def reduce(self, function: np.ufunc, numbers: Vector) -> Vector:
        if self._size:
            return functools.reduce(function, numbers.reshape(-1, self._size).T)
        return np.asarray(function.reduceat(numbers, self._starts))

    def sum(self, numbers: Vector) -> Vector:
        return self.reduce(np.add, numbers)


def _pairs(sizes: Indices) -> tuple[Indices, Indices]:
    """All ordered pairs of elements of one group, of groups of some sizes in a row, as two arrays of indices."""
    starts = np.cumsum([0, *sizes[:-1]])
    one = np.repeat(np.arange(int(sizes.sum())), np.repeat(sizes, sizes))
    first_of_group = np.repeat(starts, sizes * sizes)
    before = np.repeat(np.cumsum([0, *(sizes * sizes)[:-1]]), sizes * sizes)
    rest = np.arange(len(one)) - before
    return one, first_of_group + rest % np.repeat(sizes, sizes * sizes)
