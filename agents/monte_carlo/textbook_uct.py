"""Monte Carlo tree search: UCT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.game import CHANCE, Game


class Draws(Protocol):
    """A source of random numbers."""

    def below(self, count: int) -> int:
        """A whole number from 0 up to ``count``, which is excluded."""

    def draw(self, probabilities: Sequence[float]) -> int:
        """A place, as likely as it says there."""


class Node:
    """A state in the tree: its actions, and for each the node, visits and sum of utilities to the mover."""

    def __init__(self) -> None:
        self.visits = 0
        self.actions: list[int] | None = None
        self.children: dict[int, Node] = {}
        self.counts: dict[int, int] = {}
        self.totals: dict[int, float] = {}


@textbook_call(bounds=True)
def mcts(
    game: Game[Any], state: Any, simulations: int, random: Draws, exploration: float = 0.5
) -> dict[int, tuple[int, float]]:
    """The number of simulations of each action, and their mean utility for the player to move.

    For any number of players and any sums, with finite utility bounds and rewards only at the end. Play the action
    with most visits. Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML (2006).
    """
    lower, upper = game.traits.utility_bounds

    def simulate(state: Any, node: Node) -> tuple[float, ...]:
        if game.is_terminal(state):
            return game.utility(state)
        if game.to_move(state) == CHANCE:
            outcomes = game.chance_outcomes(state)
            outcome = outcomes[random.draw([probability for _, probability in outcomes])][0]
            return simulate(game.result(state, outcome), node.children.setdefault(outcome, Node()))
        node.visits += 1
        if node.visits == 1 and node is not root:
            return play_out(state)
        action = select(state, node)
        utility = simulate(game.result(state, action), node.children.setdefault(action, Node()))
        node.counts[action] = node.counts.get(action, 0) + 1
        node.totals[action] = node.totals.get(action, 0.0) + utility[game.to_move(state)]
        return utility

    def select(state: Any, node: Node) -> int:
        if node.actions is None:
            node.actions = list(game.legal_actions(state))
            for last in range(len(node.actions) - 1, 0, -1):
                other = random.below(last + 1)
                node.actions[last], node.actions[other] = node.actions[other], node.actions[last]
        for action in node.actions:
            if action not in node.counts:
                return action
        log = math.log(node.visits)

        def upper_confidence_bound(action: int) -> float:
            mean = (node.totals[action] / node.counts[action] - lower) / (upper - lower)
            return mean + exploration * math.sqrt(log / node.counts[action])

        return max(node.actions, key=upper_confidence_bound)

    def play_out(state: Any) -> tuple[float, ...]:
        while not game.is_terminal(state):
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                action = outcomes[random.draw([probability for _, probability in outcomes])][0]
            else:
                actions = game.legal_actions(state)
                action = actions[random.below(len(actions))]
            state = game.result(state, action)
        return game.utility(state)

    root = Node()
    for _ in range(simulations):
        simulate(state, root)
    return {action: (count, root.totals[action] / count) for action, count in sorted(root.counts.items())}
