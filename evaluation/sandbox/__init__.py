"""Agents in processes of their own, where deadlines and limits on memory and output hold whatever they do."""

import enum
from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.evaluation.sandbox.settings import Isolation

__all__ = ["Isolate", "Isolation"]


class Isolate(enum.StrEnum):
    """Which agents run in processes of their own."""

    ALL = "all"
    OWN = "own"
    """Those named by text that run somebody's own code (``module:factory``, learned policies); with a limit on
    time or memory, all but ``random``, which needs neither."""
    NONE = "none"


if not TYPE_CHECKING:  # the settings bring agents, which the command line does without until it runs a command
    __getattr__, _ = lazy_names(__name__, {"settings": "Isolation"})
