"""Scales of strength, and how one becomes another.

Three of them, all zero between equals:

* logistic Elo: an expected score of ``1 / (1 + 10 ** (-elo / 400))``;
* log-ability: the natural logarithm of Bradley-Terry's worth; one unit is ``400 / ln 10 = 173.7`` Elo;
* normalized Elo: the mean over the standard deviation of a single game's score, times ``800 / ln 10``. It says
  how many games it takes to tell two agents apart, whatever their rate of draws (M. Van den Bergh, "Normalized
  Elo", https://www.cantate.be/Fishtest/normalized_elo.pdf).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from zermelo.envs import InvalidSettingError

ELO_PER_LOG_ABILITY = 400.0 / math.log(10.0)
NORMALIZED_ELO_UNIT = 800.0 / math.log(10.0)


def elo_from_score(score: float) -> float:
    """The Elo difference at which ``score`` (points a game, 0 to 1) is expected; infinite at 0, 1 and beyond."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return ELO_PER_LOG_ABILITY * (math.log(score) - math.log1p(-score))


def normal_quantile(confidence: float) -> float:
    """Standard errors to each side of a two-sided interval: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def check_confidence(confidence: float) -> float:
    """``confidence`` itself."""
    if not 0.0 < confidence < 1.0:
        raise InvalidSettingError(
            f"confidence must lie strictly between 0 and 1, such as 0.95, not {confidence!r}"
        )
    return confidence
