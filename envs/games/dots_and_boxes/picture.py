"""The picture of Dots and Boxes, and where it is clicked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from zermelo.envs.pictures.boards import CELL, FAINT, INK, MARGIN, PAPER, PLAYERS
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.pictures.squares import Spot, Squares, whole_text


def _dot(row: float, column: float) -> tuple[float, float]:
    """The middle of a dot in the picture."""
    return 1.5 * MARGIN + column * CELL, 1.5 * MARGIN + row * CELL


def _lines(rules: Any) -> Iterator[tuple[str, int, int]]:
    """The kind of each line, horizontal or vertical, and the row and column of its first dot."""
    for row, column in itertools.product(range(rules.rows + 1), range(rules.columns)):
        yield "h", row, column
    for row, column in itertools.product(range(rules.rows), range(rules.columns + 1)):
        yield "v", row, column


def paint_lines(rules: Any, state: Any) -> Canvas:
    """Lines, boxes and each player's number of boxes."""
    canvas = Canvas(rules.columns * CELL + 3 * MARGIN, rules.rows * CELL + 3 * MARGIN + CELL // 2, PAPER)
    dots = [*itertools.product(range(rules.rows + 1), range(rules.columns + 1))]
    horizontal, vertical, stride = state.horizontal, state.vertical, rules.columns + 1
    boxes = horizontal & horizontal >> stride & vertical & vertical >> 1
    for number, dot in enumerate(dots):
        if boxes >> number & 1:
            canvas.rectangle(*_dot(*dot), CELL, CELL, (232, 206, 150))
    for kind, row, column in _lines(rules):
        is_drawn = (horizontal if kind == "h" else vertical) >> row * stride + column & 1
        to = _dot(row, column + 1) if kind == "h" else _dot(row + 1, column)
        canvas.line(*_dot(row, column), *to, 6 if is_drawn else 2, INK if is_drawn else FAINT)
    for dot in dots:
        canvas.disk(*_dot(*dot), 7, INK)
    share = canvas.width / rules.players
    for seat in range(rules.players):
        count = str(state.boxes >> 6 * seat & 63)
        canvas.text(share * (seat + 0.5), canvas.height - CELL * 0.4, count, 3, PLAYERS[seat % len(PLAYERS)])
    return canvas


def _spots(rules: Any, names: None) -> Iterator[Spot]:
    wide = CELL * 0.4
    for kind, row, column in _lines(rules):
        middle, size = (
            (_dot(row, column + 0.5), (CELL - wide, wide))
            if kind == "h"
            else (_dot(row + 0.5, column), (wide, CELL - wide))
        )
        yield Spot(f"{kind}{row + 1},{column + 1}", *middle, *size)


SQUARES: Final = Squares(size=None, spots=_spots, path=whole_text)
"""Where the picture is clicked."""
