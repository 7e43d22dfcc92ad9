"""The names of the rows and columns of boards, as moves have them."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Any, Final

from zermelo.envs.games import (
    MNK,
    Amazons,
    Breakthrough,
    Chess,
    Clobber,
    ConnectFour,
    Domineering,
    EinStein,
    Go,
    Hex,
    Hexapawn,
    Isolation,
    Othello,
)
from zermelo.envs.games.go.rules import COLUMNS

_FROM_THE_TOP: Final = (Amazons, Domineering, EinStein, Hex, Isolation, Othello)
"""Games whose row 1 is the uppermost one."""
_FROM_BELOW: Final = (Breakthrough, Chess, Clobber, Go, Hexapawn, MNK)


@dataclass(frozen=True)
class Coordinates:
    """How squares or points of a board are named.

    Attributes:
        columns: From the left.
        rows: From the top; nothing where moves name columns only.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def from_below(self) -> bool:
        """Whether row 1 is the lowest one, or rows have no names."""
        return not self.rows or self.rows[-1] == "1"


def coordinates_of(game: Any) -> Coordinates | None:
    """The coordinates of a game's board; None where it has no board of rows and columns, or none that is known."""
    rules = getattr(game, "rules", None)
    if isinstance(rules, ConnectFour):
        return Coordinates(tuple(string.ascii_lowercase[: rules.columns]), ())
    if not isinstance(rules, (*_FROM_THE_TOP, *_FROM_BELOW)):
        return None
    rows, columns = _size(rules)
    letters = COLUMNS if isinstance(rules, Go) else string.ascii_lowercase
    if columns > len(letters):
        return None
    numbers = [str(row) for row in range(1, rows + 1)]
    return Coordinates(
        tuple(letters[:columns]), tuple(numbers[::-1] if isinstance(rules, _FROM_BELOW) else numbers)
    )


def _size(rules: Any) -> tuple[int, int]:
    """Rows and columns."""
    if isinstance(rules, Chess):
        return 8, 8
    if isinstance(rules, MNK):
        return rules.n, rules.m
    return (rules.size, rules.size) if hasattr(rules, "size") else (rules.rows, rules.columns)


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
