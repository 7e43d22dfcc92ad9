"""A policy near an equilibrium, learned by CFR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.gate import require_information_states
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, whole
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.players.tables.policy_table import played
from zermelo.agents.solving.equilibrium.equilibrium import learn_policy
from zermelo.agents.solving.equilibrium.regrets import Variant
from zermelo.agents.solving.equilibrium.sequence_form import (
    MOST_STATES,
    require_few_states,
    require_listed_chance,
)
from zermelo.agents.solving.policy_table import PolicyTable, game_identity
from zermelo.envs import Game


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CFRAgent(SearchAgent):
    """Plays small games of hidden cards by a policy that can hardly be exploited: CFR, once a game.

    For two opposed players; with more, or other sums, the policy may be exploited. Chance must be exact, or none.
    Actions are drawn as the policy mixes them. Games too large to be written out are sampled
    (``variant=external_sampling``).

    Attributes:
        iterations: How many to make.
        variant: ``"discounted"``, ``"plus"`` (CFR+), ``"cfr"`` or ``"external_sampling"``.
        most_states: How many states the game may have, where it is written out.
    """

    kind: ClassVar[str] = "cfr"

    iterations: int = whole(1_000, lower=1)
    variant: Variant = choice(Variant.DISCOUNTED)
    most_states: int = whole(MOST_STATES, lower=1)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        require_listed_chance(game.traits)

    def check_size(self, game: Game[Any]) -> None:
        """Refuses a game that is far too large to be written out, where it would have to be."""
        if self.variant is not Variant.EXTERNAL_SAMPLING:
            require_few_states(game, self.most_states)

    def policy_for(self, game: Game[Any], budget: Budget | None = None) -> PolicyTable:
        """The policy that is played in a game, learned where that has not been done."""
        known, policy = self.__dict__.get("_policy", (None, None))
        if policy is not None and (known is game or known == game):
            return policy  # type: ignore[no-any-return]  # a table
        found = learn_policy(
            game,
            iterations=self.iterations,
            variant=self.variant,
            seed=self.seed,
            most_states=self.most_states,
            check=(lambda: None) if budget is None else budget.check_clock,
        )
        self._set("_policy", (game, found))
        return found

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        stopped_by = StoppedBy.COMPLETED
        try:
            policy = self.policy_for(game, budget)
        except SearchStopped as stopped:  # nothing is known before the end
            policy = PolicyTable(game=game_identity(game), entries={}, is_hidden=True)
            stopped_by = stopped.reason
        return played(policy, game, state, float(self.generator.random()), stopped_by)
