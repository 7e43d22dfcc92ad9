"""Games counted by who sat where and how they finished: all that ratings need, however many games there were.

The memory this takes grows with the number of different line-ups and finishes, not with the number of games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.stats.ratings.elo import check_games
from zermelo.evaluation.storage.totals import GameTotals

_TWO_SEATS = {1.0: (0, 1), 0.5: (0, 0), 0.0: (1, 0)}


class GameCounts:
    """How often each line-up finished in each way.

    Two counts are equal if they hold the same games, in whatever order those were added.
    """

    def __init__(self, results: Iterable[Sequence[Any]] = ()) -> None:
        """Counts ``results``; see ``add_results`` for their form."""
        self._counts: dict[tuple[tuple[str, ...], tuple[int, ...]], int] = {}
        self.add_results(results)

    def add_results(self, results: Iterable[Sequence[Any]]) -> None:
        """Counts many games, read one at a time.

        Args:
            results: For each game either ``(players, scores)``, with one name and one number a seat, in seat
                order, a greater score being better and equal scores a tie; or, for two seats, ``(first, second,
                score)`` with the first one's score 1, 0.5 or 0.

        Raises:
            InvalidSettingError: A result has neither form.
        """
        counts = self._counts
        for result in results:
            if len(result) == 3 and isinstance(result[0], str):
                first, second, score = result
                places = _TWO_SEATS.get(score)
                if places is None or not isinstance(second, str):
                    raise InvalidSettingError(
                        f"a result (first, second, score) needs names and a score of 1, 0.5 or 0, not {result!r}"
                    )
                key = ((first, second), places)
                counts[key] = counts.get(key, 0) + 1
            elif len(result) == 2 and not isinstance(result[0], str):
                self.add(result[0], result[1])
            else:
                raise InvalidSettingError(
                    f"a result must be (players, scores) or (first, second, score), not {result!r}"
                )

    def add(self, players: Sequence[str], scores: Sequence[float], games: int = 1) -> None:
        """Counts ``games`` games of one line-up that finished alike.

        Args:
            players: Names in seat order, at least two.
            scores: One number a seat; greater is better, equal is a tie.
            games: How many.

        Raises:
            InvalidSettingError: The numbers of names and scores differ or are less than two, a score is nan, or
                ``games`` is negative or no whole number.
        """
        if len(players) < 2 or len(players) != len(scores):
            raise InvalidSettingError(
                f"a game needs at least two players and one score for each, not {players!r} with {scores!r}"
            )
        if any(math.isnan(score) for score in scores):
            raise InvalidSettingError(f"scores must be numbers, not {scores!r} for {players!r}")
        games = check_games(games, 0, 0)[0]
        if games == 0:
            return
        place = {score: k for k, score in enumerate(sorted(set(scores), reverse=True))}
        key = (tuple(players), tuple(place[score] for score in scores))
        self._counts[key] = self._counts.get(key, 0) + games

    def add_match(self, first: str, second: str, wins: int = 0, draws: int = 0, losses: int = 0) -> None:
        """Counts games of two players, those that ``first`` won, drew and lost from the first seat.

        Raises:
            InvalidSettingError: A count is negative or no whole number.
        """
        for games, places in zip(check_games(wins, draws, losses), ((0, 1), (0, 0), (1, 0)), strict=True):
            if games:
                key = ((first, second), places)
                self._counts[key] = self._counts.get(key, 0) + games

    def update(self, other: GameCounts) -> None:
        """Adds the games of ``other`` to these."""
        for key, games in other._counts.items():
            self._counts[key] = self._counts.get(key, 0) + games

    def items(self) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], int]]:
        """``(players, places, games)`` in sorted order; place 0 is the best, and equal places are ties."""
        for players, places in sorted(self._counts):
            yield players, places, self._counts[players, places]

    @property
    def players(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted({name for players, _ in self._counts for name in players}))

    @property
    def games(self) -> int:
        """How many games were counted."""
        return sum(self._counts.values())

    def points(self) -> Mapping[str, tuple[float, int]]:
        """Of each player the points and the games.

        A game's points are the share of the other seats that were beaten, ties counting half: 1, 1/2 or 0 with
        two.
        """
        table: dict[str, tuple[float, int]] = dict.fromkeys(self.players, (0.0, 0))
        for players, places, games in self.items():
            for player, place in zip(players, places, strict=True):
                beaten = sum(1.0 if p > place else 0.5 if p == place else 0.0 for p in places) - 0.5
                points, played = table[player]
                table[player] = (points + games * beaten / (len(places) - 1), played + games)
        return table

    def between(self, first: str, second: str) -> tuple[int, int, int]:
        """Wins, draws and losses of ``first`` against ``second``, whatever their seats.

        With more than two seats it is who finished ahead of whom. Games of an agent against itself are left out.
        """
        return self.head_to_head().get((first, second), (0, 0, 0))

    def head_to_head(self) -> Mapping[tuple[str, str], tuple[int, int, int]]:
        """``between`` for all ordered pairs of players that met."""
        table: dict[tuple[str, str], list[int]] = {}
        for players, places, games in self.items():
            for a, place_a in zip(players, places, strict=True):
                for b, place_b in zip(players, places, strict=True):
                    if a != b:
                        column = 0 if place_a < place_b else 1 if place_a == place_b else 2
                        table.setdefault((a, b), [0, 0, 0])[column] += games
        return {pair: (w, d, x) for pair, (w, d, x) in table.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameCounts) and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]  # Counts change, so they have no hash; typeshed wants a method.

    def __repr__(self) -> str:
        return f"<GameCounts: {self.games} games of {len(self.players)} players>"


def count_pairs(pairs: Iterable[tuple[float, float]]) -> tuple[int, int, int, int, int, int]:
    """Counts of pairs of games as ``elo`` and ``sprt`` take them: LL, LD, WL, DD, WD, WW.

    Args:
        pairs: One agent's scores (1, 0.5 or 0) in the two games of each pair.

    Raises:
        InvalidSettingError: A score is none of these.
    """
    columns = {(0.0, 0.0): 0, (0.0, 0.5): 1, (0.0, 1.0): 2, (0.5, 0.5): 3, (0.5, 1.0): 4, (1.0, 1.0): 5}
    counts = [0] * 6
    for first, second in pairs:
        column = columns.get((first, second) if first <= second else (second, first))
        if column is None:
            raise InvalidSettingError(f"the scores of a pair must each be 1, 0.5 or 0, not {(first, second)!r}")
        counts[column] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]


def counts_of(totals: GameTotals, *, distinct: bool = False) -> GameCounts:
    """The games of more than one player that count for somebody.

    With ``distinct``, games that agents without chance repeated move for move count once.
    """
    counts, repeating = GameCounts(), totals.repeating() if distinct else {}
    for finish, group in totals.groups.items():
        if not finish.void and len(finish.agents) > 1:
            games = group.distinct if finish.agents in repeating else group.games
            counts.add(finish.agents, [-place for place in finish.places], games)
    return counts
