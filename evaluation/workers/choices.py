"""Choices that the command line offers, apart from what brings agents."""

from __future__ import annotations

import enum


class Isolate(enum.StrEnum):
    """Which agents run in processes of their own."""

    ALL = "all"
    OWN = "own"
    """Those named by text that run somebody's own code (``module:factory``, learned policies); with a limit on
    time or memory, all but ``random``, which needs neither."""
    NONE = "none"


class RunnerChoice(enum.StrEnum):
    """The runner of the games."""

    LOCAL = "local"
    """In this process, or in worker processes on this machine."""
    RAY = "ray"
    """On a Ray cluster."""
