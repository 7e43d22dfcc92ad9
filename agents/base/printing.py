"""Results as text of a terminal's width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

WIDTH: Final = 100
_ROWS: Final = 20


def one_line(words: Iterable[object], count: int, width: int = WIDTH) -> str:
    """Joins as many words as fit into a line, at least one, and adds how many of ``count`` are left out."""
    shown: list[str] = []
    used = 0
    for word in map(str, words):
        used += len(word) + 1
        if shown and used > width:
            break
        shown.append(word)
    left_out = count - len(shown)
    return " ".join(shown) + (f" and {left_out:,} more" if left_out else "")


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under their headings, to the right, the first ones if there are many."""
    cells = [columns, *rows[:_ROWS]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "─" * len(lines[0]))
    return lines + ([f"and {len(rows) - _ROWS:,} more"] if len(rows) > _ROWS else [])
