"""Features by name, and as files name them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, TypeAlias

import msgspec
import numpy as np

from zermelo.agents.core.importing import import_name
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet, ObservationFeatures
from zermelo.agents.evaluators.fitted.patterns import MOST_CODES, OWN, PatternFeatures
from zermelo.agents.evaluators.written import features_for
from zermelo.envs import InvalidSettingError, UnsupportedGameError

LARGE: Final = 10.0
"""Log odds are taken so many times, so that hardly anything holds their weight where it begins."""
TIMES: Final = 1024 * LARGE
"""And so many times, to be rounded to whole numbers, so that no sum is."""
MIN_PROBABILITY: Final = 1e-4
"""A probability that is never fallen short of where log odds are taken."""
_SAMPLES: Final = 1_000
_Small: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100)]
_Turn: TypeAlias = Annotated[int, msgspec.Meta(ge=OWN, le=7)]
_Places: TypeAlias = Annotated[
    tuple[Annotated[int, msgspec.Meta(ge=0, le=10_000)], ...], msgspec.Meta(max_length=MOST_CODES)
]


@dataclass(frozen=True)
class NamedFeatures:
    """Functions of game and state, greater where the first player stands better, as ``LinearEvaluator`` has them.

    Attributes:
        source: Where they are: ``"module:name"`` of a mapping from names to functions.
    """

    kind: ClassVar[str] = "named"
    source: str
    functions: Mapping[str, Callable[[Any, Any], float]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = import_name(self.source)
        if not isinstance(found, Mapping) or not found or not all(map(callable, found.values())):
            raise InvalidSettingError(
                f"{self.source} must be a dictionary of features, functions of game and state by name, not "
                f"{found!r}"
            )
        object.__setattr__(self, "functions", dict(found))

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

    def settings(self) -> dict[str, Any]:
        return {"source": self.source}


@dataclass(frozen=True)
class AboveEvaluation:
    """Features of another kind, and the evaluation that somebody has written of the game, as log odds.

    Attributes:
        inner: The other features, which correct that evaluation.
    """

    kind: ClassVar[str] = "above"
    inner: FeatureSet

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

    def settings(self) -> dict[str, Any]:
        return {"inner": {"kind": self.inner.kind, **self.inner.settings()}}


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
        return NamedFeatures(name)
    states = states[:_SAMPLES]
    if name == "observation":
        return ObservationFeatures.fitting(game, states)
    if name == "patterns":
        return PatternFeatures.fitting(game, states)
    if name != "auto":
        raise InvalidSettingError(f"features must be patterns, observation, auto or module:name, not {name!r}")
    found: FeatureSet
    try:
        found = PatternFeatures.fitting(game, states)
    except UnsupportedGameError:
        found = ObservationFeatures.fitting(game, states)
    return found if features_for(game, states[0]) is None else AboveEvaluation(found)


class _Observation(msgspec.Struct, tag_field="kind", tag=ObservationFeatures.kind, forbid_unknown_fields=True):
    seats: int
    length: int


class _Patterns(msgspec.Struct, tag_field="kind", tag=PatternFeatures.kind, forbid_unknown_fields=True):
    seats: Annotated[int, msgspec.Meta(ge=1, le=2)]
    rows: _Small
    columns: _Small
    planes: _Places = ()
    codes: Annotated[tuple[int | float, ...], msgspec.Meta(max_length=MOST_CODES)] = ()
    turns: tuple[_Turn, ...] = (0,)
    second: _Turn = OWN
    phases: tuple[int, ...] = ()
    longest: _Small = 9


class _Named(msgspec.Struct, tag_field="kind", tag=NamedFeatures.kind, forbid_unknown_fields=True):
    source: str


class _Above(msgspec.Struct, tag_field="kind", tag=AboveEvaluation.kind, forbid_unknown_fields=True):
    inner: _Observation | _Patterns | _Named


_Stored: TypeAlias = _Observation | _Patterns | _Named | _Above


def features_from(settings: Mapping[str, Any], named: str | None = None) -> FeatureSet:
    """The features with some settings, as ``FeatureSet.settings`` gives them, with the kind.

    ``named`` is the only ``"module:name"`` that they may import; any, if that is None.
    """
    return _made(msgspec.convert(settings, _Stored), named)


def _made(stored: _Stored, named: str | None) -> FeatureSet:
    if isinstance(stored, _Above):
        return AboveEvaluation(_made(stored.inner, named))
    if isinstance(stored, _Named):
        if named not in (stored.source, None):
            raise InvalidSettingError(
                f"it needs the features {stored.source!r}, and a file may name any code: if you know it, write "
                f"fitted(path=..., features={stored.source!r})"
            )
        return NamedFeatures(stored.source)
    made = PatternFeatures if isinstance(stored, _Patterns) else ObservationFeatures
    return made(**msgspec.structs.asdict(stored))
