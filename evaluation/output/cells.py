"""Cells of the tables of standings: numbers as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.text import rounded
from zermelo.evaluation.output.numbers import percent
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.ratings.table import PlayerRating
from zermelo.evaluation.stats.rewards import MeanReward
from zermelo.evaluation.stats.rounds import BYE
from zermelo.evaluation.stats.rows import AgentRow
from zermelo.evaluation.stats.score_interval import INTERVAL

NOT_RATED: Final = "not rated"  # stands where an agent that failed in every game would have a rating


def results(ranking: Ranking, *, counts: bool = True, interval: bool = True) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of what agents are ranked by: games, results, failures, the measure, its interval."""
    counts = counts and len(ranking.seat_names) > 1 and ranking.scoring is not Scoring.TEAM
    failed = any(row.failures for row in ranking.rows)
    headings = ["games"] + ["won", "drawn", "lost"] * counts + ["failed"] * failed
    headings += [ranking.measure] + [INTERVAL] * interval
    rows = []
    for row in ranking.rows:
        cells = [str(row.games)] + [str(count) for count in (row.wins, row.draws, row.losses)] * counts
        cells += [str(sum(row.failures.values()))] * failed
        rows.append(cells + [*(score_texts(ranking, row) if row.games else ("", ""))][: 1 + interval])
    return headings, rows


def score_texts(ranking: Ranking, row: AgentRow) -> tuple[str, str]:
    """The number that an agent is ranked by, and its interval, as text; empty where there is no game."""
    if len(ranking.seat_names) == 1:
        return number(row.score), ends(row.interval)
    if ranking.scoring is Scoring.WINS:
        low, high = row.interval
        return percent(row.score), f"{percent(low)} - {percent(high)}"
    alone = ranking.alone(row.agent) if ranking.scoring is Scoring.TEAM else None
    if alone is not None:
        return number(alone.mean), ends(alone.interval)
    return number(row.mean_reward), ends(row.reward_interval)


def of_rounds(line: Sequence[tuple[float, str]], names: Sequence[str]) -> list[str]:
    """Points and opponents of an agent, by round: ``1.5 v 4`` against the fourth of ``names``, ``2 bye``."""
    texts = [f"v {names.index(other) + 1}" if other in names else other for _, other in line]
    return [
        text if math.isnan(points) else f"{points:g} {text}" for text, (points, _) in zip(texts, line, strict=True)
    ]


def points_heading(lines: Sequence[Sequence[tuple[float, str]]]) -> str:
    """The heading of the points of all rounds."""
    with_bye = any(other == BYE and not math.isnan(points) for line in lines for points, other in line)
    return "points incl. bye" if with_bye else "points"


def with_error(reward: MeanReward | None, few: bool) -> str:
    if reward is None:
        return ""
    half = (reward.interval[1] - reward.interval[0]) / 2
    return f"{number(reward.mean)} ± {half:.2g}" if few and math.isfinite(half) else number(reward.mean)


def number(value: float) -> str:
    """Four significant digits; empty for nan."""
    return "" if math.isnan(value) else f"{value + 0.0:.4g}"  # without a minus sign before zero


def ends(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{number(low)} .. {number(high)}" if math.isfinite(high - low) else ""


def estimate(rating: PlayerRating) -> str:
    """A rating, which may be infinite."""
    return "unknown" if rating.status == "undetermined" else rounded(rating.elo)


def likelihood(value: float) -> str:
    """A probability in percent, which rounding does not make certain; empty for nan."""
    if math.isnan(value):
        return ""
    return "> 99.9" if value > 0.999 else "< 0.1" if value < 0.001 else percent(value)


def elo_ends(rating: PlayerRating) -> str:
    if rating.lower == rating.upper or rating.status == "undetermined":  # the anchor has none
        return ""
    return f"{rounded(rating.lower)} .. {rounded(rating.upper)}"


def milliseconds(seconds: float) -> str:
    if math.isnan(seconds):
        return ""
    milliseconds = 1000 * seconds
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.2g}"
