"""The parts of a report on training runs: each curve with its table, and all curves of one ladder together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from zermelo.evaluation.output.numbers import four_digits, number, percent
from zermelo.evaluation.report.markup import Line, Point, TableRow, line_plot, part, section, short_names, table
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.curves import Curve, CurvePoint

POINTS: Final = 300  # points that are shown of a longer run, evenly spread

Estimate: TypeAlias = tuple[float, float, float]  # a value and the ends of its interval


def training_sections(curves: Sequence[Curve]) -> list[str]:
    """The runs one after another; before them all those of one environment and ladder in one plot."""
    counts = Counter(curve.name for curve in curves)
    curves = [
        replace(curve, name=f"{curve.name} ({curve.folder})") if counts[curve.name] > 1 and curve.folder else curve
        for curve in curves
    ]
    alike = [one for one in curves if (one.env, one.ladder) == (curves[0].env, curves[0].ladder)]
    parts = [training_section(curve, place) for place, curve in enumerate(curves, start=1)]
    if len(alike) < 2 or alike[0].points[-1].by_reward:
        return parts
    lines = [Line(curve.name, drawn) for curve in alike if (drawn := _drawn(_shown(curve.points), *_of_elo))]
    names = dict.fromkeys(line.name for line in lines)
    if len(names) < len(lines):
        lines = [Line(f"{line.name} ({place})", line.points) for place, line in enumerate(lines, start=1)]
    plot = line_plot("Ratings of all trainings by step", lines, x_unit="step", y_unit="Elo") if lines else ""
    return [section("trainings", "Trainings together", plot), *parts]


def training_section(curve: Curve, place: int) -> str:
    """One training run; ``place`` counts those of the page from 1."""
    points = _shown(curve.points)
    by_reward, has_best = points[-1].by_reward, points[-1].likely_best is not None
    columns = ["step", "Elo", INTERVAL, "games"]
    columns += ["score %"] * (not has_best) + ["best %"] * has_best + ["mean reward", INTERVAL] * by_reward
    rows: list[TableRow] = []
    for point in points:
        share = point.likely_best if has_best else point.score
        cells = [f"{point.step:,}", *_texts(_elo(point), number), f"{point.games:,}"]
        cells.append(percent(math.nan if share is None else share))
        rows.append(cells + ([*_texts(_reward(point), four_digits)] if by_reward else []))
    short = short_names(levels := _levels_near(points))
    named = {short[name]: elo for name, elo in levels.items()}
    plots = [_plot("Rating", _drawn(points, *_of_elo), "Elo", named)]
    if by_reward:
        plots.insert(0, _plot("Mean reward of a game", _drawn(points, _reward, four_digits), "reward"))
    steps = table("Ratings by step", columns, rows, kind="long")
    return section(
        f"training-{place}",
        f"Training of {curve.name} in {curve.title}",
        part("about", _about(curve)),
        *plots,
        steps,
    )


def _about(curve: Curve) -> str:
    points = curve.points
    games = sorted(point.games for point in points)
    played = f"{games[0]:,}" if games[0] == games[-1] else f"{games[0]:,} to {games[-1]:,}"
    rated = "the policy as it learned" if points[-1].likely_best is None else "checkpoints"
    about = f"{curve.title}: {len(points):,} ratings of {rated}, each by {played} games, with "
    about += f"{INTERVAL}s. "
    if points[-1].levels:
        about += f"Ratings are measured by {', '.join(points[-1].levels)}. "
    if points[-1].likely_best is not None:
        best = max(points, key=lambda point: point.likely_best or 0.0)
        value = f"{number(best.strength)} Elo"
        likely = percent(best.likely_best or 0.0)
        return f"{about}The best is step {best.step:,} ({value}), with a likelihood of {likely} %."
    best = max(points, key=lambda point: point.strength)
    value = four_digits(best.strength) if best.by_reward else f"{number(best.strength)} Elo"
    return f"{about}The best was {value} at step {best.step:,}."


def _shown(points: Sequence[CurvePoint]) -> Sequence[CurvePoint]:
    count = len(points)
    return points if count <= POINTS else [points[(k + 1) * count // POINTS - 1] for k in range(POINTS)]


def _levels_near(points: Sequence[CurvePoint]) -> dict[str, float]:
    """The levels among the ratings, and the next ones above and below: further ones would flatten the curve."""
    levels = points[-1].levels
    known = [point.rating for point in points if point.rating is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    low = max((elo for elo in levels.values() if elo <= low), default=low)
    high = min((elo for elo in levels.values() if elo >= high), default=high)
    return {name: elo for name, elo in levels.items() if low <= elo <= high}


def _elo(point: CurvePoint) -> Estimate:
    return _estimate(point.rating, point.lower, point.upper)


def _reward(point: CurvePoint) -> Estimate:
    return _estimate(point.mean_reward, *(point.reward_interval or (None, None)))


def _estimate(*numbers: float | None) -> Estimate:
    missing = (math.nan, -math.inf, math.inf)
    value, low, high = (other if one is None else one for one, other in zip(numbers, missing, strict=True))
    return value, low, high


def _drawn(
    points: Sequence[CurvePoint], value: Callable[[CurvePoint], Estimate], text: Callable[[float], str]
) -> list[Point]:
    drawn = []
    for point in points:
        mean, low, high = value(point)
        if math.isfinite(mean):
            ends = f" ({text(low)} to {text(high)})" if high > low else ""
            drawn.append(Point(point.step, mean, low, high, f"step {point.step:,}: {text(mean)}{ends}"))
    return drawn


_of_elo: Final = (_elo, number)


def _plot(caption: str, drawn: Sequence[Point], unit: str, levels: Mapping[str, float] | None = None) -> str:
    caption, lines = f"{caption} by step", [Line("policy", drawn)]
    return line_plot(caption, lines, x_unit="step", y_unit=unit, levels=levels) if drawn else ""


def _texts(interval: Estimate, text: Callable[[float], str]) -> tuple[str, str]:
    mean, low, high = interval
    return text(mean), f"{text(low)} to {text(high)}" if math.isfinite(mean) else ""
