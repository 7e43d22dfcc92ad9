"""Mean rewards with intervals, where games pay amounts: chips, points, or the score of a whole team.

What varies independently is the deal, not the game: all games of a rotation of the seats are dealt alike
(``zermelo.evaluation.schedule``), so a hand that is bad for one agent is bad for the other in the next game. Means
are over games, and their 95 % intervals are Student's over deals. Where an agent meets several others, each
line-up is a stratum of its own, because the schedule and not chance decides who is met; degrees of freedom are
Satterthwaite's (1946). A line-up of one deal says nothing of its variance: then all deals are one stratum.

A failed game was not finished, so nobody knows what it would have paid. Who failed is charged the least that any
seat earned in any finished game, and the other seats share what remains of a mean game's sum (in a game of zero
sum, they win what it is charged); a team all of whose seats are paid alike earns that least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.storage.deals import DealKey, DealTotal
from zermelo.evaluation.storage.totals import Finish, GameTotals, GroupTotal

UNIT: Final = 1_000_000
"""Rewards are counted in millionths."""


@dataclass(frozen=True)
class MeanReward:
    """What an agent earned in a game, on average.

    Attributes:
        games: Games, one for each seat that it had.
        deals: How many deals they were.
        mean: The mean reward of a game; nan if there is none.
        interval: Its 95 % confidence interval; infinite where one deal is all there is.
    """

    games: int
    deals: int
    mean: float
    interval: tuple[float, float]


class Charge(NamedTuple):
    """What a failed game counts as.

    Attributes:
        failed: For the seat that failed.
        spoilt: For each other seat.
    """

    failed: float
    spoilt: float


class _Stratum:
    """Deals of one line-up while they are added up.

    Attributes:
        deals: How many.
        games: Of the agent in them.
        earned: By it.
        counts: Of each kind of deal: how many, games of the agent in one, its earnings and their squares.
    """

    def __init__(self) -> None:
        self.deals = self.games = 0
        self.earned = 0.0
        self.counts: list[tuple[int, int, float, float]] = []

    def add(self, deals: int, games: int, earned: float, squares: float) -> None:
        self.deals += deals
        self.games += deals * games
        self.earned += earned
        self.counts.append((deals, games, earned, squares))

    def merge(self, other: _Stratum) -> None:
        for counts in other.counts:
            self.add(*counts)

    @property
    def variance(self) -> float:
        """Of ``earned``: that of the residuals of deals, which may have more games or fewer (a ratio estimate)."""
        mean = self.earned / self.games
        spread = scale = 0.0
        for deals, games, earned, squares in self.counts:
            spread += squares - 2 * mean * games * earned + deals * (mean * games) ** 2
            scale += squares
        if spread <= 1e-12 * scale:  # equal deals, but for rounding
            return 0.0
        return spread * self.deals / (self.deals - 1)


class Rewards:
    """What agents earned in the games of some totals.

    Args:
        totals: The games.
        scoring: ``Scoring.TEAM`` where all seats are paid alike.

    Attributes:
        charge: What a failed game counts as; None where what games paid is not known, or none was finished.
    """

    def __init__(self, totals: GameTotals, scoring: Scoring) -> None:
        self._deals = totals.deals
        self.charge = _charge(totals, scoring)

    def of(self, agent: str) -> MeanReward:
        """What an agent earned in all its games."""
        return self._mean(agent, self._deals.items())

    def mixed(self, agent: str) -> MeanReward | None:
        """What an agent earned in games with others; None where there are none."""
        found = self._mean(agent, [(key, total) for key, total in self._deals.items() if len(key) > 1])
        return found if found.games else None

    def met(self) -> Mapping[tuple[str, str], MeanReward]:
        """What an agent earned in games with another, by the two; with itself alone where it played so."""
        found: dict[tuple[str, str], dict[DealKey, DealTotal]] = {}
        for key, total in self._deals.items():
            names = [part.agent for part in key]
            pairs = ((a, b) for a in names for b in names if a != b or len(names) == 1)
            for pair in pairs:
                found.setdefault(pair, {})[key] = total
        return {pair: self._mean(pair[0], deals.items()) for pair, deals in found.items()}

    def inferiority(self, agent: str, other: str) -> float:
        """How likely means so far apart would be if the agent earned no more than the other: a one-sided test.

        Student's, with the standard errors added up, as if the two means were as opposed as can be (among two
        agents of a game of zero sum they are), and with one more deal in which both earned the same: a few deals
        that happen to be equal prove nothing.
        """
        from scipy.special import stdtr

        ours, theirs = (self._strata(name, self._deals.items()) for name in (agent, other))
        deals = min(sum(stratum.deals for stratum in strata) for strata in (ours, theirs))
        (mean, error, _), (their_mean, their_error, _) = _estimate(ours), _estimate(theirs)
        apart, errors = mean - their_mean, error + their_error
        if not math.isfinite(errors) or not apart:
            return 1.0
        errors = math.sqrt(((deals - 1) * errors**2 + apart**2 / (deals + 1)) / (deals + 1))
        return float(stdtr(deals, -apart * deals / (deals + 1) / errors))

    def _mean(self, agent: str, deals: Iterable[tuple[DealKey, DealTotal]]) -> MeanReward:
        from scipy.special import stdtrit  # Student's quantiles, without loading all of scipy.stats

        strata = self._strata(agent, deals)
        mean, error, freedom = _estimate(strata)
        half = error and (float(stdtrit(freedom, 0.975)) * error if math.isfinite(error) else math.inf)
        counted = (sum(stratum.games for stratum in strata), sum(stratum.deals for stratum in strata))
        return MeanReward(*counted, mean, (mean - half, mean + half) if counted[0] else (-math.inf, math.inf))

    def _strata(self, agent: str, deals: Iterable[tuple[DealKey, DealTotal]]) -> list[_Stratum]:
        strata: dict[tuple[str, ...], _Stratum] = {}
        charge = self.charge
        for key, total in deals:
            names = tuple(part.agent for part in key)
            if charge is not None and agent in names:
                place = names.index(agent)
                part = key[place]
                sure = part.failed * charge.failed + part.spoilt * charge.spoilt
                known = total.sums[place] / UNIT
                squares = total.squares[place] / UNIT**2 + 2 * sure * known + total.deals * sure**2
                stratum = strata.setdefault(names, _Stratum())
                stratum.add(total.deals, part.games, known + total.deals * sure, squares)
        if len(strata) > 1 and any(stratum.deals < 2 for stratum in strata.values()):
            whole = _Stratum()
            for stratum in strata.values():
                whole.merge(stratum)
            return [whole]
        return [*strata.values()]


def _estimate(strata: list[_Stratum]) -> tuple[float, float, float]:
    """The mean, its standard error and the degrees of freedom."""
    games = sum(stratum.games for stratum in strata)
    if not games:
        return math.nan, math.inf, math.nan
    mean = math.fsum(stratum.earned for stratum in strata) / games
    if any(stratum.deals < 2 for stratum in strata):
        return mean, math.inf, math.nan
    variances = [stratum.variance for stratum in strata]
    whole = math.fsum(variances)
    if not whole:
        return mean, 0.0, math.inf
    parts = zip(variances, strata, strict=True)
    freedom = whole**2 / math.fsum(variance**2 / (stratum.deals - 1) for variance, stratum in parts)
    return mean, math.sqrt(whole) / games, freedom


def _finished(totals: GameTotals) -> Iterator[tuple[Finish, GroupTotal]]:
    return ((finish, group) for finish, group in totals.groups.items() if finish.failure is None)


def _charge(totals: GameTotals, scoring: Scoring) -> Charge | None:
    """What a failed game counts as; None where no game was finished, or not all rewards are known."""
    games = earned = seats = 0
    least = math.inf
    for finish, group in _finished(totals):
        if group.rewards is None or group.lowest is None:
            return None
        seats = len(finish.agents)
        games += group.games
        earned += sum(group.rewards)
        least = min(least, *group.lowest)
    if seats < 2:
        return None
    worst = least / UNIT
    return Charge(worst, worst if scoring is Scoring.TEAM else (earned / games / UNIT - worst) / (seats - 1))


def scoring_of(totals: GameTotals, wanted: Scoring | str = Scoring.AUTO) -> Scoring:
    """What the tables of these games rank by; never ``Scoring.AUTO``."""
    wanted = Scoring(wanted)
    if wanted is not Scoring.AUTO:
        return wanted
    paid: dict[tuple[tuple[int, ...], int], set[int]] = {}
    for finish, group in _finished(totals):
        if len(finish.agents) < 2:
            return Scoring.REWARDS
        if group.lowest is None or group.highest is None:
            return Scoring.WINS
        order = tuple(sorted(finish.places))
        for place, ends in zip(finish.places, zip(group.lowest, group.highest, strict=True), strict=True):
            paid.setdefault((order, place), set()).update(ends)
    if all(len(amounts) == 1 for amounts in paid.values()):
        return Scoring.WINS
    return Scoring.TEAM if all(not any(order) for order, _ in paid) else Scoring.REWARDS
