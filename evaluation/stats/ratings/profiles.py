"""Fits of choices with one combination of parameters held, where all that the choices see is finite.

The information of choices between two is a weighted Laplacian of the graph of who met whom. Without the parameters
of a few ``pins`` it is positive definite, and one factorisation of that, a narrow band where the graph is a chain,
gives its inverse and its determinant on all that the choices see, with any combination held besides.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zermelo.evaluation.stats.ratings.choices import Choices, Vector

_BAND = 0.3  # share of a matrix up to which it is factorised as a band
_GAIN = 1e-7  # of log-likelihood, twice that of a step, below which one more is exact
_ITERATIONS = 30
_HALVINGS = 30


class _Factors(NamedTuple):
    solve: Callable[[Vector], Vector]
    log_determinant: float  # of the information on what the choices see


class HeldFit(NamedTuple):
    """The most likely parameters with a combination held."""

    theta: Vector
    log_likelihood: float
    log_determinant: float  # of the information on what the choices see, less the combination


class Profiles:
    """Fits with a combination of parameters held; ``unseen`` has what the choices cannot see, as columns."""

    def __init__(self, choices: Choices, unseen: Vector) -> None:
        from scipy.linalg import qr
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        self._choices, self._unseen = choices, unseen
        size, count = unseen.shape
        pins = qr(unseen.T, pivoting=True, mode="r")[1][:count] if count else np.zeros(0, int)
        self._kept = np.setdiff1d(np.arange(size), pins)
        self._of_pins = float(np.linalg.slogdet(unseen[pins])[1])
        # Where the entries of the information lie in the matrix without pins, whose order keeps its band narrow.
        place = np.full(size, -1)
        place[self._kept] = np.arange(len(self._kept))
        pattern = csr_matrix((np.ones(len(choices.rows)), (choices.rows, choices.columns)), (size, size))
        self._kept = self._kept[reverse_cuthill_mckee(pattern[self._kept][:, self._kept], symmetric_mode=True)]
        place[self._kept] = np.arange(len(self._kept))
        rows, columns = place[choices.rows], place[choices.columns]
        self._is_kept = (rows >= columns) & (columns >= 0)
        below, columns = (rows - columns)[self._is_kept], columns[self._is_kept]
        self._width = int(below.max(initial=0)) + 1
        self._is_band = self._width < _BAND * len(self._kept)
        self._places = (below if self._is_band else below + columns) * len(self._kept) + columns

    def fit(self, contrast: Vector, value: float, start: Vector) -> HeldFit:
        """The most likely parameters with ``contrast @ theta`` equal to ``value``, by Newton's method."""
        choices = self._choices
        theta = start + contrast * ((value - float(contrast @ start)) / float(contrast @ contrast))
        best = choices.log_likelihood(theta)
        for _ in range(_ITERATIONS):
            slope = choices.gradient(theta)
            solve, log_determinant = self.factors(theta)
            across = solve(contrast)
            both = float(contrast @ across)
            step = solve(slope)
            step -= across * (float(contrast @ step) / both)
            left = log_determinant + math.log(both / float(contrast @ contrast))
            if float(slope @ step) < _GAIN:  # one more, which goes further than values can be compared
                theta = theta + step
                best = choices.log_likelihood(theta)
                break
            for halvings in range(_HALVINGS):
                tried = theta + step * 0.5**halvings
                if (now := choices.log_likelihood(tried)) >= best:
                    break
            else:
                break
            theta, best = tried, now
        return HeldFit(theta, best, left)

    def at(self, contrast: Vector, theta: Vector) -> HeldFit:
        """The same for parameters that are taken to be most likely."""
        solve, log_determinant = self.factors(theta)
        left = log_determinant + math.log(float(contrast @ solve(contrast)) / float(contrast @ contrast))
        return HeldFit(theta, self._choices.log_likelihood(theta), left)

    def factors(self, theta: Vector) -> _Factors:
        """A factorisation of the information, whose inverse is within what the choices see."""
        from scipy.linalg import cho_solve, cho_solve_banded, cholesky, cholesky_banded

        size, kept, unseen = len(self._kept), self._kept, self._unseen
        height = self._width if self._is_band else size
        entries = np.bincount(self._places, self._choices.entries(theta)[self._is_kept], height * size)
        matrix = entries.reshape(height, size)
        inverse: Callable[[Vector], Vector]
        if self._is_band:
            factor = cholesky_banded(matrix, lower=True, check_finite=False)
            inverse, diagonal = functools.partial(cho_solve_banded, (factor, True), check_finite=False), factor[0]
        else:
            factor = cholesky(matrix, lower=True, check_finite=False)
            inverse, diagonal = functools.partial(cho_solve, (factor, True), check_finite=False), np.diag(factor)

        def solve(right: Vector) -> Vector:
            found = np.zeros(len(right))
            found[kept] = inverse((right - unseen @ (unseen.T @ right))[kept])
            return np.asarray(found - unseen @ (unseen.T @ found))

        return _Factors(solve, 2.0 * (float(np.log(diagonal).sum()) - self._of_pins))
