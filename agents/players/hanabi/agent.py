"""Hanabi by conventions, as an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import Compile
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice
from zermelo.agents.players.hanabi.policy import Convention, HanabiPolicy
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Game


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HanabiAgent(SearchAgent):
    """Plays Hanabi by rules: it reads hints by a convention, and gives hints that the others read alike.
    """

    kind: ClassVar[str] = "hanabi"

    convention: Convention = choice(Convention.SMART)

    def policy(self, game: Game[Any], budget: Budget) -> HanabiPolicy:
        """What it plays in each state of a game."""
        kept = self.__dict__.get("_policy")
        if kept is None or kept[0] is not game or not kept[1].compiled:
            kept = game, HanabiPolicy(game, self.convention, budget)
            self._set("_policy", kept)
        return kept[1]

    def check_game(self, game: Game[Any]) -> None:
        pass

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        policy = self.policy(game, budget)
        points = tuple(map(float, game.utility(state)))
        return SearchResult(
            action=policy.action(state),
            value=points[game.to_move(state)],
            values_by_seat=points,
            nodes=1,
            is_estimate=True,
            evaluator="points so far",
            compiled=policy.compiled,
        )
