"""Everything that a report says of all games, counted in one pass with memory that does not grow with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from zermelo.evaluation.interval import paired_interval, wilson_interval
from zermelo.evaluation.ratings import GameCounts
from zermelo.evaluation.record import FailureKind, GameRecord
from zermelo.evaluation.score import Outcome, outcomes_by_seat, scores_by_seat

__all__ = ["AgentTally", "Spread", "Tally"]

_BINS: Final = 8
"""Bins of a ``Spread`` for each doubling: a quantile is right to within 5 %."""
_KNOWN_RESULTS: Final = 10_000
_SHORTEST: Final = -200 * _BINS


class Spread:
    """Count, mean, extremes and quantiles of numbers that come one at a time and are at least 0."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.greatest = 0.0
        self._bins: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Counts a number."""
        self.count += 1
        self.total += value
        if value > self.greatest:
            self.greatest = value
        place = int(_BINS * math.log2(value) // 1) if value > 0 else _SHORTEST
        self._bins[place] = self._bins.get(place, 0) + 1

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
                return 0.0 if place == _SHORTEST else min(self.greatest, float(2.0 ** ((place + 0.5) / _BINS)))
        return math.nan


class _Mean:
    """Mean and variance of numbers that come one at a time (Welford's method)."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.squares += step * (value - self.mean)

    def interval(self) -> tuple[float, float]:
        """Student's 95 % interval; infinite for fewer than two numbers."""
        if self.count < 2:
            return -math.inf, math.inf
        from scipy.special import stdtrit

        half = float(stdtrit(self.count - 1, 0.975)) * math.sqrt(self.squares / (self.count - 1) / self.count)
        return self.mean - half, self.mean + half


@dataclass
class AgentTally:
    """One agent's games.

    Attributes:
        name: The agent.
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
    by_seat: tuple[_Mean, ...] = ()
    scores: _Mean = field(default_factory=_Mean)
    seconds: Spread = field(default_factory=Spread)
    nodes: Spread = field(default_factory=Spread)
    searched_seconds: float = 0.0
    depths: _Mean = field(default_factory=_Mean)

    def __post_init__(self) -> None:
        self.by_seat = tuple(_Mean() for _ in range(self.seats))

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


class Tally:
    """All games, added one at a time.

    Attributes:
        env: The environment's name.
        seat_names: Its seats.
        games: Games added, void ones included.
        void: Games that count for nobody.
        void_message: What the environment said in the first of them.
        agents: By name, in the order they came.
        counts: The games as ratings take them; none for a single player.
        lengths: Games by their number of plies, those of the opening included.
        ends: Games by what ended them.
        seat_scores: The scores of each seat, whoever sat there.
        versions: Of what the first game was played with.
    """

    def __init__(self) -> None:
        self.env = ""
        self.seat_names: tuple[str, ...] = ()
        self.games = 0
        self.void = 0
        self.void_message = ""
        self.agents: dict[str, AgentTally] = {}
        self.counts = GameCounts()
        self.lengths = Counter[int]()
        self.ends = Counter[str]()
        self.seat_scores: tuple[_Mean, ...] = ()
        self.versions: Mapping[str, str] = {}
        self._results: dict[
            tuple[tuple[float, ...], int | None], tuple[tuple[float, ...], tuple[Outcome, ...]]
        ] = {}

    def add(self, record: GameRecord) -> None:
        """Counts a game."""
        if not self.games:
            self.env, self.seat_names, self.versions = record.env, record.seat_names, record.versions
            self.seat_scores = tuple(_Mean() for _ in record.seat_names)
        self.games += 1
        seated = [self.agents.get(name) or self._new(name, len(record.agents)) for name in record.agents]
        for move in record.moves:
            tally = seated[move.seat]
            tally.seconds.add(move.seconds)
            if move.nodes is not None:
                tally.nodes.add(move.nodes)
                tally.searched_seconds += move.seconds
            if move.depth is not None:
                tally.depths.add(move.depth)
        if record.void:
            self.void += 1
            self.void_message = self.void_message or (record.failure.message if record.failure else "")
            return
        self.lengths[len(record.opening) + len(record.moves)] += 1
        failure = record.failure
        self.ends[record.end if failure is None else failure.kind] += 1
        offender = None if failure is None else failure.seat
        if failure is not None and offender is not None:
            seated[offender].failures[failure.kind] += 1
        scores, outcomes = self._result(record.rewards, offender)
        if len(seated) == 1:
            if failure is None:  # a single player that failed has no return (see Standings)
                self._score(0, seated[0], scores[0])
            return
        for seat, tally in enumerate(seated):
            self._score(seat, tally, scores[seat])
            tally.outcomes[outcomes[seat]] += 1
        self.counts.add(record.agents, scores)

    def _new(self, name: str, seats: int) -> AgentTally:
        self.agents[name] = AgentTally(name, seats)
        return self.agents[name]

    def _score(self, seat: int, tally: AgentTally, score: float) -> None:
        tally.by_seat[seat].add(score)
        tally.scores.add(score)
        self.seat_scores[seat].add(score)

    def _result(
        self, rewards: tuple[float, ...], offender: int | None
    ) -> tuple[tuple[float, ...], tuple[Outcome, ...]]:
        """Scores and outcomes; most games of a tournament end in one of a few ways."""
        found = self._results.get((rewards, offender))
        if found is None:
            found = scores_by_seat(rewards, offender), outcomes_by_seat(rewards, offender)
            if len(self._results) >= _KNOWN_RESULTS:
                self._results.clear()
            self._results[rewards, offender] = found
        return found

    @property
    def single(self) -> bool:
        """Whether there is one seat only, so that scores are returns."""
        return len(self.seat_names) == 1

    def ranked(self) -> list[AgentTally]:
        """The agents, best score first."""
        known = self.agents.values()
        return sorted(known, key=lambda tally: -math.inf if math.isnan(tally.score) else tally.score, reverse=True)
