"""Clickable spots of pictures, and the order of clicks of a move, as games declare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zermelo.envs.pictures.squares import Spot, find_squares


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
    squares = find_squares(rules)
    if squares is None:
        return None
    names = squares.coordinates(rules)
    if names is None and squares.size is not None:
        return None
    spots = tuple(squares.spots(rules, names))
    if names is None or not squares.labelled:
        return Surface(spots)
    return Surface(spots, names.columns, names.rows, squares.turns)


def paths_of(game: Any, seat: int, texts: Sequence[str]) -> list[list[str]]:
    """The spots to choose for a move, one after another, in each way to play it; none for a move without spots."""
    rules = getattr(game, "rules", None)
    squares = find_squares(rules)
    if squares is None or (squares.size is not None and squares.coordinates(rules) is None):
        return []
    return [path for path in squares.path(texts, seat) if path]
