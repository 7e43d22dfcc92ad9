"""What is fitted to games: which of them, which weights are shared, and how strongly weights are held."""

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
from zermelo.envs import Traits
from zermelo.evaluation.training.regression import Fit, Floats, regress
from zermelo.evaluation.training.self_play import Played
from zermelo.evaluation.training.sharing import best_sharing

_KEPT_APART: Final = 0.1
"""Of the games, for the loss that is told; as many more to choose settings by."""
_RIDGES: Final = (30.0, 150.0, 750.0, 4_000.0)
_STEPS: Final = 150
_LATER_STEPS: Final = 60
"""Of the regression in later rounds, which begins where the last one ended."""
_PILOT: Final = 500
"""Games by which it is chosen which weights are shared."""
_PILOT_STEPS: Final = 40
_PILOT_RIDGE: Final = 150.0
_OUTCOMES: Final = 3


class Parts(NamedTuple):
    """Games to fit to, to choose settings by, and to tell the loss of."""

    fitted: Sequence[Played]
    choosing: Sequence[Played]
    apart: Sequence[Played]


def parted(before: Sequence[Played], played: Sequence[Played]) -> Parts:
    """Of the last round two tenths are kept apart; of very few games some are used twice."""
    share = max(1, int(len(played) * _KEPT_APART))
    choosing = played[share : 2 * share] or played
    return Parts([*before, *(played[2 * share :] or played)], choosing, played[:share])


def prior_of(features: FeatureSet) -> Floats:
    """Where weights begin: what was written of the game counts as it is."""
    prior = np.zeros(features.size)
    if isinstance(features, AboveEvaluation):
        prior[-1] = 1.0 / LARGE
    return prior


def read_by(features: FeatureSet, game: Any, played: Played) -> Played:
    """A game with other features of its positions."""
    return dataclasses.replace(played, entries=features.entries(game, played.states))


def outcome_bounds(traits: Traits, played: Sequence[Played]) -> tuple[float, float]:
    """Between what outcomes lie: as the game says, or, of wins, draws and losses at the end only, as was seen."""
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower) or not traits.terminal_rewards_only or traits.seats != 2:
        return lower, upper
    seen = np.concatenate([game.returns for game in played])
    seen = np.unique(np.concatenate((seen, traits.constant - seen)))
    return (float(seen[0]), float(seen[-1])) if 1 < len(seen) <= _OUTCOMES else (lower, upper)


def with_sharing(
    features: FeatureSet, game: Any, bounds: tuple[float, float], parts: Parts, turns: Sequence[int]
) -> FeatureSet:
    """The features with weights shared as some of the games say."""
    pilot = Parts(parts.fitted[:_PILOT], parts.choosing[:_PILOT], [])

    def loss_of(one: FeatureSet) -> float:
        read = Parts(*([read_by(one, game, played) for played in part] for part in pilot))
        aims, entries, logistic = _joined(bounds, [*read.fitted, *read.choosing])
        split = sum(len(played.returns) for played in read.fitted)
        train, test = np.arange(split), np.arange(split, len(aims))
        return regress(
            entries, aims, train, test, prior_of(one), ridge=_PILOT_RIDGE, logistic=logistic, steps=_PILOT_STEPS
        ).loss

    return best_sharing(features, loss_of, turns)


def _joined(bounds: tuple[float, float], games: Sequence[Played]) -> tuple[Floats, Entries, bool]:
    """What the positions of games were worth, their features, and whether worths are shares of the utility."""
    lower, upper = bounds
    logistic = math.isfinite(upper - lower)
    aims = np.concatenate([game.returns for game in games])
    if logistic:
        aims = np.clip((aims - lower) / (upper - lower), 0.0, 1.0)
    return aims, Entries.joined([game.entries for game in games]), logistic


def fit(
    bounds: tuple[float, float], parts: Parts, prior: Floats, ridge: float | None, before: FittedEvaluator | None
) -> tuple[Fit, float]:
    """The regression whose ridge suits the games to choose by, and that; its loss is on those kept apart."""
    aims, entries, logistic = _joined(bounds, [game for part in parts for game in part])
    sizes = [sum(len(game.returns) for game in part) for part in parts]
    train, choosing, apart = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    def fitted(strength: float, test: npt.NDArray[np.int64]) -> Fit:
        steps, start = (_STEPS, None) if before is None else (_LATER_STEPS, before.weights)
        return regress(
            entries, aims, train, test, prior, ridge=strength, logistic=logistic, steps=steps, start=start
        )

    if ridge is None:
        fits = [(fitted(strength, choosing).loss, strength) for strength in _RIDGES]
        ridge = min(fits)[1]
    return fitted(ridge, apart), ridge
