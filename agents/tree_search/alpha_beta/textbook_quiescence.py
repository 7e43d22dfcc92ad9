"""Quiescence search: no evaluation in the middle of an exchange."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.capabilities import SupportsQuiescence


@textbook_call(needs=SupportsQuiescence, two_players=True)
def quiescence(
    game: Any,
    state: Any,
    alpha: float = -math.inf,
    beta: float = math.inf,
    moves: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """The value of a state for seat 0 (MAX) if only noisy actions (captures, say) are looked at.

    The player to move may leave it at the evaluation ("stand pat") or play an action that ``game.is_noisy(state,
    action)`` says is noisy, ``moves`` times at most. Beal, "A generalised quiescence search algorithm", Artificial
    Intelligence 43 (1990). Alpha-beta calls it at its depth limit, with its window.
    """
    so_far: float = game.utility(state)[0]
    if game.is_terminal(state):
        return so_far
    best = so_far + evaluate(state)
    maximizing = game.to_move(state) == 0
    noisy = [action for action in game.legal_actions(state) if moves > 0 and game.is_noisy(state, action)]
    for action in noisy:
        alpha, beta = (max(alpha, best), beta) if maximizing else (alpha, min(beta, best))
        if alpha >= beta:
            break
        value = quiescence(game, game.result(state, action), alpha, beta, moves - 1, evaluate)
        best = max(best, value) if maximizing else min(best, value)
    return best
