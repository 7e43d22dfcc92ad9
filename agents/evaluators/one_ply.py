"""One move ahead: what each action pays, or leads to, before anything dearer is looked at."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.agents.base.branches import child_of, choices_in, skip_branch
from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.playouts import after
from zermelo.agents.base.scores import evaluates_chance
from zermelo.agents.base.settings import ChanceAtLimit
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals, totals_at
from zermelo.agents.evaluators.registry import RewardsEvaluator
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Chance


def totals_after(
    game: Any,
    state: Any,
    budget: Budget,
    *,
    seed: int,
    evaluator: Evaluator | None = None,
    samples: int = 1,
    ends: float = math.inf,
    children: dict[int, Any] | None = None,
) -> tuple[dict[int, tuple[float, ...]], StoppedBy]:
    """For each action, what every seat can expect after it; those that limits leave time for, in a random order.

    ``evaluator`` adds what is to come, before chance where it is one for that; None counts rewards only. Where
    chance can only be simulated, ``samples`` draws are averaged; each action has its own stream of random numbers
    from ``seed`` on. No action is begun after the time ``ends`` of the budget's clock. Actions after which the
    environment fails are left out. The states that actions lead to are added to ``children``.
    """
    evaluate = evaluator or RewardsEvaluator()
    at_chance = evaluates_chance(ChanceAtLimit.AUTO, game, evaluator)
    worth = functools.partial(_worth, evaluate, at_chance, game, budget)
    totals: dict[int, tuple[float, ...]] = {}
    draws_here = game.traits.chance is Chance.SAMPLED
    actions = list(game.legal_actions(state))
    stopped_by = StoppedBy.DEPTH
    try:
        for place in np.random.default_rng((seed, len(actions))).permutation(len(actions)):
            if budget.now() > ends:
                stopped_by = StoppedBy.SECONDS
                break
            action = actions[place]
            generator, draws = np.random.default_rng((seed, action)), []
            try:
                for _ in range(samples if draws_here else 1):
                    budget.visit(1)
                    child = after(game, state, action, generator)
                    if children is not None:
                        children[action] = child
                    draws.append(worth(child))
            except EnvFailedError as error:
                skip_branch(game, error)
            if draws:
                totals[action] = tuple(math.fsum(values) / len(draws) for values in zip(*draws, strict=True))
    except SearchStopped as stopped:
        stopped_by = stopped.reason
    except RecursionError:  # chance goes on for too long, perhaps for ever
        pass
    return dict(sorted(totals.items())), stopped_by


class Replies:
    """The replies to actions that are about to be played, of which few simulations see few.

    Attributes:
        refuted: What actions leave their player to which a reply ends the game below what was believed of them.
    """

    def __init__(self, game: Any, state: Any, budget: Budget) -> None:
        self.game, self.state, self.budget = game, state, budget
        self.seat: int = game.to_move(state)
        self.refuted: dict[int, float] = {}
        self._safe: set[int] = set()

    def refute(self, action: int, value: float) -> bool:
        """Looks at the replies to an action, if there is time and it did not; whether one ends below ``value``."""
        if action in self.refuted or action in self._safe:
            return False
        try:
            ends = (self.game.utility(end)[self.seat] for end in self._ends_after(action))
            below = next((end for end in ends if end < value), None)
        except SearchStopped:
            return False
        if below is None:
            self._safe.add(action)
            return False
        self.refuted[action] = float(below)
        return True

    def _ends_after(self, action: int) -> Iterator[Any]:
        game, child = self.game, child_of(self.game, self.state, action)
        if child is None or game.is_terminal(child) or game.to_move(child) in (self.seat, CHANCE):
            return
        for reply in choices_in(game, child):
            self.budget.visit(2)
            end = child_of(game, child, reply)
            if end is not None and game.is_terminal(end):
                yield end


def _worth(evaluate: Evaluator, at_chance: bool, game: Any, budget: Budget, state: Any) -> tuple[float, ...]:
    """Expected totals after a state that was counted; states after a chance event are counted here."""
    if at_chance and game.to_move(state) == CHANCE and not game.is_terminal(state):
        return totals_at(evaluate, game, state)
    calls = itertools.count()
    return expected_totals(evaluate, game, state, lambda: budget.visit(1) if next(calls) else None)
