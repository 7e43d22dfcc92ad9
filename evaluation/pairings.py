"""Who meets whom in a tournament."""

from __future__ import annotations

import enum

__all__ = ["Pairings"]


class Pairings(enum.StrEnum):
    """Who meets."""

    ROUND_ROBIN = "round-robin"
    """Every agent plays every other."""
    GAUNTLET = "gauntlet"
    """The first agent plays every other."""
