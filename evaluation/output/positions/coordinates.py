"""The names of the rows and columns of boards, as moves have them."""

from __future__ import annotations

import re
from typing import Any

from zermelo.envs.pictures.squares import Coordinates, find_squares


def coordinates_of(game: Any) -> Coordinates | None:
    """The coordinates of a game's board; None where it has no board of rows and columns, or none that is known."""
    rules = getattr(game, "rules", None)
    squares = find_squares(rules)
    return None if squares is None else squares.coordinates(rules)


def with_coordinates(text: str, game: Any) -> str:
    """A board as text with the names of its rows and columns beside it; other text as it is."""
    names = coordinates_of(game)
    lines = text.split("\n")
    if names is None or (names.rows and len(lines) < len(names.rows)):
        return text
    board = lines[: len(names.rows)] if names.rows else lines
    rest = lines[len(board) :]
    width = max(map(len, names.rows), default=-1) + 1
    beside = [f"{name:>{width - 1}} {line}" for name, line in zip(names.rows, board, strict=False)]
    marks = [found.start() for found in re.finditer(r"\S+", board[-1 if names.from_below else 0])]
    if len(marks) != len(names.columns):
        return text
    letters = [" "] * (marks[-1] + 1)
    for place, name in zip(marks, names.columns, strict=True):
        letters[place] = name
    heading = " " * width + "".join(letters)
    drawn = beside or board
    return "\n".join([*drawn, heading, *rest] if names.from_below else [heading, *drawn, *rest])
