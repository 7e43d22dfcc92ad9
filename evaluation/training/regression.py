"""Regression of what positions are worth on their features."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse

from zermelo.agents.evaluators.fitted.observed import Entries

Floats = npt.NDArray[np.float64]
_LEAST: Final = 1e-6
"""No prediction is held to be more certain than this."""


class Fit(NamedTuple):
    """A regression.

    Attributes:
        weights: One for each feature.
        positions: How many it was fitted to.
        loss: On the positions that were kept apart: the mean log loss in nats, or squared error.
        average: The same of always answering the average of the positions that it was fitted to.
    """

    weights: Floats
    positions: int
    loss: float
    average: float


def regress(
    entries: Entries,
    aims: Floats,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    prior: Floats,
    *,
    ridge: float = 10.0,
    logistic: bool = True,
    steps: int = 150,
    start: Floats | None = None,
) -> Fit:
    """A logistic or linear regression with a ridge penalty, by L-BFGS (SciPy's).

    Args:
        entries: The features of the positions.
        aims: What each is worth; from 0 to 1 if it is logistic.
        train: Which positions to fit to.
        test: Which are kept apart.
        prior: Where weights are held; one for each feature.
        ridge: How strongly they are held there: as so many positions would.
        logistic: Otherwise the weighted sum itself is the answer.
        steps: Of L-BFGS, at most.
        start: Weights to begin the search of the best ones at; where they are held, if not given.
    """
    size = len(prior)
    matrix = scipy.sparse.csr_matrix((entries.values, entries.indices, entries.starts), (len(aims), size))
    rows, goals = matrix[train], aims[train]
    seen = np.unique(rows.indices)  # the others stay where they are held
    rows, begin = rows[:, seen], prior[seen]
    columns = rows.T.tocsr()

    def penalty(weights: Floats) -> tuple[float, Floats]:
        answers = _answers(rows @ weights, logistic)
        away = weights - begin
        loss = _losses(answers, goals, logistic).sum() + ridge / 2 * float(away @ away)
        slope = answers - goals if logistic else 2 * (answers - goals)
        return loss, columns @ slope + ridge * away

    first = begin if start is None else start[seen]
    found = scipy.optimize.minimize(penalty, first, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: Floats = prior.copy()
    weights[seen] = found.x
    average = np.full(len(test), goals.mean() if len(goals) else 0.5)
    loss = _mean(_losses(_answers(matrix[test] @ weights, logistic), aims[test], logistic))
    return Fit(weights, len(train), loss, _mean(_losses(average, aims[test], logistic)))


def _answers(sums: Any, logistic: bool) -> Floats:
    answers: Floats = 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0))) if logistic else np.asarray(sums)
    return answers


def _losses(answers: Floats, aims: Floats, logistic: bool) -> Floats:
    if not logistic:
        squares: Floats = (answers - aims) ** 2
        return squares
    answers = np.clip(answers, _LEAST, 1.0 - _LEAST)
    losses: Floats = -(aims * np.log(answers) + (1.0 - aims) * np.log(1.0 - answers))
    return losses


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan
