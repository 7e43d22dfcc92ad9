"""Linear evaluations: features of a state times weights, written or in a file of ``zermelo tune``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.base.scores import bounds_to_come
from zermelo.agents.base.settings import check_number, import_name
from zermelo.agents.evaluators.network import write_evaluation
from zermelo.agents.evaluators.protocol import squash, to_come_by_seat, values_by_seat
from zermelo.envs.capabilities import SupportsObservations, offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.data_files import ShortText
from zermelo.envs.support.spec_text import format_spec

Feature = Callable[[Game[Any], Any], float]  # of game and state, greater where seat 0 stands better


@checked_call
@dataclass(frozen=True, kw_only=True)
class LinearEvaluator:
    """Named features times weights (Russell and Norvig, 4th ed., section 5.3.1).

    The sum, divided by ``scale``, is squashed to lie strictly inside the utility bounds; 0 is the middle between
    winning and losing. Where the game has chance, choose ``scale`` so large that the squashing is close to linear:
    there averages of values must mean something.

    Attributes:
        features: For each name, a function of game and state, greater where seat 0 (MAX) stands better.
        weights: For each of the same names, its weight.
        scale: The sum at which the value is half way to a sure win.
    """

    features: Mapping[str, Feature]
    weights: Mapping[str, float]
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_number("scale", self.scale, lower=0, above=True)
        if set(self.features) != set(self.weights):
            raise InvalidSettingError(
                f"features and weights must have the same names, but are {sorted(self.features)} and "
                f"{sorted(self.weights)}"
            )
        for name, weight in self.weights.items():
            check_number(f"the weight of {name}", weight)
            if not callable(self.features[name]):
                raise InvalidSettingError(
                    f"the feature {name} must be a function of game and state, not {self.features[name]!r}"
                )
        object.__setattr__(self, "features", dict(self.features))
        object.__setattr__(self, "weights", dict(self.weights))

    def raw(self, game: Game[Any], state: Any) -> float:
        """The weighted sum, for seat 0, not squashed."""
        total = 0.0
        for name, weight in self.weights.items():
            value = float(self.features[name](game, state))
            if not math.isfinite(value):
                raise InvalidSettingError(f"the feature {name} must be a finite number, but gave {value}")
            total += weight * value
        return total

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        traits = game.traits
        if traits.seats > 2:
            raise UnsupportedGameError(
                f"a LinearEvaluator values games of one or two players, but {traits.name} has {traits.seats}: "
                "write an evaluator that gives one number per seat, or use 'playout'"
            )
        value = squash(self.raw(game, state) / self.scale, bounds_to_come(traits, game.utility(state)))
        return to_come_by_seat(game, state, 0, value)


OBSERVATION: Final = "observation"  # the features that need no code: all numbers that the player to move observes
_LARGEST_SUM: Final = 30.0  # a logit that is as good as certain, and whose probability is still less than 1
Floats = npt.NDArray[np.float64]


class Features:
    """The numbers that describe a state, the last of them the constant 1.

    ``source`` is ``"observation"``, or ``"module:name"`` of one of these, greater where the first player stands
    better: a ``LinearEvaluator``, whose ``weights`` are where a fit begins; a dictionary of functions of game and
    state by name; or one function of game and state that returns numbers, or numbers by name.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.weights: Floats | None = None
        self._numbers = _observed if source == OBSERVATION else self._written(import_name(source))

    def _written(self, source: Any) -> Callable[[Any, Any], Any]:
        if isinstance(source, LinearEvaluator):
            self.weights = np.array([float(weight) / source.scale for weight in source.weights.values()])
            source = {name: source.features[name] for name in source.weights}
        if isinstance(source, Mapping) and source and all(map(callable, source.values())):
            functions = list(source.values())
            return lambda game, state: [function(game, state) for function in functions]
        if callable(source) and not isinstance(source, type):
            return source  # type: ignore[no-any-return]  # what it returns is checked
        raise InvalidSettingError(
            f"{self.source} must be a LinearEvaluator, a dictionary of functions of game and state by name, or a "
            f"function that returns numbers, not {source!r}"
        )

    def row(self, game: Any, state: Any) -> tuple[int, Floats]:
        """The seat whose expectation the weighted sum is, and the features of an unfinished state."""
        numbers = self._numbers(game, state)
        try:
            listed = list(numbers.values()) if isinstance(numbers, Mapping) else numbers
            values = np.asarray(listed, float).ravel()
        except (TypeError, ValueError):
            values = np.array([math.nan])
        if not np.isfinite(values).all():
            raise InvalidSettingError(f"the features {self.source} must be finite numbers, but are {numbers!r}")
        values = np.append(values, 1.0)
        if self.source != OBSERVATION:
            return 0, values
        # Seats have weights of their own: some environments turn the board around for the second one.
        mover, row = game.to_move(state), np.zeros((game.traits.seats, len(values)))
        row[mover] = values
        return mover, row.ravel()

    def __reduce__(self) -> Any:
        return Features, (self.source,)


def _observed(game: Any, state: Any) -> npt.NDArray[Any]:
    seat = game.to_move(state)
    seen = game.observation(state, seat) if offers(game, SupportsObservations) else None
    array = np.asarray(seen) if seen is not None else np.empty(0)
    if array.size == 0 or array.dtype.kind not in "biuf":
        raise UnsupportedGameError(
            f"{game.traits.name} does not show its players an array of numbers: write features and name them as "
            "module:name"
        )
    return array


class FittedLinear:
    """A weighted sum of features as log odds between the bounds of the utility; without bounds as it is."""

    def __init__(self, features: Features, weights: Floats, path: str = "") -> None:
        self.features, self.weights, self.path = features, np.round(weights, 9), path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FittedLinear) and hash(other) == hash(self)

    def __hash__(self) -> int:
        return hash((self.features.source, self.weights.tobytes()))

    def spec(self) -> str:
        if self.features.source == OBSERVATION:
            return repr(self.path)
        return format_spec("linear", {"path": self.path, "features": self.features.source})

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        if game.traits.seats > 2:
            raise UnsupportedGameError(
                f"a linear evaluation is for games of one or two players, but {game.traits.name} has "
                f"{game.traits.seats}"
            )
        seat, row = self.features.row(game, state)
        if len(row) != len(self.weights):
            raise UnsupportedGameError(
                f"{self.path or 'this evaluation'} has {len(self.weights)} weights, but {game.traits.name} has "
                f"{len(row)} features {self.features.source}: it was fitted to another game"
            )
        bounds = game.traits.utility_bounds
        return values_by_seat(game, state, seat, float(expected(row @ self.weights, bounds)), bounds)

    def save(self, path: str, about: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Writes a file; ``about`` says where the weights come from."""
        stored = StoredLinear(2, self.features.source, self.weights.tolist(), {**about})
        write_evaluation(path, msgspec.json.encode(stored))


def expected(sums: Any, bounds: tuple[float, float]) -> Any:
    """Expected utility of weighted sums: a share of what lies between the bounds, if they are finite."""
    lower, upper = bounds
    if not math.isfinite(upper - lower):
        return sums
    return lower + (upper - lower) / (1.0 + np.exp(-np.clip(sums, -_LARGEST_SUM, _LARGEST_SUM)))


class StoredLinear(msgspec.Struct, tag_field="form", tag="zermelo linear evaluation"):
    """The content of a file."""

    version: Literal[2]
    features: ShortText
    weights: Annotated[list[float], msgspec.Meta(min_length=1)]
    about: dict[str, Any] = {}

    def evaluator(self, path: str, features: str) -> FittedLinear:
        if self.features not in (OBSERVATION, features):
            raise InvalidSettingError(
                f"{path!r} needs the features {self.features!r}, and a file may name any code: if you know it, "
                f"write linear(path=..., features={self.features!r})"
            )
        return FittedLinear(Features(self.features), np.array(self.weights), path)
