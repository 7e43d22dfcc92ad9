"""Regression of the returns of self-play on features, with a ridge penalty."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import LARGE, AboveEvaluation
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet
from zermelo.agents.learning.tuning.self_play import Played
from zermelo.agents.learning.tuning.symmetries import best_sharing
from zermelo.envs import Traits

Floats = npt.NDArray[np.float64]
_TEST_SHARE: Final = 0.1
"""Share of the games for the reported loss; another such share chooses settings."""
_RIDGES: Final = (30.0, 150.0, 750.0, 4_000.0)
_STEPS: Final = 150
_LATER_STEPS: Final = 60
"""In later rounds, which begin with the weights of the round before."""
_PILOT_GAMES: Final = 500
"""Games by which weight sharing is chosen."""
_PILOT_STEPS: Final = 40
_PILOT_RIDGE: Final = 150.0
_OUTCOMES: Final = 3
_MIN_PROBABILITY: Final = 1e-6


class Fit(NamedTuple):
    """A regression.

    Attributes:
        weights: One for each feature.
        loss: On the test positions: mean log loss in nats, or squared error.
        average: The loss of always predicting the average of the training positions.
    """

    weights: Floats
    loss: float
    average: float


def regress(
    entries: Entries,
    targets: Floats,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    prior: Floats,
    *,
    ridge: float = 10.0,
    logistic: bool = True,
    steps: int = _STEPS,
    start: Floats | None = None,
) -> Fit:
    """A logistic or linear regression by L-BFGS (SciPy's).

    Targets are from 0 to 1 if it is logistic. ``train`` and ``test`` are indices of positions. The penalty
    ``ridge``, in positions, pulls weights towards the prior, at which they begin if no ``start`` is given.
    """
    import scipy.optimize  # where it is used: processes of agents load the modules of this package
    import scipy.sparse

    size = len(prior)
    matrix = scipy.sparse.csr_matrix((entries.values, entries.indices, entries.starts), (len(targets), size))
    rows, goals = matrix[train], targets[train]
    seen = np.unique(rows.indices)  # the others stay at the prior
    rows, center = rows[:, seen], prior[seen]
    columns = rows.T.tocsr()

    def penalty(weights: Floats) -> tuple[float, Floats]:
        predicted = _predictions(rows @ weights, logistic)
        away = weights - center
        loss = _losses(predicted, goals, logistic).sum() + ridge / 2 * float(away @ away)
        slope = predicted - goals if logistic else 2 * (predicted - goals)
        return loss, columns @ slope + ridge * away

    first = center if start is None else start[seen]
    found = scipy.optimize.minimize(penalty, first, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: Floats = prior.copy()
    weights[seen] = found.x
    average = np.full(len(test), goals.mean() if len(goals) else 0.5)
    losses = [
        _losses(predicted, targets[test], logistic)
        for predicted in (_predictions(matrix[test] @ weights, logistic), average)
    ]
    return Fit(weights, *(float(each.mean()) if len(test) else math.nan for each in losses))


def _predictions(sums: Any, logistic: bool) -> Floats:
    predicted: Floats = 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0))) if logistic else np.asarray(sums)
    return predicted


def _losses(predicted: Floats, targets: Floats, logistic: bool) -> Floats:
    if not logistic:
        squares: Floats = (predicted - targets) ** 2
        return squares
    predicted = np.clip(predicted, _MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    losses: Floats = -(targets * np.log(predicted) + (1.0 - targets) * np.log(1.0 - predicted))
    return losses


class Split(NamedTuple):
    """Games to fit to, to choose settings by, and to report the loss of."""

    train: Sequence[Played]
    validation: Sequence[Played]
    test: Sequence[Played]


def split_games(before: Sequence[Played], played: Sequence[Played]) -> Split:
    """Splits the games of the last round; very few games are used twice."""
    share = max(1, int(len(played) * _TEST_SHARE))
    validation = played[share : 2 * share] or played
    return Split([*before, *(played[2 * share :] or played)], validation, played[:share])


def prior_of(features: FeatureSet) -> Floats:
    """Weights before the first fit: the written evaluation counts once, other features nothing."""
    prior = np.zeros(features.size)
    if isinstance(features, AboveEvaluation):
        prior[-1] = 1.0 / LARGE
    return prior


def with_features(features: FeatureSet, game: Any, played: Played) -> Played:
    """The game with other features."""
    return dataclasses.replace(played, entries=features.entries(game, played.states))


def outcome_bounds(traits: Traits, played: Sequence[Played]) -> tuple[float, float]:
    """Bounds of outcomes: declared, else observed where only wins, draws and losses at the end were seen."""
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower) or not traits.terminal_rewards_only or traits.seats != 2:
        return lower, upper
    seen = np.concatenate([game.returns for game in played])
    seen = np.unique(np.concatenate((seen, traits.constant - seen)))
    return (float(seen[0]), float(seen[-1])) if 1 < len(seen) <= _OUTCOMES else (lower, upper)


def with_sharing(
    features: FeatureSet, game: Any, bounds: tuple[float, float], games: Split, turns: Sequence[int]
) -> FeatureSet:
    """The features with the weight sharing that has the lowest loss on some of the games."""

    def loss_of(one: FeatureSet) -> float:
        train, validation = (
            [with_features(one, game, played) for played in part[:_PILOT_GAMES]] for part in games[:2]
        )
        targets, entries, logistic = _joined(bounds, [*train, *validation])
        first, second = np.split(np.arange(len(targets)), [sum(len(played.returns) for played in train)])
        settings: dict[str, Any] = {"ridge": _PILOT_RIDGE, "logistic": logistic, "steps": _PILOT_STEPS}
        return regress(entries, targets, first, second, prior_of(one), **settings).loss

    return best_sharing(features, loss_of, turns)


def _joined(bounds: tuple[float, float], games: Sequence[Played]) -> tuple[Floats, Entries, bool]:
    """Targets and features of all positions, and whether targets are shares of the utility."""
    lower, upper = bounds
    logistic = math.isfinite(upper - lower)
    targets = np.concatenate([game.returns for game in games])
    if logistic:
        targets = np.clip((targets - lower) / (upper - lower), 0.0, 1.0)
    return targets, Entries.joined([game.entries for game in games]), logistic


def fit(
    bounds: tuple[float, float], games: Split, prior: Floats, ridge: float | None, before: FittedEvaluator | None
) -> tuple[Fit, float]:
    """The regression with the given ridge, or the best one on the validation games; and that ridge."""
    targets, entries, logistic = _joined(bounds, [game for part in games for game in part])
    sizes = [sum(len(game.returns) for game in part) for part in games]
    train, validation, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    def fitted(strength: float, among: npt.NDArray[np.int64]) -> Fit:
        steps, start = (_STEPS, None) if before is None else (_LATER_STEPS, before.weights)
        return regress(
            entries, targets, train, among, prior, ridge=strength, logistic=logistic, steps=steps, start=start
        )

    if ridge is None:
        ridge = min(_RIDGES, key=lambda strength: fitted(strength, validation).loss)
    return fitted(ridge, test), ridge
