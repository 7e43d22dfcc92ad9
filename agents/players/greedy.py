"""The greedy reflex agent: it looks one step ahead and takes what looks best, without a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import Ties
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, made, whole
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.evaluators.written import features_for
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.search.one_ply import answer_one_ply
from zermelo.envs import Game


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GreedyAgent(SearchAgent):
    """Tries each action once and plays the one whose reward and evaluation afterwards are best for itself.

    For any number of players and any rewards, as long as nothing is hidden. Chance that follows an action is
    averaged over, or sampled; evaluations for states before chance, as those of backgammon and 2048 are, count
    there.

    Attributes:
        evaluator: What the state after the action is worth: an ``Evaluator``, the name of one, ``"rewards"`` for
            nothing but what has been paid; None takes the game's own evaluation or known features, else rewards.
        samples: How many draws to average over, where chance can only be simulated.
        ties: Which of several best actions to play: ``"random"`` (drawn from the seed) or ``"first"``.
        seconds: Time to take, from the call on; an action that is not tried by then is not played. None: no limit.
    """

    kind: ClassVar[str] = "greedy"

    evaluator: Any = made(None, make_evaluator)
    samples: int = whole(8, lower=1)
    ties: Ties = choice(Ties.RANDOM)
    seconds: float | None = 1.0

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        evaluator = self.evaluator or features_for(game, state)
        return answer_one_ply(
            game, state, budget, self.generator, evaluator=evaluator, samples=self.samples, ties=self.ties
        )
