"""Text that may be anybody's, read line by line within limits and without a copy of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zermelo.evaluation.errors import StoreError

LONGEST_GAME: Final = 2**20
"""Characters of a game, with its comments and variations."""
MOST_LINES: Final = 20_000
"""Lines of a game."""


class LineReader:
    """The lines of a text with their ends, given by ``readline`` as of a file.

    Attributes:
        number: The number of the last line, from 1; 0 before the first one.
    """

    def __init__(self, text: str, longest: int = LONGEST_GAME) -> None:
        self.number = 0
        self._text = text
        self._longest = longest
        self._place = 0  # of the next line in the text
        self._game: tuple[int, int] | None = None  # where the game begins: in the text, and its line

    def begin_game(self) -> None:
        """Says that the lines from the next one on are those of one game, until the next call."""
        self._game = self._place, self.number

    def readline(self) -> str:
        """The next line; empty at the end of the text.

        Raises:
            StoreError: The line or the game is too long.
        """
        start = self._place
        if start >= len(self._text):
            return ""
        end = self._text.find("\n", start) + 1 or len(self._text)
        self.number += 1
        if end - start > self._longest:
            has = f"line {self.number} has {end - start:,} characters"
            raise StoreError(f"{has}, and may have {self._longest:,}: make it shorter")
        if self._game is not None:
            begin, line = self._game
            if end - begin > LONGEST_GAME or self.number - line > MOST_LINES:
                raise StoreError(
                    f"it goes on in line {self.number}, after {start - begin:,} characters, and may have "
                    f"{LONGEST_GAME:,} in {MOST_LINES:,} lines: make it shorter"
                )
        self._place = end
        return self._text[start:end]

    def __iter__(self) -> Iterator[str]:
        return iter(self.readline, "")
