"""Who is better, recomputed from game records and from nothing else."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from zermelo.evaluation.match.record import FailureKind, GameRecord, plain
from zermelo.evaluation.match.score import Outcome
from zermelo.evaluation.stats.interval import paired_interval, student_interval, wilson_interval
from zermelo.evaluation.stats.ratings import RatingTable, counts_of, fit_ratings
from zermelo.evaluation.stats.tables import as_html, as_text
from zermelo.evaluation.storage.totals import Finish, GameTotals, GroupTotal

__all__ = ["Row", "SeatScore", "Standings"]

RANDOM: Final = "random"
"""Ratings are counted from the agent of this name, where it plays and no other was asked for."""


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


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The table of a tournament; ``print`` shows it.

    Attributes:
        env: The environment's name.
        seat_names: What it calls its seats.
        rows: The agents, best score first; equal scores in the order the agents were given.
        crosstable: The mean score of one agent against another, by (agent, opponent); only those who met.
        notes: Sentences that a reader of the table should know.
        planned: Games in the schedule; more than were played if the tournament was stopped.
        records: The games, in the order of the schedule; of a run with a folder they are read from there.
        totals: The games, counted.
        anchor: The agent whose rating is 0, or None for the average.
    """

    env: str
    seat_names: tuple[str, ...]
    rows: tuple[Row, ...]
    crosstable: Mapping[tuple[str, str], float]
    notes: tuple[str, ...]
    planned: int
    records: Sequence[GameRecord] = field(repr=False)
    totals: GameTotals = field(repr=False)
    anchor: str | None = None

    @classmethod
    def from_records(
        cls,
        records: Iterable[GameRecord],
        *,
        agents: Sequence[str] = (),
        planned: int | None = None,
        env: str = "",
        seat_names: Sequence[str] = (),
        anchor: str | None = None,
        notes: Sequence[str] = (),
    ) -> Standings:
        """The standings that the records say.

        Args:
            records: Any number of games in one environment. A sequence that reads them from a file is kept as it
                is and read once; anything else is made a tuple.
            agents: Names to list in any case and whose order breaks ties; others follow as they come.
            planned: Games that were to be played; by default those that are there.
            env: The environment's name, for when there is no game to tell it.
            seat_names: Its seats, likewise.
            anchor: The agent whose rating is 0; by default one called ``random``, else the average.
            notes: Sentences to put before those that the games give.
        """
        games = records if isinstance(records, Sequence) else tuple(records)
        return cls.from_totals(
            GameTotals.of(games),
            games,
            agents=agents,
            planned=planned,
            env=env,
            seat_names=seat_names,
            anchor=anchor,
            notes=notes,
        )

    @classmethod
    def from_totals(
        cls,
        totals: GameTotals,
        records: Sequence[GameRecord],
        *,
        agents: Sequence[str] = (),
        planned: int | None = None,
        env: str = "",
        seat_names: Sequence[str] = (),
        anchor: str | None = None,
        notes: Sequence[str] = (),
    ) -> Standings:
        """The standings of games that were counted already; see ``from_records`` for the rest."""
        order = totals.in_order()
        names = list(dict.fromkeys([*agents, *(name for finish, _ in order for name in finish.agents)]))
        if order and not (env and seat_names):
            env, seat_names = records[0].env, records[0].seat_names
        tallies = {name: _Tally(len(seat_names)) for name in names}
        cells: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        for finish, group in order:
            if not finish.void:
                _count(finish, group, tallies, cells)
        for name, returns in totals.returns.items():
            tallies[name].returns = [*returns.elements()]
        rows = [tally.row(name) for name, tally in tallies.items()]
        rows.sort(key=lambda row: -math.inf if math.isnan(row.score) else row.score, reverse=True)
        planned = totals.games if planned is None else planned
        return cls(
            env=env,
            seat_names=tuple(seat_names),
            rows=tuple(rows),
            crosstable={pair: points / (2 * games) for pair, (points, games) in cells.items()},
            notes=(*_stopped(totals, planned), *notes, *_notes(totals)),
            planned=planned,
            records=records,
            totals=totals,
            anchor=_anchor(anchor, totals),
        )

    @functools.cached_property
    def ratings(self) -> RatingTable | None:
        """Ratings from all the games (``fit_ratings``), made when first asked for; None for a single player."""
        if len(self.seat_names) < 2:
            return None
        return fit_ratings(counts_of(self.totals), anchor=self.anchor)

    def superiority(self, agent: str) -> float:
        """The probability that the leader, the first of ``rows``, is stronger than that agent.

        nan if one of them is unrated, or no chain of games connects the two.
        """
        leader, ratings = self.rows[0].agent, self.ratings
        parts = {} if ratings is None else {player.name: player.component for player in ratings.players}
        if ratings is None or agent == leader or parts.get(agent, -1) != parts.get(leader, -2):
            return math.nan
        return ratings.superiority(leader, agent)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """``notes``, and what is to be known before reading the ratings."""
        ratings = self.ratings
        if ratings is None or not ratings.games:
            return self.notes
        return (*self.notes, *filter(None, [ratings.leader_note]), *ratings.notes)

    @property
    def games(self) -> int:
        """Games played, void ones included."""
        return self.totals.games

    @property
    def complete(self) -> bool:
        """Whether the whole schedule was played."""
        return self.games >= self.planned

    def row(self, agent: str) -> Row:
        """The row of an agent, by name."""
        return next(row for row in self.rows if row.agent == agent)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the records, as plain values for JSON; what is not finite is None."""

        def finite(value: float) -> float | None:
            return value if math.isfinite(value) else None

        rated = {player.name: player for player in self.ratings.players} if self.ratings is not None else {}
        pairs = self.totals.pair_counts().items()

        def rating(agent: str) -> dict[str, Any]:
            player = rated.get(agent)
            if player is None:
                return {
                    "elo": None,
                    "smoothed_elo": None,
                    "elo_interval": [None, None],
                    "leader_superiority": None,
                }
            return {
                "elo": finite(player.elo),
                "smoothed_elo": finite(player.smoothed_elo),
                "elo_interval": [finite(player.lower), finite(player.upper)],
                "leader_superiority": finite(self.superiority(agent)),
            }

        return {
            "env": self.env,
            "seats": list(self.seat_names),
            "games": self.games,
            "planned": self.planned,
            "agents": [
                {
                    "agent": row.agent,
                    "games": row.games,
                    "wins": row.wins,
                    "draws": row.draws,
                    "losses": row.losses,
                    "failures": {str(kind): count for kind, count in row.failures.items()},
                    "score": finite(row.score),
                    "interval": [finite(end) for end in row.interval],
                    "by_seat": [{"games": seat.games, "score": finite(seat.score)} for seat in row.by_seat],
                    **rating(row.agent),
                    "moves": row.moves,
                    "seconds_per_move": finite(row.seconds_per_move),
                    "mean_reward": finite(row.mean_reward),
                    "against": {
                        other.agent: plain(self.crosstable[row.agent, other.agent])
                        for other in self.rows
                        if (row.agent, other.agent) in self.crosstable
                    },
                }
                for row in self.rows
            ],
            "anchor": self.anchor,
            "pairs": [{"agents": list(pair), "counts": list(counts)} for pair, counts in pairs],
            "notes": list(self.all_notes),
        }

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return as_html(self)


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

    def row(self, name: str) -> Row:
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
                interval = paired_interval(wins, draws, losses)
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


def _count(
    finish: Finish,
    group: GroupTotal,
    tallies: Mapping[str, _Tally],
    cells: defaultdict[tuple[str, str], list[int]],
) -> None:
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
        for other, (opponent, theirs) in enumerate(zip(finish.agents, places, strict=True)):
            points = games * (1 + (place < theirs) - (place > theirs))
            if other != seat:
                tally.points[seat] += points
            if name != opponent:
                cells[name, opponent][0] += points
                cells[name, opponent][1] += games


def _mean(values: Sequence[float]) -> float:
    """The mean; nan if there is none."""
    if not all(map(math.isfinite, values)):
        return sum(values) / len(values)
    return math.fsum(values) / len(values) if values else math.nan


def _anchor(wanted: str | None, totals: GameTotals) -> str | None:
    """The anchor, as far as it has played."""
    name = RANDOM if wanted is None else wanted
    played = any(name in finish.agents for finish in totals.groups if not finish.void)
    return name if played else None


def _stopped(totals: GameTotals, planned: int) -> Iterable[str]:
    if totals.games < planned:
        yield f"Stopped after {totals.games} of {planned} games."


def _notes(totals: GameTotals) -> Iterable[str]:
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
