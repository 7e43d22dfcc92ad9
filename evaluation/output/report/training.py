"""A training run: the policy's rating over the steps, with the anchors as levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from zermelo.evaluation.output.numbers import four_digits, number, percent
from zermelo.evaluation.output.report.markup import Line, Point, Row, line_plot, part, section, short_names, table
from zermelo.evaluation.storage.curves import Curve, CurvePoint

POINTS: Final = 300
"""Points that are shown of a longer run, evenly spread."""

Interval: TypeAlias = tuple[float, float, float]
"""A value and the ends of its interval."""


def training_section(curve: Curve, place: int) -> str:
    """One training run; ``place`` counts those of the page from 1."""
    points = _thinned(curve.points)
    levels = curve.points[-1].levels
    short = short_names(levels)
    named = {short[name]: elo for name, elo in levels.items()}
    rewards = _plot("Mean reward of a game", points, _reward, four_digits, "reward")
    return section(
        f"training-{place}",
        f"Training: {curve.name}",
        _about(curve),
        rewards if any(point.by_reward for point in points) else "",
        _plot("Rating", points, _rating, number, "Elo", named),
        _table(points),
    )


def _about(curve: Curve) -> str:
    last = curve.points[-1]
    best = max(curve.points, key=lambda point: point.strength)
    value = four_digits(best.strength) if best.by_reward else f"{number(best.strength)} Elo"
    return part(
        "about",
        f"{curve.env}: {len(curve.points):,} ratings of the policy as it learned, each by {last.games:,} games "
        f"against fixed anchors ({', '.join(last.levels)}), with 95 % intervals. The best was {value} at step "
        f"{best.step:,}.",
    )


def _thinned(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    """At most ``POINTS`` points, the last among them."""
    count = len(points)
    if count <= POINTS:
        return [*points]
    return [points[(k + 1) * count // POINTS - 1] for k in range(POINTS)]


def _rating(point: CurvePoint) -> Interval:
    return _interval(point.rating, point.lower, point.upper)


def _reward(point: CurvePoint) -> Interval:
    return _interval(point.mean_reward, *(point.reward_interval or (None, None)))


def _interval(*found: float | None) -> Interval:
    missing = (math.nan, -math.inf, math.inf)
    value, low, high = (other if one is None else one for one, other in zip(found, missing, strict=True))
    return value, low, high


def _plot(
    caption: str,
    points: Sequence[CurvePoint],
    value: Callable[[CurvePoint], Interval],
    text: Callable[[float], str],
    unit: str,
    levels: dict[str, float] | None = None,
) -> str:
    drawn = []
    for point in points:
        mean, low, high = value(point)
        if math.isfinite(mean):
            ends = f" ({text(low)} to {text(high)})" if high > low else ""
            drawn.append(Point(point.step, mean, low, high, f"step {point.step:,}: {text(mean)}{ends}"))
    if not drawn:
        return ""
    return line_plot(
        f"{caption} as the policy learned", [Line("policy", drawn)], x_unit="step", y_unit=unit, levels=levels
    )


def _table(points: Sequence[CurvePoint]) -> str:
    rows: list[Row] = []
    by_reward = any(point.by_reward for point in points)
    for point in points:
        score = math.nan if point.score is None else point.score
        cells = [f"{point.step:,}", *_texts(_rating(point), number), percent(score)]
        rows.append(cells + ([*_texts(_reward(point), four_digits)] if by_reward else []))
    columns = ["step", "Elo", "95 % interval", "score %"]
    return table("Ratings by step", columns + ["mean reward", "95 % interval"] * by_reward, rows, kind="long")


def _texts(interval: Interval, text: Callable[[float], str]) -> tuple[str, str]:
    mean, low, high = interval
    return text(mean), f"{text(low)} to {text(high)}" if math.isfinite(mean) else ""
