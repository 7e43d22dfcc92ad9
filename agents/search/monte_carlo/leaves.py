"""Values of the leaves of a Monte Carlo tree: playouts, or an evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.monte_carlo import RandomNumbers, Start
from zermelo.agents.core.playouts import Playouts
from zermelo.agents.search.monte_carlo.tree import PlainTree
from zermelo.envs import CHANCE
from zermelo.envs.capabilities import SupportsPlayoutActions

Evaluation = Callable[[Any], tuple[float, ...]]
"""A function that gives each seat's value of a state, rewards so far included."""


class Leaves(PlainTree):
    """The part of a Monte Carlo tree search that is below the tree.

    Args:
        start, budget: As ``MonteCarlo`` takes them.
        evaluation: What an unfinished state is believed to be worth where a player is to move, or None.
        plays_out: Whether leaves are played on at random; otherwise the evaluation says what they are worth.
    """

    def __init__(
        self,
        start: Start,
        budget: Budget,
        *,
        evaluation: Evaluation | None,
        plays_out: bool,
    ) -> None:
        super().__init__(start, budget)
        self.evaluation, self.plays_out = evaluation, plays_out
        self.random = RandomNumbers(start.seed)
        self.generator = np.random.default_rng(start.seed)
        self.constant = start.game.traits.constant
        guide = start.game.playout_action if isinstance(start.game, SupportsPlayoutActions) else None
        self.playouts = Playouts(
            start.game, self.random, self.generator, longest=self.playout_moves, guide=guide,
            whole=math.isinf(budget.nodes_left),
        )  # fmt: skip
        self.first_takers: dict[int, int] = {}
        """Who was first to take an action in this simulation, for all moves as first."""

    def mean(self, kept: float, mover: int) -> float:
        """A kept value as the player to move sees it."""
        return self.constant - kept if self.num_values == 1 and mover == 1 else kept

    def evaluate(self, state: Any) -> tuple[float, ...]:
        """The value of a leaf for each seat with a value of its own; the time is measured."""
        began = self.budget.now()
        self.leaves += 1
        try:
            return self.leaf_value(state)
        finally:  # a playout may be cut short
            self.leaf_seconds += self.budget.now() - began

    def leaf_value(self, state: Any) -> tuple[float, ...]:
        """The value of a leaf, by playouts or the evaluation."""
        if self.plays_out:
            games = self.config.playouts
            results = [self.play_out(state) for _ in range(games)]
            return tuple(sum(values) / games for values in zip(*results, strict=True))
        return self.own_values(self.expected_value(state))

    def play_out(self, state: Any) -> tuple[float, ...]:
        """The outcome of a game at random from a state on."""
        end, taken = self.playouts.play(state, self.budget)
        if self.config.rave:
            for mover, action in taken:
                self.first_takers.setdefault(action, mover)
        return self.own_values(self.static_value(end))

    def expected_value(self, state: Any) -> tuple[float, ...]:
        """The evaluation of a state for each seat, averaged over chance if chance is to move."""
        game = self.game
        if game.is_terminal(state) or game.to_move(state) != CHANCE:
            return self.static_value(state)
        total = [0.0] * game.traits.seats
        for outcome, probability in game.chance_outcomes(state):
            for seat, value in enumerate(self.static_value(game.result(state, outcome))):
                total[seat] += probability * value
        return tuple(total)

    def static_value(self, state: Any) -> tuple[float, ...]:
        """The evaluation of a state, or the middle value where there is none."""
        game = self.game
        so_far: tuple[float, ...] = tuple(map(float, game.utility(state)))
        if game.is_terminal(state):
            return so_far
        if self.evaluation is not None and game.to_move(state) != CHANCE:
            return self.evaluation(state)
        if self.num_values == 1 and game.traits.seats == 2:
            return tuple(value + (self.constant - sum(so_far)) / 2 for value in so_far)
        return tuple(value + game.traits.middle for value in so_far)

    def own_values(self, utility: Sequence[float]) -> tuple[float, ...]:
        """Utilities of the seats that are kept."""
        return tuple(map(float, utility[: self.num_values]))
