"""Evaluations that were fitted to games (``zermelo tune``), and the files that they are kept in."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.feature_sets import (
    AboveEvaluation,
    AnyFeatures,
    NamedFeatures,
    check_source,
)
from zermelo.agents.evaluators.fitted.network import NetworkEvaluator, StoredNetwork
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet, values_by_seat
from zermelo.agents.evaluators.fitted.pattern_tables import (
    PatternTables,
    can_have_tables,
    find_bits,
    random_states,
)
from zermelo.agents.evaluators.fitted.patterns import PatternFeatures
from zermelo.envs import Game, InvalidSettingError, Traits, UnsupportedGameError
from zermelo.envs.capabilities import SupportsEvaluation
from zermelo.envs.files import read_file
from zermelo.envs.spec_text import format_spec

_VERSION: Final = 1
_PARTS: Final = 1 << 16
"""Weights are multiples of one part of so many: sums of such numbers are never rounded, whatever their order."""
_LARGEST: Final = 30.0
"""A logit that is as good as certain, and whose probability is still less than 1."""


class StoredPatterns(msgspec.Struct, tag_field="form", tag="zermelo evaluation"):
    """The content of a file: the features, and a weight of each."""

    version: Literal[1]
    features: AnyFeatures
    weights: list[float]
    bounds: tuple[float, float] | None = None


class FittedEvaluator:
    """A weighted sum of features, squashed by the logistic function to lie inside the utility bounds.

    Where a bound is infinite the sum itself is what a player can expect.

    Args:
        features, weights: What is read off a state, and a number for each.
        path: The file that it was read from, as specs write it.
        bounds: The lowest and highest outcome that was seen, in a game that does not say its utility bounds.
    """

    def __init__(
        self,
        features: FeatureSet,
        weights: npt.NDArray[np.float64],
        path: str = "",
        bounds: tuple[float, float] | None = None,
    ) -> None:
        if weights.shape != (features.size,) or not np.isfinite(weights).all():
            raise InvalidSettingError(f"there must be {features.size} finite weights, one for each feature")
        self.features, self.path, self.bounds = features, path, bounds
        self.weights = np.round(weights * _PARTS) / _PARTS
        self._tables: dict[Any, PatternTables | None] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FittedEvaluator):
            return False
        if other.features != self.features or other.bounds != self.bounds:
            return False
        return bool(np.array_equal(other.weights, self.weights))

    def __hash__(self) -> int:
        return hash((self.features.kind, self.weights.tobytes()))

    def spec(self) -> str:
        inner = self.features.inner if isinstance(self.features, AboveEvaluation) else self.features
        if isinstance(inner, NamedFeatures):
            return format_spec("fitted", {"path": self.path, "features": inner.source})
        return repr(self.path)

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        entries = self.features.entries(game, [state])
        mine = float(self.expected(game.traits, entries)[0])
        bounds = self.bounds or game.traits.utility_bounds
        return values_by_seat(game, state, int(entries.seats[0]), mine, bounds)

    def expected(self, traits: Traits, entries: Entries) -> npt.NDArray[np.float64]:
        """Expected utility to come, for the seat of each entry."""
        if traits.seats > 2:
            raise UnsupportedGameError(
                f"a fitted evaluation is for games of one or two players, but {traits.name} has {traits.seats}"
            )
        lower, upper = self.bounds or traits.utility_bounds
        sums = entries.sums(self.weights)
        if not math.isfinite(upper - lower):
            return sums
        share: npt.NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(sums, -_LARGEST, _LARGEST)))
        return np.clip(lower + (upper - lower) * share, np.nextafter(lower, upper), np.nextafter(upper, lower))

    def tables(self, game: Any, states: Sequence[Any] = ()) -> PatternTables | None:
        """Lookup tables for compiled code, or None if only plain Python can evaluate."""
        features, weights, written = self.features, self.weights, 0.0
        if isinstance(features, AboveEvaluation):
            if not isinstance(game, SupportsEvaluation):
                return None
            features, weights, written = features.inner, weights[:-1], float(weights[-1])
        if self.bounds is not None or not isinstance(features, PatternFeatures):
            return None
        if not can_have_tables(features, game):
            return None
        if game not in self._tables:
            bits = find_bits(features, game, states or random_states(game))
            self._tables[game] = None if bits is None else PatternTables(features, weights, bits, game, written)
        return self._tables[game]

    def as_json(self, about: Mapping[str, Any] = MappingProxyType({})) -> str:
        """The text of a file; ``about`` says where the weights come from."""
        told = {
            "form": "zermelo evaluation",
            "version": _VERSION,
            **about,
            **({} if self.bounds is None else {"bounds": self.bounds}),
            "features": msgspec.to_builtins(self.features),
            "weights": [round(weight, 6) for weight in self.weights.tolist()],
        }
        return json.dumps(told) + "\n"

    def __reduce__(self) -> Any:
        return FittedEvaluator, (self.features, self.weights, self.path, self.bounds)


def load_evaluation(path: str, features: str = "") -> FittedEvaluator | NetworkEvaluator:
    """Reads the evaluation in a file.

    ``features`` is the ``"module:name"`` of features of somebody's own: what a file names is not imported
    unless it is named here too.
    """
    try:
        stored = msgspec.json.decode(read_file(path), type=StoredPatterns | StoredNetwork)
        if isinstance(stored, StoredNetwork):
            return stored.evaluator(path)
        check_source(stored.features, features)
        return FittedEvaluator(stored.features, np.array(stored.weights), path, stored.bounds)
    except FileNotFoundError:
        raise InvalidSettingError(f"there is no file {path}: zermelo tune writes one") from None
    except (ValueError, OSError, RecursionError) as error:
        raise InvalidSettingError(f"{path} is no evaluation that zermelo tune wrote: {error}") from None
