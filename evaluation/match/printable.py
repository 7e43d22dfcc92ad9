"""Names and messages on their way to a terminal: they may come from anybody."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["printable"]

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor, changes a terminal or turns the direction of text; line feeds and tabs stay."""


def printable(text: str) -> str:
    """The text with escape sequences and other control characters spelt out."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
