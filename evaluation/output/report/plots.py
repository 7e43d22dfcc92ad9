"""Drawings that keep their text readable at any width: SVG placed in percent of the width, labels beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zermelo.evaluation.output.report.markup import escape, number

__all__ = ["Interval", "histogram", "interval_plot", "ticks"]


class Interval(NamedTuple):
    """A line of an interval plot.

    Attributes:
        name: What it is about.
        place: Where the dot is; there is none if it is infinite.
        lower: The lower end, maybe minus infinity.
        upper: The upper end, maybe infinity.
        text: The value in words.
    """

    name: str
    place: float
    lower: float
    upper: float
    text: str


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers between two, about as many as wanted."""
    raw = (high - low) / max(1, wanted)
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

    marks = ticks(low, high)
    grid = "".join(f'<line class="grid" x1="{at(mark)}" x2="{at(mark)}" y1="0" y2="100%"/>' for mark in marks)
    rows = []
    for line in lines:
        label = f"{line.name}: {line.text}"
        dot = f'<circle class="dot" cx="{at(line.place)}" cy="13" r="5.5"/>' if math.isfinite(line.place) else ""
        rows.append(
            f'<div class="who">{escape(line.name)}</div>'
            f'<svg role="img" aria-label="{escape(label)}" width="100%" height="26"><title>{escape(label)}</title>'
            f'{grid}<line class="range" x1="{at(line.lower)}" x2="{at(line.upper)}" y1="13" y2="13"/>'
            f"{_end(line.lower, at(line.lower), -1)}{_end(line.upper, at(line.upper), 1)}"
            f"{dot}</svg>"
        )
    digits = max(0, -math.floor(math.log10(marks[1] - marks[0]) + 1e-9)) if len(marks) > 1 else 0
    axis = "".join(f'<span style="left:{at(mark)}">{number(mark, digits)}</span>' for mark in marks)
    return (
        f'<figure class="intervals"><figcaption>{escape(caption)}</figcaption><div class="lines">{"".join(rows)}'
        f'<div class="who unit">{escape(unit)}</div><div class="axis" aria-hidden="true">{axis}</div>'
        "</div></figure>"
    )


def _end(value: float, place: str, side: int) -> str:
    """A bar across a finite end, an arrow head at an infinite one."""
    if math.isfinite(value):
        return f'<line class="range" x1="{place}" x2="{place}" y1="8" y2="18"/>'
    points = "M-8 -5 L0 0 L-8 5" if side > 0 else "M8 -5 L0 0 L8 5"
    return (
        f'<svg x="{place}" y="13" overflow="visible" width="1" height="1"><path class="arrow" d="{points}"/></svg>'
    )


def histogram(caption: str, counts: Mapping[int, int], unit: str, bars: int = 40) -> str:
    """How often each whole number came, in at most so many bars of equal width."""
    low, high = min(counts), max(counts)
    width = max(1, math.ceil((high - low + 1) / bars))
    number_of_bars = (high - low) // width + 1
    totals = [0] * number_of_bars
    for value, count in counts.items():
        totals[(value - low) // width] += count
    tallest = max(totals)
    share = 100 / number_of_bars
    drawn = []
    for place, total in enumerate(totals):
        first, last = low + place * width, min(high, low + (place + 1) * width - 1)
        said = f"{first}" if first == last else f"{first} to {last}"
        height = 100 * total / tallest
        drawn.append(
            f'<rect x="{place * share + share * 0.06:.3f}%" width="{share * 0.88:.3f}%" y="{100 - height:.2f}%" '
            f'height="{height:.2f}%"><title>{said} {escape(unit)}: {total:,} games</title></rect>'
        )
    label = f"{caption}: from {low:,} to {high:,} {unit}; the most common bar has {tallest:,} games"
    step = max(1, math.ceil(number_of_bars / 8))
    axis = "".join(
        f'<span style="left:{(place + 0.5) * share:.2f}%">{low + place * width:,}</span>'
        for place in range(0, number_of_bars, step)
    )
    return (
        f'<figure class="bars"><figcaption>{escape(caption)}</figcaption>'
        f'<svg role="img" aria-label="{escape(label)}" width="100%" height="130">{"".join(drawn)}</svg>'
        f'<div class="axis" aria-hidden="true">{axis}</div><div class="unit">{escape(unit)}</div></figure>'
    )
