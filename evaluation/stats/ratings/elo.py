"""The Elo difference of two agents from what one scored against the other.

Games are counted singly (wins, draws, losses) or in pairs of games with the seats exchanged. Pairs are the better
count where openings favour a side: what the opening gives to one game it takes from the other, and only the
spread of the pairs' sums is chance.

The interval. Where the score lies well inside 0 and 1 (three standard errors away from both, the usual rule) its
ends are the Elo of the score's mean plus and minus 1.96 standard errors, which is what fastchess and cutechess
print. Elsewhere that method fails: it reaches past 100 %, and after 10 wins in 10 games it claims to be certain.
There the ends are those of the profile likelihood of the mean score, and if every game ended alike, the scores
under which that much likeness has a chance of 2.5 %. Enumerated over all tables of 5 to 40 games, for expected
scores of 0.5 to 0.995 and draw rates from none to 90 % of the possible, this covers the truth with a probability
of 0.88 to 1.00, and of at least 0.91 from 20 games on; the textbook interval goes down to 0.03.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.stats.ratings.multinomial import (
    deviation_at_mean,
    fit_mean,
    mean_and_variance,
    mean_interval,
)
from zermelo.evaluation.stats.ratings.scales import (
    NORMALIZED_ELO_UNIT,
    check_confidence,
    elo_from_score,
    normal_quantile,
    plain,
)

__all__ = ["GAME_SCORES", "PAIR_SCORES", "EloEstimate", "check_games", "check_pairs", "elo"]

GAME_SCORES = (0.0, 0.5, 1.0)
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)

_SAFE_STANDARD_ERRORS = 3.0


@dataclass(frozen=True, kw_only=True)
class EloEstimate:
    """How much stronger one agent is than another, all from the first agent's point of view.

    No field is ever nan: where nothing is known, the interval is infinite and ``note`` says why.

    Attributes:
        elo: The Elo difference at which the score would be expected; infinite at a score of 0 or 1.
        lower: Lower end of the interval of ``elo``; ``-inf`` if there is none.
        upper: Upper end; ``inf`` if there is none.
        error: Half the width of the interval, the number after "±"; infinite where an end is.
        score: Points a game, 0 to 1.
        score_lower: Lower end of the interval of the expected score.
        score_upper: Upper end.
        likelihood_of_superiority: The probability, 0 to 1, that the first agent is the stronger.
        normalized_elo: Mean over standard deviation of a game's score, on the Elo scale.
        normalized_lower: Lower end of its interval.
        normalized_upper: Upper end.
        normalized_error: Half its width.
        draw_ratio: Of single games, the share of draws; of pairs, the share that came out even.
        games: How many games were counted.
        counts: ``(wins, draws, losses)``, or of pairs ``(LL, LD, WL, DD, WD, WW)``.
        paired: Whether the counts are of pairs.
        confidence: Of the intervals, such as 0.95.
        games_to_be_sure: About how many more games until the interval leaves out zero, if score and spread stay as
            they are: even odds that it takes more. 0 if it already does; infinite if the score is even or no game
            was played.
        method: How the interval was found: ``standard error``, ``profile likelihood``, ``exact`` or ``none``.
        note: What to know before using the numbers; empty if nothing.
    """

    elo: float
    lower: float
    upper: float
    error: float
    score: float
    score_lower: float
    score_upper: float
    likelihood_of_superiority: float
    normalized_elo: float
    normalized_lower: float
    normalized_upper: float
    normalized_error: float
    draw_ratio: float
    games: int
    counts: tuple[int, ...]
    paired: bool
    confidence: float
    games_to_be_sure: float
    method: str
    note: str = ""

    @property
    def los(self) -> float:
        """Short for ``likelihood_of_superiority``."""
        return self.likelihood_of_superiority

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them; infinities are the strings ``"inf"`` and ``"-inf"``."""
        return dict(plain(self))

    def __str__(self) -> str:
        if self.method == "none":
            return "Elo unknown: no games"
        percent = f"{self.confidence * 100:g} %"
        if math.isinf(self.elo) or self.method != "standard error":
            return f"Elo {self.elo:+.1f} ({percent}: {self.lower:+.1f} to {self.upper:+.1f}), LOS {self.los:.2%}"
        return f"Elo {self.elo:+.1f} ± {self.error:.1f}, LOS {self.los:.2%}"


def _check_counts(counts: Sequence[Any], names: Sequence[str]) -> tuple[int, ...]:
    checked = []
    for name, count in zip(names, counts, strict=True):
        whole = not isinstance(count, bool) and hasattr(count, "__index__")
        if not whole and isinstance(count, float) and count.is_integer():
            whole = True
        if not whole or count < 0:
            raise InvalidSettingError(f"{name} must be a whole number of at least 0, not {count!r}")
        checked.append(int(count))
    return tuple(checked)


def check_games(wins: Any, draws: Any, losses: Any) -> tuple[int, ...]:
    """The three counts as integers.

    Raises:
        InvalidSettingError: One is negative or no whole number.
    """
    return _check_counts((wins, draws, losses), ("wins", "draws", "losses"))


def check_pairs(pairs: Sequence[Any]) -> tuple[int, ...]:
    """The six counts as integers.

    Raises:
        InvalidSettingError: There are not six, or one is negative or no whole number.
    """
    if len(pairs) != 6:
        raise InvalidSettingError(
            f"pairs must be six counts, those of LL, LD, WL, DD, WD and WW, not {len(pairs)}: {tuple(pairs)!r}"
        )
    return _check_counts(tuple(pairs), [f"pairs ({name})" for name in ("LL", "LD", "WL", "DD", "WD", "WW")])


def elo(
    wins: int = 0,
    draws: int = 0,
    losses: int = 0,
    *,
    pairs: Sequence[int] | None = None,
    confidence: float = 0.95,
) -> EloEstimate:
    """The Elo difference of two agents from the games between them.

    Args:
        wins: Games won by the first agent.
        draws: Games drawn.
        losses: Games lost.
        pairs: Instead of the three, counts of pairs of games with the seats exchanged: both lost (LL), one lost
            and one drawn (LD), one won and one lost (WL), both drawn (DD), one won and one drawn (WD), both won
            (WW).
        confidence: Of the intervals.

    Returns:
        The estimate with its interval, the likelihood of superiority and the normalized Elo.

    Raises:
        InvalidSettingError: A count is negative or no whole number, both kinds of count are given, or
            ``confidence`` is not strictly between 0 and 1.
    """
    z = normal_quantile(check_confidence(confidence))
    if pairs is None:
        counts = check_games(wins, draws, losses)
        values: tuple[float, ...] = GAME_SCORES
        observed = [counts[2], counts[1], counts[0]]
        games_per_observation = 1
    else:
        if wins or draws or losses:
            raise InvalidSettingError(
                "give either wins, draws and losses or pairs, not both: the pairs' games are counted in the pairs"
            )
        counts = check_pairs(pairs)
        values = PAIR_SCORES
        observed = [counts[0], counts[1], counts[2] + counts[3], counts[4], counts[5]]
        games_per_observation = 2
    total = sum(observed)
    shared: dict[str, Any] = {"counts": counts, "paired": pairs is not None, "confidence": confidence}
    if total == 0:
        return EloEstimate(
            elo=0.0, lower=-math.inf, upper=math.inf, error=math.inf, score=0.5, score_lower=0.0, score_upper=1.0,
            likelihood_of_superiority=0.5, normalized_elo=0.0, normalized_lower=-math.inf,
            normalized_upper=math.inf, normalized_error=math.inf, draw_ratio=0.0, games=0,
            games_to_be_sure=math.inf, method="none",
            note="No games: nothing is known about the difference.", **shared,
        )  # fmt: skip
    score, variance = mean_and_variance(values, [n / total for n in observed])
    standard_error = math.sqrt(variance / total)
    if max(observed) == total:
        # Every observation alike: exact, from the chance of seeing that. The chance is the likelihood itself.
        value = values[[n > 0 for n in observed].index(True)]
        score, method = value, "exact"
        bounds = mean_interval(values, observed, -math.log((1.0 - confidence) / 2.0))
        sigma = 0.0  # No spread was seen.
        superiority = 0.5 if value == 0.5 else 1.0 - 0.5 ** (total + 1) if value > 0.5 else 0.5 ** (total + 1)
        note = _alike_note(value, total * games_per_observation, pairs is not None)
    else:
        reach = _SAFE_STANDARD_ERRORS * standard_error
        if score - reach > 0.0 and score + reach < 1.0:
            method, note = "standard error", ""
            bounds = (score - z * standard_error, score + z * standard_error)
        else:
            method = "profile likelihood"
            note = "The score is too near 0 or 1 for a ± interval: the ends are those of the profile likelihood."
            bounds = mean_interval(values, observed, z * z / 2.0)
        sigma = math.sqrt(variance)
        superiority = NormalDist().cdf((score - 0.5) / standard_error)
    lower, upper = elo_from_score(bounds[0]), elo_from_score(bounds[1])
    if sigma > 0.0:
        unit = NORMALIZED_ELO_UNIT / math.sqrt(games_per_observation)
        sigmas = [sigma, sigma]
        if method != "standard error":
            sigmas = [deviation_at_mean(values, [n / total for n in observed], bound) for bound in bounds]
        normalized = (
            (score - 0.5) / sigma * unit,
            (bounds[0] - 0.5) / sigmas[0] * unit,
            (bounds[1] - 0.5) / sigmas[1] * unit,
        )
    else:
        normalized = _normalized_alike(score, total, confidence, games_per_observation)
    sure: float = 0
    if lower <= 0.0 <= upper:
        # Each observation adds its share to the squared distance from an even score, or to the likelihood ratio.
        if score == 0.5:
            needed = math.inf
        elif method == "standard error":
            needed = variance * (z / (score - 0.5)) ** 2
        else:
            factors = fit_mean(values, [n / total for n in observed], 0.5)
            gain = -math.fsum(n / total * math.log(f) for n, f in zip(observed, factors, strict=True) if n)
            needed = (-math.log((1.0 - confidence) / 2.0) if method == "exact" else z * z / 2.0) / gain
        sure = games_per_observation * max(1, math.ceil(needed - total)) if math.isfinite(needed) else math.inf
    even = counts[2] + counts[3] if pairs is not None else counts[1]
    return EloEstimate(
        elo=elo_from_score(score),
        lower=lower,
        upper=upper,
        error=(upper - lower) / 2.0,
        score=score,
        score_lower=bounds[0],
        score_upper=bounds[1],
        likelihood_of_superiority=superiority,
        normalized_elo=normalized[0],
        normalized_lower=normalized[1],
        normalized_upper=normalized[2],
        normalized_error=(normalized[2] - normalized[1]) / 2.0,
        draw_ratio=even / total,
        games=total * games_per_observation,
        games_to_be_sure=sure,
        method=method,
        note=note,
        **shared,
    )


def _alike_note(value: float, games: int, paired: bool) -> str:
    count = "The one game was" if games == 1 else f"All {games} games were"
    if value == 1.0:
        return f"{count} won: the difference has a lower bound but no upper one."
    if value == 0.0:
        return f"{count} lost: the difference has an upper bound but no lower one."
    if paired:
        return "All pairs gave the same score: the interval is what that alone says."
    return f"{count} drawn: the interval is what that alone says."


def _normalized_alike(
    value: float, total: int, confidence: float, games_per_observation: int
) -> tuple[float, float, float]:
    """Normalized Elo and its bounds when every observation was ``value``, so that no spread was seen.

    The outcome had at least a share q of the probability. Given that, mean over deviation is extreme with all of
    the rest at one outermost score.
    """
    share: float = ((1.0 - confidence) / 2.0) ** (1.0 / total)
    unit = NORMALIZED_ELO_UNIT / math.sqrt(games_per_observation)

    def with_rest_at(other: float) -> float:
        mean = share * value + (1.0 - share) * other
        deviation = abs(value - other) * math.sqrt(share * (1.0 - share))
        return (mean - 0.5) / deviation * unit

    if value == 0.5:
        return 0.0, with_rest_at(0.0), with_rest_at(1.0)
    if value > 0.5:
        return math.inf, with_rest_at(0.0), math.inf
    return -math.inf, -math.inf, with_rest_at(1.0)
