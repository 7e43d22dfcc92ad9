"""Monte Carlo tree search guided by a policy-value network, which judges many leaves at a time.

Each simulation leaves a virtual loss on its way until the network has answered, so that the next one goes
elsewhere: with a batch of one it is AlphaZero's search, with more it is a little wider and much faster. Chaslot,
Winands and van den Herik, "Parallel Monte-Carlo tree search", Computers and Games (2008); Silver et al.,
"Mastering the game of Go without human knowledge", Nature 550 (2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.evaluators.policy_value import PolicyValue
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.monte_carlo.plain import Evaluation, PlainMonteCarlo
from zermelo.agents.monte_carlo.plain_nodes import UctNode
from zermelo.envs.game import CHANCE


class BatchedMonteCarlo(PlainMonteCarlo):
    """Monte Carlo tree search with a policy-value network for leaves and priors."""

    def __init__(self, start: RootSetup, budget: Budget, *, network: PolicyValue, evaluation: Evaluation) -> None:
        self.network, self.batch_size = network, start.config.batch_size
        self.waiting: list[tuple[list[tuple[UctNode, int]], UctNode, Any]] = []  # ways down, leaves, their states
        super().__init__(start, budget, evaluation=evaluation, plays_out=False)

    def simulate(self, count: int) -> bool:
        target = self.simulations + count
        try:
            while self.simulations < target and not self.is_proven(self.root):
                self.fill(min(self.room(), target - self.simulations))
                self.answer_all()
        except SearchStopped as stopped:
            if stopped.reason is StoppedBy.NODES:
                self.answer_all()  # all that was counted
            for path, *_ in self.waiting:
                self.count_losses(path, -1)
            self.waiting.clear()
            raise
        return self.is_proven(self.root)

    def room(self) -> int:
        """The batch size, lowered to what the remaining time allows, if that is known."""
        if self.leaves == 0 or self.batch_size == 1:
            return self.batch_size
        fit = self.budget.seconds_left * self.leaves / max(self.leaf_seconds, 1e-9)
        return int(max(1, min(self.batch_size, fit)))

    def fill(self, room: int) -> None:
        """Goes down until so many leaves wait, or until it comes to one that waits already."""
        while len(self.waiting) < room and not self.is_proven(self.root):
            path, node, outcome = self.go_down()
            if outcome is None and node.mover == CHANCE:
                outcome = self.evaluate(node.state)  # where memory is out
            if outcome is not None:
                self.finish(path, node, outcome)
                room -= 1
                continue
            if any(node is other for _, other, _ in self.waiting):
                return
            self.waiting.append((path, node, node.state))
            self.count_losses(path, 1)

    def answer_all(self) -> None:
        if not self.waiting:
            return
        self.budget.check_clock()
        found = self.rate([(node, state) for _, node, state in self.waiting])
        for (path, node, _), values in zip(self.waiting, found, strict=True):
            self.count_losses(path, -1)
            self.finish(path, node, values)
        self.waiting.clear()

    def rate(self, nodes: Sequence[tuple[UctNode, Any]]) -> list[tuple[float, ...]]:
        """Asks the network about nodes with their states: their values; their priors are stored."""
        began = self.budget.now()
        game, found = self.game, []
        answers = self.network.evaluate_batch(game, [state for _, state in nodes])
        for (node, state), rated in zip(nodes, answers, strict=True):
            so_far = game.utility(state)
            found.append(self.own_values([paid + value for paid, value in zip(so_far, rated.values, strict=True)]))
            if not node.is_expanded:
                actions = game.legal_actions(state)
                node.guess = dict(zip(actions, map(float, rated.priors), strict=True))
        self.leaves += len(nodes)
        self.leaf_seconds += self.budget.now() - began
        return found

    def priors(self, node: UctNode, actions: list[int]) -> list[float]:
        if node.mover == CHANCE:
            return []
        if node.guess is None:
            self.rate([(node, node.state)])
        guess, node.guess = node.guess or {}, None
        return [guess[action] for action in actions]

    def count_losses(self, path: list[tuple[UctNode, int]], sign: int) -> None:
        """Counts a loss for whoever has chosen on the way, or takes it back; not in batches of one."""
        if self.batch_size == 1:
            return
        for node, place in path:
            node.visits += sign
            node.counts[place] += sign
            if node.mover != CHANCE:
                seat = 0 if self.num_values == 1 else node.mover
                if self.by_bounds:  # else a loss is no number that can be taken back
                    loss = self.scale.high if self.num_values == 1 and node.mover == 1 else self.scale.low
                    node.totals[place][seat] += sign * loss
