"""Minimax: both players play as well as can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.compiled.two_player import CompiledSearch, compiled_search
from zermelo.agents.core.gate import require_deterministic, require_perfect_information, require_two_opposed
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.envs import Game, Traits

__all__ = ["MinimaxAgent", "minimax"]


def minimax(game: Game[Any], state: Any) -> float:
    """The value of a state for seat 0 (MAX) when both play best; seat 1 (MIN) gets the rest of the constant sum.

    Russell and Norvig, 4th ed., figure 5.3, with one difference: whose turn it is is asked, not assumed.
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    values = [minimax(game, game.result(state, action)) for action in game.legal_actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)


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
        budget = self.new_budget(started)
        evaluator = self.evaluator_for(game, state)
        search: CompiledSearch | FullWidthSearch | None = None
        if self.cutoff is None:
            search = compiled_search(
                game, evaluator, budget, limits=self.limits, full_width=True, sooner=self.sooner
            )
        if search is None:
            search = FullWidthSearch(game, budget, evaluator, sooner=self.sooner, cutoff=self.cutoff_test)
        return self.deepened(search, state, step_by_step=self.has_budget, exact=True)
