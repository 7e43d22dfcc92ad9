"""The ratings of a training's checkpoints, as people and programs read them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.match.text import finite, rounded
from zermelo.evaluation.output import notebook
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.curves import CURVE, Curve, CurveLevel, CurvePoint
from zermelo.evaluation.storage.files import write_text
from zermelo.evaluation.text_table import TextTable

PICTURES: Final = (".svg", ".png", ".pdf")
_TEXTS: Final = (".html", ".csv", ".json", ".jsonl")


@dataclass(frozen=True, kw_only=True)
class AgentRating:
    """A rating in Elo with the ends of its interval, infinite where no game speaks against that.

    ``rating`` is always finite, but nan of an agent without a game that counts.
    """

    name: str
    rating: float = math.nan
    lower: float = -math.inf
    upper: float = math.inf
    games: int = 0

    @property
    def width(self) -> float:
        return self.upper - self.lower


@dataclass(frozen=True, kw_only=True)
class CheckpointRating(AgentRating):
    """A checkpoint's rating; ``likely_best`` is the probability, 0 to 1, that it is the strongest of them."""

    step: int
    likely_best: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RatedCheckpoints:
    """The rating of every checkpoint of a training; ``print`` shows the table.

    Attributes:
        checkpoints: By step.
        opponents: The anchors or rungs, with their own ratings.
        zero: What has the rating 0, in words.
        evenly: About how many games a round robin of the same agents takes for intervals as narrow; None where
            that is not known.
        standings: The table of all games.
        ladder: What tells these opponents from others: 16 hexadecimal digits.
        policy: What the checkpoints have in common of their names, or the first and the last name.
    """

    checkpoints: tuple[CheckpointRating, ...]
    opponents: tuple[AgentRating, ...]
    zero: str
    evenly: int | None
    standings: Standings = field(repr=False)
    ladder: str = ""
    notes: tuple[str, ...] = ()
    policy: str = "checkpoints"

    @property
    def env(self) -> str:
        return self.standings.env

    @property
    def games(self) -> int:
        return self.standings.games

    @property
    def best(self) -> CheckpointRating:
        """The checkpoint that is most likely the strongest."""
        return max(self.checkpoints, key=lambda one: (one.likely_best, one.rating))

    @cached_property
    def curve(self) -> Curve:
        """The curve as ``zermelo report`` draws it; checkpoints that have no rating are left out."""
        rungs = [CurveLevel(agent=one.name, elo=finite(one.rating)) for one in self.opponents]
        points = (
            CurvePoint(
                env=self.env, ladder=self.ladder, step=one.step, games=one.games, rating=one.rating,
                lower=finite(one.lower), upper=finite(one.upper), score=None, rungs=rungs,
                likely_best=one.likely_best, title=self.standings.title, policy=self.policy,
            )
            for one in self.checkpoints
            if math.isfinite(one.rating)
        )  # fmt: skip
        return Curve(self.policy, tuple(points))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite is None."""
        return {
            "env": self.env, "title": self.standings.title, "policy": self.policy,
            "games": self.games, "round_robin_games": self.evenly, "zero": self.zero, "ladder": self.ladder,
            "best": {"step": self.best.step, "likelihood": self.best.likely_best},
            "checkpoints": [_plain(one) for one in self.checkpoints],
            "opponents": [_plain(one) for one in self.opponents], "notes": list(self.notes),
        }  # fmt: skip

    def to_json(self) -> str:
        """``to_dict`` as text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_csv(self) -> str:
        """A line for each checkpoint: step, name, rating, interval, games, and how likely it is the best."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["step", "checkpoint", "elo", "elo_low", "elo_high", "games", "likely_best"])
        for one in self.checkpoints:
            ends = finite(one.rating), finite(one.lower), finite(one.upper)
            writer.writerow([one.step, one.name, *ends, one.games, one.likely_best])
        return out.getvalue()

    def to_html(self) -> str:
        """A page with the curve and its table, which works offline."""
        from zermelo.evaluation.report.page import training_page

        return training_page([self.curve], self.notes)

    def plot(self, axes: Any = None) -> Any:
        """Draws the curve by matplotlib, on ``axes`` or a new figure, and returns the axes."""
        return notebook.draw_curves([self.curve], axes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the curve in the form that the name ends with: html, svg, png, pdf, csv, json, or jsonl.

        Raises:
            InvalidSettingError: The name ends with none of these.
            MissingDependencyError: A picture needs matplotlib.
        """
        suffix = Path(path).suffix.lower()
        if suffix in PICTURES:
            notebook.save_figure(self.plot(), path)
        elif suffix in _TEXTS:
            write_text(path, self._text(suffix))
        else:
            raise InvalidSettingError(
                f"the name must end in {', '.join((*_TEXTS, *PICTURES))}, not {os.fspath(path)!r}"
            )

    def _text(self, suffix: str) -> str:
        if suffix == ".html":
            return self.to_html()
        if suffix == ".csv":
            return self.to_csv()
        return self.curve.text() if suffix == ".jsonl" else f"{self.to_json()}\n"

    def files(self) -> Mapping[str, str]:
        """The texts of a results folder by their names."""
        stem = Path(CURVE).stem
        return {f"{stem}{suffix}": self._text(suffix) for suffix in _TEXTS} if self.curve.points else {}

    def __str__(self) -> str:
        rows = [
            [f"{one.step:,}", one.name, *_estimate(one), f"{one.games:,}", f"{100 * one.likely_best:.0f}"]
            for one in self.checkpoints
        ]
        table = TextTable(["step", "checkpoint", "Elo", INTERVAL, "games", "best %"], rows, names=(1,)).text()
        lines = [
            f"{self.standings.title}: {len(self.checkpoints)} checkpoints, {self.games:,} games",
            "",
            table,
            "",
        ]
        if self.opponents:
            met = [[one.name, *_estimate(one), f"{one.games:,}"] for one in self.opponents]
            lines += [TextTable(["opponent", "Elo", INTERVAL, "games"], met).text(), ""]
        best = self.best
        if math.isfinite(best.rating):
            lines.append(
                f"Best: step {best.step:,} ({best.name}), with a likelihood of {100 * best.likely_best:.0f} %. "
                f"{self.zero[:1].upper()}{self.zero[1:]} has the rating 0."
            )
        if self.evenly is not None:
            lines.append(f"A round robin would take about {self.evenly:,} games for intervals as narrow.")
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def _estimate(one: AgentRating) -> list[str]:
    if not math.isfinite(one.rating):
        return ["-", ""]
    return [rounded(one.rating), f"{rounded(one.lower)} to {rounded(one.upper)}"]


def _plain(one: AgentRating) -> dict[str, Any]:
    return {name: finite(value) for name, value in vars(one).items()}
