"""Searches for any number of players: max^n, paranoid and best-reply search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.request import Request
from zermelo.agents.base.settings import choice, flag, integer, part_of
from zermelo.agents.tree_search.agent import TreeSearchAgent
from zermelo.agents.tree_search.chance.searches import GENERAL
from zermelo.agents.tree_search.interface import RootNode, SearchSetup, TreeOutcome, TreeSearch
from zermelo.agents.tree_search.many_players.interface import SumNotConstantError
from zermelo.agents.tree_search.many_players.replies_game import RepliesGame
from zermelo.agents.tree_search.many_players.searches import MAX_N
from zermelo.agents.tree_search.settings import MaxNConfig, PruningSettings, TieRule
from zermelo.envs.game import Game, RewardSum
from zermelo.envs.support.calls import checked_call

if TYPE_CHECKING:
    from zermelo.agents.workers.news import News


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MaxNAgent(PruningSettings, TreeSearchAgent):
    """max^n: every player maximizes its own utility, whatever that does to the others.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. What a position
    is worth depends on what players do when they do not care, so the rule for that is a setting; it also decides
    among root actions. ``ties`` then chooses among those that are the same for everybody.

    Attributes:
        tie_rule: Which of several actions a player takes that are as good for itself: ``"first"``, ``"paranoid"``
            or ``"friendly"`` (worst or best for the player that searches), ``"spiteful"`` or ``"generous"``
            (leaves least or most to all others).
        shallow: Whether to prune where a constant sum, a lower bound on utility and evaluations allow it; that
            never changes a value.
        samples: How many draws stand for a chance event that can only be simulated.
    """

    kind: ClassVar[str] = "maxn"
    family = MAX_N

    tie_rule: TieRule = choice(TieRule.FIRST)
    shallow: bool = flag(True)
    samples: int = integer(8, "draws", lower=1)

    def searched(self, request: Request, budget: Budget, news: News | None = None) -> TreeOutcome:
        root = self.root(request.game, request.state, request.legal)._replace(news=news)
        config = self.config_for(root)
        try:
            return self.run(request, self.build(config, root, budget), root)
        except SumNotConstantError:
            return self.run(request, self.build(replace(config, prunes=False), root, budget), root)

    def config_for(self, root: SearchSetup) -> MaxNConfig:
        traits = root.game.traits
        has_sum = traits.seats > 1 and traits.reward_sum is not RewardSum.GENERAL
        # Rewards on the way may take totals with evaluations beyond the bounds.
        keeps_bounds = root.evaluator is None or traits.terminal_rewards_only
        may_prune = has_sum and math.isfinite(traits.utility_bounds[0]) and keeps_bounds
        return part_of(self, MaxNConfig, depends_on_seat=True, prunes=self.shallow and may_prune)

    @property
    def iterations_help(self) -> bool:
        return False


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParanoidAgent(PruningSettings, TreeSearchAgent):
    """Alpha-beta of one player against all others: the value that the player can guarantee itself.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. The value is that
    of the player to move, and ``proven`` means that it is guaranteed; the other seats' values are what they get if
    all play so.

    Attributes:
        samples: How many draws stand for a chance event that can only be simulated.
    """

    kind: ClassVar[str] = "paranoid"
    family = GENERAL

    samples: int = integer(8, "draws", lower=1)

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {"depends_on_seat": True, "history_on_improvement": True}


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestReplyAgent(PruningSettings, TreeSearchAgent):
    """Best-reply search: of all opponents only the one whose reply hurts most moves, so it looks further ahead.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. Between two moves
    of its own one opponent plays what is worst for the searcher. The others skip their turn, in games that say how
    (``pass_turn(state)``), or play the move that the game's ``ordering_hint`` puts first. All that together counts
    as one move of ``depth``. With two players this is alpha-beta; with more, nothing is ever ``proven``.

    Attributes:
        samples: How many draws stand for a chance event that can only be simulated.
    """

    kind: ClassVar[str] = "bestreply"
    family = GENERAL

    samples: int = integer(8, "draws", lower=1)

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {"depends_on_seat": True, "history_on_improvement": True}

    def root(self, game: Game[Any], state: Any, legal: Sequence[int] | None = None) -> SearchSetup:
        root = super().root(game, state, legal)
        rounds = RepliesGame(root.game, root.game.to_move(root.state))
        return root._replace(state=rounds.root(root.state), searched=rounds)

    def corrections(self, search: TreeSearch, node: RootNode, found: Mapping[str, Any]) -> dict[str, Any]:
        game = search.game
        assert isinstance(game, RepliesGame), "it is that of the root"
        line: list[int] = []
        at = node.state
        for action in found["principal_variation"]:
            line += game.actions_in_reply(at, action)
            at = game.result(at, action)
        proofs = {} if game.traits.seats <= 2 else {"proven": False, "proven_actions": (), "plies": None}
        return {"principal_variation": tuple(line), **proofs}
