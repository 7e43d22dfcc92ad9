"""Who is better, recomputed from game records and from nothing else."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, Unpack

from zermelo.evaluation.match.record import GameRecord, plain
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import finite
from zermelo.evaluation.stats import notebook
from zermelo.evaluation.stats.ratings import RatingTable, counts_of, fit_ratings
from zermelo.evaluation.stats.rewards import MeanReward, Rewards, scoring_of
from zermelo.evaluation.stats.tables import as_html, as_text
from zermelo.evaluation.stats.tally import Row, notes_before, notes_on, tallied
from zermelo.evaluation.storage.totals import GameTotals

RANDOM: Final = "random"
"""Ratings are counted from the agent of this name, where it plays and no other was asked for."""


class _Settings(TypedDict, total=False):
    agents: Sequence[str]
    planned: int | None
    env: str
    seat_names: Sequence[str]
    anchor: str | None
    notes: Sequence[str]
    score: Scoring | str


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The table of a tournament; ``print`` shows it.

    Attributes:
        env: The environment's name.
        seat_names: What it calls its seats.
        scoring: What the agents are ranked by.
        rows: The agents, best first; equal ones in the order the agents were given.
        crosstable: The mean score of one agent against another, by (agent, opponent); only those who met.
        rewards: What an agent earned in a game with another, by (agent, opponent), and in a game with itself alone
            by (agent, agent).
        notes: Sentences that a reader of the table should know.
        planned: Games in the schedule; more than were played if the tournament was stopped.
        records: The games, in the order of the schedule; of a run with a folder they are read from there.
        totals: The games, counted.
        anchor: The agent whose rating is 0, or None for the average.
    """

    env: str
    seat_names: tuple[str, ...]
    scoring: Scoring
    rows: tuple[Row, ...]
    crosstable: Mapping[tuple[str, str], float]
    rewards: Mapping[tuple[str, str], MeanReward]
    notes: tuple[str, ...]
    planned: int
    records: Sequence[GameRecord] = field(repr=False)
    totals: GameTotals = field(repr=False)
    anchor: str | None = None

    @classmethod
    def from_records(cls, records: Iterable[GameRecord], **settings: Unpack[_Settings]) -> Standings:
        """The standings that the records say.

        Args:
            records: Any number of games in one environment. A sequence that reads them from a file is kept as it
                is and read once; anything else is made a tuple.
            settings: Those of ``from_totals``.
        """
        games = records if isinstance(records, Sequence) else tuple(records)
        return cls.from_totals(GameTotals.of(games), games, **settings)

    @classmethod
    def from_totals(
        cls, totals: GameTotals, records: Sequence[GameRecord], **settings: Unpack[_Settings]
    ) -> Standings:
        """The standings of games that were counted already.

        Args:
            totals: The games, counted.
            records: The games themselves, in the order of the schedule.
            settings: ``agents``, names to list in any case and whose order breaks ties (others follow as they
                come); ``planned``, games that were to be played (by default those that are there); ``env`` and
                ``seat_names``, for when there is no game to tell them; ``anchor``, the agent whose rating is 0 (by
                default one called ``random``, else the average); ``notes``, to put before those that the games
                give; ``score``, what to rank by (see ``Scoring``; by default what the games paid decides).
        """
        env, seat_names = settings.get("env", ""), settings.get("seat_names", ())
        if totals.groups and not (env and seat_names):
            env, seat_names = records[0].env, records[0].seat_names
        planned = settings.get("planned")
        planned = totals.games if planned is None else planned
        met = counts_of(totals).head_to_head().items()
        scoring = scoring_of(totals, settings.get("score", Scoring.AUTO))
        rewards = Rewards(totals, scoring)
        between = rewards.met()
        rows = tallied(totals, settings.get("agents", ()), len(seat_names), rewards)
        rows.sort(key=lambda row: _rank(row, scoring, between), reverse=True)
        return cls(
            env=env,
            seat_names=tuple(seat_names),
            scoring=scoring,
            rows=tuple(rows),
            rewards=between,
            crosstable={pair: (won + drawn / 2) / (won + drawn + lost) for pair, (won, drawn, lost) in met},
            notes=(*notes_before(totals, planned), *settings.get("notes", ()), *notes_on(totals)),
            planned=planned,
            records=records,
            totals=totals,
            anchor=_anchor(settings.get("anchor"), totals),
        )

    @functools.cached_property
    def ratings(self) -> RatingTable | None:
        """Ratings from wins, draws and losses (``fit_ratings``), made when first asked for.

        None for a single player and for teams, who beat nobody.
        """
        if len(self.seat_names) < 2 or self.scoring is Scoring.TEAM:
            return None
        return fit_ratings(counts_of(self.totals), anchor=self.anchor, dispersion=self.totals.dispersion)

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
        leads = [ratings.leader_note] if self.scoring is Scoring.WINS else []
        return (*self.notes, *filter(None, leads), *ratings.notes)

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

    def alone(self, agent: str) -> MeanReward | None:
        """What a team of that agent alone earned; None where it did not play so."""
        return self.rewards.get((agent, agent))

    def mixed(self, agent: str) -> MeanReward | None:
        """What its teams with others earned; None where there are none."""
        return Rewards(self.totals, self.scoring).mixed(agent)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the records, as plain values for JSON; what is not finite is None."""
        rated = {player.name: player for player in self.ratings.players} if self.ratings is not None else {}
        pairs = self.totals.pair_counts().items()

        def rating(agent: str) -> dict[str, Any]:
            player = rated.get(agent)
            ends = (math.nan, math.nan) if player is None else (player.lower, player.upper)
            return {
                "elo": finite(math.nan if player is None else player.elo),
                "smoothed_elo": finite(math.nan if player is None else player.smoothed_elo),
                "elo_interval": [*map(finite, ends)],
                "leader_superiority": finite(self.superiority(agent)),
            }

        return {
            "env": self.env,
            "seats": list(self.seat_names),
            "games": self.games,
            "planned": self.planned,
            "scoring": str(self.scoring),
            "agents": [
                {
                    **{name: getattr(row, name) for name in ("agent", "games", "wins", "draws", "losses")},
                    "failures": {str(kind): count for kind, count in row.failures.items()},
                    "score": finite(row.score),
                    "interval": [finite(end) for end in row.interval],
                    "by_seat": [
                        {"games": seat.games, "score": finite(seat.score), "reward": finite(seat.reward)}
                        for seat in row.by_seat
                    ],
                    **rating(row.agent),
                    "moves": row.moves,
                    "seconds_per_move": finite(row.seconds_per_move),
                    "mean_reward": finite(row.mean_reward),
                    "reward_interval": [finite(end) for end in row.reward_interval],
                    "deals": row.deals,
                    "against": {
                        other.agent: plain(self.crosstable[row.agent, other.agent])
                        for other in self.rows
                        if (row.agent, other.agent) in self.crosstable
                    },
                    "rewards_against": {
                        other.agent: _reward_dict(self.rewards[row.agent, other.agent])
                        for other in self.rows
                        if (row.agent, other.agent) in self.rewards
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

    def to_pandas(self) -> Any:
        """The columns of ``standings.csv`` as a pandas ``DataFrame``, by agent.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        return notebook.to_pandas(self)

    def plot_ratings(self, axes: Any = None) -> Any:
        """The ratings with their intervals, drawn by matplotlib; an end that is not known is an arrow.

        Args:
            axes: Where to draw; by default on a new figure.

        Returns:
            The axes.

        Raises:
            MissingDependencyError: matplotlib is not installed.
            InvalidSettingError: There are no ratings.
        """
        return notebook.plot_ratings(self, axes)

    def plot_crosstable(self, axes: Any = None) -> Any:
        """The score, or mean reward, of each agent (a row) against each other (a column), drawn by matplotlib.

        Args:
            axes: Where to draw; by default on a new figure.

        Returns:
            The axes.

        Raises:
            MissingDependencyError: matplotlib is not installed.
        """
        return notebook.plot_crosstable(self, axes)


def _rank(row: Row, scoring: Scoring, rewards: Mapping[tuple[str, str], MeanReward]) -> float:
    """What the rows are sorted by: of teams the score of the agent alone, where it played so."""
    alone = rewards.get((row.agent, row.agent)) if scoring is Scoring.TEAM else None
    single = len(row.by_seat) == 1
    value = row.score if scoring is Scoring.WINS or single else row.mean_reward if alone is None else alone.mean
    return -math.inf if math.isnan(value) else value


def _reward_dict(reward: MeanReward) -> dict[str, Any]:
    return {
        "games": reward.games,
        "deals": reward.deals,
        "mean": finite(reward.mean),
        "interval": [finite(end) for end in reward.interval],
    }


def _anchor(wanted: str | None, totals: GameTotals) -> str | None:
    """The anchor, as far as it has played."""
    name = RANDOM if wanted is None else wanted
    played = any(name in finish.agents for finish in totals.groups if not finish.void)
    return name if played else None
