"""Tables and figures of the report as HTML, escaped as ``zermelo.evaluation.output.web_page`` does it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from zermelo.evaluation.output.numbers import number
from zermelo.evaluation.output.web_page import environment

HERE: Final = "zermelo.evaluation.report"


LONGEST: Final = 26  # characters of a short name
WIDEST: Final = 3  # the height of a plot with all intervals, in heights without those before the last
LABEL: Final = 70.0  # thousandths of a plot's height that a label takes


def short_names(names: Iterable[str]) -> dict[str, str]:
    """The ends of names that are too long where there is little room; the whole where two would be the same."""
    half = LONGEST // 2
    short = {name: name if len(name) <= LONGEST else f"{name[: half - 1]}…{name[-half:]}" for name in names}
    times = Counter(short.values())
    return {name: text if times[text] == 1 else name for name, text in short.items()}


def part(name: str, *values: Any) -> Markup:
    macro: Callable[..., str] = getattr(environment(HERE).get_template("parts.html").module, name)
    return Markup(macro(*values))


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page under a heading; nothing if it would be empty."""
    inside = [*filter(None, parts)]
    return part("section", name, title, inside) if inside else ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    kind: str = ""
    style: str = ""
    title: str = ""


TableRow = Sequence[str | Cell]


def table(caption: str, columns: TableRow, rows: Iterable[TableRow], *, names: int = 1, kind: str = "") -> Markup:
    """A table that scrolls sideways; the first ``names`` columns are text, of which the last heads the row."""
    cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in [columns, *rows]]
    return part("table", caption, cells[0], cells[1:], names, kind)


class Interval(NamedTuple):
    """A line of an interval plot, with its value in words; place and ends may be infinite."""

    name: str
    place: float
    lower: float
    upper: float
    text: str


class Point(NamedTuple):
    """A point of a line, with its interval, whose ends may be infinite, and all of it in words."""

    x: float
    y: float
    lower: float
    upper: float
    text: str


class Line(NamedTuple):
    """A line of a plot: its name and its points from left to right."""

    name: str
    points: Sequence[Point]


def ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def interval_plot(caption: str, lines: Sequence[Interval], unit: str) -> str:
    """A dot and an interval for each line on one scale; an end that is infinite is an arrow."""
    ends = [value for line in lines for value in (line.place, line.lower, line.upper)]
    finite = [value for value in ends if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    margin = (0.06 if len(finite) == len(ends) else 0.12) * (high - low) or 1.0  # room for arrows
    low, high = low - margin, high + margin

    def at(value: float) -> str:
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"

    drawn = []
    for name, place, lower, upper, text in lines:
        ways = {"lower": (at(lower), math.isfinite(lower), -1), "upper": (at(upper), math.isfinite(upper), 1)}
        drawn.append({"name": name, "text": text, "dot": at(place) if math.isfinite(place) else "", **ways})
    return part("intervals", caption, drawn, [(at(mark), text) for mark, text in _marks(low, high)], unit)


def _marks(low: float, high: float) -> list[tuple[float, str]]:
    marks = ticks(low, high)
    digits = max(0, -math.floor(math.log10(marks[1] - marks[0]) + 1e-9)) if len(marks) > 1 else 0
    return [(mark, number(mark, digits)) for mark in marks]


def line_plot(
    caption: str, lines: Sequence[Line], *, x_unit: str, y_unit: str, levels: Mapping[str, float] | None = None
) -> str:
    """Lines with intervals over one scale, which much wider ones leave, and named levels across it."""
    points = [point for line in lines for point in line.points]
    last_ends = [value for line in lines for value in line.points[-1][2:4] if math.isfinite(value)]
    shown = [*last_ends, *(point.y for point in points), *(levels or {}).values()]
    ends = [end for point in points for end in (point.lower, point.upper)]
    every = [*shown, *filter(math.isfinite, ends)]
    if max(every) - min(every) <= WIDEST * (max(shown) - min(shown)):
        shown = every
    low, high = min(shown), max(shown)
    margin = 0.06 * (high - low) or 1.0
    low, high = low - margin, high + margin
    if min(ends) < low or max(ends) > high:
        caption += " (intervals that reach the edge go on beyond it)"
    first, last = min(point.x for point in points), max(point.x for point in points)
    first, last = (first - 1, last + 1) if first == last else (first - 0.02 * (last - first), last)

    def at_x(value: float) -> float:
        return round(1000 * (value - first) / (last - first), 1)

    def at_y(value: float) -> float:
        return round(1000 * (high - min(max(value, low), high)) / (high - low), 1)

    drawn = []
    for name, on_line in lines:
        marks = [(at_x(point.x), at_y(point.y), point.text) for point in on_line]
        band = [f"{at_x(point.x)},{at_y(point.upper)}" for point in on_line]
        band += [f"{at_x(point.x)},{at_y(point.lower)}" for point in reversed(on_line)]
        path = " ".join(f"{x},{y}" for x, y, _ in marks)
        drawn.append({"name": name, "path": path, "band": " ".join(band), "points": marks})
    across = [(f"{at_y(mark) / 10:.2f}%", text) for mark, text in _marks(low, high)]
    along = [(f"{at_x(mark) / 10:.2f}%", text) for mark, text in _marks(first, last)]
    named = sorted((at_y(value), name) for name, value in (levels or {}).items())
    label = f"{caption}: " + "; ".join(line.points[-1].text for line in lines)
    labels = _apart([y for y, _ in named])
    return part("lines", caption, label, drawn, across, along, named, labels, x_unit, y_unit)


def _apart(places: Sequence[float]) -> list[str]:
    """Positions of labels (of 1000, ascending), moved so that none covers another."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LABEL if moved else 0.0))
    limit = 1000.0
    for rank in reversed(range(len(moved))):
        moved[rank] = min(moved[rank], limit)
        limit = moved[rank] - LABEL
    return [f"{place / 10:.2f}%" for place in moved]


def histogram(caption: str, counts: Mapping[int, int], unit: str) -> str:
    """How often each whole number came, in at most 40 bars of equal width."""
    low, high = min(counts), max(counts)
    width = max(1, math.ceil((high - low + 1) / 40))
    number_of_bars = (high - low) // width + 1
    totals = [0] * number_of_bars
    for value, count in counts.items():
        totals[(value - low) // width] += count
    tallest = max(totals)
    share = 100 / number_of_bars
    drawn = []
    for place, total in enumerate(totals):
        first, last = low + place * width, min(high, low + (place + 1) * width - 1)
        values = f"{first}" if first == last else f"{first} to {last}"
        height = 100 * total / tallest
        where = (place * share + share * 0.06, share * 0.88, 100 - height, height)
        texts = [f"{size:.{digits}f}%" for size, digits in zip(where, (3, 3, 2, 2), strict=True)]
        drawn.append((*texts, f"{values} {unit}: {total:,} games"))
    label = f"{caption}: from {low:,} to {high:,} {unit}; the most common bar has {tallest:,} games"
    step = max(1, math.ceil(number_of_bars / 8))
    marks = [(f"{(k + 0.5) * share:.2f}%", f"{low + k * width:,}") for k in range(0, number_of_bars, step)]
    return part("bars", caption, label, drawn, marks, unit)
