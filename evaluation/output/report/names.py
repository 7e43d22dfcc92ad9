"""Short names of agents that still differ, where there is no room for the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from zermelo.envs import InvalidSettingError
from zermelo.envs.spec_text import Spec, parse_spec

LONGEST: Final = 26
"""Characters of a short name."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A short name for each: the first word, and the settings in which it differs from others of that word.

    ``alphabeta(depth=2, memory_mb=1)`` beside ``alphabeta(depth=4, memory_mb=1)`` is ``alphabeta depth=2``. No two
    are equal; where shortening would make them so, they stay as they are.
    """
    known = list(dict.fromkeys(names))
    specs = {name: _parsed(name) for name in known}
    of_head: dict[str, list[Spec]] = {}
    for spec in specs.values():
        of_head.setdefault(spec.name, []).append(spec)
    short = {name: _cut(_short(spec, of_head[spec.name])) for name, spec in specs.items()}
    times = Counter(short.values())
    return {name: name if times[text] > 1 or len(text) >= len(name) else text for name, text in short.items()}


def _parsed(name: str) -> Spec:
    try:
        return parse_spec(name)
    except (InvalidSettingError, MemoryError, RecursionError):  # anybody may have called an agent anything
        return Spec(name)


def _short(spec: Spec, others: Sequence[Spec]) -> str:
    """The name's last part, with the settings that not all of the same name have."""
    differing = [
        f"{key}={_text(value)}"
        for key, value in spec.arguments.items()
        if any(repr(other.arguments.get(key)) != repr(value) for other in others)
    ]
    return " ".join([spec.name.rpartition(":")[2] or spec.name, ", ".join(differing)]).strip()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _cut(text: str) -> str:
    """The ends of a text that is too long."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[: half - 1]}…{text[-half:]}"
