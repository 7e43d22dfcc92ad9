"""Where the games of a schedule are played: this process, worker processes, a Ray cluster."""

import enum

__all__ = ["RunnerChoice"]


class RunnerChoice(enum.StrEnum):
    """Where games are played."""

    LOCAL = "local"
    """In this process, or in worker processes on this machine."""
    RAY = "ray"
    """On a Ray cluster."""
