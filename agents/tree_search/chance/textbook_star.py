"""Star1 and Star2: alpha-beta through chance nodes.

No outcome of a chance node is worth less or more than the game can give, so the average is bounded before all
outcomes are known. Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial
Intelligence 21 (1983); Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", Computers and Games (2004).
"""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import CHANCE, Game


@textbook_call(two_players=True)
def star1(
    game: Game[Any],
    state: Any,
    alpha: float = -math.inf,
    beta: float = math.inf,
    depth: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """The value of a state for seat 0 (MAX), as ``expectiminimax`` gives it, if it lies between alpha and beta.

    At or below alpha it is an upper bound, at or above beta a lower bound. The search of a chance node ends once
    its average must fall outside the window. The game's ``utility_bounds`` must be finite and hold for rewards so
    far and evaluation together.
    """
    return _star(game, state, alpha, beta, depth, evaluate, probes=False)


@textbook_call(two_players=True)
def star2(
    game: Game[Any],
    state: Any,
    alpha: float = -math.inf,
    beta: float = math.inf,
    depth: float = math.inf,
    evaluate: Evaluate = nothing_more,
) -> float:
    """``star1``, with the same arguments, after a look at one action in every outcome.

    Where MAX is to move after the outcome, one action says what it can get at least; where MIN is, what MAX can
    get at most. That is often enough to leave the window before any outcome is searched in full.
    """
    return _star(game, state, alpha, beta, depth, evaluate, probes=True)


def _star(
    game: Game[Any], state: Any, alpha: float, beta: float, depth: float, evaluate: Evaluate, *, probes: bool
) -> float:
    if game.is_terminal(state):
        return game.utility(state)[0]
    mover = game.to_move(state)
    if mover == CHANCE:
        return _average(game, state, alpha, beta, depth, evaluate, probes=probes)
    if depth <= 0:
        return game.utility(state)[0] + evaluate(state)
    best = -math.inf if mover == 0 else math.inf
    for action in game.legal_actions(state):
        value = _star(game, game.result(state, action), alpha, beta, depth - 1, evaluate, probes=probes)
        if mover == 0:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            break
    return best


def _average(
    game: Game[Any], state: Any, alpha: float, beta: float, depth: float, evaluate: Evaluate, *, probes: bool
) -> float:
    """The average of the outcomes, or a bound of it that lies outside the window."""
    chances = [p for _, p in game.chance_outcomes(state)]
    children = [game.result(state, outcome) for outcome, _ in game.chance_outcomes(state)]
    least, most = game.traits.utility_bounds
    lows, highs = [least] * len(children), [most] * len(children)  # what is known of each outcome

    def low() -> float:
        return math.fsum(p * value for p, value in zip(chances, lows, strict=True))

    def high() -> float:
        return math.fsum(p * value for p, value in zip(chances, highs, strict=True))

    if probes:
        for index, child in enumerate(children):
            if game.is_terminal(child) or game.to_move(child) == CHANCE or depth <= 0:
                continue
            first = game.result(child, game.legal_actions(child)[0])
            value = _star(game, first, -math.inf, math.inf, depth - 1, evaluate, probes=True)
            if game.to_move(child) == 0:
                lows[index] = value
            else:
                highs[index] = value
            if low() >= beta or high() <= alpha:
                return low() if low() >= beta else high()
    for index, (p, child) in enumerate(zip(chances, children, strict=True)):
        # Which values of this outcome can leave the average inside the window, whatever the others are worth?
        floor = (alpha - (high() - p * highs[index])) / p
        ceiling = (beta - (low() - p * lows[index])) / p
        lows[index] = highs[index] = _star(game, child, floor, ceiling, depth, evaluate, probes=probes)
        if low() >= beta or high() <= alpha:
            return low() if low() >= beta else high()
    return low()
