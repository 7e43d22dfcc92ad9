"""Numbers as text for pages and tables: nothing stands for nan."""

from __future__ import annotations

import math
from typing import Final

from zermelo.evaluation.match.text import rounded

MINUS: Final = "\N{MINUS SIGN}"


def number(value: float, digits: int = 0) -> str:
    """With thousands apart; infinities as such, and nothing for nan."""
    return "" if math.isnan(value) else rounded(value, digits, ",").replace("-", MINUS)


def four_digits(value: float) -> str:
    """With four significant digits; infinities as such, and nothing for nan."""
    return f"{value + 0.0:.4g}".replace("-", MINUS) if math.isfinite(value) else number(value)


def percent(share: float, digits: int = 1) -> str:
    """A share of 1 in percent, without the sign; nothing for nan."""
    return "" if math.isnan(share) else f"{100 * share:.{digits}f}"


def time_text(seconds: float) -> str:
    """Seconds, milliseconds or microseconds, with two or three digits; nothing for nan."""
    if math.isnan(seconds):
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            value = seconds / size
            return f"{value:,.0f} {unit}" if value >= 100 or value == 0 else f"{value:.3g} {unit}"
    return ""
