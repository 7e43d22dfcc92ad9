"""The games of each agent, counted: rows, crosstable and notes of the standings."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import Outcome
from zermelo.evaluation.stats.interval import paired_interval, student_interval, wilson_interval
from zermelo.evaluation.storage.totals import Finish, GameTotals, GroupTotal

__all__ = ["Row", "SeatScore", "notes_before", "notes_on", "tallied"]


@dataclass(frozen=True, kw_only=True)
class SeatScore:
    """How an agent did from one seat: its games there and their mean score."""

    games: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """One agent.

    Attributes:
        agent: Its name.
        games: Games that count, one for each seat it had.
        wins: See ``zermelo.evaluation.match.score`` for more than two seats; 0 for a single player.
        draws: Likewise.
        losses: Likewise, games lost by failure included.
        failures: How many of its games it lost by each kind of failure.
        score: The mean score: of 1, 1/2 and 0 with two seats; the mean return of a single player, over the games
            that it finished; nan when there is none.
        interval: 95 % confidence interval of ``score`` (see ``zermelo.evaluation.stats.interval``).
        by_seat: Games and mean score from each seat.
        moves: Moves it made.
        seconds_per_move: Mean wall-clock time of a move.
        mean_reward: What it earned in a game that did not fail, in the game's own rewards; nan where that is not
            known or not finite.
    """

    agent: str
    games: int
    wins: int
    draws: int
    losses: int
    failures: Mapping[FailureKind, int]
    score: float
    interval: tuple[float, float]
    by_seat: tuple[SeatScore, ...]
    moves: int
    seconds_per_move: float
    mean_reward: float = math.nan


class _Tally:
    """One agent's games while they are counted."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.games = [0] * seats
        self.points = [0] * seats  # twice the number of other seats beaten, ties counting one
        self.returns: list[float] = []
        self.outcomes = Counter[Outcome]()
        self.failures = Counter[FailureKind]()
        self.moves = self.microseconds = 0
        self.rewards: int | None = 0  # in millionths
        self.finished = 0

    def row(self, name: str, dispersion: float) -> Row:
        wins, draws, losses = (self.outcomes[kind] for kind in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS))
        failed = 0
        if self.seats == 1:
            games, failed = len(self.returns), self.failures.total()
            score = _mean(self.returns)
            interval = student_interval(self.returns)
            by_seat: tuple[SeatScore, ...] = (SeatScore(games=games, score=score),)
        else:
            games = sum(self.games)
            score = self._mean(sum(self.points), games)
            if self.seats == 2:
                interval = paired_interval(wins / dispersion, draws / dispersion, losses / dispersion)
            else:
                interval = wilson_interval(score if games else 0.5, games)
            by_seat = tuple(
                SeatScore(games=count, score=self._mean(points, count))
                for count, points in zip(self.games, self.points, strict=True)
            )
        return Row(
            agent=name,
            games=games + failed,
            wins=wins,
            draws=draws,
            losses=losses,
            failures=dict(sorted(self.failures.items())),
            score=score,
            interval=interval,
            by_seat=by_seat,
            moves=self.moves,
            seconds_per_move=self.microseconds / 1e6 / self.moves if self.moves else math.nan,
            mean_reward=math.nan
            if self.rewards is None or not self.finished
            else self.rewards / 1e6 / self.finished,
        )

    def _mean(self, points: int, games: int) -> float:
        return points / (2 * (self.seats - 1) * games) if games else math.nan


def tallied(totals: GameTotals, agents: Sequence[str], seats: int) -> tuple[Row, ...]:
    """The row of each agent, best score first; the order of ``agents``, all of whom are listed, breaks ties."""
    order = totals.in_order()
    names = dict.fromkeys([*agents, *(name for finish, _ in order for name in finish.agents)])
    tallies = {name: _Tally(seats) for name in names}
    for finish, group in order:
        if not finish.void:
            _count(finish, group, tallies)
    for name, returns in totals.returns.items():
        tallies[name].returns = [*returns.elements()]
    rows = [tally.row(name, totals.dispersion) for name, tally in tallies.items()]
    rows.sort(key=lambda row: -math.inf if math.isnan(row.score) else row.score, reverse=True)
    return tuple(rows)


def _count(finish: Finish, group: GroupTotal, tallies: Mapping[str, _Tally]) -> None:
    places, games = finish.places, group.games
    top = Outcome.WIN if places.count(0) == 1 else Outcome.DRAW
    for seat, (name, place) in enumerate(zip(finish.agents, places, strict=True)):
        tally = tallies[name]
        tally.games[seat] += games
        tally.moves += group.moves[seat]
        tally.microseconds += group.microseconds[seat]
        if finish.failure is None:
            tally.finished += games
            if tally.rewards is None or group.rewards is None:
                tally.rewards = None
            else:
                tally.rewards += group.rewards[seat]
        elif finish.failed_seat == seat:
            tally.failures[finish.failure] += games
        if len(places) == 1:
            continue
        tally.outcomes[top if place == 0 else Outcome.LOSS] += games
        beaten = sum(1 + (place < theirs) - (place > theirs) for theirs in places) - 1
        tally.points[seat] += games * beaten


def _mean(values: Sequence[float]) -> float:
    """The mean; nan if there is none."""
    if not all(map(math.isfinite, values)):
        return sum(values) / len(values)
    return math.fsum(values) / len(values) if values else math.nan


def notes_before(totals: GameTotals, planned: int) -> Iterable[str]:
    """What a reader should know first."""
    if totals.games < planned:
        yield f"Stopped after {totals.games} of {planned} games."


def notes_on(totals: GameTotals) -> Iterable[str]:
    """What the games did that a reader of their table should know."""
    failed = defaultdict[tuple[str, FailureKind], list[GroupTotal]](list)
    void = []
    for finish, group in totals.in_order():
        if finish.void:
            void.append(group)
        elif finish.failure is not None and finish.failed_seat is not None:
            failed[finish.agents[finish.failed_seat], finish.failure].append(group)
    for (name, kind), groups in failed.items():
        first = groups[0]
        said = f": {first.message}" if first.message else ""
        where = f"first in game {first.first_id}" if first.first_id else "first"
        yield f"{name} lost {_games(sum(group.games for group in groups))} by {kind}, {where}{said}"
    if void:
        first, count = void[0], sum(group.games for group in void)
        said = f"; first, game {first.first_id}: {first.message}" if first.message else ""
        counts = "1 game counts" if count == 1 else f"{count} games count"
        yield f"{counts} for nobody, because the environment itself failed{said}"
    repeating = [f"{' v '.join(agents)} ({games} games are {lines})" for agents, games, lines in totals.repeats()]
    if repeating:
        yield (
            f"Deterministic agents repeated the same games move for move: {', '.join(repeating)}. Repeated games "
            "say no more than one, so intervals that count them are too narrow."
        )


def _games(count: int) -> str:
    return f"{count} game" if count == 1 else f"{count} games"
