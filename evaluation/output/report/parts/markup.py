"""Tables and figures of the report as HTML, escaped as ``zermelo.evaluation.output.web_page`` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from zermelo.evaluation.output.web_page import environment

HERE: Final = "zermelo.evaluation.output.report"


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
