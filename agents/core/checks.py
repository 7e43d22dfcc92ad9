"""Checks of settings, each with the one sentence that a user needs."""

from __future__ import annotations

import enum
import math
from typing import Any, TypeVar

from zermelo.envs import InvalidSettingError

Choice = TypeVar("Choice", bound=enum.StrEnum)


def check_whole(name: str, value: Any, *, lower: int = 0) -> None:
    """A whole number of at least ``lower``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lower:
        raise InvalidSettingError(f"{name} must be a whole number of at least {lower}, not {value!r}")


def check_number(name: str, value: Any, *, lower: float = -math.inf, above: bool = False) -> None:
    """A finite number of at least (or, with ``above``, of more than) ``lower``."""
    wanted = "a finite number"
    if lower > -math.inf:
        wanted += f" greater than {lower}" if above else f" of at least {lower}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidSettingError(f"{name} must be {wanted}, not {value!r}")
    if value < lower or (above and value == lower):
        raise InvalidSettingError(f"{name} must be {wanted}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidSettingError(f"{name} must be True or False, not {value!r}")


def check_choice(name: str, value: Any, kind: type[Choice]) -> Choice:
    """One of an enumeration's values; returns the member."""
    try:
        return kind(str(value))
    except ValueError:
        allowed = ", ".join(repr(member.value) for member in kind)
        raise InvalidSettingError(f"{name} must be one of {allowed}, not {str(value)!r}") from None


def check_callable(name: str, value: Any, signature: str) -> None:
    """None or something to call."""
    if value is not None and not callable(value):
        raise InvalidSettingError(f"{name} must be a function {signature}, not {value!r}")


def inside_bounds(value: float, bounds: tuple[float, float], *, strictly: bool) -> bool:
    """True if a value lies inside the bounds; where there is no room inside, on them will do."""
    if strictly and bounds[0] < bounds[1]:
        return bounds[0] < value < bounds[1]
    return bounds[0] <= value <= bounds[1]
