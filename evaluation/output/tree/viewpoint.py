"""Values as one seat sees them."""

from __future__ import annotations

import math
from typing import NamedTuple

from zermelo.agents.search.observer import NodeRole
from zermelo.envs import RewardSum, Traits, UnsupportedGameError

_TURNED = {NodeRole.MAX: NodeRole.MIN, NodeRole.MIN: NodeRole.MAX}


class Viewpoint(NamedTuple):
    """How the numbers of one seat read for another.

    Attributes:
        seat: Whose the values are to be.
        constant: What the two seats' values add up to.
        turned: Whether the numbers that come are the other seat's.
        bounds: Between which values all lie.
    """

    seat: int
    constant: float = 0.0
    turned: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def value(self, value: float) -> float:
        """A value."""
        return (self.constant - value if self.turned else value) + 0.0

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """An interval."""
        return (self.value(high), self.value(low)) if self.turned else (low + 0.0, high + 0.0)

    def role(self, role: NodeRole) -> NodeRole:
        """Who decides."""
        return _TURNED.get(role, role) if self.turned else role

    @staticmethod
    def of(traits: Traits, told: int, seat: int) -> Viewpoint:
        """For values that are told of one seat and shown of another.

        Raises:
            UnsupportedGameError: Nothing is known of that one.
        """
        is_shared = traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL
        if told != seat and not is_shared:
            raise UnsupportedGameError(
                f"this search values {traits.name} for {traits.seat_names[told]} only: leave the seat out"
            )
        bounds = traits.utility_bounds if traits.terminal_rewards_only else (-math.inf, math.inf)
        return Viewpoint(seat, traits.constant, told != seat, bounds)
