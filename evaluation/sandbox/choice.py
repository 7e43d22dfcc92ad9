"""The choice of who gets a process of its own."""

from __future__ import annotations

import enum

__all__ = ["Isolate"]


class Isolate(enum.StrEnum):
    """Which agents run in processes of their own."""

    ALL = "all"
    OWN = "own"
    """Those named by text that run somebody's own code (``module:factory``, learned policies); with a limit on
    time or memory, all but ``random``, which needs neither."""
    NONE = "none"
