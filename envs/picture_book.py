"""Pictures of our own games."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.drawing import Canvas, Colour
from zermelo.envs.pictures import CELL, board_canvas, draws, middle, text_rows
from zermelo.envs.rules.connect_four import ConnectFour

__all__: list[str] = []

_BLUE: Final[Colour] = (44, 86, 158)
_HOLE: Final[Colour] = (226, 233, 244)
_RED: Final[Colour] = (214, 66, 58)
_YELLOW: Final[Colour] = (246, 200, 60)


def _shade(colour: Colour, part: float) -> Colour:
    """A darker colour."""
    red, green, blue = (round(value * part) for value in colour)
    return red, green, blue


@draws(ConnectFour)
def _connect_four(rules: Any, state: Any) -> Canvas:
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _BLUE, radius=14)
    colours = {"X": _RED, "O": _YELLOW}
    for row, line in enumerate(rows):
        for column, mark in enumerate(line):
            x, y = middle(row, column)
            canvas.disk(x, y, CELL * 0.42, _shade(_BLUE, 0.8))
            colour = colours.get(mark)
            canvas.disk(x, y, CELL * 0.39, _HOLE if colour is None else colour)
            if colour is not None:
                canvas.ring(x, y, CELL * 0.27, 3, _shade(colour, 0.85))
    return canvas
