"""Until the leader is known: a tournament that stops as soon as the games have told who is best.

The games are looked at only at certain places of the schedule, fixed before the first game: after whole blocks,
each time about half as many games again. At a look the leader is the agent that is rated above all others, and it
is known if against each of them the likelihood of being the stronger (``RatingTable.superiority``) is more than
1 - level. What comes after a look plays no part in it, so the answer is the same for any number of workers, and
when a run is resumed.

The level is Bonferroni's: the chance ``alpha`` of naming a wrong leader is spent evenly on all looks and all
rivals, level = alpha / (looks x rivals). By the union bound the chance to be wrong is then at most ``alpha``, as
far as the ratings' model holds (independent games, strengths on one line, the normal approximation of the
likelihood). It is a cautious test: it stops somewhat later than it might. While a pairing repeats one and the same
game the leader is never called known, because repetitions are no evidence.

Source: D. L. DeMets and K. K. G. Lan, "Interim analysis: the alpha spending function approach", *Statistics in
Medicine* 13 (1994), 1341-1352, with the simplest spending there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zermelo.envs import InvalidSettingError
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.stats.ratings import counts_of, fit_ratings
from zermelo.evaluation.storage.totals import GameTotals

__all__ = ["ALPHA", "LeaderTest"]

ALPHA: Final = 0.05
FIRST_GAMES: Final = 8
"""Of each pairing before the first look."""
GROWTH: Final = 1.5


@dataclass(frozen=True)
class LeaderTest:
    """A sequential test for the leader.

    Attributes:
        looks: The places of the schedule before which all games must be played for each look; the last is its end.
        rivals: How many other agents there are.
        alpha: The chance of naming a wrong leader.
    """

    looks: tuple[int, ...]
    rivals: int
    alpha: float = ALPHA

    @classmethod
    def of(cls, schedule: Schedule, agents: int) -> LeaderTest:
        """The test of that schedule.

        Raises:
            InvalidSettingError: A single player has no rivals.
        """
        if schedule.seats < 2:
            raise InvalidSettingError(
                "until_sure compares agents that meet, and this environment has one seat: choose a number of games"
            )
        looks, blocks = [], -(-FIRST_GAMES // schedule.seats)
        while blocks < schedule.blocks:
            looks.append(schedule.block_end(blocks - 1))
            blocks = max(blocks + 1, round(GROWTH * blocks))
        return cls((*looks, len(schedule)), agents - 1)

    @property
    def level(self) -> float:
        """What the likelihood of a rival being the stronger must fall below."""
        return self.alpha / (len(self.looks) * self.rivals)

    def leader(self, totals: GameTotals) -> str | None:
        """The leader if these games, all those before a look, make it known."""
        ratings = fit_ratings(counts_of(totals))
        if len(ratings.players) != self.rivals + 1 or len(ratings.components) != 1 or totals.repeats():
            return None
        first = max(ratings.players, key=lambda player: (player.elo, player.smoothed_elo))
        rivals = [player.name for player in ratings.players if player is not first]
        sure = all(ratings.superiority(rival, first.name) < self.level for rival in rivals)
        return first.name if sure else None

    def said(self, leader: str | None, games: int) -> str:
        """The note for the table."""
        method = f"{len(self.looks)} looks, at most {self.alpha:.0%} to be wrong over all of them"
        if leader is None:
            return f"The leader is not known for sure after all {games} games ({method})."
        return f"{leader} is known to lead after {games} of at most {self.looks[-1]} games ({method})."
