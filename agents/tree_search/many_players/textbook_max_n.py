"""max^n: every player maximizes its own utility."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.game import CHANCE, Game


@textbook_call()
def max_n(
    game: Game[Any],
    state: Any,
    tie_rule: str = "first",
    root_seat: int | None = None,
    depth: float = math.inf,
    evaluate: Callable[[Any], tuple[float, ...]] | None = None,
) -> tuple[float, ...]:
    """The utilities of all seats, in seat order, when each maximizes its own; chance is averaged over.

    Luckhardt and Irani, "An algorithmic solution of N-person games", AAAI (1986). What a player does who does not
    care decides the value: Sturtevant and Bowling, "Robust Game Play Against Unknown Opponents", AAMAS (2006). It
    takes the ``"first"`` of the actions that are as good for itself, the one that is worst (``"paranoid"``) or
    best (``"friendly"``) for the seat that searches (the one to move, if not given), or the one that leaves least
    (``"spiteful"``) or most (``"generous"``) to all others.
    """
    so_far = game.utility(state)
    if game.is_terminal(state):
        return so_far
    mover = game.to_move(state)
    if mover == CHANCE:
        rest = (tie_rule, root_seat, depth, evaluate)
        outcomes = [(p, max_n(game, game.result(state, o), *rest)) for o, p in game.chance_outcomes(state)]
        return tuple(math.fsum(p * values[seat] for p, values in outcomes) for seat in range(game.traits.seats))
    if depth <= 0:
        return so_far if evaluate is None else tuple(map(sum, zip(so_far, evaluate(state), strict=True)))
    root = mover if root_seat is None else root_seat
    dislike: dict[str, Callable[[tuple[float, ...]], float]] = {
        "first": lambda values: 0.0,
        "paranoid": lambda values: values[root],
        "friendly": lambda values: -values[root],
        "spiteful": lambda values: math.fsum(values) - values[mover],
        "generous": lambda values: values[mover] - math.fsum(values),
    }
    rest = (tie_rule, root, depth - 1, evaluate)
    found = [max_n(game, game.result(state, action), *rest) for action in game.legal_actions(state)]
    return min(found, key=lambda values: (-values[mover], dislike[tie_rule](values)))
