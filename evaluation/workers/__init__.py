"""Processes that play: pools of workers, Ray, and agents in processes of their own, where limits hold."""

import enum
from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.evaluation.workers.settings import Isolation

__all__ = ["Isolate", "Isolation", "RunnerChoice"]


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


if not TYPE_CHECKING:  # the settings bring agents, which the command line does without until it runs a command
    __getattr__, _ = lazy_names(__name__, {"settings": "Isolation"})
