"""Agents ranked by their results."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.results import Results
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.ratings.choice_fit import FINITE
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.ratings.table import RatingTable
from zermelo.evaluation.stats.rewards import MeanReward, Rewards, scoring_of
from zermelo.evaluation.stats.rounds import knockout_winners, matches, round_table, total_points
from zermelo.evaluation.stats.rows import AgentRow, dispersion, notes_on, rows_of

RANDOM: Final = "random"
"""Ratings are counted from the agent of this name, where it plays and no other was asked for."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Agents and how they did.

    Attributes:
        agents: Names to list in any case, and whose order breaks ties; others follow as they come.
        planned: Games in the schedule, by default those that there are; more if the tournament was stopped.
        score: What to rank by; ``Scoring.AUTO`` lets the rewards decide.
        anchor: The agent whose rating is 0; by default one called ``random``, unless more agents have a finite
            rating on the scale of the average, as where it lost every game; else the average.
        earlier_notes: Sentences to put before those that the games give.
        env_title: The environment's name for people, where it has another.
        anchor_by_default: No anchor was given.
        pairings: A knockout ranks by the round that an agent lasted until, a Swiss tournament by points, byes
            included, unless rewards decide; then both by ``score``.
    """

    env: str
    seat_names: tuple[str, ...]
    results: Results = field(repr=False)
    agents: Sequence[str] = ()
    planned: int | None = None
    score: Scoring | str = Scoring.AUTO
    anchor: str | None = None
    earlier_notes: Sequence[str] = ()
    env_title: str = ""
    pairings: Pairings = Pairings.ROUND_ROBIN
    anchor_by_default: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "anchor_by_default", self.anchor is None)
        name = RANDOM if self.anchor is None else self.anchor
        played = any(name in finish.agents for finish in self.results.groups if not finish.void)
        object.__setattr__(self, "anchor", name if played and name not in self.unrated else None)
        if self.planned is None:
            object.__setattr__(self, "planned", self.results.games)

    @property
    def title(self) -> str:
        """The environment's name for people."""
        return self.env_title or self.env

    @functools.cached_property
    def scoring(self) -> Scoring:
        """The measure that agents are ranked by; never ``Scoring.AUTO``."""
        return scoring_of(self.results, self.score)

    @property
    def measure(self) -> str:
        """The name of what the agents are ranked by: score or reward."""
        return "reward" if self.scoring is Scoring.REWARDS and len(self.seat_names) > 1 else "score"

    @functools.cached_property
    def _earned(self) -> Rewards:
        return Rewards(self.results.once, self.scoring)

    @functools.cached_property
    def rewards(self) -> Mapping[tuple[str, str], MeanReward]:
        """Mean rewards of one agent in games with another, by (agent, opponent); alone by (agent, agent)."""
        return self._earned.by_pair()

    @functools.cached_property
    def crosstable(self) -> Mapping[tuple[str, str], float]:
        """The mean score of one agent against another, by (agent, opponent); only those who met."""
        return {pair: score.mean for pair, score in self.results.counts().head_to_head().items()}

    @functools.cached_property
    def rows(self) -> tuple[AgentRow, ...]:
        """The agents, best first."""
        rows = rows_of(self.results, self.agents, len(self.seat_names), self._earned)
        return tuple(sorted(rows, key=self._value, reverse=True))

    @functools.cached_property
    def _lasted(self) -> Mapping[str, int]:
        if self.pairings is not Pairings.KNOCKOUT:
            return {}
        names = dict.fromkeys([*self.agents, *(name for result in self.results.groups for name in result.agents)])
        return knockout_winners([*names], self.results.rounds)

    @functools.cached_property
    def round_table(self) -> Mapping[str, Sequence[tuple[float, str]]]:
        """Points and opponent of each agent in each round; empty where there are no rounds."""
        if not (played := self.results.rounds):
            return {}
        names = dict.fromkeys([*self.agents, *(name for result in self.results.groups for name in result.agents)])
        return dict(zip(names, round_table([*names], played, self.pairings), strict=True))

    @property
    def final_note(self) -> str:
        """A sentence on who won a knockout; empty before that, and elsewhere."""
        if self.pairings is not Pairings.KNOCKOUT or not self.complete or not self.results.rounds:
            return ""
        (match,) = matches(self.results.rounds[-1])
        winner, other = (row.agent for row in self.rows[:2])
        points = dict(zip(match.agents, match.points, strict=True))
        score = f"{points[winner]:g} to {points[other]:g}"
        if points[winner] > points[other]:
            return f"{winner} won the knockout: the final against {other} by {score}."
        return (
            f"{winner} won the knockout: the final against {other} ended {score}, and {winner} was ranked higher "
            "before it."
        )

    def _value(self, row: AgentRow) -> tuple[float, float]:
        alone = self.alone(row.agent) if self.scoring is Scoring.TEAM else None
        by_score = self.scoring is Scoring.WINS or len(row.by_seat) == 1
        value = row.score if by_score else row.mean_reward if alone is None else alone.mean
        before: float = self._lasted.get(row.agent, 0)
        if self.pairings is Pairings.SWISS and self.scoring is Scoring.WINS:
            before = total_points(self.round_table.get(row.agent, ()))
        return before, -math.inf if math.isnan(value) else value

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the table should know, but those on ratings."""
        stopped = [] if self.complete else [f"Stopped after {self.games} of {self.planned} games."]
        unrated = ", so it has no rating, and ratings are computed without its games" * (len(self.seat_names) > 1)
        failed = [f"{name} failed in every game{unrated}." for name in self.unrated]
        final = filter(None, [self.final_note])
        return (*stopped, *final, *self.earlier_notes, *failed, *notes_on(self.results))

    @functools.cached_property
    def ratings(self) -> RatingTable | None:
        """Ratings from wins, draws and losses (``fit_ratings``) of the games that are judged (``Results.judged``).

        None for a single player and for teams, who beat nobody.
        """
        if len(self.seat_names) < 2 or self.scoring is Scoring.TEAM:
            return None
        games = self.results.judged
        counts = games.counts()
        anchor, spread = self.anchor if self.anchor in counts.players else None, dispersion(games)
        ratings = fit_ratings(counts, anchor=anchor, dispersion=spread)
        if not self.anchor_by_default or anchor is None or _finite(ratings) == len(ratings.players):
            return ratings
        average = fit_ratings(counts, dispersion=spread)
        return average if _finite(average) > _finite(ratings) else ratings

    @property
    def unrated(self) -> tuple[str, ...]:
        """Agents that failed in every game: what beats them shows nothing, so such games count for no rating."""
        return self.results.failed_always

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
        """``notes``, and sentences to read before the ratings."""
        ratings = self.ratings
        if ratings is None or not ratings.games:
            return self.notes
        # In rounds agents meet opponents of different strength: the rating's leader need not be that of the table.
        leads = [ratings.leader_note] if self.scoring is Scoring.WINS and not self.results.rounds else []
        return (*self.notes, *filter(None, leads), *ratings.notes)

    @property
    def games(self) -> int:
        """Games played, void ones included."""
        return self.results.games

    @property
    def complete(self) -> bool:
        """Whether the whole schedule was played."""
        return self.games >= (self.planned or 0)

    def row(self, agent: str) -> AgentRow:
        """The row of an agent, by name."""
        return next(row for row in self.rows if row.agent == agent)

    def alone(self, agent: str) -> MeanReward | None:
        """The mean reward of teams of that agent alone; None where it did not play so."""
        return self.rewards.get((agent, agent))

    def mixed(self, agent: str) -> MeanReward | None:
        """The mean reward of an agent's teams with others; None where there are none."""
        return self._earned.mixed(agent)


def _finite(ratings: RatingTable) -> int:
    """Returns how many agents have a finite rating on the scale of the first component."""
    return sum(player.status == FINITE for player in ratings.players if player.component == 0)
