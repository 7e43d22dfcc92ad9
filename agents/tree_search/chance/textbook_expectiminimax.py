"""Expectiminimax: best play where dice are rolled."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import CHANCE, Game


@textbook_call(two_players=True)
def expectiminimax(
    game: Game[Any], state: Any, depth: float = math.inf, evaluate: Evaluate = nothing_more
) -> float:
    """The expected value of a state for seat 0 (MAX) when both play best; chance is averaged over.

    Russell and Norvig, 4th ed., section 5.5; Michie, "Game-playing and game-learning automata" (1966). With one
    player it is expectimax. What chance decides at the depth limit is averaged over, too.
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    mover = game.to_move(state)
    if mover == CHANCE:
        outcomes = game.chance_outcomes(state)
        return math.fsum(p * expectiminimax(game, game.result(state, o), depth, evaluate) for o, p in outcomes)
    if depth <= 0:
        return game.utility(state)[0] + evaluate(state)
    values = [expectiminimax(game, game.result(state, a), depth - 1, evaluate) for a in game.legal_actions(state)]
    return max(values) if mover == 0 else min(values)
