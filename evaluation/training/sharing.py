"""Which windows of a board share their weights, and which phases of a game do not.

It is whatever foretells best how games end that were not fitted to.

Nobody need say which mirrors and turns leave a game as it is, or whether a board is shown from the player's side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from zermelo.agents.evaluators.feature_sets import AboveEvaluation
from zermelo.agents.evaluators.observed import FeatureSet
from zermelo.agents.evaluators.patterns import PatternFeatures

__all__ = ["best_sharing"]


def best_sharing(features: FeatureSet, loss_of: Callable[[FeatureSet], float]) -> FeatureSet:
    """The same features, weights shared by the seats, then by mirror images, and then parted by phases.

    Features of other kinds are as they were.

    Args:
        features: Features of which nothing is shared yet.
        loss_of: How badly features foretell games, fitted to others.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures):
        return features
    best = inner
    least = loss_of(_outer(features, inner))
    for settings in (_by_seats(inner), _by_turns(inner), _by_phases(inner)):
        before = best
        for setting in settings:
            shared = dataclasses.replace(before, **setting)
            loss = loss_of(_outer(features, shared))
            if loss < least:
                best, least = shared, loss
    return _outer(features, best)


def _outer(features: FeatureSet, inner: PatternFeatures) -> FeatureSet:
    return AboveEvaluation(inner) if isinstance(features, AboveEvaluation) else inner


def _by_seats(features: PatternFeatures) -> list[dict[str, Any]]:
    """The second seat sees the board as the first would, or upside down, or turned by a half."""
    if features.seats != 2:
        return []
    return [{"second": turn} for turn in ((0, 1) if features.rows == 1 else (0, 2, 3))]


def _by_turns(features: PatternFeatures) -> list[dict[str, Any]]:
    """Mirrors, half turns, and on square boards all turns."""
    if features.rows == 1:
        return [{"turns": (0, 1)}]
    groups = [(0, 1), (0, 2), (0, 3), (0, 1, 2, 3)]
    return [
        {"turns": group} for group in [*groups, *([tuple(range(8))] if features.rows == features.columns else [])]
    ]


def _by_phases(features: PatternFeatures) -> list[dict[str, Any]]:
    """Four or eight phases, by how full the board is."""
    cells = features.rows * features.columns
    return [
        {"phases": tuple(cells * part // parts for part in range(1, parts))} for parts in (4, 8) if cells >= parts
    ]
