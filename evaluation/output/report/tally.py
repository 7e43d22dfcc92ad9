"""Everything that a report says of all games, counted in one pass with memory that does not grow with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import Outcome, outcomes_by_seat, scores_by_seat
from zermelo.evaluation.output.report.spread import Mean, Spread
from zermelo.evaluation.stats.interval import paired_interval, wilson_interval
from zermelo.evaluation.stats.ratings import GameCounts
from zermelo.evaluation.storage.glance import Glance

__all__ = ["AgentTally", "Tally"]

_KNOWN_RESULTS: Final = 10_000
_MOVES_AT_ONCE: Final = 200_000
"""So many moves wait to be counted together."""


@dataclass
class AgentTally:
    """One agent's games.

    Attributes:
        name: The agent.
        seats: Of the environment.
        outcomes: Wins, draws and losses.
        failures: Games it lost by each kind of failure.
        by_seat: Its scores from each seat.
        scores: Its scores from all seats.
        seconds: Of its moves.
        nodes: Of those of its moves whose search says them.
        searched_seconds: Wall-clock time of those moves.
        depths: Of those of its moves whose search says them.
    """

    name: str
    seats: int
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failures: Counter[FailureKind] = field(default_factory=Counter)
    by_seat: tuple[Mean, ...] = ()
    scores: Mean = field(default_factory=Mean)
    seconds: Spread = field(default_factory=Spread)
    nodes: Spread = field(default_factory=Spread)
    searched_seconds: float = 0.0
    depths: Spread = field(default_factory=Spread)

    def __post_init__(self) -> None:
        self.by_seat = tuple(Mean() for _ in range(self.seats))

    @property
    def score(self) -> float:
        """Mean score, as ``Standings`` has it; nan without games."""
        return self.scores.mean if self.scores.count else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of ``score``, as ``Standings`` has it."""
        if self.seats == 1:
            return self.scores.interval()
        if self.seats == 2:
            return paired_interval(*(self.outcomes[kind] for kind in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS)))
        return wilson_interval(self.scores.mean if self.scores.count else 0.5, self.scores.count)

    def add_moves(self, seconds: NDArray[Any], nodes: NDArray[Any], depths: NDArray[Any]) -> None:
        """Counts moves; where a move says no nodes or no depth there is nan."""
        searched = ~np.isnan(nodes)
        self.seconds.add(seconds)
        self.nodes.add(nodes[searched])
        self.searched_seconds += float(seconds[searched].sum())
        self.depths.add(depths[~np.isnan(depths)])


class Tally:
    """All games, added one at a time.

    Attributes:
        env: The environment's name.
        seat_names: Its seats.
        games: Games added, void ones included.
        void: Games that count for nobody.
        void_message: What the environment said in the first of them.
        lengths: Games by their number of plies, those of the opening included.
        ends: Games by what ended them.
        versions: Of what the first game was played with.
    """

    def __init__(self) -> None:
        self.env = ""
        self.seat_names: tuple[str, ...] = ()
        self.games = 0
        self.void = 0
        self.void_message = ""
        self.lengths = Counter[int]()
        self.ends = Counter[str]()
        self.versions: Mapping[str, str] = {}
        self._agents: dict[str, AgentTally] = {}
        self._line_ups = set[tuple[str, ...]]()
        self._counts = GameCounts()
        self._seat_scores: tuple[Mean, ...] = ()
        self._scores: dict[tuple[tuple[float, ...], int | None], tuple[float, ...]] = {}
        self._finishes = Counter[tuple[tuple[str, ...], tuple[float, ...]]]()
        self._waiting = _Moves()

    def add(self, game: Glance) -> None:
        """Counts a game."""
        if not self.games:
            self.env, self.seat_names, self.versions = game.env, game.seat_names, game.versions
            self._seat_scores = tuple(Mean() for _ in game.seat_names)
        self.games += 1
        if game.agents not in self._line_ups:
            self._line_ups.add(game.agents)
            for name in game.agents:
                self._agents.setdefault(name, AgentTally(name, len(game.agents)))
        if self._waiting.add(game) >= _MOVES_AT_ONCE:
            self._count()
        failure = game.failure
        if game.void:
            self.void += 1
            self.void_message = self.void_message or (failure.message if failure else "")
            return
        self.lengths[game.plies] += 1
        self.ends[game.end if failure is None else failure.kind] += 1
        offender = None if failure is None else failure.seat
        if failure is not None and offender is not None:
            self._agents[game.agents[offender]].failures[failure.kind] += 1
        if len(game.agents) > 1:
            self._finishes[game.agents, self._scores_of(game.rewards, offender)] += 1
        elif failure is None:  # a single player that failed has no return (see Standings)
            self._score(0, game.agents[0], game.rewards[0])

    def _scores_of(self, rewards: tuple[float, ...], offender: int | None) -> tuple[float, ...]:
        """Scores by seat; most games of a tournament end in one of a few ways."""
        found = self._scores.get((rewards, offender))
        if found is None:
            found = scores_by_seat(rewards, offender)
            if len(self._scores) >= _KNOWN_RESULTS:
                self._scores.clear()
            self._scores[rewards, offender] = found
        return found

    def _score(self, seat: int, name: str, score: float, games: int = 1) -> None:
        tally = self._agents[name]
        for mean in (tally.by_seat[seat], tally.scores, self._seat_scores[seat]):
            mean.add(score, games)

    def _count(self) -> None:
        """Counts what waits."""
        for name, moves in self._waiting.by_agent():
            self._agents[name].add_moves(*moves)
        for (agents, scores), games in self._finishes.items():
            self._counts.add(agents, scores, games)
            # Scores are in the order of the rewards, so they tell who won.
            for seat, (name, outcome) in enumerate(zip(agents, outcomes_by_seat(scores), strict=True)):
                self._score(seat, name, scores[seat], games)
                self._agents[name].outcomes[outcome] += games
        self._finishes.clear()

    @property
    def agents(self) -> Mapping[str, AgentTally]:
        """By name, in the order they came."""
        self._count()
        return self._agents

    @property
    def counts(self) -> GameCounts:
        """The games as ratings take them; none for a single player."""
        self._count()
        return self._counts

    @property
    def seat_scores(self) -> tuple[Mean, ...]:
        """The scores of each seat, whoever sat there."""
        self._count()
        return self._seat_scores

    @property
    def single(self) -> bool:
        """Whether there is one seat only, so that scores are returns."""
        return len(self.seat_names) == 1

    def ranked(self) -> list[AgentTally]:
        """The agents, best score first."""
        known = self.agents.values()
        return sorted(known, key=lambda tally: -math.inf if math.isnan(tally.score) else tally.score, reverse=True)


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

    def add(self, game: Glance) -> int:
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
