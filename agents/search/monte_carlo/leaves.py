"""What the leaves of a Monte Carlo tree are worth: playouts, or an evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.monte_carlo import RandomNumbers, Start
from zermelo.agents.search.monte_carlo.tree import PlainTree
from zermelo.envs import CHANCE
from zermelo.envs.capabilities import SupportsPlayoutActions, SupportsPlayouts, SupportsWholePlayouts

__all__ = ["Evaluation", "Leaves"]

Evaluation = Callable[[Any], tuple[float, ...]]
"""What a state is worth to each seat, rewards so far included."""


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
        self.own_state: Callable[[Any], Any] | None = None
        """What copies a state for a playout, where it then goes on by steps of that one copy."""
        self.after: Callable[..., Any] = self.result_of
        """What a playout comes to by an action; of chance that is simulated with a generator."""
        if isinstance(start.game, SupportsPlayouts):
            self.own_state, self.after = start.game.playout_state, start.game.play_on
        self.whole: Callable[..., Any] | None = None
        """What plays a whole game at random, where nothing limits it."""
        is_unlimited = self.playout_moves is None and math.isinf(budget.nodes_left)
        if is_unlimited and isinstance(start.game, SupportsWholePlayouts):
            self.whole = start.game.play_out
        self.guide = start.game.playout_action if isinstance(start.game, SupportsPlayoutActions) else None
        self.first_takers: dict[int, int] = {}
        """Who was first to take an action in this simulation, for all moves as first."""

    def mean(self, kept: float, mover: int) -> float:
        """A kept value as the player to move sees it."""
        return self.constant - kept if self.kept == 1 and mover == 1 else kept

    def evaluate(self, state: Any) -> tuple[float, ...]:
        """What a leaf is worth to each seat that is kept."""
        began = self.budget.now()
        self.leaves += 1
        try:
            return self.leaf_value(state)
        finally:  # a playout may be cut short
            self.leaf_seconds += self.budget.now() - began

    def leaf_value(self, state: Any) -> tuple[float, ...]:
        """The same, by playouts or the evaluation."""
        if self.plays_out:
            games = self.policy.playouts
            results = [self.play_out(state) for _ in range(games)]
            return tuple(sum(values) / games for values in zip(*results, strict=True))
        return self.kept_of(self.expected_value(state))

    def play_out(self, state: Any) -> tuple[float, ...]:
        """The outcome of a game at random from a state on."""
        game, moves = self.game, 0
        longest, generator = self.playout_moves, self.generator if self.is_sampled else None
        if self.whole is not None and not game.is_terminal(state):
            self.budget.check_clock()
            played = self.whole(state, self.random.bits())
            if played is not None:
                end, taken = played
                self.budget.nodes += len(taken)
                if self.policy.rave:
                    for mover, action in taken:
                        self.first_takers.setdefault(action, mover)
                return self.kept_of(game.utility(end))
        if self.own_state is not None and not game.is_terminal(state):
            self.budget.check_clock()  # a copy may take long
            state = self.own_state(state)
        while not game.is_terminal(state):
            mover = game.to_move(state)
            if mover == CHANCE:
                outcomes = game.chance_outcomes(state)
                place = self.random.draw([probability for _, probability in outcomes])
                self.budget.visit(0)
                state = self.after(state, outcomes[place][0], None)
                continue
            if longest is not None and moves >= longest:
                return self.kept_of(self.static_value(state))
            moves += 1
            action = self.playout_action(state)
            self.budget.visit(0)
            state = self.after(state, action, generator)
            if self.policy.rave:
                self.first_takers.setdefault(action, mover)
        return self.kept_of(game.utility(state))

    def result_of(self, state: Any, action: int, generator: np.random.Generator | None) -> Any:
        """The state after an action, as a state of its own."""
        if generator is None:
            return self.game.result(state, action)
        return self.game.sample_result(state, action, generator)

    def playout_action(self, state: Any) -> int:
        """An action of a playout: the game's choice, or any."""
        if self.guide is not None:
            action = self.guide(state, self.random.bits())
            if action >= 0:
                return action
        actions = self.game.legal_actions(state)
        return int(actions[self.random.below(len(actions))])

    def expected_value(self, state: Any) -> tuple[float, ...]:
        """What the evaluation says of a state for each seat, averaged over what chance does next."""
        game = self.game
        if game.is_terminal(state) or game.to_move(state) != CHANCE:
            return self.static_value(state)
        total = [0.0] * game.traits.seats
        for outcome, probability in game.chance_outcomes(state):
            for seat, value in enumerate(self.static_value(game.result(state, outcome))):
                total[seat] += probability * value
        return tuple(total)

    def static_value(self, state: Any) -> tuple[float, ...]:
        """The same, or the middle where the evaluation says nothing: before dice, or where there is none."""
        game = self.game
        so_far: tuple[float, ...] = tuple(map(float, game.utility(state)))
        if game.is_terminal(state):
            return so_far
        if self.evaluation is not None and game.to_move(state) != CHANCE:
            return self.evaluation(state)
        if self.kept == 1 and game.traits.seats == 2:
            return tuple(value + (self.constant - sum(so_far)) / 2 for value in so_far)
        lower, upper = game.traits.utility_bounds
        share = (lower + upper) / 2 if math.isfinite(upper - lower) else 0.0
        return tuple(value + share for value in so_far)

    def kept_of(self, utility: Sequence[float]) -> tuple[float, ...]:
        """Utilities of the seats that are kept."""
        return tuple(map(float, utility[: self.kept]))
