"""The choice of where the games of a tournament are played."""

from __future__ import annotations

import enum

__all__ = ["RunnerChoice"]


class RunnerChoice(enum.StrEnum):
    """Where games are played."""

    LOCAL = "local"
    """In this process, or in worker processes on this machine."""
    RAY = "ray"
    """On a Ray cluster."""
