"""One agent's games, score and interval; notes on the games; games that depend on each other."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.match.score import SeatOutcome, half_points, outcomes_of
from zermelo.evaluation.results import Result, ResultCount, Results
from zermelo.evaluation.stats.rewards import UNIT, MeanReward, Penalty, Rewards, SameIfMissing
from zermelo.evaluation.stats.score_interval import paired_interval, student_interval, wilson_interval


@dataclass(frozen=True, kw_only=True, eq=False)
class SeatScore(SameIfMissing):
    """Games of an agent from one seat, their mean score and mean reward."""

    games: int
    score: float
    reward: float = math.nan


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentRow(SameIfMissing):
    """A row of the standings: one agent with its games, score and interval.

    Attributes:
        games: Games that count, one for each seat it had.
        wins, draws, losses: See ``zermelo.evaluation.match.score`` for more than two seats; 0 for a single player.
            Games lost by failure are lost.
        failures: How many of its games it lost by each kind of failure.
        score: The mean score: of 1, 1/2 and 0 with two seats; the mean return of a single player, over the games
            that it finished; nan when there is none.
        interval: Confidence interval of ``score`` (see ``zermelo.evaluation.stats.score_interval``).
        by_seat: Games and mean score from each seat.
        seconds_per_move: Mean wall-clock time of a move.
        mean_reward: What it earned in a game, in the game's own rewards; nan where that is not known or not
            finite. What a failed game counts as is said in ``zermelo.evaluation.stats.rewards``.
        reward_interval: Its confidence interval.
        deals: How many deals its games were, which the interval takes as independent.
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
    reward_interval: tuple[float, float] = (-math.inf, math.inf)
    deals: int = 0


class _Tally:
    def __init__(self, seats: int) -> None:
        self.games, self.points, self.earned = [0] * seats, [0] * seats, [0.0] * seats
        self.once = 0  # games, of copies one
        self.outcomes = Counter[SeatOutcome]()
        self.failures = Counter[FailureKind]()
        self.moves = self.microseconds = 0

    def add(self, finish: Result, group: ResultCount, once: int, seat: int, penalty: Penalty | None) -> None:
        self.games[seat] += group.games
        self.once += once
        self.moves += group.moves[seat]
        self.microseconds += group.microseconds[seat]
        if penalty is None or (finish.failure is None and group.rewards is None):
            self.earned[seat] = math.nan
        elif finish.failure is None and group.rewards is not None:
            self.earned[seat] += group.rewards[seat] / UNIT
        else:
            self.earned[seat] += group.games * (penalty.failed if finish.failed_seat == seat else penalty.others)
        if finish.failure is not None and finish.failed_seat == seat:
            self.failures[finish.failure] += group.games
        if outcomes := outcomes_of(finish.ranks):
            self.outcomes[outcomes[seat]] += group.games
            self.points[seat] += group.games * half_points(finish.ranks)[seat]

    def seats(self) -> tuple[SeatScore, ...]:
        full = 2 * (len(self.games) - 1)  # half points of who is ahead of all others
        return tuple(
            SeatScore(games=games, score=points / full / games, reward=earned / games)
            if games
            else SeatScore(games=0, score=math.nan)
            for games, points, earned in zip(self.games, self.points, self.earned, strict=True)
        )


def rows_of(results: Results, agents: Sequence[str], seats: int, rewards: Rewards) -> list[AgentRow]:
    """The row of each agent: all of ``agents`` first, others as they come."""
    order, once = results.in_order(), results.once
    spread = dispersion(once)
    names = dict.fromkeys([*agents, *(name for finish, _ in order for name in finish.agents)])
    tallies = {name: _Tally(seats) for name in names}
    for finish, group in order:
        if not finish.void:
            for seat, name in enumerate(finish.agents):
                tallies[name].add(finish, group, once.groups[finish].games, seat, rewards.penalty)
    rows = []
    for name, tally in tallies.items():
        wins, draws, losses = map(tally.outcomes.__getitem__, SeatOutcome)
        games, by_seat = sum(tally.games), tally.seats() if seats > 1 else ()
        if seats == 1:
            returns = [*results.returns.get(name, Counter[float]()).elements()]
            score, interval = _mean(returns), student_interval(returns)
            paid = MeanReward(len(returns), len(returns), score, interval)
            by_seat = (SeatScore(games=len(returns), score=score, reward=score),)
        else:
            paid = rewards.of(name)
            score = sum(tally.points) / (2 * (seats - 1) * games) if games else math.nan
            if seats == 2:
                part = tally.once / games / spread if games else 0.0
                interval = paired_interval(part * wins, part * draws, part * losses)
            else:
                interval = wilson_interval(score if games else 0.5, tally.once)
        pace = tally.microseconds / 1e6 / tally.moves if tally.moves else math.nan
        row = AgentRow(
            agent=name, games=games, wins=wins, draws=draws, losses=losses,
            failures=dict(sorted(tally.failures.items())), score=score, interval=interval, by_seat=by_seat,
            moves=tally.moves, seconds_per_move=pace, mean_reward=paid.mean, reward_interval=paid.interval,
            deals=paid.deals,
        )  # fmt: skip
        rows.append(row)
    return rows


def _mean(values: Sequence[float]) -> float:
    total = math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    return total / len(values) if values else math.nan


def notes_on(results: Results) -> Iterator[str]:
    failed = defaultdict[tuple[str, FailureKind], list[ResultCount]](list)
    void = []
    for finish, group in results.in_order():
        if finish.void:
            void.append(group)
        elif finish.failure is not None and finish.failed_seat is not None:
            failed[finish.agents[finish.failed_seat], finish.failure].append(group)
    for (name, kind), groups in failed.items():
        first = groups[0]
        message = f": {first.message}" if first.message else ""
        where = f"first in game {first.first_id}" if first.first_id else "first"
        yield f"{name} lost {_games(sum(group.games for group in groups))} by {kind}, {where}{message}"
    if void:
        first, count = void[0], sum(group.games for group in void)
        message = f"; first, game {first.first_id}: {first.message}" if first.message else ""
        counts = "1 game counts" if count == 1 else f"{count} games count"
        yield f"{counts} for nobody, because the environment itself failed{message}"
    copies = [one for names, one in results.copies.items() if names.isdisjoint(results.failed_always)]
    if copies:
        told = ", ".join(
            f"{' v '.join(agents)} ({games} games are {distinct})" for agents, games, distinct in copies
        )
        yield (
            f"Agents without chance repeated the same games move for move: {told}. Repeated games say nothing "
            f"new: ratings, intervals and tests leave {sum(one.games - one.distinct for one in copies)} games out."
        )


def _games(count: int) -> str:
    return f"{count} game" if count == 1 else f"{count} games"


PRIOR: Final = 10  # virtual pairs whose games are independent


def dispersion(results: Results) -> float:
    """The variance of pairs of games from one opening, divided by what it is where games are independent.

    From a lopsided opening both agents win with the better side, so that pairs vary less than single games. Counts
    of games divided by this give intervals of pairs (the dispersion of quasi-likelihood: McCullagh and Nelder
    1989, section 4.5). It is drawn towards 1 as by ``PRIOR`` more pairs; 1 without openings or two seats.
    """
    if results.openings < 2:
        return 1.0
    table = defaultdict[tuple[str, ...], list[tuple[int, int, int]]](list)
    for pair in results.pairs():
        first, second = sorted(pair[:2], key=lambda finish: finish.agents)
        name = first.agents[0]
        table[first.agents].append((first.half_points(name), second.half_points(name), pair[2]))
    seen = expected = 0.0
    pairs = 0
    for rows in table.values():
        count = sum(games for _, _, games in rows)
        pairs += count
        means = [sum(row[game] * row[2] for row in rows) / count for game in (0, 1)]
        for *points, games in rows:
            off = [points[game] - means[game] for game in (0, 1)]
            seen += games * sum(off) ** 2
            expected += games * (off[0] ** 2 + off[1] ** 2)
    return (pairs * seen / expected + PRIOR) / (pairs + PRIOR) if expected else 1.0
