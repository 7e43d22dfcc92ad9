"""Numbers and text on their way into records and out of them.

JSON has no infinities and no nan. Names, errors and moves come from agents, engines and environments, which may
write anything: their text is made clean once, where it becomes part of a record (``kept``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that move a cursor, change a terminal or turn the direction of text, and halves of characters, which
cannot be written to a file; line feeds and tabs stay."""
LONGEST_NAME: Final = 500
LONGEST_SENTENCE: Final = 1_000
LONGEST_TEXT: Final = 10_000
"""Characters that are kept of a name, of an error's message, and of a traceback or a move."""


def finite(value: Any) -> Any:
    """The value; None for an infinite number or nan."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rounded(value: float, digits: int = 0, form: str = "") -> str:
    """A number with so many decimals, which is never -0; ``∞`` has no bound. ``form`` may hold ``+`` and ``,``."""
    if math.isinf(value):
        return f"{'-' if value < 0 else '+' * ('+' in form)}∞"
    return f"{round(value, digits) + 0.0:{form}.{digits}f}"


def json_number(value: Any) -> Any:
    """The value; ``"inf"``, ``"-inf"`` or ``"nan"`` for such a number, which ``float`` reads back."""
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """The text with escape sequences, other control characters and halves of characters written out."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def kept(text: str, most: int = LONGEST_TEXT) -> str:
    """Text of an agent, an engine or an environment as a record keeps it: ``printable``, and no longer than that.

    Where it is longer, its beginning and its end are kept, with a note between them of what is left out. Text that
    was kept before stays as it is.
    """
    if len(text) <= most and (text.isprintable() or len(written := printable(text)) <= most):
        return text if text.isprintable() else written
    room = (most - 50) // 2
    note = f" [... {len(text) - 2 * room:,} characters left out ...] "
    return f"{printable(text[:room])[:room]}{note}{printable(text[-room:])[-room:]}"


def kept_line(text: str, most: int = LONGEST_SENTENCE) -> str:
    """The same of text that is to stand in one line."""
    return kept(text if text.isprintable() else " ".join(text.split()), most)


def kept_name(name: Any) -> str:
    """The name of an agent, a seat or an environment."""
    return kept_line(name if type(name) is str else str(name), LONGEST_NAME)


def kept_all(value: Any) -> Any:
    """Plain values with all text in them printable, and none cut."""
    if isinstance(value, str):
        return value if value.isprintable() else printable(value)
    if isinstance(value, Mapping):
        return {kept_all(key): kept_all(item) for key, item in value.items()}
    return [*map(kept_all, value)] if isinstance(value, list | tuple) else value


def shown(value: Any, most: int = 80) -> str:
    """The representation of an agent's answer, cut where it is longer; it may have a broken one."""
    try:
        text = printable(repr(value))
    except BaseException:  # its type will do
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def plain(value: Any) -> Any:
    """A value in plain Python: numpy scalars unwrapped, arrays and lists as nested tuples."""
    if type(value) is int:
        return value
    import numpy as np  # which the command line does without, until a game is played

    if isinstance(value, np.generic):
        item = value.item()
        return float(item) if isinstance(item, np.generic) else plain(item)  # long double has no Python twin
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return kept(str.__str__(value))  # of an enum's member, its value
    if isinstance(value, int):
        return int.__add__(value, 0)  # a class of somebody's own may convert itself to anything
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {kept(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return tuple(plain(item) for item in value)
    raise InvalidSettingError(
        f"a game record holds numbers, text, arrays, sequences and mappings, not {type(value).__name__}: {value!r}"
    )
