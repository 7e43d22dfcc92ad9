"""Names of squares, and clickable spots of pictures, as games declare them (``board_squares``).

A move is played by choosing one spot after another, mostly the squares that its notation names.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zermelo.envs.pictures.boards import CELL, HEXAGON, hexagon_middle, middle

_SQUARE: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]\d{1,2}|(?<=\d)[a-z]\d{1,2}|(?<=x)[a-z]\d{1,2}")


@dataclass(frozen=True)
class Coordinates:
    """The names of columns, from the left, and of rows, from the top: none where moves name columns only."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def from_below(self) -> bool:
        """Whether row 1 is the lowest one, or rows have no names."""
        return not self.rows or self.rows[-1] == "1"


@dataclass(frozen=True)
class Spot:
    """A part of a picture that can be chosen: what moves call it, its middle and its size in pixels."""

    name: str
    x: float
    y: float
    width: float
    height: float


def squares_in(texts: Sequence[str], seat: int) -> list[list[str]]:
    """The names of squares in the usual text of a move."""
    return [_SQUARE.findall(texts[0])]


def whole_text(texts: Sequence[str], seat: int) -> list[list[str]]:
    """The text of a move, which is the name of a spot."""
    return [list(texts[:1])]


def _size(rules: Any) -> tuple[int, int]:
    rows, columns = rules.layout()[:2]
    return rows, columns


def cells_at(
    middle: Callable[[float, float], tuple[float, float]], width: float, height: float
) -> Callable[[Any, Coordinates], Iterable[Spot]]:
    """A spot for each square, by the middle of its row and column; for each column if rows have no names."""

    def spots(rules: Any, names: Coordinates) -> Iterable[Spot]:
        if not names.rows:
            rows = _size(rules)[0]
            for x, column in enumerate(names.columns):
                yield Spot(column, middle(0, x)[0], middle((rows - 1) / 2, x)[1], width, rows * height)
        for y, row in enumerate(names.rows):
            for x, column in enumerate(names.columns):
                yield Spot(column + row, *middle(y, x), width, height)

    return spots


_CELLS: Final = cells_at(middle, CELL, CELL)


@dataclass(frozen=True, kw_only=True)
class Squares:
    """The squares of a game's board, as it declares them.

    Attributes:
        size: Rows and columns of the rules' board; None if its squares have no coordinates.
        from_below: Whether row 1 is the lowest one.
        rows_named: Whether moves name rows.
        letters: The names of columns.
        spots: Where its picture is clicked.
        path: The spots to choose for a move, one after another, in each way to play it, by the move's texts (the
            usual one first) and who moves.
        labelled: Whether names are to be written beside the picture, which has none of its own.
        turns: Whether the second player sees the board from the other side.
    """

    size: Callable[[Any], tuple[int, int]] | None = _size
    from_below: bool = False
    rows_named: bool = True
    letters: str = string.ascii_lowercase
    spots: Callable[[Any, Any], Iterable[Spot]] = _CELLS
    path: Callable[[Sequence[str], int], list[list[str]]] = squares_in
    labelled: bool = True
    turns: bool = False

    def square(self, rules: Any, number: int) -> str:
        """The name of a square, by its number from the upper left, row by row; of a column, if rows have none."""
        rows, columns = self.size(rules) if self.size is not None else _size(rules)
        row = number // columns
        if not self.rows_named:
            return self.letters[number]
        return f"{self.letters[number % columns]}{rows - row if self.from_below else row + 1}"

    def coordinates(self, rules: Any) -> Coordinates | None:
        """The names of columns and rows; None if there are none, or not enough letters."""
        if self.size is None:
            return None
        rows, columns = self.size(rules)
        if columns > len(self.letters):
            return None
        numbers = [str(row) for row in range(1, rows + 1)] if self.rows_named else []
        return Coordinates(tuple(self.letters[:columns]), tuple(numbers[::-1] if self.from_below else numbers))


HEXAGONS: Final = Squares(spots=cells_at(hexagon_middle, HEXAGON, HEXAGON * 0.86), labelled=False)
"""Cells of which each row lies half a cell to the right of the one above."""


def find_squares(rules: Any) -> Squares | None:
    """The squares that a class of rules declares as ``board_squares``."""
    squares = getattr(type(rules), "board_squares", None)
    return squares if isinstance(squares, Squares) else None
