"""Standings for a notebook: as a table of pandas, and drawn by matplotlib."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.installing import optional_import
from zermelo.evaluation.match.score import Scoring

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings


def _axes(given: Any, height: float) -> Any:
    plots = optional_import("matplotlib.pyplot", "matplotlib", "notebook")
    return plots.subplots(figsize=(7, height), layout="constrained")[1] if given is None else given


def to_pandas(standings: Standings) -> Any:
    """The columns of ``standings.csv`` as a pandas ``DataFrame``, by agent."""
    text = io.StringIO(standings.to_csv())
    table = optional_import("pandas", "pandas", "notebook").read_csv(
        text, dtype={"agent": str}, keep_default_na=False, na_values=[""]
    )
    return table.set_index("agent")


def plot_ratings(standings: Standings, axes: Any = None) -> Any:
    """Draws the ratings with their intervals by matplotlib, on ``axes`` or a new figure, and returns the axes.

    An unknown end is an arrow. Raises ``InvalidSettingError`` if there are no ratings.
    """
    ratings = standings.ratings
    players = [] if ratings is None else [*reversed(ratings.players)]
    if not players:
        raise InvalidSettingError("there are no ratings to plot: they need games of two agents or more")
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
    axes.set_xlabel("Elo, with 95 % intervals")
    axes.set_title(standings.env)
    return axes


def plot_crosstable(standings: Standings, axes: Any = None) -> Any:
    """Draws each agent's mean score, or reward, (a row) against each other one (a column), as ``plot_ratings``."""
    names = [row.agent for row in standings.rows]
    axes = _axes(axes, 2 + 0.4 * len(names))
    wins = standings.scoring is Scoring.WINS
    if wins:
        values = [[standings.crosstable.get((one, other), math.nan) for other in names] for one in names]
        low, high = 0.0, 1.0
    else:
        met = standings.rewards
        values = [[met[one, other].mean if (one, other) in met else math.nan for other in names] for one in names]
        numbers = [value for line in values for value in line if not math.isnan(value)]
        high = max(map(abs, numbers), default=1.0) or 1.0
        low = -high if any(value < 0 for value in numbers) else 0.0
    axes.imshow(values, vmin=low, vmax=high, cmap="RdYlGn")
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isnan(value):
                text = f"{100 * value:.0f}" if wins else f"{value:.3g}"
                axes.text(column, row, text, ha="center", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    what = "score of the row against the column, in %" if wins else "mean reward of the row with the column"
    axes.set_title(f"{standings.env}: {what}")
    return axes
