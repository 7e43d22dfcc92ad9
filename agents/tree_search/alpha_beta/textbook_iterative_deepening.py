"""Iterative deepening: one move deep, then two, and so on, as long as there is time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.alpha_beta.textbook_alpha_beta import alpha_beta
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.game import Game


@textbook_call(chance=False, two_players=True)
def iterative_deepening(
    game: Game[Any], state: Any, evaluate: Evaluate = nothing_more
) -> Iterator[tuple[int, int, float]]:
    """Depth, best action and its value for seat 0, for depth after depth: play the last one when time is up.

    The best action of one depth is searched first at the next, where alpha-beta gains most from it. It ends when
    no state lay at the depth limit. Slate and Atkin, "Chess 4.5: The Northwestern University chess program", in
    "Chess Skill in Man and Machine" (1977); Korf, "Depth-First Iterative-Deepening", Artificial Intelligence 27
    (1985).
    """
    cut_off = False

    def noticed(leaf: Any) -> float:
        nonlocal cut_off
        cut_off = True
        return evaluate(leaf)

    sign = 1 if game.to_move(state) == 0 else -1
    actions = list(game.legal_actions(state))
    for depth in itertools.count(1):
        cut_off, best, value = False, actions[0], -math.inf
        for action in actions:
            child = game.result(state, action)
            window = (value, math.inf) if sign == 1 else (-math.inf, -value)
            found = sign * alpha_beta(game, child, *window, depth - 1, noticed)
            if found > value:
                best, value = action, found
        yield depth, best, sign * value
        if not cut_off:
            return
        actions.sort(key=lambda action: action != best)
