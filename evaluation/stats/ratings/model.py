"""Plackett and Luce's model of rankings, with ties and seats; for two players it is Bradley-Terry's.

Each finishing rank in turn goes to one of those that are left with a probability proportional to its worth (R. D.
Luce, 1959; R. L. Plackett, 1975), or to t of them at once, with a weight of delta_t times the geometric mean of
their worths (R. R. Davidson, 1970, JASA 65:317; D. Firth, I. Kosmidis and H. Turner, 2019, arXiv:1902.07123). A
player's worth is multiplied by that of its seat. In logarithms all of it is linear.

Davidson's worths are of wins and losses, which draws put further apart, and Elo is of points (``elo.ELO_SCALE``).
Ratings therefore come from the model ``by_points``: a draw of two is half a win for each, and the seats of games
for two, which rotate, have no effects. Each player then expects the points that it scored.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Final

import numpy as np

from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choices import Choices, Vector

PRIOR: Final = 2  # virtual games that vary as the model says
_FAR: Final = 40.0  # a difference that leaves no doubt who wins
_FIRST: Final = (0,)
_SECOND: Final = (1,)


class RankingModel:
    """Which parameter means what, and the choices that the games consist of.

    Where never more than two ranks of three or more are known, those but the winners are unranked, not tied.
    """

    def __init__(
        self, counts: GameCounts, *, seat_effects: bool, dispersion: float = 1.0, by_points: bool = False
    ) -> None:
        self._counts, self._seat_effects = counts, seat_effects
        games = [*counts.items()]
        # Numbers of seats of the games, and of those in which all but the first place are unknown.
        finishes = {ranks for _, ranks, _ in games}
        seat_numbers = sorted({len(ranks) for ranks in finishes})
        self.winner_only = tuple(
            n for n in seat_numbers if n > 2 and all(max(ranks) < 2 for ranks in finishes if len(ranks) == n)
        )
        sizes = {
            ranks.count(rank)
            for ranks in finishes
            for rank in ((0,) if len(ranks) in self.winner_only else {*ranks})
            if len(ranks) > 2 or not by_points
        }
        tie_sizes = sorted(sizes - {1})
        # Parameters of players by name, of each (number of seats, seat) but the last, which is the zero, and of
        # each number of players tied.
        seats = [(n, seat) for n in seat_numbers if n > 2 or not by_points for seat in range(n - 1)]
        seats = seats if seat_effects else []
        self.column = {name: number for number, name in enumerate(counts.players)}
        first = len(self.column)
        self.seats = {seat: first + place for place, seat in enumerate(seats)}
        self.ties = {size: first + len(seats) + place for place, size in enumerate(tie_sizes)}
        self.parameters = first + len(seats) + len(tie_sizes)

        # A choice set is keyed by who, with which seat's parameter, is left; chosen is a set of positions in it.
        chosen: dict[tuple[tuple[int, int], ...], dict[tuple[int, ...], float]] = {}
        left, seated = list[tuple[int, int]](), tuple[str, ...]()
        for names, ranks, times in games:
            n = len(names)
            if names != seated:
                left = [(self.column[name], self.seats.get((n, seat), -1)) for seat, name in enumerate(names)]
                seated = names
            if n == 2 and ranks[0] != ranks[1]:  # by far the most of large tournaments
                first_place = left[0] <= left[1]
                made = chosen.setdefault((*left,) if first_place else (left[1], left[0]), defaultdict(float))
                made[_FIRST if first_place == (ranks[0] < ranks[1]) else _SECOND] += times
                continue
            for rank in (0,) if n == 2 or n in self.winner_only else range(n):
                still = sorted((who, own) for who, own in zip(left, ranks, strict=True) if own >= rank)
                members = tuple(place for place, (_, own) in enumerate(still) if own == rank)
                if members and len(still) > 1:
                    made = chosen.setdefault(tuple(who for who, _ in still), defaultdict(float))
                    for one in [(0,), (1,)] if by_points and members == (0, 1) and n == 2 else [members]:
                        made[one] += times * len(one) / len(members)

        features: list[dict[int, float]] = []
        tallies: list[float] = []
        set_sizes: list[int] = []
        members_of = {  # by the number of those that are left
            n: [one for size in (1, *tie_sizes) for one in itertools.combinations(range(n), size)]
            for n in {*map(len, chosen)}
        }
        for key, made in sorted(chosen.items()):
            for members in members_of[len(key)]:
                size = len(members)
                if size == 1:
                    who, seat = key[members[0]]
                    entries = {who: 1.0} if seat < 0 else {who: 1.0, seat: 1.0}
                else:
                    entries = {self.ties[size]: 1.0}
                    for parameter in (one for place in members for one in key[place] if one >= 0):
                        entries[parameter] = entries.get(parameter, 0.0) + 1.0 / size
                features.append(entries)
                tallies.append(made[members])
            set_sizes.append(len(members_of[len(key)]))
        self.choices = Choices(features, set_sizes, tallies, self.parameters, weight=1.0 / dispersion)

    def smoothed(self, ridge_of_effects: float) -> Vector:
        """Parameters with half a win each way added to every two players that met, so that all stay finite."""
        met = sorted(pair for pair in self._counts.head_to_head() if pair[0] < pair[1])
        features, sizes, tallies = self.choices.given
        features = [*features, *({self.column[name]: 1.0} for pair in met for name in pair)]
        tallies = [*tallies, *[0.5 / self.choices.weight] * (2 * len(met))]
        choices = Choices(features, [*sizes, *[2] * len(met)], tallies, self.parameters, self.choices.weight)
        ridge = np.full(self.parameters, 1e-6)
        ridge[len(self.column) :] = ridge_of_effects
        return choices.maximize(np.zeros(self.parameters), np.zeros((self.parameters, 0)), ridge)

    def spread(self, theta: Vector) -> float:
        """The variance of the results of two players as a part of what the model by points says, at most 1.

        That is p (1 - p) a game for an expected score p, less a quarter of the rate of draws and the square of
        what the first seat adds. It is drawn towards 1 by ``PRIOR`` games, and 1 if there are games of more
        players.
        """
        games = binomial = draws = surplus = 0.0
        for names, ranks, times in self._counts.items():
            if len(names) > 2:
                return 1.0
            gap = theta[self.column[names[0]]] - theta[self.column[names[1]]]
            expected = 1.0 / (1.0 + math.exp(-max(-_FAR, min(_FAR, gap))))
            games += times
            binomial += times * expected * (1.0 - expected)
            draws += times * (ranks[0] == ranks[1])
            surplus += times * (0.5 * (1 + ranks[1] - ranks[0]) - expected)
        # The square of the first seat's mean surplus, less what chance makes of it.
        of_seats = max(0.0, surplus**2 - binomial) / games if self._seat_effects else 0.0
        left = max(0.0, binomial - draws / 4.0 - of_seats)
        return (left + PRIOR / 4.0) / (binomial + PRIOR / 4.0)

    def mean(self, *names: str) -> Vector:
        """The mean of players' log-abilities, as weights of the parameters."""
        weights = np.zeros(self.parameters)
        weights[[self.column[name] for name in names]] = 1.0 / len(names)
        return weights
