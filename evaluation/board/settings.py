"""Settings of a game on the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from zermelo.agents.specs import describe_settings, runs_own_code
from zermelo.envs import InvalidSettingError
from zermelo.envs.spec_text import parse_spec
from zermelo.evaluation.match.writing import shown

LONGEST: Final = 200
"""Characters of a move or an agent that a page may send."""


@dataclass(frozen=True)
class TableSettings:
    """Settings of a new game.

    Attributes:
        env: The environment's name.
        opponent: Who plays the other seats.
        seat: The person's seat, from 0.
        seed: Decides everything random.
        clock: As people write it (``300+5``), or nothing for a game without clocks.
        analyst: Who analyses.
    """

    env: str
    opponent: str = "auto"
    seat: int = 0
    seed: int = 0
    clock: str = ""
    analyst: str = "auto"


def changed_settings(settings: TableSettings, wanted: Mapping[str, Any]) -> TableSettings:
    """Settings with those changed that a page asks for: ``seat``, ``opponent``, ``clock`` and ``seed``."""
    changes: dict[str, Any] = {}
    for name in ("opponent", "clock"):
        if name in wanted:
            changes[name] = text_setting(name, wanted[name])
    for name in ("seat", "seed"):
        if name in wanted:
            value = wanted[name]
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
                raise InvalidSettingError(f"{name} is a whole number of at least 0, not {shown(value, 40)}")
            changes[name] = value
    return replace(settings, **changes)


def text_setting(name: str, value: Any) -> str:
    """A setting that is a text."""
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InvalidSettingError(f"{name} is a text of at most {LONGEST} characters, not {shown(value, 40)}")
    return value.strip()


def require_known(spec: str, given: TableSettings) -> None:
    """Refuses an agent that only the command line may name."""
    if not spec or spec in (given.opponent, given.analyst):
        return
    if ":" not in (name := parse_spec(spec).name):
        describe_settings(name)  # an unknown name is said to be one
    if runs_own_code(spec):
        raise InvalidSettingError(
            f"{shown(spec, 60)} runs code or reads files of its own: name it on the command line (--agent)"
        )
