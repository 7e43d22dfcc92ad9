"""Numbers and text on their way out: JSON has no infinities and no nan, and names may come from anybody."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs import InvalidSettingError

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor, changes a terminal or turns the direction of text; line feeds and tabs stay."""


def finite(value: Any) -> Any:
    """The value; None for an infinite number or nan."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_number(value: Any) -> Any:
    """The value; ``"inf"``, ``"-inf"`` or ``"nan"`` for such a number, which ``float`` reads back."""
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """The text with escape sequences and other control characters written out."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def shown(value: Any, most: int = 80) -> str:
    """The representation of an agent's answer, cut where it is longer; it may have a broken one."""
    try:
        text = repr(value)
    except BaseException:  # its type will do
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def plain(value: Any) -> Any:
    """A value in plain Python: numpy scalars unwrapped, arrays and lists as nested tuples."""
    if isinstance(value, np.generic):
        item = value.item()
        return float(item) if isinstance(item, np.generic) else plain(item)  # long double has no Python twin
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enum's member, its value
    if isinstance(value, int):
        return int.__add__(value, 0)  # a class of somebody's own may convert itself to anything
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return tuple(plain(item) for item in value)
    raise InvalidSettingError(
        f"a game record holds numbers, text, arrays, sequences and mappings, not {type(value).__name__}: {value!r}"
    )
