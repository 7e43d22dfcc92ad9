"""What a report says of games beside their results: how long they were, and what moves took.

One pass, with memory that does not grow with the games. Results are the standings' affair.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zermelo.evaluation.storage.game_summary import GameSummary

_MOVES_AT_ONCE: Final = 200_000
"""So many moves wait to be counted together."""
_BINS: Final = 8
"""Bins of a ``Spread`` for each doubling: a quantile is right to within 5 %."""
_ZERO: Final = -200 * _BINS
"""The bin of 0."""


class Spread:
    """Count, mean, extremes and quantiles of numbers that are at least 0."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.greatest = 0.0
        self._bins = Counter[int]()

    def add(self, values: ArrayLike) -> None:
        """Counts any number of numbers."""
        numbers = np.asarray(values, dtype=float).ravel()
        if not numbers.size:
            return
        self.count += numbers.size
        self.total += float(numbers.sum())
        self.greatest = max(self.greatest, float(numbers.max()))
        places = np.full(numbers.shape, _ZERO)
        positive = numbers > 0
        places[positive] = np.floor(_BINS * np.log2(numbers[positive]))
        for place, count in zip(*np.unique(places, return_counts=True), strict=True):
            self._bins[int(place)] += int(count)

    @property
    def mean(self) -> float:
        """The exact mean; nan without numbers."""
        return self.total / self.count if self.count else math.nan

    def quantile(self, share: float) -> float:
        """The number below which that share lies, to within 5 %; nan without numbers."""
        left = share * self.count
        for place in sorted(self._bins):
            left -= self._bins[place]
            if left <= 0:
                return 0.0 if place == _ZERO else min(self.greatest, float(2.0 ** ((place + 0.5) / _BINS)))
        return math.nan


@dataclass
class AgentEffort:
    """One agent's moves.

    Attributes:
        name: The agent.
        seconds: Of its moves.
        nodes: Of those of its moves whose search says them.
        searched_seconds: Wall-clock time of those moves.
        depths: Of those of its moves whose search says them.
    """

    name: str
    seconds: Spread = field(default_factory=Spread)
    nodes: Spread = field(default_factory=Spread)
    searched_seconds: float = 0.0
    depths: Spread = field(default_factory=Spread)

    def add_moves(self, seconds: NDArray[Any], nodes: NDArray[Any], depths: NDArray[Any]) -> None:
        """Counts moves; where a move says no nodes or no depth there is nan."""
        searched = ~np.isnan(nodes)
        self.seconds.add(seconds)
        self.nodes.add(nodes[searched])
        self.searched_seconds += float(seconds[searched].sum())
        self.depths.add(depths[~np.isnan(depths)])


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
        self._agents: dict[str, AgentEffort] = {}
        self._waiting = _Moves()

    def add(self, game: GameSummary) -> None:
        """Counts a game."""
        if not self.games:
            self.versions = game.versions
        self.games += 1
        if self._waiting.add(game) >= _MOVES_AT_ONCE:
            self._count()
        if not game.void:
            self.lengths[game.plies] += 1
            self.ends[game.end if game.failure is None else game.failure.kind] += 1

    def _count(self) -> None:
        """Counts what waits."""
        for name, moves in self._waiting.by_agent():
            self._agents.setdefault(name, AgentEffort(name)).add_moves(*moves)

    @property
    def agents(self) -> Mapping[str, AgentEffort]:
        """By name, those that moved."""
        self._count()
        return self._agents


class _Moves:
    """Moves of many games in columns, which numpy counts many times as fast as one by one."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._clear()

    def _clear(self) -> None:
        self._line_ups: list[tuple[int, ...]] = []
        self._games: list[int] = []
        self._seats: list[int] = []
        self._seconds: list[float] = []
        self._nodes: list[float | None] = []
        self._depths: list[float | None] = []

    def add(self, game: GameSummary) -> int:
        """Takes the moves of a game, and says how many wait."""
        count = len(game.seats)
        if count:
            self._line_ups.append(self._known.get(game.agents) or self._new(game.agents))
            self._games.append(count)
            self._seats += game.seats
            self._seconds += game.seconds
            self._nodes += game.nodes or [None] * count
            self._depths += game.depths or [None] * count
        return len(self._seats)

    def _new(self, agents: tuple[str, ...]) -> tuple[int, ...]:
        numbers = self._numbers
        self._known[agents] = tuple([numbers.setdefault(name, len(numbers)) for name in agents])
        return self._known[agents]

    def by_agent(self) -> list[tuple[str, tuple[NDArray[Any], ...]]]:
        """The seconds, nodes and depths of each agent's moves, with nan for None; afterwards none wait."""
        if not self._seats:
            return []
        games = np.repeat(np.arange(len(self._games)), self._games)
        agents = np.array(self._line_ups)[games, self._seats]
        order = np.argsort(agents, kind="stable")
        columns = [np.array(column, dtype=float)[order] for column in (self._seconds, self._nodes, self._depths)]
        ends = np.cumsum(np.bincount(agents, minlength=len(self._numbers)))
        self._clear()
        return [
            (name, tuple(column[end - count : end] for column in columns))
            for name, end, count in zip(self._numbers, ends, np.diff(ends, prepend=0), strict=True)
            if count
        ]
