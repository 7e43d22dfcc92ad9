"""The picture of a board of Go."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.go.board import point_of
from zermelo.envs.pictures.boards import CELL, INK, IVORY, shade, text_rows
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Squares, cells_at

COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Names of columns, as the Go Text Protocol has them: there is no I."""
_WOOD: Final[Colour] = (226, 184, 112)
STEP: Final = CELL * 0.75
"""Pixels from line to line."""


def crossing(row: float, column: float) -> tuple[float, float]:
    """The point where two lines cross, counted from the upper left."""
    return (1.1 + column) * STEP, (1.1 + row) * STEP


def paint(rules: Any, state: Any) -> Canvas:
    """The board of a state."""
    rows, size = text_rows(rules, state), rules.size
    start = 1.1 * STEP
    canvas = Canvas(round(start + (size + 0.1) * STEP), round(start + (size + 0.1) * STEP), _WOOD)
    end = start + (size - 1) * STEP
    for line in range(size):
        at = start + line * STEP
        canvas.line(start, at, end, at, 2, shade(_WOOD, 0.6))
        canvas.line(at, start, at, end, 2, shade(_WOOD, 0.6))
        canvas.text(at, start * 0.35, COLUMNS[line], 2, INK)
        canvas.text(start * 0.35, at, str(size - line), 2, INK)
    for row in _stars(size):
        for column in _stars(size):
            canvas.disk(*crossing(row, column), 5, shade(_WOOD, 0.5))
    for row, marks in enumerate(rows):
        for column, mark in enumerate(marks):
            x, y = crossing(row, column)
            if mark in "XO":
                canvas.disk(x, y, STEP * 0.47, INK)
                canvas.disk(x, y, STEP * 0.44, (38, 40, 46) if mark == "X" else IVORY)
            if point_of(row * size + column, size) == state.last:
                canvas.ring(x, y, STEP * 0.2, 4, IVORY if mark == "X" else INK)
    return canvas


def _stars(size: int) -> tuple[int, ...]:
    if size < 7 or size % 2 == 0:
        return ()
    edge = 2 if size < 13 else 3
    return (edge, size // 2, size - 1 - edge)


POINTS: Final = Squares(from_below=True, letters=COLUMNS, spots=cells_at(crossing, STEP, STEP), labelled=False)
