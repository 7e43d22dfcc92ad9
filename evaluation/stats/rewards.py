"""Mean rewards with intervals, where games pay amounts: chips, points, or the score of a whole team.

Means are over games, and their intervals are Student's over deals: all games of a rotation of the seats are
dealt alike (``zermelo.evaluation.schedule``). Each line-up is a stratum of its own, with Satterthwaite's degrees
of freedom (1946); where one has a single deal, all are one stratum.

The seat that failed is charged the lowest reward of any seat in any finished game, and the other seats share what
remains of a mean game's sum; a team all of whose seats are paid alike earns the lowest reward.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, TypeAlias

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.results import Deals, Result, ResultCount, Results, Rotation
from zermelo.evaluation.stats.score_interval import UPPER_TAIL

UNIT: Final = 1_000_000  # rewards are counted in millionths


class SameIfMissing:
    """Equality of dataclasses with numbers that may be missing: nan equals nan."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _known(self) == _known(other)

    def __hash__(self) -> int:
        return hash((type(self), *_known(self)))


def _known(row: Any) -> list[Any]:
    values = [getattr(row, field.name) for field in fields(row)]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]


@dataclass(frozen=True, eq=False)
class MeanReward(SameIfMissing):
    """Mean reward of an agent.

    Attributes:
        games: Games, one for each seat that it had.
        mean: The mean reward of a game; nan if there is none.
        interval: Its confidence interval; infinite where one deal is all there is.
    """

    games: int
    deals: int
    mean: float
    interval: tuple[float, float]


class Penalty(NamedTuple):
    """Rewards that a failed game counts as."""

    failed: float
    others: float


_Stratum: TypeAlias = list[tuple[int, int, float, float]]
"""Deals of one line-up, as one agent sees them: how many of a kind, its games, earnings and squared earnings."""


class _Estimate(NamedTuple):
    games: int
    deals: int
    mean: float
    error: float
    freedom: float


class Rewards:
    """Mean rewards of agents."""

    def __init__(self, results: Results, scoring: Scoring) -> None:
        self._rotations = results.rotations
        self.penalty = _penalty(results, scoring)  # None where rewards are not known, or no game was finished

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(sorted({name for rotation in self._rotations for name in _names(rotation)}))

    def of(self, agent: str) -> MeanReward:
        return self._mean(agent, self._rotations.items())

    def mixed(self, agent: str) -> MeanReward | None:
        mean = self._mean(agent, [item for item in self._rotations.items() if len(_names(item[0])) > 1])
        return mean if mean.games else None

    def by_pair(self) -> Mapping[tuple[str, str], MeanReward]:
        """The mean reward of an agent in games with another, by the two; with itself where it played alone."""
        by_pair = defaultdict[tuple[str, str], dict[Rotation, Deals]](dict)
        for rotation, deals in self._rotations.items():
            names = _names(rotation)
            for pair in ((a, b) for a in names for b in names if a != b or len(names) == 1):
                by_pair[pair][rotation] = deals
        return {pair: self._mean(pair[0], rotations.items()) for pair, rotations in by_pair.items()}

    def inferiority(self, agent: str, other: str) -> float:
        """The p-value of a one-sided test that the agent earns no more than the other.

        Student's, with the standard errors added up, as if the two means were perfectly opposed, and with one more
        deal in which both earned the same: a few deals that happen to be equal prove nothing.
        """
        from scipy.special import stdtr

        ours, theirs = (_estimate(self._strata(name, self._rotations.items())) for name in (agent, other))
        deals, apart, errors = min(ours.deals, theirs.deals), ours.mean - theirs.mean, ours.error + theirs.error
        if not math.isfinite(errors) or not apart:
            return 1.0
        errors = math.sqrt(((deals - 1) * errors**2 + apart**2 / (deals + 1)) / (deals + 1))
        return float(stdtr(deals, -apart * deals / (deals + 1) / errors))

    def _mean(self, agent: str, rotations: Iterable[tuple[Rotation, Deals]]) -> MeanReward:
        from scipy.special import stdtrit  # Student's quantiles, without loading all of scipy.stats

        games, deals, mean, error, freedom = _estimate(self._strata(agent, rotations))
        half = error and (float(stdtrit(freedom, UPPER_TAIL)) * error if math.isfinite(error) else math.inf)
        return MeanReward(games, deals, mean, (mean - half, mean + half) if games else (-math.inf, math.inf))

    def _strata(self, agent: str, rotations: Iterable[tuple[Rotation, Deals]]) -> list[_Stratum]:
        strata = defaultdict[tuple[str, ...], _Stratum](list)
        penalty = self.penalty
        for rotation, deals in rotations:
            names = _names(rotation)
            if penalty is not None and agent in names:
                games, failed, others = _seats_of(agent, rotation)
                sure = failed * penalty.failed + others * penalty.others
                place = names.index(agent)
                earned = deals.sums[place] / UNIT
                squares = deals.squares[place] / UNIT**2 + 2 * sure * earned + deals.count * sure**2
                strata[names].append((deals.count, games, earned + deals.count * sure, squares))
        if len(strata) > 1 and any(_deals(stratum) < 2 for stratum in strata.values()):
            return [[part for stratum in strata.values() for part in stratum]]
        return [*strata.values()]


def _names(rotation: Rotation) -> tuple[str, ...]:
    return tuple(sorted({name for finish in rotation for name in finish.agents}))


def _seats_of(agent: str, rotation: Rotation) -> tuple[int, int, int]:
    """The seats that an agent had in a rotation, those in which it failed, and those in which another did."""
    seats = failed = others = 0
    for finish in rotation:
        own = finish.agents.count(agent)
        seats += own
        if finish.failed_seat is not None:
            charged = finish.agents[finish.failed_seat] == agent
            failed += charged
            others += own - charged
    return seats, failed, others


def _deals(stratum: _Stratum) -> int:
    return sum(deals for deals, *_ in stratum)


def _estimate(strata: list[_Stratum]) -> _Estimate:
    """The mean over all games; deals vary by the residuals of their earnings, which may differ in games."""
    games = sum(deals * each for stratum in strata for deals, each, _, _ in stratum)
    deals = sum(map(_deals, strata))
    if not games:
        return _Estimate(0, 0, math.nan, math.inf, math.nan)
    mean = math.fsum(earned for stratum in strata for _, _, earned, _ in stratum) / games
    if any(_deals(stratum) < 2 for stratum in strata):
        return _Estimate(games, deals, mean, math.inf, math.nan)
    variances = [*map(_variance, strata)]
    whole = math.fsum(variances)
    if not whole:
        return _Estimate(games, deals, mean, 0.0, math.inf)
    parts = zip(variances, strata, strict=True)
    freedom = whole**2 / math.fsum(variance**2 / (_deals(stratum) - 1) for variance, stratum in parts)
    return _Estimate(games, deals, mean, math.sqrt(whole) / games, freedom)


def _variance(stratum: _Stratum) -> float:
    """Variance of the earnings of all deals of a line-up (a ratio estimate)."""
    count = _deals(stratum)
    mean = math.fsum(earned for _, _, earned, _ in stratum) / sum(deals * games for deals, games, _, _ in stratum)
    spread = scale = 0.0
    for deals, games, earned, squares in stratum:
        spread += squares - 2 * mean * games * earned + deals * (mean * games) ** 2
        scale += squares
    return spread * count / (count - 1) if spread > 1e-12 * scale else 0.0  # equal deals, but for rounding


def _finished(results: Results) -> Iterator[tuple[Result, ResultCount]]:
    return ((finish, group) for finish, group in results.groups.items() if finish.failure is None)


def _penalty(results: Results, scoring: Scoring) -> Penalty | None:
    games = earned = seats = 0
    lowest = math.inf
    for finish, group in _finished(results):
        if group.rewards is None or group.lowest is None:
            return None
        seats = len(finish.agents)
        games += group.games
        earned += sum(group.rewards)
        lowest = min(lowest, *group.lowest)
    if seats < 2:
        return None
    worst = lowest / UNIT
    return Penalty(worst, worst if scoring is Scoring.TEAM else (earned / games / UNIT - worst) / (seats - 1))


def scoring_of(results: Results, wanted: Scoring | str = Scoring.AUTO) -> Scoring:
    """The scoring that tables of these games rank by; never ``Scoring.AUTO``."""
    wanted = Scoring(wanted)
    if wanted is not Scoring.AUTO:
        return wanted
    paid: dict[tuple[tuple[int, ...], int], set[int]] = {}
    for finish, group in _finished(results):
        if len(finish.agents) < 2:
            return Scoring.REWARDS
        if group.lowest is None or group.highest is None:
            return Scoring.WINS
        order = tuple(sorted(finish.ranks))
        for rank, ends in zip(finish.ranks, zip(group.lowest, group.highest, strict=True), strict=True):
            paid.setdefault((order, rank), set()).update(ends)
    if all(len(amounts) == 1 for amounts in paid.values()):
        return Scoring.WINS
    return Scoring.TEAM if all(not any(order) for order, _ in paid) else Scoring.REWARDS
