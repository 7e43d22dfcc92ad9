"""Chess as it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zermelo.envs.pictures.boards import CELL, Piece, marks_image
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Squares

_BLACK: Final[Colour] = (34, 36, 40)
_DARK: Final[Colour] = (176, 136, 98)
_LIGHT: Final[Colour] = (240, 225, 196)
_WHITE: Final[Colour] = (246, 245, 240)

_BASE: Final = (-0.2, 0.28, 0.2, 0.28, 0.12)
_STROKES: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    # Lines (from, to, width) and disks (middle, radius), in squares from the middle of the square.
    "p": (_BASE, (0, 0.22, 0, 0.0, 0.16), (0, -0.12, 0.13)),
    "n": (
        _BASE,
        (-0.02, 0.2, 0.06, -0.12, 0.26),
        (0.02, -0.16, -0.2, -0.02, 0.16),
        (0.08, -0.2, 0.12, -0.3, 0.06),
    ),
    "b": (_BASE, (0, 0.22, 0, 0.02, 0.14), (0, -0.08, 0.15), (0, -0.16, 0, -0.26, 0.14), (0, -0.34, 0.045)),
    "r": (
        _BASE,
        (0, 0.22, 0, -0.1, 0.26),
        (-0.18, -0.16, 0.18, -0.16, 0.12),
        *((x, -0.2, x, -0.27, 0.09) for x in (-0.18, 0.0, 0.18)),
    ),
    "q": (
        _BASE,
        (0, 0.22, 0, 0.08, 0.3),
        *((0, 0.1, x, y, 0.09) for x, y in ((-0.28, -0.2), (0, -0.28), (0.28, -0.2))),
    ),
    "k": (_BASE, (0, 0.22, 0, 0.0, 0.3), (0, -0.04, 0, -0.34, 0.08), (-0.1, -0.22, 0.1, -0.22, 0.08)),
}


def _drawn(mark: str) -> Piece:
    """A piece, in its player's colour with a rim of the other."""
    fill, edge = (_WHITE, _BLACK) if mark.isupper() else (_BLACK, _WHITE)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for colour, more in ((edge, 3.0), (fill, 0.0)):
            for stroke in _STROKES[mark.lower()]:
                *places, size = (CELL * part for part in stroke)
                if len(places) == 2:
                    canvas.disk(x + places[0], y + places[1], size + more / 2, colour)
                else:
                    canvas.line(x + places[0], y + places[1], x + places[2], y + places[3], size + more, colour)

    return paint


_PIECES: Final = {mark: [_drawn(mark)] for mark in "pnbrqkPNBRQK"}


IMAGE: Final = marks_image(_PIECES, frame=_DARK, squares=(_LIGHT, _DARK))


def _path(texts: Sequence[str], seat: int) -> list[list[str]]:
    """From where and to where, of the texts but the usual one: moves as engines write them."""
    return [[text[:2], text[2:4]] for text in texts[1:]]


SQUARES: Final = Squares(from_below=True, path=_path, turns=True)
