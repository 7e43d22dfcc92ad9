"""Pictures of our own games with dice."""

from __future__ import annotations

import copy
import functools
from typing import Any, Final

from zermelo.envs.games.backgammon.rules import Backgammon, Hypergammon
from zermelo.envs.games.einstein import EinStein
from zermelo.envs.games.pig import Pig
from zermelo.envs.games.twenty_forty_eight import Game2048
from zermelo.envs.pictures.boards import CELL, FIRST, INK, MARGIN, PAPER, SECOND, board_canvas, draws, middle
from zermelo.envs.pictures.canvas import Canvas, Colour

__all__: list[str] = []

_FAINT: Final[Colour] = (226, 219, 205)
_TURN: Final[Colour] = (240, 196, 92)
_IVORY: Final[Colour] = (252, 250, 244)
_WOOD: Final[Colour] = (142, 98, 62)
_FELT: Final[Colour] = (74, 124, 98)
_TONGUES: Final[tuple[Colour, ...]] = ((232, 212, 172), (176, 92, 66))
_PLAYERS: Final[tuple[Colour, ...]] = (FIRST, SECOND, (72, 148, 88), (176, 116, 40), (128, 84, 160))
"""The players' colours; where there are more players than colours, the colours come again."""

_BAR: Final = 25

_PIPS: Final = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
)


def _die(canvas: Canvas, x: float, y: float, face: int, size: float) -> None:
    """A die around (x, y): pips up to six, a number beyond; blank for 0."""
    canvas.rectangle(x - size / 2, y - size / 2, size, size, INK, radius=size / 5)
    canvas.rectangle(x - size / 2 + 2, y - size / 2 + 2, size - 4, size - 4, _IVORY, radius=size / 6)
    if face < len(_PIPS):
        for across, down in _PIPS[face]:
            canvas.disk(x + across * size * 0.26, y + down * size * 0.26, size * 0.09, INK)
    else:
        canvas.text(x, y, str(face), 2, INK)


@draws(Pig)
def _pig(rules: Any, state: Any) -> Canvas:
    """A track for each player up to the target: the score in its colour, and the turn's points ahead of it."""
    length = 6 * CELL
    canvas = Canvas(length + 4 * MARGIN + CELL, rules.players * CELL + 2 * MARGIN, PAPER)
    bits = int(rules.target).bit_length()
    for seat in range(rules.players):
        score = state.scores >> bits * seat & (1 << bits) - 1
        top = MARGIN + seat * CELL + CELL * 0.25
        turn = state.turn if seat == state.seat and score < rules.target else 0
        canvas.rectangle(2 * MARGIN, top, length, CELL / 2, _FAINT, radius=8)
        for points, colour in ((score + turn, _TURN), (score, _PLAYERS[seat % len(_PLAYERS)])):
            if points:
                share = min(points / rules.target, 1.0)
                canvas.rectangle(2 * MARGIN, top, max(length * share, 16), CELL / 2, colour, radius=8)
        canvas.text(2 * MARGIN + length + CELL * 0.6, top + CELL / 4, str(score), 3, INK)
        if seat == state.seat:
            canvas.disk(MARGIN, top + CELL / 4, 6, INK)
    return canvas


@draws(EinStein)
def _einstein(rules: Any, state: Any) -> Canvas:
    """Numbered stones, the goal corners tinted in the colour that runs for them, and the die on the right."""
    side = rules.size * CELL
    canvas = Canvas(side + 3 * MARGIN + CELL, side + 2 * MARGIN, PAPER)
    goals = {rules.size**2 - 1: FIRST, 0: SECOND}
    for square in range(rules.size**2):
        x, y = middle(square // rules.size, square % rules.size)
        canvas.rectangle(x - CELL / 2 + 1, y - CELL / 2 + 1, CELL - 2, CELL - 2, _FAINT, radius=5)
        if square in goals:
            canvas.ring(x, y, CELL * 0.4, 4, goals[square])
    for stones, colour in ((state.first, FIRST), (state.second, SECOND)):
        for stone in range(6):
            square = stones >> 6 * stone & 63
            if square < rules.size**2:
                x, y = middle(square // rules.size, square % rules.size)
                canvas.rectangle(x - 22, y - 22, 44, 44, colour, radius=8)
                canvas.text(x, y, str(stone + 1), 4, _IVORY)
    x = side + 2 * MARGIN + CELL / 2
    for seat, y in ((0, MARGIN + CELL / 2), (1, side + MARGIN - CELL / 2)):
        canvas.disk(x, y, 8, (FIRST, SECOND)[seat])
        if seat == state.seat:
            _die(canvas, x, y + (CELL if seat == 0 else -CELL), state.die, CELL * 0.7)
    return canvas


@draws(Game2048)
def _game_2048(rules: Any, state: Any) -> Canvas:
    """Tiles from pale to red and then to dark, with their numbers."""
    canvas = board_canvas(rules.rows, rules.columns)
    canvas.rectangle(6, 6, canvas.width - 12, canvas.height - 12, (187, 173, 160), radius=10)
    for row, line in enumerate(rules.tiles(state).tolist()):
        for column, tile in enumerate(line):
            x, y = middle(row, column)
            heat = min(tile, 6)
            late = min(max(tile - 6, 0), 12)
            colour = (244 - 15 * late, 232 - 22 * heat, 220 - 24 * heat) if tile else (205, 193, 180)
            canvas.rectangle(x - CELL / 2 + 3, y - CELL / 2 + 3, CELL - 6, CELL - 6, colour, radius=6)
            if tile:
                text = str(1 << tile)
                scale = 3 if len(text) < 4 else 2 if len(text) < 6 else 1
                canvas.text(x, y, text, scale, INK if tile < 3 else _IVORY)
    return canvas


_STEP: Final = 44
_TALL: Final = 220
_HEIGHT: Final = 2 * _TALL + 60


def _column(point: int) -> float:
    """The middle of a point, of the bar (25) or of what is off (0)."""
    place = {_BAR: 6, 0: 13}.get(point, point - 13 + (point > 18) if point > 12 else 12 - point + (point < 7))
    return MARGIN + (place + 0.5) * _STEP + (_STEP / 4 if point == 0 else 0)


@functools.cache
def _backgammon_board() -> Canvas:
    """The board without checkers; it is copied, for it takes most of the time."""
    canvas = Canvas(14 * _STEP + _STEP // 2 + 2 * MARGIN, _HEIGHT + 2 * MARGIN, PAPER)
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _WOOD, radius=12)
    for left in (0, 7):
        canvas.rectangle(MARGIN + left * _STEP, MARGIN, 6 * _STEP, _HEIGHT, _FELT)
    for point in range(1, 25):
        x, above = _column(point), point > 12
        base, tip = (MARGIN, MARGIN + _TALL) if above else (MARGIN + _HEIGHT, MARGIN + _HEIGHT - _TALL)
        for part in range(_TALL // 2):  # a tongue, in slices
            y = base + (tip - base) * 2 * part / _TALL
            slim = (_STEP / 2 - 3) * (1 - 2 * part / _TALL)
            canvas.line(x - slim, y, x + slim, y, 3, _TONGUES[point % 2])
    return canvas


@draws(Hypergammon)
@draws(Backgammon)
def _backgammon(rules: Any, state: Any) -> Canvas:
    """The board as the first player sees it, its home below on the right; the bar in the middle."""
    step, tall, height = _STEP, _TALL, _HEIGHT
    canvas = copy.deepcopy(_backgammon_board())
    sides = [(state.low, state.high), (state.other_low, state.other_high)]
    for seat, side in enumerate(sides if state.seat == 0 else sides[::-1]):
        for place in range(26):
            count = side[0] >> 4 * place & 15 if place < 13 else side[1] >> 4 * (place - 13) & 15
            point = place if seat == 0 or place in (0, _BAR) else 25 - place
            above = seat == 1 if place in (0, _BAR) else point > 12
            apart = min(step - 2, (tall - step) / max(count - 1, 1))
            for number in range(count):
                deep = step / 2 + number * apart
                y = MARGIN + deep if above else MARGIN + height - deep
                canvas.disk(_column(point), y, step * 0.46, INK)
                canvas.disk(_column(point), y, step * 0.42, (FIRST, SECOND)[seat])
    if state.roll > 0:
        for number, face in enumerate((state.roll >> 3 & 7, state.roll & 7)):
            _die(canvas, _column(9 if state.seat else 3) + number * step, MARGIN + height / 2, face, step * 0.8)
    return canvas
