"""max^n: every player maximizes its own utility, for any number of players and any sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import TieRule
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice, flag, settings_of, whole
from zermelo.agents.core.tree_config import MaxNConfig
from zermelo.agents.core.tree_search import SumNotConstantError
from zermelo.agents.players.tree_agent import PruningAgent
from zermelo.envs import Game, InvalidSettingError, RewardSum, Traits, UnsupportedGameError


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MaxNAgent(PruningAgent):
    """max^n: every player maximizes its own utility, whatever that does to the others.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. What a position
    is worth depends on what players do when they do not care, so the rule for that is a setting; it also decides
    among root actions. ``ties`` then chooses among those that are the same for everybody.

    Attributes:
        tie_rule: Which of several actions a player takes that are as good for itself: ``"first"``, ``"paranoid"``
            or ``"friendly"`` (worst or best for the player that searches), ``"spiteful"`` or ``"generous"``
            (leaves least or most to all others).
        shallow: Whether to prune where a constant sum and a lower bound on utility allow it, which never changes a
            value; None does so wherever evaluations allow it, too.
        samples: How many draws stand for a chance event that can only be simulated.
    """

    kind: ClassVar[str] = "maxn"

    tie_rule: TieRule = choice(TieRule.FIRST)
    shallow: bool | None = flag(None)
    samples: int = whole(8, lower=1)

    def check_game(self, game: Game[Any]) -> None:
        super().check_game(game)
        traits = game.traits
        if self.shallow and not _can_prune(traits):
            raise UnsupportedGameError(
                f"shallow pruning needs utilities with a constant sum and a finite lower bound, but those of "
                f"{traits.name} add up to no constant or have the bounds {traits.utility_bounds}: use shallow=None"
            )

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        root = self.root(game, state, budget)
        # Rewards on the way may take totals with evaluations beyond the bounds.
        may_prune = root.evaluator is None or game.traits.terminal_rewards_only
        prunes = _can_prune(game.traits) and (self.shallow or (self.shallow is None and may_prune))
        config = replace(settings_of(self, MaxNConfig), depends_on_seat=True, prunes=bool(prunes))
        try:
            return self.deepened(self.build(config, root, budget), root)
        except SumNotConstantError as error:
            if self.shallow:
                raise InvalidSettingError(
                    f"shallow pruning needs evaluations that add up to {game.traits.constant}, but the evaluator "
                    f"gave {error.values}: use shallow=None, or an evaluator that shares the sum"
                ) from None
            return self.deepened(self.build(replace(config, prunes=False), root, budget), root)

    @property
    def iterations_help(self) -> bool:
        return False


def _can_prune(traits: Traits) -> bool:
    constant = traits.seats > 1 and traits.reward_sum is not RewardSum.GENERAL
    return constant and math.isfinite(traits.utility_bounds[0])
