"""Pictures of boards in plain numpy: smooth disks, lines and small letters on an RGB array.

Coordinates are pixels, x to the right and y down; colours are (red, green, blue) of 0 to 255.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]
Coverage = npt.NDArray[np.float32]
Distance = Callable[[Coverage, Coverage], Any]

# The letters from space to tilde, seven rows of five pixels each; a row is one digit of base 32, the leftmost
# pixel its highest bit.
_LETTERS: Final = (
    "00000004444404aa00000aavavaa4fke5u4op248j3cik8lid44800002488842842224804lel40044v4400000448000v00000000cc"
    "01248g0ehjlphe4c4444eeh1248vv2421he26aiv22vgu11he68guhhev124888ehhehheehhf12c0cc0cc00cc0c48248g84200v0v00"
    "8421248eh12404eh1dlleehhvhhhuhhuhhuehggghesihhhisvgguggvvggugggehgnhhfhhhvhhhe44444e72222ichikokihggggggv"
    "hrllhhhhhpljhhehhhhheuhhugggehhhliduhhukihfgge11uv444444hhhhhhehhhhha4hhhlllahha4ahhhha4444v1248gve88888e"
    "0g84210e22222e4ah0000000000v842000000e1fhfggmphhu00egghe11djhhf00ehvge698s8880fhhf1eggmphhh40c444e20622ic"
    "ggikokic44444e00qllhh00mphhh00ehhhe00uhugg00djf1100mpggg00ege1u88s889600hhhjd00hhha400hhlla00ha4ah00hhf1e"
    "00v248v244844244444448442448008l200"
)
_UNKNOWN: Final = "vhhhhhv"
_LETTER_WIDTH: Final = 6
_LETTER_HEIGHT: Final = 7
_LINE_HEIGHT: Final = 10


@functools.lru_cache(maxsize=256)  # by the character: the font is fixed
def _letter(character: str) -> npt.NDArray[np.bool_]:
    place = (ord(character) - ord(" ")) * _LETTER_HEIGHT
    rows = _LETTERS[place : place + _LETTER_HEIGHT] if 0 <= place < len(_LETTERS) else _UNKNOWN
    return np.array([[int(row, 32) >> bit & 1 for bit in range(4, -1, -1)] for row in rows], dtype=bool)


def text_size(text: str, scale: int) -> tuple[int, int]:
    """The width and height in pixels of some lines of text."""
    lines = text.split("\n")
    width = max(_LETTER_WIDTH * len(line) - 1 for line in lines)
    return max(width, 0) * scale, (_LINE_HEIGHT * (len(lines) - 1) + _LETTER_HEIGHT) * scale


class Canvas:
    """A picture that is being drawn."""

    def __init__(self, width: int, height: int, background: Colour) -> None:
        self.width, self.height = width, height
        self._pixels = np.empty((height, width, 3), dtype=np.float32)
        self._pixels[:] = background

    def image(self) -> npt.NDArray[np.uint8]:
        """The picture, of shape (height, width, 3)."""
        return np.rint(self._pixels).astype(np.uint8)

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: Colour, radius: float = 0.0
    ) -> None:
        """A filled rectangle from its upper left corner, its corners rounded off."""

        def distance(across: Coverage, down: Coverage) -> Any:
            outside_x = np.abs(across - x - width / 2) - width / 2 + radius
            outside_y = np.abs(down - y - height / 2) - height / 2 + radius
            corner = np.hypot(np.maximum(outside_x, 0), np.maximum(outside_y, 0))
            return corner + np.minimum(np.maximum(outside_x, outside_y), 0) - radius

        self._paint((x, y, x + width, y + height), distance, colour)

    def disk(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A filled circle around (x, y)."""
        box = x - radius, y - radius, x + radius, y + radius
        self._paint(box, lambda across, down: np.hypot(across - x, down - y) - radius, colour)

    def ring(self, x: float, y: float, radius: float, width: float, colour: Colour) -> None:
        """A circle around (x, y) drawn with a pen of some width; ``radius`` is that of its middle."""
        reach = radius + width / 2
        box = x - reach, y - reach, x + reach, y + reach
        self._paint(box, lambda across, down: abs(np.hypot(across - x, down - y) - radius) - width / 2, colour)

    def line(self, x: float, y: float, to_x: float, to_y: float, width: float, colour: Colour) -> None:
        """A line with round ends."""
        reach, run_x, run_y = width / 2, to_x - x, to_y - y
        length = run_x * run_x + run_y * run_y

        def distance(across: Coverage, down: Coverage) -> Any:
            along = np.clip(((across - x) * run_x + (down - y) * run_y) / (length or 1), 0, 1)
            return np.hypot(across - x - along * run_x, down - y - along * run_y) - reach

        box = min(x, to_x) - reach, min(y, to_y) - reach, max(x, to_x) + reach, max(y, to_y) + reach
        self._paint(box, distance, colour)

    def text(self, x: float, y: float, text: str, scale: int, colour: Colour) -> None:
        """Lines of text centred on (x, y), ``scale`` screen pixels to a pixel of a letter."""
        width, height = text_size(text, scale)
        top = round(y - height / 2)
        for number, line in enumerate(text.split("\n")):
            left = round(x - width / 2)
            for character in line:
                self._stamp(left, top + number * _LINE_HEIGHT * scale, _letter(character), scale, colour)
                left += _LETTER_WIDTH * scale

    def _stamp(self, left: int, top: int, letter: npt.NDArray[np.bool_], scale: int, colour: Colour) -> None:
        pixels = np.kron(letter, np.ones((scale, scale), dtype=bool))
        rows, columns = np.nonzero(pixels)
        rows, columns = rows + top, columns + left
        inside = (rows >= 0) & (rows < self.height) & (columns >= 0) & (columns < self.width)
        self._pixels[rows[inside], columns[inside]] = colour

    def _paint(self, box: tuple[float, float, float, float], distance: Distance, colour: Colour) -> None:
        """Paints what is less than half a pixel outside of a shape, by how much of the pixel it covers.

        ``distance`` is that of the middles of pixels, across and down, from the shape, which lies in the box.
        """
        left, right = max(int(box[0]) - 1, 0), min(int(box[2]) + 2, self.width)
        top, bottom = max(int(box[1]) - 1, 0), min(int(box[3]) + 2, self.height)
        if left < right and top < bottom:
            across = np.arange(left, right, dtype=np.float32)[None, :] + np.float32(0.5)
            down = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5)
            cover = np.clip(np.float32(0.5) - distance(across, down), 0, 1)[:, :, None]
            pixels = self._pixels[top:bottom, left:right]
            pixels += cover * (np.array(colour, dtype=np.float32) - pixels)
