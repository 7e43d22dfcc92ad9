"""Who is better, recomputed from game records and from nothing else."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zermelo.evaluation.interval import paired_interval, student_interval, wilson_interval
from zermelo.evaluation.record import FailureKind, GameRecord, plain
from zermelo.evaluation.score import Outcome

__all__ = ["Row", "SeatScore", "Standings"]


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
        wins: See ``zermelo.evaluation.score`` for more than two seats; 0 for a single player.
        draws: Likewise.
        losses: Likewise, games lost by failure included.
        failures: How many of its games it lost by each kind of failure.
        score: The mean score: of 1, 1/2 and 0 with two seats; the mean return of a single player, over the games
            that it finished; nan when there is none.
        interval: 95 % confidence interval of ``score`` (see ``zermelo.evaluation.interval``).
        by_seat: Games and mean score from each seat.
        moves: Moves it made.
        seconds_per_move: Mean wall-clock time of a move.
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
        records: The games, in the order of the schedule.
    """

    env: str
    seat_names: tuple[str, ...]
    rows: tuple[Row, ...]
    crosstable: Mapping[tuple[str, str], float]
    notes: tuple[str, ...]
    planned: int
    records: tuple[GameRecord, ...] = field(repr=False)

    @classmethod
    def from_records(
        cls,
        records: Iterable[GameRecord],
        *,
        agents: Sequence[str] = (),
        planned: int | None = None,
        env: str = "",
        seat_names: Sequence[str] = (),
    ) -> Standings:
        """The standings that the records say.

        Args:
            records: Any number of games in one environment.
            agents: Names to list in any case and whose order breaks ties; others follow as they come.
            planned: Games that were to be played; by default those that are there.
            env: The environment's name, for when there is no game to tell it.
            seat_names: Its seats, likewise.
        """
        games = tuple(records)
        counted = [game for game in games if not game.void]
        names = list(dict.fromkeys([*agents, *(name for game in games for name in game.agents)]))
        if games:
            env, seat_names = games[0].env, games[0].seat_names
        seats = len(seat_names)
        tallies = {name: _Tally(seats) for name in names}
        cells: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for game in counted:
            _count(game, tallies, cells)
        rows = [tally.row(name) for name, tally in tallies.items()]
        rows.sort(key=lambda row: -math.inf if math.isnan(row.score) else row.score, reverse=True)
        planned = len(games) if planned is None else planned
        return cls(
            env=env,
            seat_names=tuple(seat_names),
            rows=tuple(rows),
            crosstable={pair: math.fsum(scores) / len(scores) for pair, scores in cells.items()},
            notes=tuple(_notes(games, planned)),
            planned=planned,
            records=games,
        )

    @property
    def games(self) -> int:
        """Games played, void ones included."""
        return len(self.records)

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
                    "moves": row.moves,
                    "seconds_per_move": finite(row.seconds_per_move),
                    "against": {
                        other.agent: plain(self.crosstable[row.agent, other.agent])
                        for other in self.rows
                        if (row.agent, other.agent) in self.crosstable
                    },
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        from zermelo.evaluation.tables import as_text

        return as_text(self)


class _Tally:
    """One agent's games while they are counted."""

    def __init__(self, seats: int) -> None:
        self.scores: list[list[float]] = [[] for _ in range(seats)]
        self.outcomes = Counter[Outcome]()
        self.failures = Counter[FailureKind]()
        self.moves = 0
        self.seconds = 0.0

    def row(self, name: str) -> Row:
        scores = [score for by_seat in self.scores for score in by_seat]
        single, games = len(self.scores) == 1, len(scores)
        wins, draws, losses = (self.outcomes[kind] for kind in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS))
        score = _mean(scores)
        if single:
            interval = student_interval(scores)
        elif len(self.scores) == 2:
            interval = paired_interval(wins, draws, losses)
        else:
            interval = wilson_interval(score if games else 0.5, games)
        return Row(
            agent=name,
            games=games + (self.failures.total() if single else 0),
            wins=wins,
            draws=draws,
            losses=losses,
            failures=dict(sorted(self.failures.items())),
            score=score,
            interval=interval,
            by_seat=tuple(SeatScore(games=len(seat), score=_mean(seat)) for seat in self.scores),
            moves=self.moves,
            seconds_per_move=self.seconds / self.moves if self.moves else math.nan,
        )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _count(
    game: GameRecord, tallies: Mapping[str, _Tally], cells: defaultdict[tuple[str, str], list[float]]
) -> None:
    single = len(game.agents) == 1
    for seat, (name, score) in enumerate(zip(game.agents, game.scores, strict=True)):
        failed = game.failure is not None and game.failure.seat == seat
        # A single player that failed has no return: crashing at once must not beat a game of negative rewards.
        if not (single and failed):
            tallies[name].scores[seat].append(score)
        if failed and game.failure is not None:
            tallies[name].failures[game.failure.kind] += 1
    for name, outcome in zip(game.agents, game.outcomes, strict=False):
        tallies[name].outcomes[outcome] += 1
    for move in game.moves:
        tally = tallies[game.agents[move.seat]]
        tally.moves += 1
        tally.seconds += move.seconds
    if single:
        return
    offender = None if game.failure is None else game.failure.seat
    worth = [
        float(reward) if offender is None else float(seat != offender) for seat, reward in enumerate(game.rewards)
    ]
    for seat, name in enumerate(game.agents):
        for other, opponent in enumerate(game.agents):
            if name != opponent:
                comparison = (worth[seat] > worth[other]) - (worth[seat] < worth[other])
                cells[name, opponent].append((1 + comparison) / 2)


def _notes(games: Sequence[GameRecord], planned: int) -> Iterable[str]:
    if len(games) < planned:
        yield f"Stopped after {len(games)} of {planned} games."
    failed = defaultdict[tuple[str, FailureKind], list[GameRecord]](list)
    void = [game for game in games if game.void]
    for game in games:
        if game.failure is not None and game.failure.seat is not None:
            failed[game.agents[game.failure.seat], game.failure.kind].append(game)
    for (name, kind), lost in failed.items():
        first = lost[0].failure
        said = f": {first.message}" if first is not None else ""
        where = f"first in game {lost[0].game_id}" if lost[0].game_id else "first"
        yield f"{name} lost {_games(len(lost))} by {kind}, {where}{said}"
    if void:
        first = void[0].failure
        said = f"; first, game {void[0].game_id}: {first.message}" if first is not None else ""
        counts = "1 game counts" if len(void) == 1 else f"{len(void)} games count"
        yield f"{counts} for nobody, because the environment itself failed{said}"
    yield from _repeats(games)


def _repeats(games: Sequence[GameRecord]) -> Iterable[str]:
    """Pairings in which every assignment of seats gave one and the same game, again and again."""
    played = defaultdict[frozenset[str], defaultdict[tuple[str, ...], Counter[str]]](lambda: defaultdict(Counter))
    for game in games:
        if game.failure is None and len(game.agents) > 1:
            played[frozenset(game.agents)][game.agents][repr((game.actions, game.rewards))] += 1
    repeating = []
    for by_seats in played.values():
        lines = list(by_seats.values())
        if any(line.total() > 1 for line in lines) and all(len(line) == 1 for line in lines):
            total = sum(line.total() for line in lines)
            repeating.append(f"{' v '.join(next(iter(by_seats)))} ({total} games are {len(lines)})")
    if repeating:
        yield (
            f"Deterministic agents repeated the same games move for move: {', '.join(repeating)}. Repeated games "
            "say no more than one, so intervals that count them are too narrow."
        )


def _games(count: int) -> str:
    return f"{count} game" if count == 1 else f"{count} games"
