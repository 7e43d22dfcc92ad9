"""Which windows of a board there are, which share their weights, and which phases of a game do not.

Mirrors and turns are those under which games from the first position go on alike. What seats share, and phases, is
whatever foretells best how games end that were not fitted to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from zermelo.agents.evaluators.feature_sets import AboveEvaluation
from zermelo.agents.evaluators.observed import FeatureSet
from zermelo.agents.evaluators.patterns import PatternFeatures, turned
from zermelo.envs import Chance

__all__ = ["best_sharing", "with_symmetries"]

_WALKS: Final = 2
_STEPS: Final = 200


def with_symmetries(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> FeatureSet:
    """The same features, weights shared by mirror images of the board, where that is a symmetry of the game.

    Under a symmetry what can follow a position looks like what can follow its image; that is tried along games at
    random. Features of other kinds, and those of games of chance, are as they were.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or game.traits.chance is not Chance.NONE:
        return features
    among = range(8) if inner.rows == inner.columns else range(4)
    turns = tuple(turn for turn in among if not turn or _is_symmetry(turn, inner, game, start, generator))
    return _outer(features, dataclasses.replace(inner, turns=turns))


def _is_symmetry(
    turn: int, features: PatternFeatures, game: Any, start: Any, generator: np.random.Generator
) -> bool:
    """Whether nothing is found along some games at random that the turn does to one side only."""
    shape = features.rows, features.columns
    places = turned(np.arange(features.rows * features.columns).reshape(shape), turn).ravel()

    def look(state: Any, order: Any = slice(None)) -> tuple[Any, ...]:
        if game.is_terminal(state):
            return tuple(game.utility(state))
        return game.to_move(state), features.cells(game, [state])[0, :-1][order].tobytes()

    if look(start, places) != look(start):
        return False
    for _ in range(_WALKS):
        state = image = start
        for _ in range(_STEPS):
            if game.is_terminal(state):
                break
            following = [game.result(state, action) for action in game.legal_actions(state)]
            state = following[int(generator.integers(len(following)))]
            wanted = look(state, places)
            images = (game.result(image, action) for action in game.legal_actions(image))
            found = next((child for child in images if look(child) == wanted), None)
            if found is None:
                return False
            image = found
    return True


def best_sharing(features: FeatureSet, loss_of: Callable[[FeatureSet], float]) -> FeatureSet:
    """The same features, weights shared by the seats, only small windows, and then weights parted by phases.

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
    for settings in (_by_seats(inner), _by_length(), _by_phases(inner)):
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


def _by_length() -> list[dict[str, Any]]:
    """Windows of at most four cells: there are fewer weights to learn."""
    return [{"longest": 4}]


def _by_phases(features: PatternFeatures) -> list[dict[str, Any]]:
    """Four or eight phases, by how full the board is."""
    cells = features.rows * features.columns
    return [
        {"phases": tuple(cells * part // parts for part in range(1, parts))} for parts in (4, 8) if cells >= parts
    ]
