"""Quiescence search: no evaluation in the middle of an exchange."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more


def quiescence(
    game: Any,
    state: Any,
    alpha: float = -math.inf,
    beta: float = math.inf,
    moves: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """The value of a state for seat 0 (MAX) if only noisy actions (captures, say) are looked at.

    The player to move may leave it at the evaluation ("stand pat") or play a noisy action. Beal, "A generalised
    quiescence search algorithm", Artificial Intelligence 43 (1990). Alpha-beta calls it at its depth limit.

    Args:
        game: Of two players with a constant sum, without chance, that says which actions are noisy
            (``is_noisy(state, action)``).
        state: Where to start.
        alpha: What MAX can already get elsewhere.
        beta: What MIN can already hold MAX to elsewhere.
        moves: How many noisy actions to follow, one after another.
        evaluate: What MAX can still expect where it is quiet.
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
