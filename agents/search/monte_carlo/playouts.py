"""Games played on at random, for Monte Carlo searches in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.monte_carlo import MAX_PLAYOUT_STEPS, RandomNumbers
from zermelo.envs import CHANCE, Chance
from zermelo.envs.capabilities import SupportsPlayouts, SupportsWholePlayouts


class Playouts:
    """Plays a game on at random.

    Args:
        game: The game.
        budget: A first budget; without a limit on nodes the game may play to the end by itself.
        random: Random numbers.
        generator: Random numbers of chance that can only be simulated.
        longest: Moves after which a playout is cut off, or None.
        guide: Chooses an action from a state and random bits, or a negative number for any action; or None.

    Attributes:
        own_state: Copies a state, which ``after`` may then change; None where ``after`` changes none.
        after: The state after an action, or of chance that is simulated with a generator.
    """

    def __init__(
        self,
        game: Any,
        budget: Budget,
        random: RandomNumbers,
        generator: np.random.Generator,
        *,
        longest: int | None,
        guide: Callable[[Any, int], int] | None = None,
    ) -> None:
        self.game, self.random, self.guide = game, random, guide
        self.generator = generator if game.traits.chance is Chance.SAMPLED else None
        self.longest = math.inf if longest is None else longest
        self.own_state: Callable[[Any], Any] | None = None
        self.after: Callable[..., Any] = self.result
        if isinstance(game, SupportsPlayouts):
            self.own_state, self.after = game.playout_state, game.play_on
        self.plays_whole = (
            longest is None and math.isinf(budget.nodes_left) and isinstance(game, SupportsWholePlayouts)
        )

    def play(self, state: Any, budget: Budget, *, is_own: bool = False) -> tuple[Any, list[tuple[int, int]]]:
        """The state in which a game from a state on ends or is cut off, and who took which actions before.

        ``is_own`` says that the state may be changed.
        """
        game = self.game
        taken: list[tuple[int, int]] = []
        if game.is_terminal(state):
            return state, taken
        if self.plays_whole:
            budget.check_clock()
            played = game.play_out(state, self.random.bits())
            if played is not None:
                budget.nodes += len(played[1])
                return played  # type: ignore[no-any-return]  # as SupportsWholePlayouts says
        if self.own_state is not None and not is_own:
            budget.check_clock()  # a copy may take long
            state = self.own_state(state)
        for _ in range(MAX_PLAYOUT_STEPS):
            if game.is_terminal(state):
                break
            mover = game.to_move(state)
            if mover == CHANCE:
                state = self.after_chance(state, budget)
                continue
            if len(taken) >= self.longest:
                break
            action = self.action(state)
            budget.visit(0)
            state = self.after(state, action, self.generator)
            taken.append((mover, action))
        return state, taken

    def action(self, state: Any) -> int:
        """The guide's action, or any."""
        if self.guide is not None:
            action = self.guide(state, self.random.bits())
            if action >= 0:
                return action
        actions = self.game.legal_actions(state)
        if not actions:
            raise no_legal_action(self.game)
        return int(actions[self.random.below(len(actions))])

    def after_chance(self, state: Any, budget: Budget) -> Any:
        """The state after an outcome of chance at a state."""
        outcomes = self.game.chance_outcomes(state)
        place = self.random.draw([probability for _, probability in outcomes])
        budget.visit(0)
        return self.after(state, outcomes[place][0], None)

    def through_chance(self, state: Any, budget: Budget) -> Any:
        """The state once chance has decided, as far as that ever happens."""
        for _ in range(MAX_PLAYOUT_STEPS):
            if self.game.is_terminal(state) or self.game.to_move(state) != CHANCE:
                break
            state = self.after_chance(state, budget)
        return state

    def result(self, state: Any, action: int, generator: np.random.Generator | None) -> Any:
        """The state after an action, as a state of its own."""
        if generator is None:
            return self.game.result(state, action)
        return self.game.sample_result(state, action, generator)
