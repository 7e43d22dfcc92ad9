"""Tables and figures of the report as HTML, escaped as ``zermelo.evaluation.output.web_page`` does it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from zermelo.evaluation.output.web_page import environment

HERE: Final = "zermelo.evaluation.output.report"
MINUS: Final = "\N{MINUS SIGN}"


def part(name: str, *values: Any) -> Markup:
    """The HTML of a macro of ``parts.html``."""
    macro: Callable[..., str] = getattr(environment(HERE).get_template("parts.html").module, name)
    return Markup(macro(*values))


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page under a heading; nothing if it would be empty."""
    inside = [*filter(None, parts)]
    return part("section", name, title, inside) if inside else ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What it says, not yet escaped.
        kind: Its classes.
        style: Its style, made of numbers only.
        title: What is said of it when pointed at.
    """

    text: str
    kind: str = ""
    style: str = ""
    title: str = ""


Row = Sequence[str | Cell]


def table(caption: str, columns: Row, rows: Iterable[Row], *, names: int = 1, kind: str = "") -> Markup:
    """A table in a box of its own that scrolls sideways where it must, so that the page never does.

    Args:
        caption: What it shows.
        columns: The headings.
        rows: Its cells. The first ``names`` of each row are text, the rest numbers.
        names: How many columns are text; the last of them heads the row.
        kind: Classes of the table.
    """
    cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in [columns, *rows]]
    return part("table", caption, cells[0], cells[1:], names, kind)


def number(value: float, digits: int = 0) -> str:
    """With thousands apart; infinities as such, and nothing for nan."""
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    return f"{value:,.{digits}f}".replace("-", MINUS)


def four_digits(value: float) -> str:
    """With four significant digits; infinities as such, and nothing for nan."""
    return f"{value:.4g}".replace("-", MINUS) if math.isfinite(value) else number(value)


def percent(share: float, digits: int = 1) -> str:
    """A share of 1 in percent, without the sign; nothing for nan."""
    return "" if math.isnan(share) else f"{100 * share:.{digits}f}"


def time_text(seconds: float) -> str:
    """Seconds, milliseconds or microseconds, with two or three digits; nothing for nan."""
    if math.isnan(seconds):
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            value = seconds / size
            return f"{value:,.0f} {unit}" if value >= 100 or value == 0 else f"{value:.3g} {unit}"
    return ""
