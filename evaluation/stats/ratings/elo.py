"""The Elo difference of two agents from what one scored against the other.

Its interval's lower end is the Elo of the score under which results at least as good have a probability of 2.5 %,
results as good counted half (mid-p: H. O. Lancaster (1961), JASA 56:223). From 250 games or pairs on, 30 of them
unlike the commonest outcome, it comes from the normal distribution, as fastchess and cutechess print it. Coverage
of 95 % intervals over 2,000 simulated matches at 0, 100 and 300 Elo: 94 to 96 % for 200 games, 95 to 100 % for 10.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.match.text import rounded
from zermelo.evaluation.results import observed
from zermelo.evaluation.stats.ratings.scores import mean_and_variance, mean_interval, upper_tail
from zermelo.evaluation.stats.score_interval import CONFIDENCE

ELO_SCALE: Final = "400 Elo are 10 points to 1, and a draw is half a point"
"""The scale of all ratings and differences, as outputs name it: who is d Elo stronger expects a score of
1 / (1 + 10 ** (-d / 400))."""
ELO_PER_LOG_ABILITY = 400.0 / math.log(10.0)
"""Elo of one unit of log-ability, the natural logarithm of Bradley-Terry's worth."""
_SCORES = (0.0, 0.5, 1.0)
_MANY = 250  # games or pairs from which the normal distribution is used,
_UNLIKE = 30  # if so many of them differ from the commonest outcome


@dataclass(frozen=True, kw_only=True)
class EloEstimate:
    """How much stronger one agent is than another, all from the first agent's point of view.

    Attributes:
        elo: The Elo difference at which the score would be expected; infinite at a score of 0 or 1.
        lower, upper: The ends of the interval of ``elo``; infinite where there is none.
        error: Half the width of the interval, the number after "±"; infinite where an end is.
        score: Points a game, 0 to 1.
        score_lower, score_upper: The ends of the interval of the expected score.
        likelihood_of_superiority: The probability, 0 to 1, that the first agent is the stronger; it exceeds 97.5 %
            exactly where the 95 % interval lies above 0.
        counts: ``(wins, draws, losses)``, or of pairs ``(LL, LD, WL, DD, WD, WW)``.
        method: How the interval was found: ``standard error``, ``mid-p`` or ``none``.
    """

    elo: float
    lower: float
    upper: float
    error: float
    score: float
    score_lower: float
    score_upper: float
    likelihood_of_superiority: float
    games: int
    counts: tuple[int, ...]
    paired: bool
    confidence: float
    method: str

    def __str__(self) -> str:
        if self.method == "none":
            return "Elo unknown: no games"
        superiority = f"LOS {self.likelihood_of_superiority:.2%}"
        if math.isinf(self.elo) or self.method != "standard error":
            ends = f"{self.confidence * 100:g} %: {rounded(self.lower, 1, '+')} to {rounded(self.upper, 1, '+')}"
            return f"Elo {rounded(self.elo, 1, '+')} ({ends}), {superiority}"
        return f"Elo {rounded(self.elo, 1, '+')} ± {self.error:.1f}, {superiority}"


@checked_call
def elo(
    wins: int = 0,
    draws: int = 0,
    losses: int = 0,
    *,
    pairs: Sequence[int] | None = None,
    confidence: float = CONFIDENCE,
) -> EloEstimate:
    """The Elo difference of two agents from the games between them.

    Args:
        wins: Games won by the first agent.
        draws: Games drawn.
        losses: Games lost.
        pairs: Instead of the three, counts of pairs of games with the seats exchanged: both lost (LL), one lost
            and one drawn (LD), one won and one lost (WL), both drawn (DD), one won and one drawn (WD), both won
            (WW). Pairs are the better count where openings favour a side.
        confidence: The probability of the intervals, between 0 and 1.

    Raises:
        InvalidSettingError: A count is negative or no whole number, both kinds of count are given, or
            ``confidence`` is not strictly between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidSettingError(
            f"confidence must lie strictly between 0 and 1, such as 0.95, not {confidence!r}"
        )
    z = normal_quantile(confidence)
    values, times, counts, games_each = observed(wins, draws, losses, pairs)
    total = sum(times)
    shared: dict[str, Any] = {"counts": counts, "paired": pairs is not None, "confidence": confidence}
    if total == 0:
        return EloEstimate(
            elo=0.0, lower=-math.inf, upper=math.inf, error=math.inf, score=0.5, score_lower=0.0, score_upper=1.0,
            likelihood_of_superiority=0.5, games=0, method="none", **shared,
        )  # fmt: skip
    frequencies = [n / total for n in times]
    score, variance = mean_and_variance(values, frequencies)
    if total >= _MANY and total - max(times) >= _UNLIKE:
        method, standard_error = "standard error", math.sqrt(variance / total)
        bounds = (max(score - z * standard_error, 0.0), min(score + z * standard_error, 1.0))
        superiority = NormalDist().cdf((score - 0.5) / standard_error)
    else:
        method = "mid-p"
        bounds = mean_interval(values, times, (1.0 - confidence) / 2.0)
        superiority = 1.0 - upper_tail(values, times, 0.5)
        # A skewed distribution has its median on one side of its mean: the score decides who leads.
        superiority = 0.5 if score == 0.5 else max(0.5, superiority) if score > 0.5 else min(0.5, superiority)
    lower, upper = elo_from_score(bounds[0]), elo_from_score(bounds[1])
    return EloEstimate(
        elo=elo_from_score(score), lower=lower, upper=upper, error=(upper - lower) / 2.0, score=score,
        score_lower=bounds[0], score_upper=bounds[1], likelihood_of_superiority=superiority,
        games=total * games_each, method=method, **shared,
    )  # fmt: skip


@functools.lru_cache(maxsize=100_000)  # by counts, which say all; agents of large tournaments share them
def surely_stronger(wins: int, draws: int, losses: int, confidence: float) -> bool:
    """True where the interval that ``elo`` gives for these games lies above 0, found by its test of 0 alone."""
    total, counts = wins + draws + losses, (losses, draws, wins)
    score, variance = mean_and_variance(_SCORES, [n / total for n in counts])
    if total >= _MANY and total - max(counts) >= _UNLIKE:
        return score - normal_quantile(confidence) * math.sqrt(variance / total) > 0.5
    return score > 0.5 and upper_tail(_SCORES, counts, 0.5) < (1.0 - confidence) / 2.0


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
