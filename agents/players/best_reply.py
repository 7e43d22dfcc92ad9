"""Best-reply search: between two moves of one's own, only one opponent does its worst."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.players.paranoid import OneAgainstAllAgent
from zermelo.agents.search.best_reply import RepliesGame
from zermelo.envs import CHANCE, Game

__all__ = ["BestReplyAgent", "best_reply"]


def best_reply(game: Game[Any], state: Any, seat: int, depth: float = math.inf) -> float:
    """The value of best-reply search for a seat, to the end or to a depth where it expects nothing more.

    Schadd and Winands, "Best Reply Search for Multiplayer Games", IEEE Transactions on Computational Intelligence
    and AI in Games 3 (2011); in games where nobody can skip a turn, the others play their usual move, as in Esser,
    Gras, Winands, Schadd and Lanctot, "Improving Best-Reply Search", Computers and Games (2013).

    Args:
        game: The game.
        state: Where to start.
        seat: The seat that maximizes.
        depth: Choices to look ahead: one of the seat, one of all its opponents together, and so on.
    """
    rounds = RepliesGame(game, seat)

    def value(at: Any, left: float) -> float:
        if rounds.is_terminal(at):
            return rounds.utility(at)[seat]
        if rounds.to_move(at) == CHANCE:
            return math.fsum(p * value(rounds.result(at, o), left) for o, p in rounds.chance_outcomes(at))
        if left <= 0:
            return rounds.utility(at)[seat]
        values = [value(rounds.result(at, action), left - 1) for action in rounds.legal_actions(at)]
        return max(values) if rounds.to_move(at) == seat else min(values)

    return value(rounds.root(state), depth)


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

    def told(self, search: TreeSearch, state: Any, result: SearchResult) -> SearchResult:
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
