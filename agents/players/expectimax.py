"""Expectimax: the best answer to opponents that err, and planning for one player in an uncertain world."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import ChanceAtLimit, ChancePruning
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, settings_of, whole
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import RootNode, TreeSearch
from zermelo.agents.players.opponents import make_opponent, replies
from zermelo.agents.players.tree_agent import TableAgent
from zermelo.agents.search.tree.inner_game import looking_inside
from zermelo.envs import Game
from zermelo.envs.spec_text import Spec, parse_spec


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectimaxAgent(TableAgent):
    """Best reply to fallible opponents: their moves are averaged, with the probabilities of a model.

    For any number of players (also one) and any sums, with or without chance, as long as nothing is hidden.
    Minimax is too pessimistic against a weak opponent: this takes risks that the opponent is unlikely to punish.
    Every root action's value is exact, and ``proven`` means proven against that model. Depth counts moves, every
    player's, and not chance; sampled chance makes the result an estimate. Evaluations must be a positive linear
    transformation of expected utility.

    Attributes:
        opponent: What all other seats do: ``"random"``; ``"softmax(evaluator=..., temperature=1)"``; an agent or
            its name; ``"noisy(agent=greedy, epsilon=0.1)"``; or a function of game and state that gives each legal
            action's probability, or its ``"module:name"``.
        samples: How many draws stand for a chance event that can only be simulated.
        chance_at_limit: What a chance event is worth at the depth limit, as in ``ExpectiminimaxAgent``.
    """

    kind: ClassVar[str] = "expectimax"

    opponent: Any = "random"
    samples: int = whole(8, lower=1)
    chance_at_limit: ChanceAtLimit = choice(ChanceAtLimit.AUTO)

    def __post_init__(self) -> None:
        self._set("_model", make_opponent(self.opponent))
        if isinstance(self.opponent, str) and ":" not in self.opponent:
            self._set("opponent", parse_spec(self.opponent))
        if isinstance(self.opponent, Spec) and not self.opponent.arguments:
            self._set("opponent", self.opponent.name)
        super().__post_init__()

    @property
    def model(self) -> Any:
        """The ``opponent`` setting as a function of game and state, an ``OpponentModel``."""
        return self.__dict__["_model"]

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        answers = functools.partial(replies, self.model)
        config = settings_of(self, AlphaBetaConfig)
        return replace(config, depends_on_seat=True, pruning=ChancePruning.NONE, replies=answers)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        root, config = self.root(game, state, budget), self.config
        if root.width is not None:
            config = replace(config, replies=functools.partial(replies, looking_inside(self.model)))
        return self.deepened(self.build(config, root, budget), root)

    def adjusted(self, search: TreeSearch, node: RootNode, result: SearchResult) -> SearchResult:
        return result if search.game.traits.seats == 1 else replace(result, plies=None)
