"""The board of backgammon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from zermelo.envs.games.backgammon.features import count_at
from zermelo.envs.pictures.boards import FIRST, INK, MARGIN, PAPER, SECOND, die
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Spot

_BAR: Final = 25
_FELT: Final[Colour] = (74, 124, 98)
STEP: Final = 44
"""Pixels from point to point."""
TALL: Final = 220
"""How tall a point is."""
_POINTS: Final[tuple[Colour, ...]] = ((232, 212, 172), (176, 92, 66))
_WOOD: Final[Colour] = (142, 98, 62)
HEIGHT: Final = 2 * TALL + 60
"""Of the board, without its margin."""


def paint(state: Any) -> Canvas:
    """The board of a state."""
    canvas = Canvas(14 * STEP + STEP // 2 + 2 * MARGIN, HEIGHT + 2 * MARGIN, PAPER)
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _WOOD, radius=12)
    for left in (0, 7):
        canvas.rectangle(MARGIN + left * STEP, MARGIN, 6 * STEP, HEIGHT, _FELT)
    for point in range(1, 25):
        start = MARGIN if point > 12 else MARGIN + HEIGHT - TALL
        canvas.rectangle(point_middle(point) - STEP / 2 + 3, start, STEP - 6, TALL, _POINTS[point % 2], radius=16)
    sides = [(state.low, state.high), (state.other_low, state.other_high)]
    for seat, side in enumerate(sides if state.seat == 0 else sides[::-1]):
        for place in range(26):
            count = count_at(*side, place)
            point = place if seat == 0 or place in (0, _BAR) else 25 - place
            above = seat == 1 if place in (0, _BAR) else point > 12
            apart = min(STEP - 2, (TALL - STEP) / max(count - 1, 1))
            for number in range(count):
                deep = STEP / 2 + number * apart
                y = MARGIN + deep if above else MARGIN + HEIGHT - deep
                canvas.disk(point_middle(point), y, STEP * 0.46, INK)
                canvas.disk(point_middle(point), y, STEP * 0.42, (FIRST, SECOND)[seat])
    if state.roll > 0:
        x, y = point_middle(9 if state.seat else 3), MARGIN + HEIGHT / 2
        for number, face in enumerate((state.roll >> 3 & 7, state.roll & 7)):
            die(canvas, x + number * STEP, y, face, STEP * 0.8)
    return canvas


def point_middle(point: int) -> float:
    """The x coordinate of the first player's point, of the bar (25) or of checkers off (0)."""
    place = {_BAR: 6, 0: 13}.get(point, point - 13 + (point > 18) if point > 12 else 12 - point + (point < 7))
    return MARGIN + (place + 0.5) * STEP + (STEP / 4 if point == 0 else 0)


_CHECKER: Final = re.compile(r"(\d+|bar)/(\d+|off)")


def spots(rules: Any, names: None) -> Iterator[Spot]:
    """The points by the first player's numbers, and the bar and what is off of each player."""
    top, bottom = MARGIN + TALL / 2, MARGIN + HEIGHT - TALL / 2
    for point in range(1, 25):
        yield Spot(str(point), point_middle(point), top if point > 12 else bottom, STEP, TALL)
    for name, place in (("bar", _BAR), ("off", 0)):
        for seat, y in ((0, bottom), (1, top)):
            yield Spot(f"{name}{seat}", point_middle(place), y, STEP, TALL)


def path(texts: Sequence[str], seat: int) -> list[list[str]]:
    """Players count points each from their own side; spots are named as the first one does."""

    def spot(place: str) -> str:
        if not place.isdigit():
            return f"{place}{seat}"
        return str(25 - int(place)) if seat else place

    return [[spot(place) for checker in _CHECKER.findall(text) for place in checker] for text in texts]
