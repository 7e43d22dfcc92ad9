"""Where pictures of boards are clicked: their squares, points and columns, and what a move asks for in turn.

A move is played by choosing one spot after another: where it goes, or from where and to where. Most games say it
in their notation, of which the names of squares are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zermelo.envs.games import Backgammon, Chess, Chomp, ConnectFour, DotsAndBoxes, Go, Hex, Kalah, Oware
from zermelo.envs.games.backgammon import picture as backgammon
from zermelo.envs.games.dots_and_boxes import dot
from zermelo.envs.games.go.picture import STEP, crossing
from zermelo.envs.games.hex import cell_middle
from zermelo.envs.games.mancala.sowing import house_middle
from zermelo.envs.pictures.boards import CELL, MARGIN
from zermelo.evaluation.output.positions.coordinates import Coordinates, coordinates_of

_SQUARE: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]\d{1,2}|(?<=\d)[a-z]\d{1,2}|(?<=x)[a-z]\d{1,2}")
_CHECKER: Final = re.compile(r"(\d+|bar)/(\d+|off)")
_TURNED: Final = (Chess,)
"""Games whose second player sees the board from the other side."""


@dataclass(frozen=True)
class Spot:
    """A part of a picture that can be chosen.

    Attributes:
        name: What moves call it.
        x: The middle, in pixels from the left.
        y: The middle, in pixels from the top.
        width: In pixels.
        height: In pixels.
    """

    name: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Surface:
    """The spots of a board.

    Attributes:
        spots: All of them, row by row.
        columns: The names of the columns to write below the picture; nothing where the picture has its own.
        rows: The names of the rows to write beside it, from the top.
        turns: Whether the picture may be shown from the other side, square by square.
    """

    spots: tuple[Spot, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    turns: bool = False


def surface_of(game: Any) -> Surface | None:
    """The spots of a game's picture; None where moves are chosen from a list."""
    rules = getattr(game, "rules", None)
    names = coordinates_of(game)
    if isinstance(rules, Backgammon):
        return Surface(tuple(_points()))
    if isinstance(rules, Kalah | Oware):
        return Surface(tuple(_houses(rules.houses)))
    if isinstance(rules, DotsAndBoxes):
        return Surface(tuple(_lines(rules.rows, rules.columns)))
    if isinstance(rules, Chomp):
        rows, columns = range(rules.rows), range(rules.columns)
        return Surface(
            tuple(_cell(f"({row + 1},{column + 1})", row, column) for row in rows for column in columns)
        )
    if names is None:
        return None
    if isinstance(rules, ConnectFour):
        return Surface(tuple(_columns(rules.rows, names)), names.columns)
    if isinstance(rules, Go):
        return Surface(tuple(_crossings(names)))
    if isinstance(rules, Hex):
        return Surface(tuple(_hexagons(names)))
    spots = (
        _cell(column + row, y, x) for y, row in enumerate(names.rows) for x, column in enumerate(names.columns)
    )
    return Surface(tuple(spots), names.columns, names.rows, isinstance(rules, _TURNED))


def _cell(name: str, row: int, column: int) -> Spot:
    return Spot(name, MARGIN + (column + 0.5) * CELL, MARGIN + (row + 0.5) * CELL, CELL, CELL)


def _columns(rows: int, names: Coordinates) -> Iterator[Spot]:
    for place, name in enumerate(names.columns):
        yield Spot(name, MARGIN + (place + 0.5) * CELL, MARGIN + rows * CELL / 2, CELL, rows * CELL)


def _crossings(names: Coordinates) -> Iterator[Spot]:
    for row, number in enumerate(names.rows):
        for column, letter in enumerate(names.columns):
            yield Spot(letter + number, *crossing(row, column), STEP, STEP)


def _hexagons(names: Coordinates) -> Iterator[Spot]:
    step = cell_middle(0, 1)[0] - cell_middle(0, 0)[0]
    for row, number in enumerate(names.rows):
        for column, letter in enumerate(names.columns):
            yield Spot(letter + number, *cell_middle(row, column), step, step * 0.86)


def _houses(houses: int) -> Iterator[Spot]:
    size = house_middle(2, 0, 1)[0] - house_middle(2, 0, 0)[0]
    for seat, letter in ((1, "a"), (0, "A")):
        for house in range(houses):
            yield Spot(chr(ord(letter) + house), *house_middle(houses, seat, house), size, size)


def _lines(rows: int, columns: int) -> Iterator[Spot]:
    wide = CELL * 0.4
    for row in range(rows + 1):
        for column in range(columns):
            yield Spot(f"h{row + 1},{column + 1}", *dot(row, column + 0.5), CELL - wide, wide)
    for row in range(rows):
        for column in range(columns + 1):
            yield Spot(f"v{row + 1},{column + 1}", *dot(row + 0.5, column), wide, CELL - wide)


def _points() -> Iterator[Spot]:
    """The points by the first player's numbers, and the bar and what is off of each player."""
    top, bottom = MARGIN + backgammon.TALL / 2, MARGIN + backgammon.HEIGHT - backgammon.TALL / 2
    for point in range(1, 25):
        y = top if point > 12 else bottom
        yield Spot(str(point), backgammon.point_middle(point), y, backgammon.STEP, backgammon.TALL)
    for name, place in (("bar", 25), ("off", 0)):
        for seat, y in ((0, bottom), (1, top)):
            yield Spot(f"{name}{seat}", backgammon.point_middle(place), y, backgammon.STEP, backgammon.TALL)


def paths_of(game: Any, seat: int, texts: Sequence[str]) -> list[list[str]]:
    """The spots to choose for a move, one after another, in each way to play it; none for a move without spots.

    Args:
        game: The game.
        seat: Who moves.
        texts: The ways to write the move, the usual one first.
    """
    rules = getattr(game, "rules", None)
    if isinstance(rules, Backgammon):
        found = [_checkers(text, seat) for text in texts]
    elif isinstance(rules, Kalah | Oware | DotsAndBoxes | Chomp | ConnectFour):
        found = [list(texts[:1])]
    elif isinstance(rules, Chess):
        found = [[text[:2], text[2:4]] for text in texts[1:]]
    elif coordinates_of(game) is not None:
        found = [_SQUARE.findall(texts[0])]
    else:
        found = []
    return [path for path in found if path]


def _checkers(text: str, seat: int) -> list[str]:
    """Players count points each from their own side; spots are named as the first one does."""
    return [_point(place, seat) for checker in _CHECKER.findall(text) for place in checker]


def _point(place: str, seat: int) -> str:
    if not place.isdigit():
        return f"{place}{seat}"
    return str(25 - int(place)) if seat else place
