"""Plackett and Luce's model of rankings, with ties and seats; for two players it is Bradley-Terry's.

Each player has a worth, and each finishing rank in turn goes to one of those that are left with a probability
proportional to its worth (R. D. Luce, 1959; R. L. Plackett, 1975). Ties are Davidson's for two players (R. R.
Davidson, 1970, JASA 65:317) and Davidson-Luce's for more (D. Firth, I. Kosmidis and H. Turner, 2019,
arXiv:1902.07123): a rank may go to a set of t players at once, with a weight of delta_t times the geometric mean
of their worths. Tie sizes that never happened have no weight. A player's worth is multiplied by that of its seat,
the home advantage of Bradley-Terry models.

All of it is linear in logarithms: the weight of a set is the mean of its members' log-abilities and seat effects
plus log delta_t.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choice_model import ChoiceSets


@dataclass(frozen=True)
class RankingModel:
    """Which parameter means what, and the choices that the games consist of.

    Attributes:
        players: Names, sorted; parameter k is the log-ability of player k.
        seats: Parameter of each ``(number of seats, seat)``; the last seat has none, for it is the zero.
        ties: Parameter of each number of players tied.
        choices: The choices of all games.
        winner_only: Numbers of seats of the games in which all but the first place are unknown.
    """

    players: tuple[str, ...]
    seats: Mapping[tuple[int, int], int]
    ties: Mapping[int, int]
    choices: ChoiceSets
    winner_only: tuple[int, ...]

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return len(self.players) + len(self.seats) + len(self.ties)

    @staticmethod
    def of(counts: GameCounts, *, seat_effects: bool, dispersion: float = 1.0) -> RankingModel:
        """The model of these games.

        In games of three or more where never more than two ranks are known, winners and others, the others
        are taken as unranked, not as tied.
        """
        players = counts.players
        column = {name: k for k, name in enumerate(players)}
        seat_numbers = sorted({len(names) for names, _, _ in counts.items()})
        winner_only = tuple(
            n
            for n in seat_numbers
            if n > 2 and all(max(ranks) <= 1 for names, ranks, _ in counts.items() if len(names) == n)
        )
        tie_sizes = sorted(
            {
                size
                for names, ranks, _ in counts.items()
                for rank in (range(1) if len(names) in winner_only else set(ranks))
                if (size := ranks.count(rank)) > 1
            }
        )
        seats: dict[tuple[int, int], int] = {}
        if seat_effects:
            for n in seat_numbers:
                for seat in range(n - 1):
                    seats[n, seat] = len(players) + len(seats)
        ties = {size: len(players) + len(seats) + k for k, size in enumerate(tie_sizes)}

        # A choice set is keyed by who, with which seat's parameter, is left; chosen is a set of positions in it.
        chosen: dict[tuple[tuple[int, int], ...], dict[tuple[int, ...], int]] = {}
        for names, ranks, games in counts.items():
            n = len(names)
            left = [(column[name], seats.get((n, seat), -1)) for seat, name in enumerate(names)]
            left_ranks = list(ranks)
            while len(left) > 1:
                best = min(left_ranks)
                members = tuple(k for k, rank in enumerate(left_ranks) if rank == best)
                made = chosen.setdefault(tuple(left), {})
                made[members] = made.get(members, 0) + games
                if n in winner_only:
                    break
                left = [who for who, rank in zip(left, left_ranks, strict=True) if rank != best]
                left_ranks = [rank for rank in left_ranks if rank != best]

        features: list[dict[int, float]] = []
        sizes: list[int] = []
        tallies: list[float] = []
        for left_key, made in sorted(chosen.items()):
            before = len(features)
            for size in (1, *tie_sizes):
                for members in itertools.combinations(range(len(left_key)), size):
                    entries: dict[int, float] = {ties[size]: 1.0} if size > 1 else {}
                    for k in members:
                        for parameter in left_key[k]:
                            if parameter >= 0:
                                entries[parameter] = entries.get(parameter, 0.0) + 1.0 / size
                    features.append(entries)
                    tallies.append(made.get(members, 0) / dispersion)
            sizes.append(len(features) - before)
        total = len(players) + len(seats) + len(ties)
        return RankingModel(players, seats, ties, ChoiceSets(features, sizes, tallies, total), winner_only)

    def smoothed_choices(self, counts: GameCounts) -> ChoiceSets:
        """The choices with half a win each way added to every two players that met, so that all stays finite."""
        column = {name: k for k, name in enumerate(self.players)}
        met = sorted(pair for pair in counts.head_to_head() if pair[0] < pair[1])
        matrix = self.choices.matrix.tocsr()
        rows = (np.split(part, matrix.indptr[1:-1]) for part in (matrix.indices, matrix.data))
        features = [dict(zip(*map(np.ndarray.tolist, row), strict=True)) for row in zip(*rows, strict=True)]
        features += [{column[name]: 1.0} for pair in met for name in pair]
        sizes = [*self.choices.sizes.tolist(), *[2] * len(met)]
        tallies = [*self.choices.counts.tolist(), *[0.5] * (2 * len(met))]
        return ChoiceSets(features, sizes, tallies, self.parameters)
