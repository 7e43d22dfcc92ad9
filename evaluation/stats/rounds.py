"""Tournaments in rounds: who meets whom next, from the results of the rounds before and from nothing else.

**Swiss.** Agents are ranked by their points so far, where those are equal by their ratings so far, and else by
the order in which they were given. Among agents of equal points the upper half meets the lower half; the last of
an odd number goes down to the next. Whoever would meet again is exchanged with an agent of another pair, of as
nearly equal points as can be: while each agent has not met half of the others, there is always a pair to exchange
with, and from then on rematches are as few as exchanges make them. Of an odd number of agents, the lowest that had
none yet has a bye, which counts as a match won in every game.

**Knockout.** Those that are left are ranked by their ratings so far, in the first round by the order in which they
were given: the first meets the last, the second the last but one. In the first round the first have byes until a
power of two is left. A match is won by points; where they are equal, by who was ranked higher.

Ratings so far are those of all games of the rounds before (``RankingModel.smoothed``), to a tenth of an Elo.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from zermelo.evaluation.results import GameCounts, RoundResults
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY
from zermelo.evaluation.stats.ratings.model import RankingModel

BYE: Final = "bye"
_RIDGE: Final = 0.05


class RoundMatch(NamedTuple):
    """The games of two agents in a round, and the points of each."""

    agents: tuple[str, str]
    points: tuple[float, float]
    games: int


def matches(played: RoundResults) -> list[RoundMatch]:
    """The matches of a round as far as it was played, in the order of their agents' names."""
    points: dict[tuple[str, str], list[float]] = {}
    for result, games in played.items():
        first, second = sorted(result.agents)
        match = points.setdefault((first, second), [0.0, 0.0, 0])
        match[2] += games
        if not result.void:
            for place, name in enumerate((first, second)):
                match[place] += games * result.half_points(name) / 2
    return [RoundMatch(pair, (one, other), int(games)) for pair, (one, other, games) in sorted(points.items())]


def next_round(pairings: Pairings, agents: Sequence[str], played: Sequence[RoundResults]) -> list[tuple[str, str]]:
    """Who meets whom, sitting first and second in their first game, in the round after those."""
    field = _Field(agents, pairings)
    for of_round in played:
        field.add(of_round)
    return field.swiss() if pairings is Pairings.SWISS else field.knockout()


def knockout_winners(agents: Sequence[str], played: Sequence[RoundResults]) -> Mapping[str, int]:
    """How many rounds of a knockout each agent lasted: one more than it lost in, and two where it won its last."""
    field, lasted = _Field(agents, Pairings.KNOCKOUT), dict.fromkeys(agents, 0)
    for number, of_round in enumerate(played):
        for match in matches(of_round):
            winner, loser = field.by_result(match)
            lasted |= {winner: number + 2, loser: number + 1}
        field.add(of_round)
    return lasted


def round_table(
    agents: Sequence[str], played: Sequence[RoundResults], pairings: Pairings
) -> list[list[tuple[float, str]]]:
    """The points of each agent in each round, and its opponent; nan for who is out, and for byes of a knockout.

    Agents without a game in a round had a bye in it if they played on, or if it is the one of a Swiss tournament,
    where it counts as a match won in every game.
    """
    by_round = [{name: (points, other) for name, points, other in _sides(of_round)} for of_round in played]
    last = {name: number for number, met in enumerate(by_round) for name in met}
    is_whole = [len(met) + 1 >= len(agents) for met in by_round]
    is_swiss = pairings is Pairings.SWISS or (pairings is not Pairings.KNOCKOUT and all(is_whole))
    byes = [(_bye_points(of_round) if is_swiss else math.nan, BYE) for of_round in played]
    table = []
    for name in agents:
        line = []
        for number, met in enumerate(by_round):
            rested = number < last.get(name, -1) or (is_swiss and is_whole[number])
            line.append(met.get(name, byes[number] if rested else (math.nan, "")))
        table.append(line)
    return table


def total_points(line: Sequence[tuple[float, str]]) -> float:
    """The points of an agent's line in the ``round_table``, byes included."""
    return math.fsum(points for points, _ in line if not math.isnan(points))


def _bye_points(played: RoundResults) -> float:
    return max((match.games for match in matches(played)), default=0)


def _sides(played: RoundResults) -> Iterator[tuple[str, float, str]]:
    for (one, other), points, _ in matches(played):
        yield one, points[0], other
        yield other, points[1], one


class _Field:
    """What is known of the agents when a round is drawn."""

    def __init__(self, agents: Sequence[str], pairings: Pairings) -> None:
        self._agents, self._left, self._is_knockout = list(agents), list(agents), pairings is Pairings.KNOCKOUT
        self._points, self._first = defaultdict[str, float](float), Counter[str]()
        self._byes, self._met = Counter[str](), Counter[frozenset[str]]()
        self._counts: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        self._known: dict[str, float] | None = {}

    def add(self, played: RoundResults) -> None:
        met = matches(played)
        if self._is_knockout:
            out = {self.by_result(match)[1] for match in met}
            self._left = [name for name in self._left if name not in out]
        resting, bye = set(self._agents), _bye_points(played)
        for match in met:
            self._met[frozenset(match.agents)] += 1
            for name, points in zip(match.agents, match.points, strict=True):
                self._points[name] += points
            resting -= {*match.agents}
        for name in resting:
            self._byes[name] += 1
            self._points[name] += bye
        for result, games in played.items():
            self._first[result.agents[0]] += games
            if not result.void:
                self._counts[result.agents, result.ranks] += games
        self._known = None

    @property
    def _ratings(self) -> dict[str, float]:
        if self._known is None:
            counts, self._known = GameCounts.of(self._counts), {}
            if counts.games:
                model = RankingModel(counts, seat_effects=False, by_points=True)
                theta = model.smoothed(_RIDGE) * ELO_PER_LOG_ABILITY
                self._known = {name: round(float(theta[column]), 1) for name, column in model.column.items()}
        return self._known

    def by_result(self, match: RoundMatch) -> tuple[str, str]:
        """The winner and the loser of a match."""
        points = dict(zip(match.agents, match.points, strict=True))
        one, other = sorted(match.agents, key=lambda name: -points[name])
        return (one, other) if points[one] != points[other] else min((one, other), (other, one), key=self._seeds)

    def _seeds(self, names: Sequence[str]) -> list[tuple[float, int]]:
        # The first agents, who have byes in the first round of a knockout, stay the first.
        unrated = math.inf if self._is_knockout else 0.0
        return [(-self._ratings.get(name, unrated), self._agents.index(name)) for name in names]

    def knockout(self) -> list[tuple[str, str]]:
        order = sorted(self._left, key=lambda name: self._seeds([name]))
        resting = 2 ** (len(order) - 1).bit_length() - len(order)
        playing = order[resting:]
        half = len(playing) // 2
        return [self._seated(*pair) for pair in zip(playing[:half], reversed(playing[half:]), strict=True)]

    def swiss(self) -> list[tuple[str, str]]:
        order = sorted(self._agents, key=lambda name: (-self._points[name], self._seeds([name])))
        if len(order) % 2:
            order.remove(min(reversed(order), key=lambda name: self._byes[name]))
        pairs, group = list[tuple[str, str]](), list[str]()
        for place, name in enumerate(order):
            group.append(name)
            if place + 1 == len(order) or self._points[order[place + 1]] != self._points[name]:
                half = len(group) // 2
                pairs += zip(group[:half], group[half : 2 * half], strict=True)
                group = group[2 * half :]
        self._without_rematches(pairs)
        return [self._seated(*pair) for pair in pairs]

    def _without_rematches(self, pairs: list[tuple[str, str]]) -> None:
        """Exchanges agents of two pairs while that lessens what the pairs cost, beginning at a rematch."""
        while any(self._exchanged(pairs, place) for place in range(len(pairs))):
            pass

    def _exchanged(self, pairs: list[tuple[str, str]], place: int) -> bool:
        one, two = pairs[place]
        best, chosen = self._cost(pairs[place]), None
        for other, (three, four) in enumerate(pairs) if best[0] else ():
            for new in (((one, three), (two, four)), ((one, four), (two, three))) if other != place else ():
                costs = zip(*map(self._cost, (*new, pairs[other])), strict=True)
                meetings, points, apart = (a + b - before for a, b, before in costs)
                if (meetings, points, apart) < best:
                    best, chosen = (meetings, points, apart), (other, new)
        if chosen is not None:
            other, (pairs[place], pairs[other]) = chosen
        return chosen is not None

    def _cost(self, pair: tuple[str, str]) -> tuple[float, float, float]:
        """How often a pair has met, and how far apart its points and ratings are."""
        one, other = pair
        apart = abs(self._ratings.get(one, 0.0) - self._ratings.get(other, 0.0))
        return self._met[frozenset(pair)], (self._points[one] - self._points[other]) ** 2, apart

    def _seated(self, one: str, other: str) -> tuple[str, str]:
        """The pair with whoever sat first less often in front."""
        return (one, other) if self._first[one] <= self._first[other] else (other, one)
