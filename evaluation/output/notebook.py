"""Tables of pandas and drawings by matplotlib, for a notebook."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from typing import Any

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.installing import optional_import
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.stats.ratings.table import PlayerRating
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.curves import Curve


def _axes(given: Any, height: float) -> Any:
    plots = optional_import("matplotlib.pyplot", "matplotlib", "notebook")
    return plots.subplots(figsize=(7, height), layout="constrained")[1] if given is None else given


def frame_of(text: str) -> Any:
    """A text of comma-separated values with a column ``agent`` as a pandas ``DataFrame``, by agent."""
    table = optional_import("pandas", "pandas", "notebook").read_csv(
        io.StringIO(text), dtype={"agent": str}, keep_default_na=False, na_values=[""]
    )
    return table.set_index("agent")


def draw_ratings(players: Sequence[PlayerRating], title: str, axes: Any = None) -> Any:
    """Draws ratings with their intervals, the first on top, and returns the axes."""
    if not players:
        raise InvalidSettingError("there are no ratings to plot: they need games of two agents or more")
    players = [*reversed(players)]  # rows are drawn from below
    axes = _axes(axes, 1 + 0.35 * len(players))
    places = [player.smoothed_elo if math.isinf(player.elo) else player.elo for player in players]
    ends = [end for player in players for end in (player.lower, player.upper) if math.isfinite(end)]
    reach = 0.1 * (max([*places, *ends]) - min([*places, *ends])) or 100.0
    for row, (player, place) in enumerate(zip(players, places, strict=True)):
        for end, sign, marker in ((player.lower, -1, "<"), (player.upper, 1, ">")):
            place_of_end = end if math.isfinite(end) else place + sign * reach
            axes.plot([place, place_of_end], [row, row], color="tab:blue", marker=None)
            if not math.isfinite(end):
                axes.plot(place_of_end, row, marker, color="tab:blue")
    axes.plot(places, range(len(players)), "o", color="tab:blue")
    axes.set_yticks(range(len(players)), [player.name for player in players])
    axes.set_xlabel(f"Elo, with {INTERVAL}s")
    axes.set_title(title)
    return axes


def draw_curves(curves: Sequence[Curve], axes: Any = None) -> Any:
    """Draws the ratings of training runs with their intervals over the levels of the first one's agents."""
    axes = _axes(axes, 4)
    values = [
        end for curve in curves for point in curve.points for end in (point.rating, point.lower, point.upper)
    ]
    known = [value for value in values if value is not None]
    margin = 0.05 * (max(known) - min(known)) or 100.0
    low, high = min(known) - margin, max(known) + margin
    for curve in curves:
        points = [point for point in curve.points if point.rating is not None]
        steps = [point.step for point in points]
        ends = [
            [high if end is None and top else low if end is None else end for end in column]
            for top, column in enumerate(zip(*((point.lower, point.upper) for point in points), strict=True))
        ]
        (line,) = axes.plot(steps, [point.rating for point in points], "o-", markersize=4, label=curve.name)
        axes.fill_between(steps, *ends, color=line.get_color(), alpha=0.2, linewidth=0)
    for name, elo in curves[0].points[-1].levels.items():
        if low <= elo <= high:
            axes.axhline(elo, color="0.7", linewidth=0.8, zorder=0)
            side = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "top"}
            axes.annotate(name, (0.99, elo), fontsize=7, color="0.4", **side)
    axes.set_ylim(low, high)
    axes.set_xlabel("step")
    axes.set_ylabel(f"Elo, with {INTERVAL}s")
    axes.set_title(curves[0].title)
    if len(curves) > 1:
        axes.legend()
    return axes


def save_figure(axes: Any, path: str | os.PathLike[str]) -> None:
    """Writes the figure of axes in the form that the name ends with, and closes it."""
    figure = axes.get_figure()
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
    finally:
        optional_import("matplotlib.pyplot", "matplotlib", "notebook").close(figure)


def draw_crosstable(
    names: Sequence[str], values: Sequence[Sequence[float]], title: str, axes: Any = None, *, in_percent: bool
) -> Any:
    """Draws a square of numbers with colours, and returns the axes.

    Args:
        names: Of the rows and the columns.
        values: By row and column; NaN where there is none. Either shares, of 0 to 1, or amounts.
        title: What they are.
        axes: Where to draw; on a new figure if not given.
        in_percent: Whether they are shares, which are written in percent.
    """
    axes = _axes(axes, 2 + 0.4 * len(names))
    low, high = 0.0, 1.0
    if not in_percent:
        numbers = [value for line in values for value in line if not math.isnan(value)]
        high = max(map(abs, numbers), default=1.0) or 1.0
        low = -high if any(value < 0 for value in numbers) else 0.0
    axes.imshow(values, vmin=low, vmax=high, cmap="RdYlGn")
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isnan(value):
                text = f"{100 * value:.0f}" if in_percent else f"{value:.3g}"
                axes.text(column, row, text, ha="center", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_title(title)
    return axes
