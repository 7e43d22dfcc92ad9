"""HTML made of text that is never trusted: everything that comes from outside is escaped here."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jinja2
from markupsafe import Markup

__all__ = [
    "Cell", "Row", "embedded_json", "environment", "four_digits", "number", "part", "percent", "resource", "table",
    "time_text",
]  # fmt: skip

HERE: Final = "zermelo.evaluation.output.report"
MINUS: Final = "\N{MINUS SIGN}"


_FORBIDDEN: Final = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")


def _shown(value: Any) -> Any:
    """What Jinja then escapes; characters that no page may hold become U+FFFD."""
    return value if isinstance(value, Markup) else _FORBIDDEN.sub("\ufffd", str(value))


def resource(name: str, package: str = HERE) -> str:
    """The text of a file of a package's folder ``assets``."""
    return (importlib.resources.files(package) / "assets" / name).read_text("utf-8")


@functools.cache
def environment(package: str = HERE) -> jinja2.Environment:
    """Of the templates of a package's folder ``assets``."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(functools.partial(resource, package=package)),
        finalize=_shown, undefined=jinja2.StrictUndefined, autoescape=True,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def part(name: str, *values: Any) -> Markup:
    """What a macro of ``parts.html`` makes of the values."""
    macro: Callable[..., str] = getattr(environment().get_template("parts.html").module, name)
    return Markup(macro(*values))


def embedded_json(value: Any) -> Markup:
    """JSON for a ``script`` element: ASCII, without a character that could end the element or start a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


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
