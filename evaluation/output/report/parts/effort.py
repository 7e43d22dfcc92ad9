"""Lengths of games, and the time and nodes of moves.

One pass, with memory that does not grow with the games.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zermelo.evaluation.match.record import StoredGame

_MOVES_AT_ONCE: Final = 200_000
"""Moves that wait to be counted together."""
_BINS: Final = 8
"""Bins for each doubling: a quantile is right to within 5 %."""
_EDGES: Final = 2.0 ** (np.arange(-40 * _BINS, 60 * _BINS) / _BINS)


@dataclass
class Spread:
    """Count, mean, maximum and quantiles of numbers that are at least 0."""

    count: int = 0
    total: float = 0.0
    maximum: float = 0.0
    bins: NDArray[Any] = field(default_factory=lambda: np.zeros(len(_EDGES) + 1, np.int64))

    def add(self, values: ArrayLike) -> None:
        """Counts any number of numbers."""
        numbers = np.ravel(values).astype(float)
        self.count += numbers.size
        self.total += float(numbers.sum())
        self.maximum = max(self.maximum, float(numbers.max(initial=0.0)))
        self.bins += np.bincount(np.searchsorted(_EDGES, numbers, side="right"), minlength=len(self.bins))

    @property
    def mean(self) -> float:
        """The exact mean; nan without numbers."""
        return self.total / self.count if self.count else math.nan

    def quantile(self, share: float) -> float:
        """The number below which that share lies, to within 5 %; nan without numbers."""
        if not self.count:
            return math.nan
        found = int(np.searchsorted(np.cumsum(self.bins), share * self.count))
        return min(self.maximum, float(_EDGES[found - 1] * 2 ** (0.5 / _BINS))) if found else 0.0


@dataclass
class AgentEffort:
    """One agent's moves.

    Attributes:
        seconds: Of its moves.
        nodes: Of those of its moves whose search says them.
        searched_seconds: Wall-clock time of those moves.
        depths: Of those of its moves whose search says them.
    """

    seconds: Spread = field(default_factory=Spread)
    nodes: Spread = field(default_factory=Spread)
    searched_seconds: float = 0.0
    depths: Spread = field(default_factory=Spread)


class Effort:
    """All games, added one at a time.

    Attributes:
        games: Games added, void ones included.
        lengths: Games that count by their number of plies, those of the opening included.
        ends: Those games by what ended them.
        versions: Of what the first game was played with.
    """

    def __init__(self) -> None:
        self.games = 0
        self.lengths = Counter[int]()
        self.ends = Counter[str]()
        self.versions: Mapping[str, str] = {}
        self._agents = defaultdict[str, AgentEffort](AgentEffort)
        self._waiting = defaultdict[tuple[str, ...], tuple[list[Any], ...]](lambda: ([], [], [], []))
        self._count = 0

    def add(self, game: StoredGame) -> None:
        """Counts a game."""
        self.versions = self.versions or game.versions
        self.games += 1
        moves = game.moves
        missing = [math.nan] * len(moves.seat)
        columns = moves.seat, game.numbers(moves.seconds), moves.nodes or missing, moves.depth or missing
        for waiting, column in zip(self._waiting[game.agents], columns, strict=True):
            waiting += column
        self._count += len(moves.seat)
        if self._count >= _MOVES_AT_ONCE:
            self._count_moves()
        if not game.void:
            self.lengths[len(game.opening) + len(moves.seat)] += 1
            self.ends[game.end if game.failure is None else game.failure.kind] += 1

    def _count_moves(self) -> None:
        for agents, (seats, *columns) in self._waiting.items():
            movers = np.array(seats, dtype=int)
            seconds, nodes, depths = (np.array(StoredGame.numbers(column), dtype=float) for column in columns)
            for seat in np.unique(movers):
                own, agent = movers == seat, self._agents[agents[seat]]
                searched = own & ~np.isnan(nodes)
                agent.seconds.add(seconds[own])
                agent.nodes.add(nodes[searched])
                agent.searched_seconds += float(seconds[searched].sum())
                agent.depths.add(depths[own & ~np.isnan(depths)])
        self._waiting.clear()
        self._count = 0

    @property
    def agents(self) -> Mapping[str, AgentEffort]:
        """By name, those that moved."""
        self._count_moves()
        return self._agents
