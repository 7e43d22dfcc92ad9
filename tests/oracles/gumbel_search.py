"""Self-play's search in plain Python: PUCT as ``mcts`` has it, and Gumbel AlphaZero's choice at the root."""

import math

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import Selection, Start
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.agents.search.monte_carlo.batches import BatchedMonteCarlo


def rounds_of_halving(count, simulations):
    """The places, ranked, that sequential halving gives simulations: all, then the better half, ..., two."""
    phases = max(math.ceil(math.log2(count)), 1)
    left, order = count, []
    while len(order) < simulations:
        order += list(range(left)) * max(simulations // (phases * left), 1)
        left = max(left // 2, min(count, 2))
    return order[:simulations]


class GumbelSearch(BatchedMonteCarlo):
    """One move's search, from a state and a counter of random numbers."""

    def __init__(self, game, state, settings, network, counter):
        agent = MCTSAgent(selection=Selection.PUCT, exploration=settings.exploration, solver=settings.solver)
        budget = Budget(Limits())
        start = Start(game, state, agent.config, counter)
        super().__init__(start, budget, network=network, evaluation=None)
        self.settings = settings
        value = network.evaluate_batch(game, [state])[0].values[self.root.mover]
        self.root_value = self.scale.of(value)
        self.noisy = [
            math.log(prior) - math.log(-math.log(max(self.random.uniform(), 1e-12))) for prior in self.root.priors
        ]

    def search(self):
        """All simulations of a move."""
        self.simulate(self.settings.simulations)
        return self

    def select(self, node):
        """At the root: of the actions with as many visits as are due, the one that looks best."""
        if node is not self.root:
            return super().select(node)
        order = rounds_of_halving(min(len(node.actions), self.settings.considered), self.settings.simulations)
        before = order[: self.simulations]
        due = before.count(order[self.simulations])
        scores = self.scores(self.noisy)
        return max((place for place, count in enumerate(node.counts) if count == due), key=lambda at: scores[at])

    def quality(self, place, otherwise):
        """What an action is worth to the root's player, from 0 to 1."""
        root, child = self.root, self.root.children[place]
        if child is not None and child.bounds[0] == child.bounds[1]:
            return self.scale.of(self.mean(child.bounds[0], root.mover))
        if not root.counts[place]:
            return otherwise
        return self.scale.of(self.mean(root.totals[place][0] / root.counts[place], root.mover))

    def qualities(self):
        """Those of all actions; without visits, the root's value mixed with what the others came to."""
        root = self.root
        tried = [place for place, count in enumerate(root.counts) if count]
        mixed, visits = self.root_value, sum(root.counts)
        if tried:
            share = sum(root.priors[place] for place in tried)
            mean = sum(root.priors[place] * self.quality(place, 0) for place in tried) / share
            mixed = (self.root_value + visits * mean) / (1 + visits)
        return [self.quality(place, mixed) for place in range(len(root.actions))]

    def scores(self, logarithms):
        """Logarithms of priors, and how much values count against them."""
        weight = self.settings.value_weight * (self.settings.visit_weight + max(self.root.counts))
        return [before + weight * value for before, value in zip(logarithms, self.qualities(), strict=True)]

    def improved_policy(self):
        """The improved policy, by action, and the value under it, from -1 to 1."""
        scores = self.scores([math.log(prior) for prior in self.root.priors])
        weights = [math.exp(score - max(scores)) for score in scores]
        shares = [weight / sum(weights) for weight in weights]
        value = sum(share * worth for share, worth in zip(shares, self.qualities(), strict=True))
        return dict(zip(self.root.actions, shares, strict=True)), 2 * value - 1

    def action(self):
        """The action to play."""
        root, scores = self.root, self.scores(self.noisy)
        places = range(len(root.actions))
        if root.bounds[0] == root.bounds[1]:
            proven = (root.bounds[0], root.bounds[0])
            places = [at for at in places if root.children[at] and root.children[at].bounds == proven]
        return root.actions[max(places, key=lambda at: (root.counts[at], scores[at]))]
