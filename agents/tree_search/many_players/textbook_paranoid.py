"""Paranoid search: one against all the others, as if they had nothing else in mind."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import CHANCE, Game


@textbook_call()
def paranoid(
    game: Game[Any], state: Any, seat: int, depth: float = math.inf, evaluate: Evaluate = nothing_more
) -> float:
    """The value that a seat is sure of when all others play against it together; chance is averaged over.

    Sturtevant and Korf, "On Pruning Techniques for Multi-Player Games", AAAI (2000). ``evaluate`` is of that seat.
    """
    if game.is_terminal(state):
        return game.utility(state)[seat]
    mover = game.to_move(state)
    if mover == CHANCE:
        outcomes = game.chance_outcomes(state)
        return math.fsum(p * paranoid(game, game.result(state, o), seat, depth, evaluate) for o, p in outcomes)
    if depth <= 0:
        return game.utility(state)[seat] + evaluate(state)
    actions = game.legal_actions(state)
    values = [paranoid(game, game.result(state, action), seat, depth - 1, evaluate) for action in actions]
    return max(values) if mover == seat else min(values)
