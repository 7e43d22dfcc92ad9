"""Runners of a schedule's games: this process, worker processes, a Ray cluster."""

import enum

__all__ = ["RunnerChoice"]


class RunnerChoice(enum.StrEnum):
    """The runner of the games."""

    LOCAL = "local"
    """In this process, or in worker processes on this machine."""
    RAY = "ray"
    """On a Ray cluster."""
