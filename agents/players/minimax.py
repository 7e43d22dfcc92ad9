"""Minimax: both players play as well as can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.gate import require_deterministic, require_perfect_information, require_two_opposed
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.envs import Game, Traits

__all__ = ["MinimaxAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MinimaxAgent(TreeSearchAgent):
    """Visits the whole tree, or all of it down to ``depth``; every root action's value is exact.

    For two players with a constant sum, no chance and nothing hidden. ``AlphaBetaAgent`` gives the same values and
    is faster.
    """

    kind: ClassVar[str] = "minimax"

    def check_game(self, traits: Traits) -> None:
        """Two players, opposed, without chance, with everything seen."""
        require_perfect_information(traits, self.kind)
        require_deterministic(traits, self.kind)
        require_two_opposed(traits, self.kind)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        search = backend.minimax(
            game,
            self.evaluator_for(game, state),
            self.new_budget(started),
            limits=self.limits,
            sooner=self.sooner,
            cutoff=self.cutoff_test,
            on_node=self.observer,
        )
        return self.deepened(search, state, step_by_step=self.has_budget, exact=True)
