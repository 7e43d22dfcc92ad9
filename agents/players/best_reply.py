"""Best-reply search: between two moves of one's own, only one opponent does its worst."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.players.paranoid import OneAgainstAllAgent
from zermelo.agents.search.best_reply import RepliesGame
from zermelo.envs import Game

__all__ = ["BestReplyAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestReplyAgent(OneAgainstAllAgent):
    """Looks further ahead than paranoid search: of all opponents, only the one that hurts most answers.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. Between two moves
    of its own one opponent plays what is worst for the searcher. The others skip their turn, in games that say how
    (``pass_turn(state)``), or play the move that the game's ``ordering_hint`` puts first. All that together counts
    as one move of ``depth``. With two players this is alpha-beta; with more, nothing is ever ``proven``.
    """

    kind: ClassVar[str] = "bestreply"

    def as_searched(self, game: Game[Any], state: Any) -> tuple[Game[Any], Any]:
        """The game of one seat's moves and single replies."""
        rounds = RepliesGame(game, game.to_move(state))
        return rounds, rounds.root(state)

    def adjusted(self, search: TreeSearch, state: Any, result: SearchResult) -> SearchResult:
        """The line in moves of the game; nothing is proven where opponents were left out."""
        game = search.game
        assert isinstance(game, RepliesGame), "as_searched made it"
        line: list[int] = []
        at = state
        for action in result.principal_variation:
            line += game.moves_of(at, action)
            at = game.result(at, action)
        is_whole = game.traits.seats <= 2
        return replace(
            result,
            principal_variation=tuple(line),
            proven=result.proven and is_whole,
            plies=result.plies if is_whole else None,
        )
