"""The greedy reflex agent: it looks one step ahead and takes what looks best, without a tree."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.options import Ties
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, made, whole
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals
from zermelo.agents.evaluators.registry import evaluator_name, make_evaluator
from zermelo.agents.evaluators.written import EVALUATORS, features_for
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Chance, Game

__all__ = ["GreedyAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GreedyAgent(SearchAgent):
    """Tries each action once and plays the one whose reward and evaluation afterwards are best for itself.

    For any number of players and any rewards, as long as nothing is hidden. Chance that follows an action is
    averaged over, or sampled.

    Attributes:
        evaluator: What the state after the action is worth: an ``Evaluator``, the name of one, ``"rewards"`` for
            nothing but what has been paid; None takes the game's own evaluation or known features, else rewards.
        samples: How many draws to average over, where chance can only be simulated.
        ties: Which of several best actions to play: ``"random"`` (drawn from the seed) or ``"first"``.
    """

    kind: ClassVar[str] = "greedy"

    evaluator: Any = made(None, make_evaluator)
    samples: int = whole(8, lower=1)
    ties: Ties = choice(Ties.RANDOM)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        """Looks at each action once."""
        budget.visit(0)
        evaluator = self.evaluator or features_for(game, state) or EVALUATORS["rewards"]()
        stopped_by = StoppedBy.DEPTH
        seat = game.to_move(state)
        seed = int(self.generator.integers(2**62))
        values: dict[int, tuple[float, ...]] = {}
        actions = game.legal_actions(state)
        try:
            for action in actions:
                generator = np.random.default_rng((seed, action))
                values[action] = self._after(game, state, action, evaluator, budget, generator)
        except SearchStopped as stopped:
            stopped_by = stopped.reason
            values = values or {actions[0]: tuple(map(float, game.utility(state)))}
        best = max(value[seat] for value in values.values())
        tied = [action for action, value in values.items() if value[seat] == best]
        action = tied[0] if self.ties is Ties.FIRST else tied[int(self.generator.integers(len(tied)))]
        return SearchResult(
            action=action,
            env_action=game.to_env_action(state, action),
            value=values[action][seat],
            values_by_seat=values[action],
            action_values={a: value[seat] for a, value in values.items()},
            principal_variation=(action,),
            nodes=budget.nodes,
            depth=1,
            seconds=budget.seconds,
            stopped_by=stopped_by,
            is_estimate=game.traits.chance is Chance.SAMPLED,
            evaluator=evaluator_name(evaluator),
        )

    def _after(
        self,
        game: Any,
        state: Any,
        action: int,
        evaluator: Evaluator,
        budget: Budget,
        generator: np.random.Generator,
    ) -> tuple[float, ...]:
        """For each seat, what it can expect after an action."""
        visit = functools.partial(budget.visit, 1)
        if game.traits.chance is not Chance.SAMPLED:
            return expected_totals(evaluator, game, game.result(state, action), visit)
        draws = [
            expected_totals(evaluator, game, game.sample_result(state, action, generator), visit)
            for _ in range(self.samples)
        ]
        return tuple(math.fsum(values) / self.samples for values in zip(*draws, strict=True))
