"""Ratings of checkpoints by all games together, those of their opponents too, and the games still to be played.

Opponents without a rating of their own (anchors, other checkpoints) are rated by the same games, in one fit. Rungs
of a ladder's file keep the ratings that they have there, and the file's covariance says how sure these are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from zermelo.evaluation.ladders.ladder import RatedPolicy, rating_among
from zermelo.evaluation.results import HeadToHead, Results
from zermelo.evaluation.stats.ratings.choices import Vector
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.rows import dispersion
from zermelo.evaluation.stats.score_interval import CONFIDENCE
from zermelo.evaluation.training.game_choice import FIXED, UNKNOWN, Goal, Knowledge
from zermelo.evaluation.training.pair_schedule import Batch
from zermelo.evaluation.training.policy_match import ENOUGH
from zermelo.evaluation.training.rated import AgentRating

LEAST: Final = 20  # games of each agent: fewer may be narrow by chance, and one anchor is not all opponents
_PART: Final = 8  # a batch adds so much of the blocks before it at most
_QUARTER: Final = 0.25  # the part of a variance that is aimed at where nothing says which is needed
_WIDENED: Final = 2.2  # by the errors of the rungs' ratings: above, more games hardly narrow an interval


@dataclass(frozen=True)
class Field:
    """The agents of a training's ratings.

    Attributes:
        names: All of them, in the order of the run.
        steps: Of the checkpoints, by name.
        zero: The agent that has the rating 0.
        rungs: The ratings of the opponents, where a ladder's file has them, in Elo.
        covariance: That of ``rungs``, in their order.
        seats: Of a game, and so games of a block.
    """

    names: tuple[str, ...]
    steps: Mapping[str, int]
    zero: str
    seats: int
    rungs: Mapping[str, float] | None = None
    covariance: Vector | None = None

    @cached_property
    def checkpoints(self) -> list[str]:
        """By step."""
        return sorted(self.steps, key=self.steps.__getitem__)

    @cached_property
    def opponents(self) -> list[str]:
        return [name for name in self.names if name not in self.steps]

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each agent among ``names``."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def pairs(self) -> Vector:
        """Which agents may meet, 0 or 1: on a ladder's file a checkpoint and a rung, elsewhere any two."""
        count = len(self.names)
        if self.rungs is None:
            return np.ones((count, count)) - np.eye(count)
        is_rung = np.array([name in self.rungs for name in self.names])
        return np.asarray(np.not_equal.outer(is_rung, is_rung), float)

    @cached_property
    def prior(self) -> Vector:
        """The information there is on the ratings before any game, in log-ability."""
        prior = np.diag(np.full(len(self.names), 1.0 / UNKNOWN))
        if self.rungs is None:
            prior[self.place[self.zero], self.place[self.zero]] = 1.0 / FIXED
            return prior
        places = [self.place[name] for name in self.rungs]
        known = np.asarray(self.covariance) / ELO_PER_LOG_ABILITY**2 + FIXED * np.eye(len(places))
        prior[np.ix_(places, places)] = np.linalg.inv(known)
        return prior


@dataclass(frozen=True)
class JointRatings:
    """The ratings that some games give, and what they leave to be known.

    Attributes:
        within: The width of every interval, in Elo, that is wanted; None for none.
        sure: The likelihood of the best checkpoint that is wanted; None for none.
        seed: Of the samples that the likelihoods are counted in.
    """

    field: Field
    results: Results
    within: float | None
    sure: float | None
    seed: int = 0

    @cached_property
    def judged(self) -> Results:
        """The games that are rated."""
        return self.results.judged

    @cached_property
    def ratings(self) -> dict[str, AgentRating]:
        """Of all agents, by name."""
        games = Counter[str]()
        for result, group in self.results.groups.items():
            for name in {*result.agents} if not result.void else ():
                games[name] += group.games
        rated = self._by_fit() if self.field.rungs is None else self._by_rungs(self.field.rungs)
        unrated = math.nan, -math.inf, math.inf
        found = {name: rated.get(name, unrated) for name in self.field.names}
        return {
            name: AgentRating(name=name, rating=rating, lower=lower, upper=upper, games=games[name])
            for name, (rating, lower, upper) in found.items()
        }

    def _by_fit(self) -> dict[str, tuple[float, float, float]]:
        counts = self.judged.counts()
        if self.field.zero not in counts.players:
            return {}
        table = fit_ratings(counts, anchor=self.field.zero, dispersion=dispersion(self.judged))
        linked = (player for player in table.players if player.component == 0)
        return {player.name: (player.smoothed_elo, player.lower, player.upper) for player in linked}

    def _by_rungs(self, rungs: Mapping[str, float]) -> dict[str, tuple[float, float, float]]:
        errors = normal_quantile(CONFIDENCE) * np.sqrt(np.diag(np.asarray(self.field.covariance)))
        rated = {
            name: (elo, elo - error, elo + error)
            for (name, elo), error in zip(rungs.items(), errors.tolist(), strict=True)
        }
        return rated | {
            name: (found.rating, found.lower, found.upper) for name, found in self._among_rungs.items()
        }

    @cached_property
    def _among_rungs(self) -> dict[str, RatedPolicy]:
        """The ratings of checkpoints on a ladder's file, as far as they have met a rung."""
        rated, spread, rungs = {}, dispersion(self.judged), self.field.rungs or {}
        for name in self.field.checkpoints:
            met = {other: self._scores[name, other] for other in rungs if (name, other) in self._scores}
            if met:
                points = {other: (score.games, score.games * score.mean) for other, score in met.items()}
                draws = sum(score.draws for score in met.values())
                rated[name] = rating_among(rungs, points, draws, spread, self.field.covariance)
        return rated

    @cached_property
    def _scores(self) -> dict[tuple[str, str], HeadToHead]:
        return self.judged.counts().head_to_head()

    @cached_property
    def knowledge(self) -> Knowledge:
        """The joint normal of all ratings."""
        field, games = self.field, np.zeros_like(self.field.prior)
        draws = 0.0
        for (name, other), score in self._scores.items():
            games[field.place[name], field.place[other]] = score.games
            draws += score.draws / 2  # each is in the scores of both
        elo = np.array([self.ratings[name].rating for name in field.names])
        known = [self.ratings[name] for name in field.checkpoints if math.isfinite(self.ratings[name].rating)]
        start = 0.0 if field.rungs is None else sum(field.rungs.values()) / len(field.rungs)
        for name in field.checkpoints:
            if known and math.isnan(elo[field.place[name]]):  # as its neighbours
                at = [field.steps[one.name] for one in known], [one.rating for one in known]
                elo[field.place[name]] = np.interp(field.steps[name], *at)
        ratings = np.nan_to_num(elo, nan=start) / ELO_PER_LOG_ABILITY
        low = np.exp(-np.abs(ratings[:, None] - ratings))
        information = float((games * low / (1 + low) ** 2).sum() / 2)
        # Draws vary less than wins and losses; drawn towards 1 as by two games between equals.
        part = (max(information - draws / 4, 0.0) + 0.5) / (information + 0.5)
        return Knowledge(ratings, field.prior, games, dispersion(self.judged) * part)

    @cached_property
    def likely_best(self) -> dict[str, float]:
        """The probability of each checkpoint to be the strongest; 0 of one that failed in all its games."""
        rated = [name for name in self.field.checkpoints if name not in self.results.failed_always]
        if not rated:
            return {}
        likely = self.knowledge.likely_best([self.field.place[name] for name in rated], self.seed)
        return dict(zip(rated, likely.tolist(), strict=True))

    def missed(self) -> Iterator[str]:
        """The checkpoints whose intervals are wider than was wanted."""
        if self.within is not None:
            for name in self.field.checkpoints:
                if self.ratings[name].width > self.within:
                    yield name

    @property
    def is_sure(self) -> bool:
        """Whether the best checkpoint is as likely as was wanted."""
        return self.sure is None or max(self.likely_best.values(), default=1.0) >= self.sure

    def _goals(self) -> Iterator[Goal]:
        covariance, units = self.knowledge.covariance(), np.eye(len(self.field.names))
        wanted = ((self.within or 200.0) / 2 / normal_quantile(CONFIDENCE) / ELO_PER_LOG_ABILITY) ** 2
        for name in self.missed():
            rating, place = self.ratings[name], self.field.place[name]
            if name in self.results.failed_always:
                continue
            own = float(covariance[place, place])
            if math.isinf(rating.width):
                if rating.games < ENOUGH:
                    yield Goal(units[place], min(wanted, own * _QUARTER))
            elif self.field.rungs is None or self._among_rungs[name].widened < _WIDENED:
                yield Goal(units[place], own * ((self.within or rating.width) / rating.width) ** 2)
        for name in self.field.names if self.field.rungs is None else self.field.checkpoints:
            if self.ratings[name].games < LEAST and name not in self.results.failed_always:
                place = self.field.place[name]
                yield Goal(units[place], max(float(covariance[place, place]) * _QUARTER, 2 * FIXED))
        likely = sorted(self.likely_best, key=self.likely_best.__getitem__, reverse=True)
        if self.sure is None or self.is_sure or len(likely) < 2:
            return
        best, rival = (self.field.place[name] for name in likely[:2])
        contrast = units[best] - units[rival]
        gap = float(contrast @ self.knowledge.ratings) / normal_quantile(2 * self.sure - 1)
        yield Goal(contrast, max(gap**2, float(contrast @ covariance @ contrast) * _QUARTER))

    def next_batch(self, blocks: int, most: int) -> Batch:
        """The pairs that are to play next, none where all is reached, or nobody's games would tell more.

        Args:
            blocks: Blocks that were played.
            most: Those that may be played.
        """
        allowed = self.field.pairs.copy()
        for names in self.results.copies:  # their games are the same again
            one, other = (self.field.place[name] for name in (*names, *names)[:2])
            allowed[one, other] = allowed[other, one] = 0.0
        for name in self.results.failed_always:
            allowed[self.field.place[name]] = allowed[:, self.field.place[name]] = 0.0
        count = min(most, max(len(self.field.steps), blocks // _PART))
        pairs = self.knowledge.chosen([*self._goals()], allowed, self.field.seats * (self.field.seats - 1), count)
        return tuple((*pair, times) for pair, times in Counter(pairs).items())

    def evenly(self) -> int | None:
        """About how many games a round robin takes for intervals as narrow; None where some have an open end."""
        rated = [name for name in self.field.checkpoints if name not in self.results.failed_always]
        if not rated or any(math.isinf(self.ratings[name].width) for name in rated):
            return None
        units = np.eye(len(self.field.names))
        contrasts: Sequence[Vector] = [units[self.field.place[name]] for name in rated]
        found = self.knowledge.evenly(self.field.pairs, contrasts)
        return None if found is None else math.ceil(found / (self.field.seats - 1))
