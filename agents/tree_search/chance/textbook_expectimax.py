"""Expectimax: the best answer to opponents that err."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import CHANCE, Game


@textbook_call()
def expectimax(
    game: Game[Any],
    state: Any,
    seat: int,
    replies: Callable[[Any], Sequence[tuple[int, float]]],
    depth: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """The expected value of best play against opponents whose policies are known.

    ``replies(state)`` gives the actions of the opponent to move, each with its probability; they are averaged
    over, as chance is, which ``depth`` does not count. Russell and Norvig, 4th ed., section 5.5.
    """
    if game.is_terminal(state):
        return game.utility(state)[seat]
    mover = game.to_move(state)
    if depth <= 0 and mover != CHANCE:
        return game.utility(state)[seat] + evaluate(state)
    rest = (seat, replies, depth if mover == CHANCE else depth - 1, evaluate)
    if mover == seat:
        return max(expectimax(game, game.result(state, action), *rest) for action in game.legal_actions(state))
    outcomes = game.chance_outcomes(state) if mover == CHANCE else replies(state)
    return math.fsum(p * expectimax(game, game.result(state, o), *rest) for o, p in outcomes)
