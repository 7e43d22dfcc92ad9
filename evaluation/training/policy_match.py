"""A policy's games with anchors: as many as were asked for, or as an interval needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Final

from zermelo.evaluation.ladders.ladder import POLICY, RatedAnchors, RatedPolicy
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.schedule import ScheduledGame, derived_seed
from zermelo.evaluation.storage.counting import count_games
from zermelo.evaluation.workers.games import GamePlayer
from zermelo.evaluation.workers.work import SerialRunner

BLOCK: Final = 5  # games from each seat against a rung, until the next one is chosen
MOST: Final = 1000  # games on a ladder, however wide the interval is, where no width was asked for
MOST_ASKED: Final = 20_000  # games, where one was
_HARDLY: Final = 0.9  # of the width before, after twice the games
ENOUGH: Final = 100  # games on a ladder, or with an anchor, for a policy that has won or lost them all
WIDTH: Final = 100.0  # Elo, of the interval on a ladder


class PolicyMatch:
    """A policy's games with anchors, as they are played."""

    def __init__(self, player: GamePlayer, ladder: RatedAnchors, seed: int) -> None:
        self.player, self.ladder, self.seed = player, ladder, seed
        self._seats = len(player.seat_names)
        self.played: dict[str, list[GameRecord]] = {anchor.name: [] for anchor in ladder.anchors}

    @property
    def records(self) -> list[GameRecord]:
        return [*itertools.chain.from_iterable(self.played.values())]

    def _play(self, name: str, count: int) -> None:
        played = self.played[name]
        schedule = _schedule(self.ladder, name, self._seats, len(played), count, self.seed)
        played += SerialRunner().run(self.player, schedule)

    def play_each(self, games: int) -> None:
        """Plays until there are so many games with every anchor."""
        for name, played in self.played.items():
            self._play(name, games - len(played))

    def _found(self) -> RatedPolicy | None:
        results = count_games(self.records)
        return self.ladder.rating_of(results) if results.counts().games else None

    def narrow(
        self, width: float, most: int | None, find: Callable[..., RatedAnchors], say: Callable[[str], object]
    ) -> None:
        """Plays on with every anchor, and they among themselves, until the interval is so narrow."""
        each = next(iter({len(played) for played in self.played.values()}))
        limit = most or MOST_ASKED // len(self.played)
        while (found := self._found()) is not None and found.upper - found.lower > width and each < limit:
            is_one_sided = math.isinf(found.upper - found.lower)
            if is_one_sided and each >= ENOUGH:
                return
            factor = 2.0 if is_one_sided else min(1.05 * ((found.upper - found.lower) / width) ** 2, 4.0)
            each = min(limit, -(-math.ceil(factor * each) // self._seats) * self._seats)
            say(missing(found, len(self.records), width))
            self.ladder = find(games=each)
            self.play_each(each)

    def climb(self, width: float, most: int, say: Callable[[str], object]) -> None:
        """Plays with the rung that is nearest to the rating so far until the interval is so narrow.

        It ends before, where twice the games made it hardly narrower: the rest is the rungs' own error.
        """
        elo = self.ladder.elo
        estimate, total = sum(elo.values()) / len(elo), 0
        before, width_before = ENOUGH, math.inf
        while True:
            count = max(BLOCK, total // 10 // self._seats) * self._seats
            self._play(min(elo, key=lambda name: abs(elo[name] - estimate)), count)
            found, total = self._found(), total + count
            if found is None:
                return
            estimate = found.rating
            is_one_sided = math.isinf(found.upper - found.lower)
            now = found.upper - found.lower
            if now <= width or total >= (ENOUGH if is_one_sided else most):
                return
            if total >= 2 * before:
                if now > _HARDLY * width_before and not is_one_sided:
                    say(f"after {total:,} games the interval is {now:.0f} Elo wide: the rungs' own error is left")
                    return
                before, width_before = total, now
            say(missing(found, total, width))


def missing(found: RatedPolicy, games: int, width: float) -> str:
    """How many games an interval of that width is going to need, by those so far."""
    now = found.upper - found.lower
    if math.isinf(now):
        return f"after {games:,} games the interval has an open end, and how many more close it is not known"
    more = math.ceil(games * ((now / width) ** 2 - 1))
    return f"after {games:,} games the interval is {now:.0f} Elo wide: one of {width:g} needs about {more:,} more"


def _schedule(
    ladder: RatedAnchors, name: str, seats: int, first: int, count: int, seed: int
) -> list[ScheduledGame]:
    """Games with an anchor, from number ``first`` on: the policy has one seat in turn, the anchor the others."""
    scheduled, number = [], list(ladder.elo).index(name)
    for game in range(first, first + count):
        block, seat = divmod(game, seats)
        opening = ladder.openings[block % len(ladder.openings)] if ladder.openings else ()
        seated = tuple(POLICY if place == seat else name for place in range(seats))
        game_seed = derived_seed(seed, "policy", name, game)
        scheduled.append(ScheduledGame(f"{block}.{number}.{seat}", game_seed, seated, opening))
    return scheduled
