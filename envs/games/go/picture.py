"""The picture of a board of Go, and how positions are read off PettingZoo's."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.go.board import NO_POINT, GoState, point_of
from zermelo.envs.games.go.rules import COLUMNS, Go
from zermelo.envs.pictures.boards import CELL, INK, IVORY, draws, shade, text_rows
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Squares, cells_at, squares_of
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.history import with_past
from zermelo.envs.rules.words import contains, single

_WOOD: Final[Colour] = (226, 184, 112)
STEP: Final = CELL * 0.75
"""Pixels from line to line."""


def crossing(row: float, column: float) -> tuple[float, float]:
    """The point where two lines cross, counted from the upper left."""
    return (1.1 + column) * STEP, (1.1 + row) * STEP


@draws(Go)
def _go(rules: Any, state: Any) -> Canvas:
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
    """The lines on which the dots of a board are."""
    if size < 7 or size % 2 == 0:
        return ()
    edge = 2 if size < 13 else 3
    return (edge, size // 2, size - 1 - edge)


squares_of(Go, Squares(from_below=True, letters=COLUMNS, spots=cells_at(crossing, STEP, STEP), labelled=False))


# -- PettingZoo ---------------------------------------------------------------------------------------------------


def _rules(env: Any) -> Go:
    """PettingZoo has no superko, and with equal points White has won, as with a little more komi."""
    komi = float(env._komi)
    return Go(int(env._N), komi + 0.25 if komi.is_integer() else komi, superko=0)


def _read_go(env: Any) -> GoState | None:
    position, size = env._go, int(env._N)
    if position.board.shape != (size, size):
        return None
    *_, empty, _, _, _ = Go(size).initial_state()
    black = white = empty - empty
    for action, colour in enumerate(position.board.flat):
        point = single(empty, point_of(action, size))
        if colour == 1:
            black = black | point
        elif colour == -1:
            white = white | point
        elif colour:
            return None
    recent = [move.move for move in position.recent]
    passes = 2 if recent[-2:] == [None, None] else int(recent[-1:] == [None])

    def place(point: Any) -> int:
        return NO_POINT if point is None else point_of(point[0] * size + point[1], size)

    last = place(recent[-1]) if recent else NO_POINT
    if last != NO_POINT and not contains(black | white, last):
        return None
    turn = 2 * passes + (position.to_play != 1)
    state = GoState(black, white, empty - black - white, place(position.ko), last, turn)
    known: GoState = with_past(_rules(env), state, ())
    return known


PETTINGZOO: Final = EquivalentRules(_rules, _read_go)
"""PettingZoo's environment of this game."""
