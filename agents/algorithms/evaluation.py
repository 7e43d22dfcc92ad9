"""The default evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Evaluate: TypeAlias = Callable[[Any], float]
"""What one seat can still expect from an unfinished state, rewards so far left out."""


def nothing_more(state: Any) -> float:
    """Expects nothing beyond what has been paid."""
    return 0.0
