"""Best-first search: a way through a puzzle for one player, where nothing is left to chance."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.game import Game


@textbook_call(chance=False)
def best_first(game: Game[Any], state: Any = None) -> tuple[float, list[int]]:
    """Returns the highest total reward at an end of the game, and the actions that lead there.

    Expands the reached state with the highest reward so far, and of equal ones the nearest. With rewards as
    negative costs this is uniform-cost search: Dijkstra, "A note on two problems in connexion with graphs" (1959);
    Russell and Norvig, 4th ed., figure 3.7. It goes on after the first end until every state has been expanded,
    as rewards may still come elsewhere. The game has one player, no chance, finitely many states and no loop that
    pays.
    """
    state = game.initial_state() if state is None else state
    frontier: list[Any] = [(0.0, 0, 0, state, [])]
    number = itertools.count(1)
    most = {game.key(state): game.utility(state)[0]}
    found = -float("inf"), list[int]()
    while frontier:
        _, _, _, state, path = heapq.heappop(frontier)
        total = game.utility(state)[0]
        if game.is_terminal(state):
            found = max(found, (total, path), key=lambda one: one[0])
            continue
        for action in game.legal_actions(state):
            after = game.result(state, action)
            key, reward = game.key(after), game.utility(after)[0]
            if key not in most or reward > most[key]:
                most[key] = reward
                heapq.heappush(frontier, (-reward, len(path) + 1, next(number), after, [*path, action]))
    return found
