"""Pictures of our own games; tic-tac-toe and its relatives are drawn from their text as any board is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from zermelo.envs.games.breakthrough import Breakthrough
from zermelo.envs.games.chomp import Chomp
from zermelo.envs.games.connect_four import ConnectFour
from zermelo.envs.games.domineering import Domineering
from zermelo.envs.games.dots_and_boxes import DotsAndBoxes
from zermelo.envs.games.hexapawn import Hexapawn
from zermelo.envs.games.kalah import Kalah
from zermelo.envs.games.nim import Nim
from zermelo.envs.games.othello import Othello
from zermelo.envs.pictures.boards import (
    CELL,
    FIRST,
    INK,
    MARGIN,
    PAPER,
    SECOND,
    board_canvas,
    draws,
    middle,
    text_rows,
)
from zermelo.envs.pictures.canvas import Canvas, Colour

__all__: list[str] = []

_BLUE: Final[Colour] = (44, 86, 158)
_HOLE: Final[Colour] = (226, 233, 244)
_RED: Final[Colour] = (214, 66, 58)
_YELLOW: Final[Colour] = (246, 200, 60)
_FELT: Final[Colour] = (52, 128, 84)
_BLACK: Final[Colour] = (34, 36, 40)
_WHITE: Final[Colour] = (246, 245, 240)
_LIGHT: Final[Colour] = (240, 225, 196)
_DARK: Final[Colour] = (190, 150, 110)
_WOOD: Final[Colour] = (168, 118, 72)
_PIT: Final[Colour] = (124, 82, 48)
_SEED: Final[Colour] = (232, 214, 178)
_CHOCOLATE: Final[Colour] = (104, 64, 40)
_POISON: Final[Colour] = (110, 158, 62)
_FAINT: Final[Colour] = (226, 219, 205)
_PLAYERS: Final[tuple[Colour, ...]] = (FIRST, SECOND, (72, 148, 88), (176, 116, 40), (128, 84, 160))
"""The players' colours; where there are more players than colours, the colours come again."""


def _shade(colour: Colour, part: float) -> Colour:
    """A darker colour, or with a part above 1 a lighter one."""
    red, green, blue = (min(round(value * part), 255) for value in colour)
    return red, green, blue


def _each_mark(rows: list[list[str]], paint: Callable[[float, float, str], None]) -> None:
    for row, line in enumerate(rows):
        for column, mark in enumerate(line):
            paint(*middle(row, column), mark)


@draws(ConnectFour)
def _connect_four(rules: Any, state: Any) -> Canvas:
    """Red and yellow stones in a blue rack."""
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _BLUE, radius=14)

    def paint(x: float, y: float, mark: str) -> None:
        colour = {"X": _RED, "O": _YELLOW}.get(mark)
        canvas.disk(x, y, CELL * 0.42, _shade(_BLUE, 0.8))
        canvas.disk(x, y, CELL * 0.39, _HOLE if colour is None else colour)
        if colour is not None:
            canvas.ring(x, y, CELL * 0.27, 3, _shade(colour, 0.85))

    _each_mark(rows, paint)
    return canvas


@draws(Othello)
def _othello(rules: Any, state: Any) -> Canvas:
    """Black and white discs on green felt."""
    rows = text_rows(rules, state)
    height, width = len(rows) * CELL, len(rows[0]) * CELL
    canvas = board_canvas(len(rows), len(rows[0]))
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _shade(_FELT, 0.7), radius=8)
    canvas.rectangle(MARGIN, MARGIN, width, height, _FELT)
    for row in range(len(rows) + 1):
        canvas.line(MARGIN, MARGIN + row * CELL, MARGIN + width, MARGIN + row * CELL, 2, _shade(_FELT, 0.7))
    for column in range(len(rows[0]) + 1):
        canvas.line(MARGIN + column * CELL, MARGIN, MARGIN + column * CELL, MARGIN + height, 2, _shade(_FELT, 0.7))

    def paint(x: float, y: float, mark: str) -> None:
        if mark in "XO":
            canvas.disk(x + 2, y + 3, CELL * 0.4, _shade(_FELT, 0.6))
            canvas.disk(x, y, CELL * 0.4, _BLACK if mark == "X" else _WHITE)

    _each_mark(rows, paint)
    return canvas


@draws(Breakthrough)
@draws(Hexapawn)
def _pawns(rules: Any, state: Any) -> Canvas:
    """Pawns on a chequered board, the first player's below."""
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))
    canvas.rectangle(8, 8, canvas.width - 16, canvas.height - 16, _shade(_DARK, 0.6), radius=6)

    for row in range(len(rows)):
        for column in range(len(rows[0])):
            dark = (len(rows) - 1 - row + column) % 2 == 0  # as in chess, a1 is dark
            left, top = MARGIN + column * CELL, MARGIN + row * CELL
            canvas.rectangle(left, top, CELL, CELL, _DARK if dark else _LIGHT)

    def paint(x: float, y: float, mark: str) -> None:
        if mark in "XO":
            fill, edge = (_WHITE, _BLACK) if mark == "X" else (_BLACK, _WHITE)
            for colour, more in ((edge, 2.0), (fill, 0.0)):
                canvas.disk(x, y - CELL * 0.17, CELL * 0.13 + more, colour)
                canvas.line(x, y, x, y + CELL * 0.12, CELL * 0.15 + 2 * more, colour)
                canvas.line(
                    x - CELL * 0.14, y + CELL * 0.22, x + CELL * 0.14, y + CELL * 0.22, 11 + 2 * more, colour
                )

    _each_mark(rows, paint)
    return canvas


@draws(Domineering)
def _domineering(rules: Any, state: Any) -> Canvas:
    """Covered squares in wood: which two belong to one domino is no part of the position."""
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))

    def paint(x: float, y: float, mark: str) -> None:
        left, top = x - CELL / 2, y - CELL / 2
        colour = _WOOD if mark == "#" else _FAINT
        canvas.rectangle(left + 1, top + 1, CELL - 2, CELL - 2, colour, radius=5)
        if mark == "#":
            canvas.rectangle(left + 6, top + 6, CELL - 12, CELL - 12, _shade(colour, 1.12), radius=4)

    _each_mark(rows, paint)
    return canvas


@draws(Chomp)
def _chomp(rules: Any, state: Any) -> Canvas:
    """A bar of chocolate; the poisoned square is green."""
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))

    def paint(x: float, y: float, mark: str) -> None:
        left, top = x - CELL / 2, y - CELL / 2
        if mark == ".":
            canvas.rectangle(left + 2, top + 2, CELL - 4, CELL - 4, _FAINT, radius=6)
            return
        colour = _POISON if mark == "P" else _CHOCOLATE
        canvas.rectangle(left + 1, top + 1, CELL - 2, CELL - 2, _shade(colour, 0.75), radius=6)
        canvas.rectangle(left + 6, top + 6, CELL - 14, CELL - 14, colour, radius=6)
        canvas.rectangle(left + 12, top + 12, CELL - 24, CELL - 24, _shade(colour, 1.2), radius=4)

    _each_mark(rows, paint)
    return canvas


@draws(DotsAndBoxes)
def _dots_and_boxes(rules: Any, state: Any) -> Canvas:
    """Dots, lines, completed boxes shaded, and below how many of them each player has."""
    stride = rules.columns + 1
    canvas = Canvas(rules.columns * CELL + 3 * MARGIN, rules.rows * CELL + 3 * MARGIN + CELL // 2, PAPER)
    edge = 1.5 * MARGIN

    def dot(row: int, column: int) -> tuple[float, float]:
        return edge + column * CELL, edge + row * CELL

    def drawn(lines: int, row: int, column: int) -> bool:
        return bool(lines >> row * stride + column & 1)

    for row in range(rules.rows):
        for column in range(rules.columns):
            across = drawn(state.horizontal, row, column) and drawn(state.horizontal, row + 1, column)
            if across and drawn(state.vertical, row, column) and drawn(state.vertical, row, column + 1):
                canvas.rectangle(*dot(row, column), CELL, CELL, (232, 206, 150))
    for row in range(rules.rows + 1):
        for column in range(rules.columns + 1):
            for lines, ahead in ((state.horizontal, (row, column + 1)), (state.vertical, (row + 1, column))):
                if ahead[0] <= rules.rows and ahead[1] <= rules.columns:
                    is_drawn = drawn(lines, row, column)
                    canvas.line(*dot(row, column), *dot(*ahead), 6 if is_drawn else 2, INK if is_drawn else _FAINT)
    for row in range(rules.rows + 1):
        for column in range(rules.columns + 1):
            canvas.disk(*dot(row, column), 7, INK)
    share = canvas.width / rules.players
    for seat in range(rules.players):
        boxes = str(state.boxes >> 6 * seat & 63)
        canvas.text(share * (seat + 0.5), canvas.height - CELL * 0.4, boxes, 3, _PLAYERS[seat % len(_PLAYERS)])
    return canvas


@draws(Kalah)
def _kalah(rules: Any, state: Any) -> Canvas:
    """The first player's houses below, its store on the right; seeds, and how many."""
    sides = [(state.mover, state.mover_store), (state.other, state.other_store)]
    (below, right), (above, left) = sides if state.seat == 0 else sides[::-1]
    pit, stores = CELL + 16, CELL + 24
    canvas = Canvas(rules.houses * pit + 2 * stores + 2 * MARGIN, 2 * pit + 2 * MARGIN + 44, PAPER)
    canvas.rectangle(6, 6, canvas.width - 12, canvas.height - 12, _WOOD, radius=30)
    tall = canvas.height - 2 * MARGIN - 44
    for count, x, colour in (
        (left, MARGIN + stores / 2, SECOND),
        (right, canvas.width - MARGIN - stores / 2, FIRST),
    ):
        canvas.rectangle(x - 34, MARGIN + 22, 68, tall, _PIT, radius=34)
        _seeds(canvas, x, canvas.height / 2, count, 27, tall / 2 - 12)
        canvas.text(x, MARGIN + 10, str(count), 3, _shade(colour, 0.6))
    for house in range(rules.houses):
        x = MARGIN + stores + (house + 0.5) * pit
        top, bottom = MARGIN + 22 + pit / 2, canvas.height - MARGIN - 22 - pit / 2
        for count, y, number, colour in (
            (above >> 8 * (rules.houses - 1 - house) & 255, top, MARGIN + 10, SECOND),
            (below >> 8 * house & 255, bottom, canvas.height - MARGIN - 10, FIRST),
        ):
            canvas.disk(x, y, pit * 0.44, _PIT)
            _seeds(canvas, x, y, count, pit * 0.33, pit * 0.33)
            canvas.text(x, number, str(count), 3, _shade(colour, 0.6))
    return canvas


def _seeds(canvas: Canvas, x: float, y: float, count: int, across: float, down: float) -> None:
    """Seeds within an oval, in a spiral from its middle."""
    shown = min(count, 60)
    for number in range(shown):
        reach = ((number + 0.5) / max(shown, 8)) ** 0.5
        turn = 2.399963 * number  # the golden angle: no two seeds lie on top of each other
        canvas.disk(
            x + across * reach * math.cos(turn), y + down * reach * math.sin(turn), 5.5, _shade(_SEED, 0.7)
        )
        canvas.disk(x + across * reach * math.cos(turn), y + down * reach * math.sin(turn), 4.5, _SEED)


@draws(Nim)
def _nim(rules: Any, state: Any) -> Canvas:
    """Heaps of matches side by side, and how many are left."""
    sizes = [state.heaps >> heap * rules.bits & (1 << rules.bits) - 1 for heap in range(rules.number)]
    step = max(4, min(CELL // 3, 400 // rules.largest))
    canvas = Canvas(rules.number * CELL + 2 * MARGIN, rules.largest * step + CELL + 2 * MARGIN, PAPER)
    floor = MARGIN + rules.largest * step + CELL * 0.2
    for heap, size in enumerate(sizes):
        x = MARGIN + (heap + 0.5) * CELL
        canvas.line(x - CELL * 0.36, floor, x + CELL * 0.36, floor, 4, _FAINT)
        for number in range(size):
            y = floor - (number + 0.6) * step
            canvas.line(x - CELL * 0.28, y, x + CELL * 0.26, y, max(step * 0.5, 3), _DARK)
            canvas.disk(x + CELL * 0.26, y, max(step * 0.36, 2.5), _RED)
        canvas.text(x, floor + CELL * 0.4, str(size), 3, INK)
    return canvas
