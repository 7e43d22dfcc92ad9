"""Minimax: both players play as well as can be."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import require_plain_game
from zermelo.agents.core.options import ChancePruning
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.envs import Game


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MinimaxAgent(TreeSearchAgent):
    """Visits the whole tree, or all of it down to ``depth``; every root action's value is exact.

    For two players with a constant sum, no chance and nothing hidden. ``AlphaBetaAgent`` gives the same values and
    is faster.
    """

    kind: ClassVar[str] = "minimax"
    requires = (require_plain_game,)

    @functools.cached_property
    def _config(self) -> AlphaBetaConfig:
        return AlphaBetaConfig(sooner=self.sooner, pruning=ChancePruning.NONE)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        search = self.build(self._config, self.root(game, state), budget)
        return self.deepened(search, state, step_by_step=self.has_budget, exact=True)
