"""A training run: the policy's rating over the steps, with the anchors as levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from zermelo.evaluation.output.numbers import four_digits, number, percent
from zermelo.evaluation.report.markup import Line, Point, TableRow, line_plot, part, section, short_names, table
from zermelo.evaluation.storage.curves import Curve, CurvePoint

POINTS: Final = 300  # points that are shown of a longer run, evenly spread

Estimate: TypeAlias = tuple[float, float, float]  # a value and the ends of its interval


def training_section(curve: Curve, place: int) -> str:
    """One training run; ``place`` counts those of the page from 1."""
    points, last = curve.points, curve.points[-1]
    if (count := len(points)) > POINTS:
        points = tuple(points[(k + 1) * count // POINTS - 1] for k in range(POINTS))
    best = max(curve.points, key=lambda point: point.strength)
    value = four_digits(best.strength) if best.by_reward else f"{number(best.strength)} Elo"
    about = (
        f"{curve.env}: {count:,} ratings of the policy as it learned, each by {last.games:,} games against fixed "
        f"anchors ({', '.join(last.levels)}), with 95 % intervals. The best was {value} at step {best.step:,}."
    )
    short = short_names(last.levels)
    levels = {short[name]: elo for name, elo in last.levels.items()}
    ratings = [_interval(point.rating, point.lower, point.upper) for point in points]
    rewards = [_interval(point.mean_reward, *(point.reward_interval or (None, None))) for point in points]
    rows: list[TableRow] = []
    by_reward = any(point.by_reward for point in points)
    for point, rating, reward in zip(points, ratings, rewards, strict=True):
        score = math.nan if point.score is None else point.score
        cells = [f"{point.step:,}", *_texts(rating, number), percent(score)]
        rows.append(cells + ([*_texts(reward, four_digits)] if by_reward else []))
    columns = ["step", "Elo", "95 % interval", "score %"] + ["mean reward", "95 % interval"] * by_reward
    return section(
        f"training-{place}",
        f"Training: {curve.name}",
        part("about", about),
        _plot("Mean reward of a game", points, rewards, four_digits, "reward") if by_reward else "",
        _plot("Rating", points, ratings, number, "Elo", levels),
        table("Ratings by step", columns, rows, kind="long"),
    )


def _interval(*numbers: float | None) -> Estimate:
    missing = (math.nan, -math.inf, math.inf)
    value, low, high = (other if one is None else one for one, other in zip(numbers, missing, strict=True))
    return value, low, high


def _plot(
    caption: str, points: Sequence[CurvePoint], values: Sequence[Estimate], text: Callable[[float], str],
    unit: str, levels: Mapping[str, float] | None = None,
) -> str:  # fmt: skip
    drawn = []
    for point, (mean, low, high) in zip(points, values, strict=True):
        if math.isfinite(mean):
            ends = f" ({text(low)} to {text(high)})" if high > low else ""
            drawn.append(Point(point.step, mean, low, high, f"step {point.step:,}: {text(mean)}{ends}"))
    if not drawn:
        return ""
    caption, lines = f"{caption} as the policy learned", [Line("policy", drawn)]
    return line_plot(caption, lines, x_unit="step", y_unit=unit, levels=levels)


def _texts(interval: Estimate, text: Callable[[float], str]) -> tuple[str, str]:
    mean, low, high = interval
    return text(mean), f"{text(low)} to {text(high)}" if math.isfinite(mean) else ""
