"""Searches for any number of players: max^n, paranoid and best-reply search."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import choice, flag, whole
from zermelo.agents.tree_search.agent import PruningSettings, TreeSearchAgent
from zermelo.agents.tree_search.config import AlphaBetaConfig, MaxNConfig, TieRule
from zermelo.agents.tree_search.interface import Root, RootNode, TreeSearch
from zermelo.agents.tree_search.many_players.interface import SumNotConstantError
from zermelo.agents.tree_search.many_players.replies_game import RepliesGame
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game, RewardSum, Traits
from zermelo.envs.support.calls import explained


@explained
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
        config = MaxNConfig(
            depends_on_seat=True,
            prefer_short_wins=self.prefer_short_wins,
            memory_mb=self.memory_mb,
            ordering=self.ordering,
            tie_rule=self.tie_rule,
            prunes=bool(prunes),
        )
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


@explained
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

    samples: int = whole(8, lower=1)

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        return replace(self.usual_config(), depends_on_seat=True, history_on_improvement=True)


@explained
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

    samples: int = whole(8, lower=1)

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        return replace(self.usual_config(), depends_on_seat=True, history_on_improvement=True)

    def root(self, game: Game[Any], state: Any, budget: Budget) -> Root:
        root = super().root(game, state, budget)
        rounds = RepliesGame(root.game, root.game.to_move(root.state))
        return root._replace(state=rounds.root(root.state), searched=rounds)

    def adjusted(self, search: TreeSearch, node: RootNode, result: SearchResult) -> SearchResult:
        game = search.game
        assert isinstance(game, RepliesGame), "it is that of the root"
        line: list[int] = []
        at = node.state
        for action in result.principal_variation:
            line += game.moves_of(at, action)
            at = game.result(at, action)
        is_whole = game.traits.seats <= 2
        return replace(
            result,
            principal_variation=tuple(line),
            proven=result.proven and is_whole,
            proven_actions=result.proven_actions if is_whole else (),
            plies=result.plies if is_whole else None,
        )
