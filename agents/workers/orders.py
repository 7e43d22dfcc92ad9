"""Requests to processes that search one position together, and what each of them answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zermelo.agents.base.clock import TimeShare
from zermelo.agents.base.limits import Limits, StoppedBy


class WorkerOrder(NamedTuple):
    """A request to search a packed state, within a share of the limits and what is left of the time.

    Attributes:
        generator: What its random numbers are drawn from.
        share: The share of a game's clock that it may take.
        ponders: Whether it has no limit.
        played: The action that was played after the last search, whose tree is gone on in; None to begin anew.
        seat: Whose action is asked for, where the state does not say it.
        rank: The number of the process among those that search.
    """

    state: bytes
    generator: np.random.Generator
    limits: Limits
    share: TimeShare | None
    ponders: bool
    played: int | None
    seat: int | None
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerAnswer:
    """The answer of one process; a family of searches adds what it has found.

    Attributes:
        failures: Lines of play that this process has left out so far.
        is_final: True if the other processes, which still search, have nothing to add.
    """

    stopped_by: StoppedBy
    nodes: int
    failures: int
    is_final: bool


def shares_of(limits: Limits, count: int) -> list[Limits | None]:
    """The limits of each of several searches that keep to these together; None where nothing is left for one."""
    shares: list[Limits | None] = []
    for place in range(count):
        simulations, nodes = (
            None if whole is None else whole // count + (place < whole % count)
            for whole in (limits.simulations, limits.nodes)
        )
        is_none = simulations == 0 or nodes == 0
        shares.append(None if is_none else dataclasses.replace(limits, simulations=simulations, nodes=nodes))
    return shares
