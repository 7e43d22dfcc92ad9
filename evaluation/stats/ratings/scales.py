"""The scales that strength is told on, and how one becomes another.

Three of them, all zero between equals:

* logistic Elo: an expected score of ``1 / (1 + 10 ** (-elo / 400))``;
* log-ability: the natural logarithm of Bradley-Terry's worth; one unit is ``400 / ln 10 = 173.7`` Elo;
* normalized Elo: the mean over the standard deviation of a single game's score, times ``800 / ln 10``. It says
  how many games it takes to tell two agents apart, whatever their rate of draws (M. Van den Bergh, "Normalized
  Elo", https://www.cantate.be/Fishtest/normalized_elo.pdf).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from statistics import NormalDist
from typing import Any

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.match.writing import spelt

ELO_PER_LOG_ABILITY = 400.0 / math.log(10.0)
NORMALIZED_ELO_UNIT = 800.0 / math.log(10.0)


def elo_from_score(score: float) -> float:
    """The Elo difference at which ``score`` (points a game, 0 to 1) is expected; infinite at 0, 1 and beyond."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return ELO_PER_LOG_ABILITY * (math.log(score) - math.log1p(-score))


def score_from_elo(elo: float) -> float:
    """The expected score (0 to 1) at an Elo difference."""
    x = elo / ELO_PER_LOG_ABILITY
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x)) if x > -700.0 else 0.0


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches to each side: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def check_confidence(confidence: float) -> float:
    """``confidence`` itself.

    Raises:
        InvalidSettingError: It is not strictly between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidSettingError(
            f"confidence must lie strictly between 0 and 1, such as 0.95, not {confidence!r}"
        )
    return confidence


def plain(value: Any, number: Callable[[Any], Any] = spelt) -> Any:
    """A value as JSON can hold it: dataclasses and mappings as dicts, what is not finite as ``number`` has it."""
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: plain(getattr(value, f.name), number) for f in fields(value) if f.name[0] != "_"}
    if isinstance(value, Mapping):
        return {str(key): plain(item, number) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, number) for item in value]
    return plain(value.tolist(), number) if hasattr(value, "tolist") else number(value)
