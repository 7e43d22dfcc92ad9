"""Features by name, and as files name them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from zermelo.agents.core.settings import import_name
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet, ObservationFeatures
from zermelo.agents.evaluators.fitted.patterns import PatternFeatures
from zermelo.agents.evaluators.written import features_for
from zermelo.envs import InvalidSettingError, UnsupportedGameError

LARGE: Final = 10.0
"""Log odds are taken so many times, so that hardly anything holds their weight where it begins."""
TIMES: Final = 1024 * LARGE
"""And so many times, to be rounded to whole numbers, so that no sum is."""
MIN_PROBABILITY: Final = 1e-4
"""A probability that is never fallen short of where log odds are taken."""
_SAMPLES: Final = 1_000


class NamedFeatures(FeatureSet, frozen=True, tag="named"):
    """Functions of game and state, greater where the first player stands better, as ``LinearEvaluator`` has them.

    Attributes:
        source: Where they are: ``"module:name"`` of a mapping from names to functions.
    """

    source: str

    @functools.cached_property
    def functions(self) -> Mapping[str, Callable[[Any, Any], float]]:
        found = import_name(self.source)
        if not isinstance(found, Mapping) or not found or not all(map(callable, found.values())):
            raise InvalidSettingError(
                f"{self.source} must be a dictionary of features, functions of game and state by name, not "
                f"{found!r}"
            )
        return dict(found)

    @property
    def size(self) -> int:
        return len(self.functions) + 1

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        seen = np.ones((len(states), self.size))
        for row, state in enumerate(states):
            seen[row, :-1] = [float(function(game, state)) for function in self.functions.values()]
        if not np.isfinite(seen).all():
            raise InvalidSettingError(f"a feature of {self.source} gave a number that is not finite")
        indices = np.tile(np.arange(self.size), len(states))
        starts = np.arange(len(states) + 1) * self.size
        return Entries(indices, seen.ravel(), starts, np.zeros(len(states), np.int64))


class AboveEvaluation(FeatureSet, frozen=True, tag="above"):
    """Features of another kind, and the evaluation that somebody has written of the game, as log odds.

    Attributes:
        inner: The other features, which correct that evaluation.
    """

    inner: ObservationFeatures | PatternFeatures | NamedFeatures

    @property
    def size(self) -> int:
        return self.inner.size + 1

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        inner = self.inner.entries(game, states)
        ends = inner.starts[1:]
        own = [
            math.floor(TIMES * _log_odds(game, state, seat) + 0.5) / 1024.0
            for state, seat in zip(states, inner.seats.tolist(), strict=True)
        ]
        return Entries(
            np.insert(inner.indices, ends, self.inner.size),
            np.insert(inner.values, ends, own),
            inner.starts + np.arange(len(inner.starts)),
            inner.seats,
        )


def _log_odds(game: Any, state: Any, seat: int) -> float:
    """Log odds of the written evaluation for a seat, read as a probability between the utility bounds."""
    evaluator = features_for(game, state)
    if evaluator is None:
        raise UnsupportedGameError(
            f"this evaluation corrects one that somebody has written, and {game.traits.name} has none"
        )
    value, (lower, upper) = evaluator(game, state)[seat], game.traits.utility_bounds
    if not math.isfinite(upper - lower):
        return float(value)
    share = min(max((value - lower) / (upper - lower), MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
    return math.log(share / (1.0 - share))


def feature_set(name: str, game: Any, states: Sequence[Any]) -> FeatureSet:
    """The features of a name, fitted to what some states of a game show.

    Names are ``"patterns"``, ``"observation"``, ``"module:name"``, or ``"auto"``: patterns of boards, else all
    numbers, and what has been written of the game.
    """
    if ":" in name:
        own = NamedFeatures(name)
        assert own.functions, "they are there"
        return own
    states = states[:_SAMPLES]
    if name == "observation":
        return ObservationFeatures.fitting(game, states)
    if name == "patterns":
        return PatternFeatures.fitting(game, states)
    if name != "auto":
        raise InvalidSettingError(f"features must be patterns, observation, auto or module:name, not {name!r}")
    found: PatternFeatures | ObservationFeatures
    try:
        found = PatternFeatures.fitting(game, states)
    except UnsupportedGameError:
        found = ObservationFeatures.fitting(game, states)
    return found if features_for(game, states[0]) is None else AboveEvaluation(found)


AnyFeatures: TypeAlias = ObservationFeatures | PatternFeatures | NamedFeatures | AboveEvaluation
"""All kinds of features that a file may hold."""


def check_source(features: FeatureSet, named: str) -> None:
    """Refuses features that import another ``"module:name"`` than the one that was given."""
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if isinstance(inner, NamedFeatures):
        if named != inner.source:
            raise InvalidSettingError(
                f"it needs the features {inner.source!r}, and a file may name any code: if you know it, write "
                f"fitted(path=..., features={inner.source!r})"
            )
        assert inner.functions
