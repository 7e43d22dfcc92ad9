"""Value iteration: values of games that can return to an earlier state, or last for ever."""

from __future__ import annotations

import math
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.game import CHANCE, Game


@textbook_call()
def value_iteration(game: Game[Any], tolerance: float = 1e-13) -> dict[Any, float]:
    """The value of every reachable state for seat 0 (MAX), rewards so far included.

    Sweep by sweep, each state gets what the states after it are worth: Bellman, "Dynamic Programming" (1957);
    Shapley, "Stochastic games" (1953), for two players; Russell and Norvig, 4th ed., figure 16.6, without a
    discount. It ends when no value changes by more than the tolerance, which says little about how far off values
    are that change slowly. For one player, or two with a constant sum, and hashable states.
    """
    states = [game.initial_state()]
    values = {states[0]: 0.0}
    ways: dict[Any, list[tuple[float, float, Any]]] = {}  # chance, reward on the way, and where it leads
    for state in states:  # it grows on the way
        if game.is_terminal(state):
            continue
        is_chance = game.to_move(state) == CHANCE
        outcomes = game.chance_outcomes(state) if is_chance else [(a, 1.0) for a in game.legal_actions(state)]
        after = [(p, game.result(state, o)) for o, p in outcomes]
        ways[state] = [(p, game.utility(then)[0] - game.utility(state)[0], then) for p, then in after]
        states += dict.fromkeys(then for _, then in after if then not in values)
        values.update((then, 0.0) for _, then in after if then not in values)
    movers = {state: game.to_move(state) for state in ways}
    change = math.inf
    while change > tolerance:
        change = 0.0
        for state, out in reversed(ways.items()):  # from the end, where values come from
            found = [p * (reward + values[then]) for p, reward, then in out]
            mover = movers[state]
            value = sum(found) if mover == CHANCE else max(found) if mover == 0 else min(found)
            change = max(change, abs(value - values[state]))
            values[state] = value
    return {state: game.utility(state)[0] + value for state, value in values.items()}
