"""Tables as text for a terminal or a file, and as HTML for a notebook."""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from zermelo.evaluation.match.text import printable

NAME_WIDTH: Final = 10  # characters that columns of text may be folded to
_GAP: Final = "  "


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Columns with the indices ``names`` are text, which stands to the left and may be folded; the others are
    numbers.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: Collection[int] = (0,)

    def text(self, width: int | None = None) -> str:
        """The table without a line end, folded to ``width`` as far as names can be; None folds nothing."""
        cells = [[*map(printable, row)] for row in (self.columns, *self.rows)]
        widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
        over = 0 if width is None else max(0, sum(widths) + len(_GAP) * (len(widths) - 1) - width)
        for column in sorted(self.names, key=lambda one: -widths[one]):
            folded = min(widths[column], max(NAME_WIDTH, widths[column] - over))
            over -= widths[column] - folded
            widths[column] = folded
        head, *body = (line for row in cells for line in self._lines(row, widths))
        rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
        return "\n".join([head, rule, *body])

    def _lines(self, row: Sequence[str], widths: Sequence[int]) -> list[str]:
        parts = [
            textwrap.wrap(cell, size) if column in self.names and _width(cell) > size else [cell]
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lines = []
        for line in zip_longest(*parts, fillvalue=""):
            room = [" " * (size - _width(cell)) for cell, size in zip(line, widths, strict=True)]
            cells = (line[i] + room[i] if i in self.names else room[i] + line[i] for i in range(len(line)))
            lines.append(_GAP.join(cells).rstrip())
        return lines

    def html(self) -> str:
        head, *rows = ([html.escape(printable(cell)) for cell in row] for row in (self.columns, *self.rows))
        lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        heading = "".join(f"<th>{cell}</th>" for cell in head)
        return f"<table><tr>{heading}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _width(text: str) -> int:
    """Cells of a terminal that a text takes; East Asian characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def terminal_width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
