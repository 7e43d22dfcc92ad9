"""A training run: the policy's rating over the steps, with the ladder's agents as levels, and its accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from zermelo.evaluation.output.report.names import short_names
from zermelo.evaluation.output.report.parts.markup import Row, four_digits, number, part, percent, table
from zermelo.evaluation.output.report.parts.plots import Line, Point, line_plot
from zermelo.evaluation.output.report.parts.sections import section
from zermelo.evaluation.storage.curves import Curve, CurvePoint

POINTS: Final = 300
"""Of a longer run so many points are shown, evenly spread."""


def training_section(curve: Curve, place: int) -> str:
    """One training run; ``place`` counts those of the page from 1."""
    points = _thinned(curve.points)
    last = curve.points[-1]
    parts = [_about(curve, last)]
    if any(point.by_reward for point in points):
        parts.append(_plot("Mean reward of a game", points, lambda point: point.reward, four_digits, "reward"))
    short = short_names(last.levels)
    levels = {short[name]: elo for name, elo in last.levels.items() if math.isfinite(elo)}
    parts.append(_plot("Rating", points, lambda point: point.rating, number, "Elo", levels))
    parts.append(_plot("Optimal moves among those that mattered", points, _accuracy, _in_percent, "%"))
    parts.append(_plot("Exploitability", points, _exploitability, four_digits, "reward"))
    return section(f"training-{place}", f"Training: {curve.name}", *parts, _table(points))


def _about(curve: Curve, last: CurvePoint) -> str:
    ladder = ", ".join(last.levels)
    best = max(curve.points, key=lambda point: point.strength)
    value = four_digits(best.reward[0]) if best.by_reward else f"{number(best.rating[0])} Elo"
    return part(
        "about",
        f"{curve.env}: {len(curve.points):,} ratings of the policy as it learned, each by {last.games:,} games "
        f"against a fixed ladder ({ladder}), with 95 % intervals. The best was {value} at step {best.step:,}.",
    )


def _thinned(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    """As many points as can be told apart, the last among them."""
    count = len(points)
    if count <= POINTS:
        return [*points]
    return [points[(k + 1) * count // POINTS - 1] for k in range(POINTS)]


def _accuracy(point: CurvePoint) -> tuple[float, float, float]:
    low, mean, high = (100 * point.accuracy[k] for k in (1, 0, 2))
    return mean, max(low, 0.0), min(high, 100.0)


def _exploitability(point: CurvePoint) -> tuple[float, float, float]:
    return (point.exploitability,) * 3


def _in_percent(value: float) -> str:
    return number(value, 1)


def _plot(
    caption: str,
    points: Sequence[CurvePoint],
    value: Callable[[CurvePoint], tuple[float, float, float]],
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
    judged = any(math.isfinite(point.accuracy[0]) for point in points)
    exploited = any(math.isfinite(point.exploitability) for point in points)
    for point in points:
        cells = [f"{point.step:,}", number(point.rating[0]), _ends(point.rating, number), percent(point.score)]
        if by_reward:
            cells += [four_digits(point.reward[0]), _ends(point.reward, four_digits)]
        if judged:
            cells += [percent(point.accuracy[0]), _ends(point.accuracy, percent)]
        if exploited:
            cells.append(four_digits(point.exploitability))
        rows.append(cells)
    columns = ["step", "Elo", "95 % interval", "score %"]
    columns += ["mean reward", "95 % interval"] * by_reward + ["optimal %", "95 % interval"] * judged
    return table("Ratings by step", [*columns, *["exploitability"] * exploited], rows, kind="long")


def _ends(interval: tuple[float, float, float], text: Callable[[float], str]) -> str:
    mean, low, high = interval
    return f"{text(low)} to {text(high)}" if math.isfinite(mean) else ""
