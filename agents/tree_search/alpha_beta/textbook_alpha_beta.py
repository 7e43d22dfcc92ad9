"""Alpha-beta: minimax's value, without looking at what cannot change it."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import Game


@textbook_call(chance=False, two_players=True)
def alpha_beta(
    game: Game[Any],
    state: Any,
    alpha: float = -math.inf,
    beta: float = math.inf,
    depth: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """The value of a state for seat 0 (MAX), as ``minimax`` gives it, if it lies between alpha and beta.

    MAX can already get alpha elsewhere, MIN hold MAX to beta. At or below alpha it is an upper bound, at or above
    beta a lower bound (fail-soft). Russell and Norvig, 4th ed., figure 5.7; Knuth and Moore, "An Analysis of
    Alpha-Beta Pruning", Artificial Intelligence 6 (1975).
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    if depth <= 0:
        return game.utility(state)[0] + evaluate(state)
    maximizing = game.to_move(state) == 0
    best = -math.inf if maximizing else math.inf
    for action in game.legal_actions(state):
        value = alpha_beta(game, game.result(state, action), alpha, beta, depth - 1, evaluate)
        if maximizing:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            break  # the other player has something better elsewhere and will not let it come to this
    return best
