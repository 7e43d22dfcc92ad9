"""The weighted sum of features: ``Eval(s) = w1 f1(s) + ... + wn fn(s)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zermelo.agents.base.settings import check_number
from zermelo.agents.evaluators.protocol import squash
from zermelo.envs import Game, InvalidSettingError, UnsupportedGameError

Feature = Callable[[Game[Any], Any], float]
"""``feature(game, state)``: a number, greater where seat 0 stands better."""


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
        value = squash(self.raw(game, state) / self.scale, traits.utility_bounds)
        if traits.seats == 1:
            return (value,)
        return value, traits.constant - sum(game.utility(state)) - value
