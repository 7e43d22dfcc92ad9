"""Paranoid and best-reply search: one against all the others, as if they had nothing else in mind."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import settings_of, whole
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root, RootNode, TreeSearch
from zermelo.agents.players.tree_agent import PruningAgent
from zermelo.agents.search.tree.best_reply import RepliesGame
from zermelo.envs import Game


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OneAgainstAllAgent(PruningAgent):
    """Settings of the searches in which the seat to move maximizes its own utility and all others minimize it.

    Attributes:
        samples: How many draws stand for a chance event that can only be simulated.
    """

    samples: int = whole(8, lower=1)

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        shared = settings_of(self, AlphaBetaConfig)
        return replace(shared, depends_on_seat=True, history_on_improvement=True)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParanoidAgent(OneAgainstAllAgent):
    """Alpha-beta of one player against all others: the value that the player can guarantee itself.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. The value is that
    of the player to move, and ``proven`` means that it is guaranteed; the other seats' values are what they get if
    all play so.
    """

    kind: ClassVar[str] = "paranoid"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestReplyAgent(OneAgainstAllAgent):
    """Best-reply search: of all opponents only the one whose reply hurts most moves, so it looks further ahead.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. Between two moves
    of its own one opponent plays what is worst for the searcher. The others skip their turn, in games that say how
    (``pass_turn(state)``), or play the move that the game's ``ordering_hint`` puts first. All that together counts
    as one move of ``depth``. With two players this is alpha-beta; with more, nothing is ever ``proven``.
    """

    kind: ClassVar[str] = "bestreply"

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
