"""When a search stops: one frozen object for every agent."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, fields
from typing import Any

from zermelo.agents.base.settings import check_settings, declared, integer
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call


class StoppedBy(enum.StrEnum):
    """Reasons for the end of a search."""

    COMPLETED = "completed"
    """The whole tree was searched, or the value was proven: more time would change nothing."""
    DEPTH = "depth"
    NODES = "nodes"
    SIMULATIONS = "simulations"
    SECONDS = "seconds"
    INTERRUPT = "interrupt"
    """Ctrl-C, the ``on_iteration`` callback or another thread (``agent.stop()``) asked for the end."""


def _check_seconds(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidSettingError(f"{name} must be a number, not {value!r}")
    if not 0 < value < math.inf:
        raise InvalidSettingError(f"{name} must be greater than 0 and finite, not {value!r}")


@checked_call
@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a search may spend; None means no limit. The first limit reached stops the search.

    All but ``seconds`` are reproducible: the same seed gives the same answer on any machine. After as many nodes a
    compiled search and a plain one may differ, as their tables keep different entries.

    Attributes:
        depth: Moves to look ahead (plies, counting every player's; chance events are not counted). At least 1.
        nodes: States that a search may visit. At least 1.
        simulations: Playouts, for agents that simulate. At least 1.
        seconds: Wall-clock time of a search, in seconds. Greater than 0.
    """

    depth: int | None = integer(None, "plies", lower=1)
    nodes: int | None = integer(None, "states", lower=1)
    simulations: int | None = integer(None, "simulations", lower=1)
    seconds: float | None = declared(None, _check_seconds, "a number greater than 0", "seconds")

    def __post_init__(self) -> None:
        check_settings(self)

    def __str__(self) -> str:
        given = ((f.name, getattr(self, f.name)) for f in fields(self))
        return ", ".join(f"{name}={value}" for name, value in given if value is not None) or "no limit"
