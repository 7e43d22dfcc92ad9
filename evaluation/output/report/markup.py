"""HTML made of text that is never trusted: everything that comes from outside is escaped here."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Cell", "Row", "embedded_json", "escape", "four_digits", "number", "percent", "table", "time_text"]

MINUS: Final = "\N{MINUS SIGN}"


def escape(text: object) -> str:
    """The text for an element or a quoted attribute; characters that no page may hold become U+FFFD."""
    clean = "".join(character if _is_allowed(character) else "�" for character in str(text))
    return html.escape(clean, quote=True)


def _is_allowed(character: str) -> bool:
    code = ord(character)
    return character in "\t\n" or (code >= 0x20 and not 0x7F <= code <= 0x9F and not 0xD800 <= code <= 0xDFFF)


def embedded_json(value: Any) -> str:
    """JSON for a ``script`` element: ASCII, without a character that could end the element or start a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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


def table(caption: str, columns: Sequence[str], rows: Iterable[Row], *, names: int = 1, kind: str = "") -> str:
    """A table in a box of its own that scrolls sideways where it must, so that the page never does.

    Args:
        caption: What it shows.
        columns: The headings.
        rows: Its cells. The first ``names`` of each row are text, the rest numbers.
        names: How many columns are text; the last of them heads the row.
        kind: Classes of the table.
    """
    head = "".join(
        f'<th scope="col"{_attribute("class", "" if place < names else "n")}>{escape(column)}</th>'
        for place, column in enumerate(columns)
    )
    body = "\n".join(f"<tr>{''.join(_cells(row, names))}</tr>" for row in rows)
    label = escape(caption)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">\n'
        f"<table{_attribute('class', kind)}><caption>{label}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _cells(row: Row, names: int) -> Iterable[str]:
    for place, given in enumerate(row):
        cell = Cell(given) if isinstance(given, str) else given
        kind = " ".join(filter(None, (cell.kind, "" if place < names else "n")))
        attributes = _attribute("class", kind) + _attribute("style", cell.style) + _attribute("title", cell.title)
        if place == names - 1:
            yield f'<th scope="row"{attributes}>{escape(cell.text)}</th>'
        else:
            yield f"<td{attributes}>{escape(cell.text)}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


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
