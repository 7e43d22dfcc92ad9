"""What plain and compiled max^n share."""

from __future__ import annotations

from collections.abc import Sequence

from zermelo.agents.tree_search.interface import RootMove, TreeSearch, Vector
from zermelo.agents.tree_search.settings import MaxNConfig, TieRule
from zermelo.envs.game import RewardSum, Traits


class SumNotConstantError(Exception):
    """An evaluation did not add up to the game's constant, so shallow pruning does not hold."""

    def __init__(self, values: tuple[float, ...]) -> None:
        super().__init__(values)
        self.values = values


def tie_key(rule: TieRule, values: Vector, mover: int, root_seat: int) -> float:
    """The number that the player to move minimizes among actions that are as good for itself."""
    if rule is TieRule.PARANOID:
        return values[root_seat]
    if rule is TieRule.FRIENDLY:
        return -values[root_seat]
    if rule is TieRule.FIRST:
        return 0.0
    others = 0.0
    for seat, value in enumerate(values):  # in this order, as kernels add
        others += value if seat != mover else 0.0
    return others if rule is TieRule.SPITEFUL else -others


class MaxNRoot(TreeSearch):
    """max^n as the root sees it: scores are the values of the seat to move there."""

    breaks_ties = True

    def prefer_by(self, config: MaxNConfig, traits: Traits) -> None:
        self.rule, self._prefer_short_wins = config.tie_rule, config.prefer_short_wins
        self.middle = 0.0 if traits.reward_sum is RewardSum.GENERAL else traits.constant / traits.seats

    def tie_winners(self, moves: Sequence[RootMove]) -> list[RootMove]:
        keys = [tie_key(self.rule, move.values, self.max_seat, self.max_seat) for move in moves]
        tied = [move for move, key in zip(moves, keys, strict=True) if key == min(keys)]
        first = min(tied, key=lambda move: move.action)
        same = [move for move in tied if move.values == first.values]
        distances = [self.distance_preference(first.values, move.plies, self.max_seat) for move in same]
        return [move for move, distance in zip(same, distances, strict=True) if distance == min(distances)]

    def distance_preference(self, values: Vector, plies: float, mover: int) -> float:
        """The number to minimize among actions that are the same for everybody: wins come sooner, losses later."""
        if not self._prefer_short_wins:
            return 0.0
        return plies if values[mover] > self.middle else -plies if values[mover] < self.middle else 0.0
