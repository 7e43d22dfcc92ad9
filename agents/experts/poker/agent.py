"""Texas hold'em played by a policy over buckets of hands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.options import Compile
from zermelo.agents.base.requirements import require_information_states
from zermelo.agents.base.result import SearchResult, drawn_action
from zermelo.agents.base.settings import path
from zermelo.agents.experts.poker.cards import is_compiled
from zermelo.agents.experts.poker.policy import SHIPPED, is_rlcards, policy_for, require_holdem, seen_by
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import Game, UnsupportedGameError


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HoldemAgent(SearchAgent):
    """Plays Texas hold'em for two, with or without a limit, by a policy that CFR computed beforehand.

    The policy is that of a smaller game, in which hands that are about as strong as each other are treated alike.
    Actions are drawn as it mixes them.

    Attributes:
        policy: ``"equity"``, which comes with the package, or a file that ``scripts/fit_poker.py`` wrote.
    """

    kind: ClassVar[str] = "holdem"

    policy: str = path(SHIPPED)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        policy_for(require_holdem(game), self.policy)

    def choose(self, game: Any, state: Any, budget: Budget) -> SearchResult:
        policy, seat = policy_for(require_holdem(game), self.policy), game.to_move(state)
        if not is_rlcards(game, state):
            raise UnsupportedGameError(
                f"holdem reads the cards of RLCard's environment, which {game.traits.name} has not: use 'ismcts'"
            )
        with budget.off_the_clock():
            compiled = budget.compile is not Compile.NEVER and is_compiled(budget.waits)
        actions, hand, board, is_first = seen_by(game.environment(state), seat)
        shares = policy.probabilities(actions, hand, board)
        value = policy.value if is_first else -policy.value
        return SearchResult(
            action=drawn_action(shares, float(self.generator.random())),
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            nodes=1,
            is_estimate=True,
            policy=shares,
            compiled=compiled,
        )
