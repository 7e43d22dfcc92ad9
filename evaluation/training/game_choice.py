"""Which games tell most: pairs of agents whose next game narrows the interval that is furthest from its goal.

Strengths are taken as jointly normal around their ratings, with the covariance that the expected information of
the games leaves (Bradley-Terry: a game of two that expect p and 1 - p points has p (1 - p)). A game adds
information of rank one, so what it does to every variance is known before it is played (M. E. Glickman and S. T.
Jensen, "Adaptive paired comparison design", *Journal of Statistical Planning and Inference* 127, 2005, 279-293).
Shapes: ``N`` agents; ratings in log-ability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from zermelo.evaluation.stats.ratings.choices import Vector
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY

UNKNOWN: Final = (700.0 / ELO_PER_LOG_ABILITY) ** 2  # variance of a rating before the first game
FIXED: Final = 1e-9  # variance of the rating that is the zero of the scale
SAMPLES: Final = 20_000  # of the joint normal, for the likelihood to be the best
_SLOPE: Final = math.pi / 8  # a normal beside a logistic variable: MacKay 1992


@dataclass
class Goal:
    """A combination of ratings whose variance is to be at most ``target``."""

    contrast: Vector  # (N,)
    target: float


@dataclass(frozen=True)
class Knowledge:
    """Ratings of agents and how sure they are.

    Attributes:
        ratings: (N,) the estimates.
        prior: (N, N) the information there was before the games.
        games: (N, N) games of each pair, symmetric.
        spread: How much results vary, as a part of what the model says.
    """

    ratings: Vector
    prior: Vector
    games: Vector
    spread: float = 1.0

    def covariance(self) -> Vector:
        """The covariance of the ratings, (N, N)."""
        return self._covariance(self.games)

    def _covariance(self, games: Vector) -> Vector:
        weights = games * _variance(self.ratings, 0.0) / self.spread
        information = self.prior + np.diag(weights.sum(axis=1)) - weights
        return np.asarray(np.linalg.inv(information))

    def chosen(self, goals: Sequence[Goal], allowed: Vector, block: int, most: int) -> list[tuple[int, int]]:
        """Pairs, each for a block of games, until all goals are expected to be reached, at most so many.

        ``allowed`` (N, N) says which pairs may play.
        """
        covariance, goals, pairs = self.covariance(), [*goals], list[tuple[int, int]]()
        gains = block * _variance(self.ratings, _differences(covariance)) / self.spread * np.triu(allowed, 1)
        while goals and len(pairs) < most:
            behind = [float(goal.contrast @ covariance @ goal.contrast) / goal.target for goal in goals]
            worst = int(np.argmax(behind))
            if behind[worst] <= 1.0:
                break
            effect = covariance @ goals[worst].contrast
            told = gains * (effect[:, None] - effect) ** 2 / (1.0 + gains * _differences(covariance))
            first, second = divmod(int(told.argmax()), len(effect))
            if told[first, second] <= 1e-12:
                del goals[worst]  # nobody that may play says anything of it
                continue
            pairs.append((first, second))
            change = covariance[:, first] - covariance[:, second]
            gain = gains[first, second]
            covariance = covariance - np.outer(change, change) * (
                gain / (1.0 + gain * (change[first] - change[second]))
            )
        return pairs

    def evenly(self, played: Vector, contrasts: Sequence[Vector]) -> float | None:
        """How many games it takes to reach the variances of today if all pairs of ``played`` meet equally often.

        None where that does not get there.
        """
        today = self.covariance()
        wanted = max(float(one @ today @ one) for one in contrasts)

        def variance(each: float) -> float:
            covariance = self._covariance(each * played)
            return max(float(one @ covariance @ one) for one in contrasts)

        low, high = 0.0, 1.0
        while variance(high) > wanted:
            low, high = high, 2.0 * high
            if high > 1e7:
                return None
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if variance(middle) > wanted else (low, middle)
        return high * float(np.triu(played, 1).sum())

    def likely_best(self, agents: Sequence[int], seed: int) -> Vector:
        """The probability that each of these agents is the strongest of them."""
        chosen = np.asarray(agents)
        covariance = self.covariance()[np.ix_(chosen, chosen)]
        drawn = np.random.default_rng(seed).multivariate_normal(
            self.ratings[chosen], covariance, SAMPLES, method="cholesky"
        )
        return np.bincount(drawn.argmax(axis=1), minlength=len(chosen)) / SAMPLES


def _differences(covariance: Vector) -> Vector:
    """The variance of the difference of each pair."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, None] + own - 2.0 * covariance, 0.0))


def _variance(ratings: Vector, unsure: Vector | float) -> Vector:
    """The variance of a game's points, for each pair; less is expected to be decided where ratings are unsure."""
    gaps = np.abs(ratings[:, None] - ratings) / np.sqrt(1.0 + _SLOPE * unsure)
    low = np.exp(-gaps)
    return np.asarray(low / (1.0 + low) ** 2)
