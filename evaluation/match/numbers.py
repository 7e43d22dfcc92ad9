"""Numbers for files that cannot hold them all: JSON has no infinities and no nan."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["finite", "spelt"]


def finite(value: Any) -> Any:
    """The value; None for an infinite number or nan."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spelt(value: Any) -> Any:
    """The value; ``"inf"``, ``"-inf"`` or ``"nan"`` for such a number, which ``float`` reads back."""
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value
