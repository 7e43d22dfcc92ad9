"""Games that pay on the way, in which many ways lead to one position; keys leave out what was paid."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs import CHANCE, Traits
from zermelo.envs.game import Chance, RewardSum

_WIDTH = 3
_ENDS, _CHANCE = 0.15, 0.25


class Way(NamedTuple):
    """A position, how many moves it is away from the first, and what each seat has been paid on the way there."""

    ply: int
    place: int
    paid: tuple[float, ...]


class PaidWays:
    """A random game: three positions after each move, every move pays every seat a whole number.

    Args:
        seed: Draws moves, movers, ends and payments.
        seats: How many players.
        height: Moves and chance events to the end; some positions end earlier.
        lower: The least payment; the greatest is two more.
        total: What utilities add up to, or None for any sum; of one player any.
        chance: Whether chance moves at some positions, with even odds.
        bounds: Utility bounds to declare.
    """

    def __init__(
        self,
        seed: int,
        *,
        seats: int = 2,
        height: int = 5,
        lower: int = -1,
        total: float | None = None,
        chance: bool = False,
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        rng = np.random.default_rng(seed)
        self.height = height
        shape = (height, _WIDTH)
        self._ends = rng.random(shape) < _ENDS
        self._ends[0] = False
        self._movers = rng.integers(seats, size=shape)
        if chance:
            self._movers[rng.random(shape) < _CHANCE] = CHANCE
        self._movers[0, 0] = rng.integers(seats)
        self._choices = rng.choice([2, 4], shape)
        self._next = rng.integers(_WIDTH, size=(*shape, 4))
        self._gifts = rng.integers(lower, lower + 3, size=(*shape, 4, seats)).astype(float)
        self._last = rng.integers(lower, lower + 3, size=(height + 1, _WIDTH, seats)).astype(float)
        if total is not None and seats > 1:
            self._gifts[..., 0] -= self._gifts.sum(axis=-1)
            self._last[..., 0] += total - self._last.sum(axis=-1)
        self.traits = Traits(
            name=f"paid ways {seed}",
            seat_names=tuple(f"seat {seat}" for seat in range(seats)),
            reward_sum=RewardSum.GENERAL if total is None or seats == 1 else RewardSum.CONSTANT,
            constant=0.0 if seats == 1 else total or 0.0,
            chance=Chance.EXACT if chance else Chance.NONE,
            utility_bounds=bounds,
            terminal_rewards_only=False,
        )

    def initial_state(self) -> Way:
        return Way(0, 0, (0.0,) * self.traits.seats)

    def to_move(self, state: Way) -> int:
        return int(self._movers[state.ply, state.place])

    def legal_actions(self, state: Way) -> Sequence[int]:
        return range(self._choices[state.ply, state.place])

    def chance_outcomes(self, state: Way) -> Sequence[tuple[int, float]]:
        count = int(self._choices[state.ply, state.place])
        return [(outcome, 1 / count) for outcome in range(count)]

    def result(self, state: Way, action: int) -> Way:
        ply, place, paid = state
        after = Way(ply + 1, int(self._next[ply, place, action]), tuple(paid + self._gifts[ply, place, action]))
        if not self.is_terminal(after):
            return after
        return after._replace(paid=tuple(after.paid + self._last[after.ply, after.place]))

    def is_terminal(self, state: Way) -> bool:
        return state.ply == self.height or bool(self._ends[state.ply, state.place])

    def utility(self, state: Way) -> tuple[float, ...]:
        return state.paid

    def key(self, state: Way) -> Hashable:
        return state.ply, state.place

    def to_env_action(self, state: Way, action: int) -> Any:
        return action
