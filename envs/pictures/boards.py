"""A picture of any state of any rules: their own ``image(state)``, or drawn from ``text(state)``.

Text that is a grid of letters with spaces between is drawn as a board, other text letter by letter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.errors import RulesError
from zermelo.envs.pictures.canvas import Canvas, Colour, text_size

CELL: Final = 64
"""Pixels of a square of a board."""
HEXAGON: Final = 0.75 * CELL
"""Between the middles of two cells of a board of hexagons."""
MARGIN: Final = 16

PAPER: Final[Colour] = (250, 247, 240)
INK: Final[Colour] = (52, 58, 70)
LINES: Final[Colour] = (214, 204, 186)
FIRST: Final[Colour] = (206, 72, 62)
SECOND: Final[Colour] = (46, 102, 166)
"""The colours of the first and the second player."""
PLAYERS: Final[tuple[Colour, ...]] = (FIRST, SECOND, (72, 148, 88), (176, 116, 40), (128, 84, 160))
"""The players' colours; where there are more players than colours, the colours come again."""
FAINT: Final[Colour] = (226, 219, 205)
IVORY: Final[Colour] = (252, 250, 244)

_EMPTY_MARKS: Final = frozenset(".-_·")  # what an empty square may be in a board's text

Piece = Callable[[Canvas, float, float], None]
"""Draws a shape around a point."""


def tile(colour: Colour, inset: float = 1, radius: float = 4) -> Piece:
    """A shape: a square that fills its place but for a rim."""

    def paint(canvas: Canvas, x: float, y: float) -> None:
        side = CELL - 2 * inset
        canvas.rectangle(x - side / 2, y - side / 2, side, side, colour, radius)

    return paint


def disk(colour: Colour, radius: float) -> Piece:
    """A shape: a disk, its radius in squares."""
    return lambda canvas, x, y: canvas.disk(x, y, CELL * radius, colour)


def ring(colour: Colour, radius: float, width: float) -> Piece:
    """A shape: a circle, its radius in squares and its width in pixels."""
    return lambda canvas, x, y: canvas.ring(x, y, CELL * radius, width, colour)


def man(colour: Colour) -> Piece:
    """A shape: a disk with a dark rim."""

    def paint(canvas: Canvas, x: float, y: float) -> None:
        canvas.disk(x, y, CELL * 0.34, INK)
        canvas.disk(x, y, CELL * 0.3, colour)

    return paint


def letter(text: str, colour: Colour) -> Piece:
    """A shape: letters, smaller ones where there are many."""
    return lambda canvas, x, y: canvas.text(x, y, text, max(4 - len(text) // 2, 1), colour)


def marks_image(
    marks: Mapping[str, Sequence[Piece]],
    *,
    frame: Colour | None = None,
    squares: tuple[Colour, Colour] | None = None,
) -> Callable[[Any, Any], npt.NDArray[np.uint8]]:
    """A method ``image`` of rules, which draws the board in their text; lines below it are written below.

    Each mark has its shapes, from the lowest to the uppermost one. ``frame`` is the colour behind the squares, and
    ``squares`` are the colours of these, in turn.
    """

    def image(rules: Any, state: Any) -> npt.NDArray[np.uint8]:
        return _board(state_text(rules, state), lambda mark: marks.get(mark, ()), frame, squares).image()

    return image


def _board(
    text: str,
    pieces_of: Callable[[str], Sequence[Piece]],
    frame: Colour | None = None,
    squares: tuple[Colour, Colour] | None = None,
) -> Canvas:
    lines = text.split("\n")
    rows = [line.split() for line in lines]
    below = next((number for number, row in enumerate(rows) if len(row) != len(rows[0])), len(rows))
    width, height = len(rows[0]) * CELL + 2 * MARGIN, below * CELL + 2 * MARGIN
    canvas = Canvas(width, height + (len(lines) - below) * 2 * MARGIN, PAPER)
    if frame is not None:
        canvas.rectangle(4, 4, width - 8, height - 8, frame, radius=10)
    for row, marks in enumerate(rows[:below]):
        for column, mark in enumerate(marks):
            ground = [] if squares is None else [tile(squares[(row + column) % 2], 0, 0)]
            for piece in (*ground, *pieces_of(mark)):
                piece(canvas, *middle(row, column))
    canvas.text(width / 2, height + (len(lines) - below - 1) * MARGIN, "\n".join(lines[below:]), 2, INK)
    return canvas


def hexagons_image(rules: Any, state: Any, marks: Mapping[str, Sequence[Piece]]) -> npt.NDArray[np.uint8]:
    """The picture of a board of hexagons (``hexagon_middle``) between edges of the players' colours."""
    rows = text_rows(rules, state)
    width, height = hexagon_middle(len(rows) - 0.5, len(rows[0]) - 0.5)
    canvas = Canvas(round(width + 2.5 * MARGIN), round(height + 2.5 * MARGIN), PAPER)
    for row in (-0.75, len(rows) - 0.25):
        canvas.line(*hexagon_middle(row, -0.4), *hexagon_middle(row, len(rows[0]) - 0.6), 10, FIRST)
    for column in (-0.9, len(rows[0]) - 0.1):
        canvas.line(*hexagon_middle(-0.2, column), *hexagon_middle(len(rows) - 0.8, column), 10, SECOND)
    for row, cells in enumerate(rows):
        for column, mark in enumerate(cells):
            for piece in marks[mark]:
                piece(canvas, *hexagon_middle(row, column))
    return canvas.image()


def draw(rules: Any, state: Any) -> npt.NDArray[np.uint8]:
    """A picture of a state, of shape (height, width, 3), in whole numbers of 0 to 255.

    Raises:
        RulesError: The rules' own ``image(state)`` is no such array.
    """
    own = getattr(rules, "image", None)
    if own is not None:
        image = np.asarray(own(state))
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise RulesError(
                f"{type(rules).__name__}.image must return an array of shape (height, width, 3) and type uint8, "
                f"not of shape {image.shape} and type {image.dtype}"
            )
        return image
    text, rows = state_text(rules, state), text_rows(rules, state)
    is_grid = all(len(row) == len(rows[0]) and all(len(mark) == 1 for mark in row) for row in rows)
    return (_board(text, _plain) if is_grid and rows[0] and len(rows) > 1 else _letters(text)).image()


def state_text(rules: Any, state: Any) -> str:
    """The rules' own text of a state, else its integers by name."""
    own = getattr(rules, "text", None)
    if own is not None:
        return str(own(state))
    return "\n".join(f"{name} = {value}" for name, value in zip(state._fields, state, strict=True))


def text_rows(rules: Any, state: Any) -> list[list[str]]:
    """The marks of a board in the rules' text, row by row."""
    return [line.split() for line in state_text(rules, state).split("\n")]


def middle(row: float, column: float) -> tuple[float, float]:
    """The middle of a square of a board."""
    return MARGIN + (column + 0.5) * CELL, MARGIN + (row + 0.5) * CELL


def hexagon_middle(row: float, column: float) -> tuple[float, float]:
    """The middle of a cell of a board of hexagons: each row lies half a cell to the right of the one above."""
    return 2.5 * MARGIN + (column + 0.5 + row / 2) * HEXAGON, 2.5 * MARGIN + (row + 0.5) * 0.65 * CELL


def shade(colour: Colour, part: float) -> Colour:
    """A darker colour, or with a part above 1 a lighter one."""
    red, green, blue = (min(round(value * part), 255) for value in colour)
    return red, green, blue


_PIPS: Final = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
)


def die(canvas: Canvas, x: float, y: float, face: int, size: float) -> None:
    """A die around (x, y): pips up to six, a number beyond; blank for 0."""
    canvas.rectangle(x - size / 2, y - size / 2, size, size, INK, radius=size / 5)
    canvas.rectangle(x - size / 2 + 2, y - size / 2 + 2, size - 4, size - 4, IVORY, radius=size / 6)
    if face < len(_PIPS):
        for across, down in _PIPS[face]:
            canvas.disk(x + across * size * 0.26, y + down * size * 0.26, size * 0.09, INK)
    else:
        canvas.text(x, y, str(face), 2, INK)


def _plain(mark: str) -> list[Piece]:
    """Crosses, noughts, and other marks as they are written, on a ruled board."""
    square = [tile(LINES, 0, 0), tile(PAPER, 1, 0)]
    if mark == "X":
        reach = CELL * 0.24
        return [
            *square,
            lambda canvas, x, y: canvas.line(x - reach, y - reach, x + reach, y + reach, reach / 2.5, FIRST),
            lambda canvas, x, y: canvas.line(x - reach, y + reach, x + reach, y - reach, reach / 2.5, FIRST),
        ]
    if mark == "O":
        return [*square, ring(SECOND, 0.26, CELL * 0.1)]
    return square if mark in _EMPTY_MARKS else [*square, letter(mark, INK)]


def _letters(text: str) -> Canvas:
    width, height = text_size(text, 2)
    canvas = Canvas(width + 2 * MARGIN, height + 2 * MARGIN, PAPER)
    canvas.text(canvas.width / 2, canvas.height / 2, text, 2, INK)
    return canvas
