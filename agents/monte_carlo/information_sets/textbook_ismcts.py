"""Monte Carlo tree search over information sets: ISMCTS."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.monte_carlo.textbook_uct import Draws
from zermelo.envs.capabilities import SupportsInformationStates
from zermelo.envs.game import CHANCE


class Action:
    """An action at an information set: how often it was there, was followed, and the sums of utilities."""

    def __init__(self) -> None:
        self.available = 0
        self.visits = 0
        self.totals: dict[int, float] = {}


@textbook_call(needs=SupportsInformationStates, bounds=True)
def ismcts(
    game: Any,
    state: Any,
    simulations: int,
    random: Draws,
    generator: np.random.Generator,
    exploration: float = 0.7,
    sees: Callable[[int, int], int] = lambda searcher, mover: searcher,
) -> dict[int, tuple[int, float]]:
    """The number of simulations of each action, and their mean utility for the player to move.

    For games with information states and finite utility bounds, and rewards only at the end; the generator deals
    again. Information sets of the mover are seen through the eyes of the searcher (SO-ISMCTS), or with
    ``sees=lambda searcher, mover: mover`` its own (MO-ISMCTS). Play the action with most visits. Cowling, Powley
    and Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on Computational Intelligence and
    AI in Games 4 (2012).
    """
    lower, upper = game.traits.utility_bounds
    searcher = game.to_move(state)
    tree: dict[Hashable, dict[int, Action]] = {}

    def information_set(state: Any) -> Hashable:
        mover = game.to_move(state)
        return mover, game.information_state_key(state, sees(searcher, mover))

    def simulate(state: Any) -> tuple[float, ...]:
        if game.is_terminal(state):
            return game.utility(state)  # type: ignore[no-any-return]  # a tuple
        if game.to_move(state) == CHANCE:
            outcomes = game.chance_outcomes(state)
            return simulate(game.result(state, outcomes[random.draw([p for _, p in outcomes])][0]))
        here = information_set(state)
        if here not in tree:
            tree[here] = {}
            return play_out(state)
        chosen = select(state, tree[here])
        utility = simulate(game.result(state, chosen))
        followed = tree[here][chosen]
        followed.visits += 1
        for seat, value in enumerate(utility):
            followed.totals[seat] = followed.totals.get(seat, 0.0) + value
        return utility

    def select(state: Any, actions: dict[int, Action]) -> int:
        legal: list[int] = game.legal_actions(state)
        for action in legal:
            actions.setdefault(action, Action()).available += 1
        untried = [action for action in legal if not actions[action].visits]
        if untried:
            return untried[random.below(len(untried))]

        def upper_confidence_bound(action: int) -> float:
            tried = actions[action]
            mean = (tried.totals[game.to_move(state)] / tried.visits - lower) / (upper - lower)
            return float(mean + exploration * math.sqrt(math.log(tried.available) / tried.visits))

        return max(legal, key=upper_confidence_bound)

    def play_out(state: Any) -> tuple[float, ...]:
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                action = outcomes[random.draw([p for _, p in outcomes])][0]
            else:
                actions = game.legal_actions(state)
                action = actions[random.below(len(actions))]
            state = game.result(state, action)
        return game.utility(state)  # type: ignore[no-any-return]  # a tuple

    root = tree.setdefault(information_set(state), {})
    for _ in range(simulations):
        simulate(game.resample(state, searcher, generator))
    tried = {action: each for action, each in sorted(root.items()) if each.visits}
    return {action: (each.visits, each.totals[searcher] / each.visits) for action, each in tried.items()}
