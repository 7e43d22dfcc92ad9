"""Watching a Monte Carlo tree search in plain Python, simulation by simulation: for teaching and drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.search.monte_carlo.batches import BatchedMonteCarlo
from zermelo.agents.search.monte_carlo.leaves import Leaves
from zermelo.agents.search.monte_carlo.search import PlainMonteCarlo
from zermelo.agents.search.monte_carlo.tree import Node


class Simulation(NamedTuple):
    """What one simulation did; the nodes know it already.

    Attributes:
        path: The nodes that it went through, the root first, each with the place among its actions that it took.
        leaf: The node that it came to: a new one, or one whose value is known.
        outcome: What it brought each seat whose values are kept: of one or two opposed players only the first.
    """

    path: tuple[tuple[Node, int], ...]
    leaf: Node
    outcome: tuple[float, ...]


SimulationObserver: TypeAlias = Callable[[Simulation], Any]
"""Called after every simulation."""


class _Watched(Leaves):
    """A search with an observer; it stands before that search's class.

    Args:
        args: As the search takes them.
        on_simulation: The observer.
        settings: As the search takes them.
    """

    def __init__(self, *args: Any, on_simulation: SimulationObserver, **settings: Any) -> None:
        self._on_simulation = on_simulation
        super().__init__(*args, **settings)

    def back_up(self, path: list[tuple[Node, int]], leaf: Node, outcome: tuple[float, ...]) -> None:
        """As the search itself; then the simulation is told."""
        super().back_up(path, leaf, outcome)  # type: ignore[misc]  # of the class after this one
        self._on_simulation(Simulation(tuple(path), leaf, outcome))


class WatchedMonteCarlo(_Watched, PlainMonteCarlo):
    """Monte Carlo tree search with an observer."""


class WatchedBatches(_Watched, BatchedMonteCarlo):
    """Monte Carlo tree search with a policy-value network and an observer."""
