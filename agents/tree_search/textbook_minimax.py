"""Minimax: both players play as well as can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.game import Game

Evaluate: TypeAlias = Callable[[Any], float]
"""What one seat can still expect from an unfinished state, rewards so far left out."""


def nothing_more(state: Any) -> float:
    """Expects nothing beyond what has been paid."""
    return 0.0


@textbook_call(chance=False, two_players=True)
def minimax(game: Game[Any], state: Any, depth: float = math.inf, evaluate: Evaluate = nothing_more) -> float:
    """The value of a state for seat 0 (MAX) when both play best; seat 1 (MIN) gets the rest of the constant sum.

    Russell and Norvig, "Artificial Intelligence: A Modern Approach", 4th ed., figure 5.3; with a depth it is
    H-MINIMAX of section 5.3 (Shannon, "Programming a Computer for Playing Chess", 1950).
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    if depth <= 0:
        return game.utility(state)[0] + evaluate(state)
    values = [minimax(game, game.result(state, a), depth - 1, evaluate) for a in game.legal_actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)
