"""max^n: every player maximizes its own utility, for any number of players and any sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.core.options import Ordering, TieRule
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import SumNotConstantError
from zermelo.agents.players.search_agent import Root, TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.envs import Game, InvalidSettingError, RewardSum, Traits, UnsupportedGameError

__all__ = ["MaxNAgent", "TieRule"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MaxNAgent(TreeSearchAgent):
    """max^n: every player maximizes its own utility, whatever that does to the others.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. What a position
    is worth depends on what players do when they do not care, so the rule for that is a setting; it also decides
    among root actions. ``ties`` then chooses among those that are the same for everybody.

    Attributes:
        tie_rule: Which of several actions a player takes that are as good for itself: ``"first"`` (the smallest
            number), ``"paranoid"`` or ``"friendly"`` (worst or best for the player that searches), ``"spiteful"``
            or ``"generous"`` (leaves least or most to all others).
        shallow: Whether to prune where a constant sum and a lower bound on utility allow it, which never changes a
            value; None does so wherever evaluations allow it, too.
        exact: Whether every root action gets its exact value, not only those that are best.
        table_mb: The memory that the transposition table may use, in MiB; 0 does without.
        ordering: ``"auto"``, or ``"fixed"`` for ascending.
        samples: How many draws stand for a chance event that can only be simulated.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way.
    """

    kind: ClassVar[str] = "maxn"

    tie_rule: TieRule = TieRule.FIRST
    shallow: bool | None = None
    exact: bool = False
    table_mb: float = 64
    ordering: Ordering = Ordering.AUTO
    samples: int = 8
    deepening: bool | None = None

    def __post_init__(self) -> None:
        self._set("tie_rule", check_choice("tie_rule", self.tie_rule, TieRule))
        for name in ("shallow", "deepening"):
            if getattr(self, name) is not None:
                check_flag(name, getattr(self, name))
        check_flag("exact", self.exact)
        check_number("table_mb", self.table_mb, least=0)
        check_whole("samples", self.samples, least=1)
        self._set("ordering", check_choice("ordering", self.ordering, Ordering))
        super().__post_init__()

    def check_game(self, traits: Traits) -> None:
        """Any number of players and any sums, as long as nothing is hidden."""
        require_perfect_information(traits, self.kind)
        if self.shallow and not _can_prune(traits):
            raise UnsupportedGameError(
                f"shallow pruning needs utilities with a constant sum and a finite lower bound, but those of "
                f"{traits.name} add up to no constant or have the bounds {traits.utility_bounds}: use shallow=None"
            )

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        root = self.root(game, state, self.samples)
        budget = self.new_budget(started)
        # Rewards on the way may take totals with evaluations beyond the bounds.
        may_prune = root.evaluator is None or game.traits.terminal_rewards_only
        prunes = _can_prune(game.traits) and (self.shallow or (self.shallow is None and may_prune))
        try:
            return self._searched(root, budget, prunes=bool(prunes))
        except SumNotConstantError as error:
            if self.shallow:
                raise InvalidSettingError(
                    f"shallow pruning needs evaluations that add up to {game.traits.constant}, but the evaluator "
                    f"gave {error.values}: use shallow=None, or an evaluator that shares the sum"
                ) from None
            return self._searched(root, budget, prunes=False)

    def _searched(self, root: Root, budget: Budget, *, prunes: bool) -> SearchResult:
        search = backend.max_n(
            root.game,
            root.evaluator,
            budget,
            limits=self.limits,
            seat=root.game.to_move(root.state),
            tie_rule=self.tie_rule,
            sooner=self.sooner,
            prunes=prunes,
            ordering=self.ordering,
            table_mb=self.table_mb,
            cutoff=root.cutoff,
            on_node=self.observer,
            width=root.width,
        )
        deepening = self.has_budget if self.deepening is None else self.deepening
        return self.deepened(
            search, root.state, step_by_step=deepening, exact=self.exact, is_estimate=root.is_sampled
        )


def _can_prune(traits: Traits) -> bool:
    constant = traits.seats > 1 and traits.reward_sum is not RewardSum.GENERAL
    return constant and math.isfinite(traits.utility_bounds[0])
