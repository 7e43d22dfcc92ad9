"""Monte Carlo tree search where players move at the same time: at each state, each learns to mix its actions.

The textbook's ``simultaneous_mcts`` says how it works and where it comes from. Here it has limits, and games that
pay on the way or draw chance inside.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import JointPlayouts, RandomNumbers
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import finite
from zermelo.agents.monte_carlo.interface import RewardScale, SimulationSearch, given_bounds


class JointSelection(enum.StrEnum):
    """Learning rules of players that move at the same time."""

    DUCT = "duct"
    """Decoupled UCT: by UCB1, as if the others' moves were chance. Tak, Lanctot and Winands, "Monte Carlo tree
    search variants for simultaneous move games", CIG (2014)."""
    REGRET = "regret"
    """Regret matching: in proportion to what an action would have got more. Lanctot, Lisy and Winands, "Monte
    Carlo tree search in simultaneous move games with applications to Goofspiel", CGW (2013)."""
    EXP3 = "exp3"
    """In proportion to the exponential of what an action has got. Lisy, Kovarik, Lanctot and Bosansky,
    "Convergence of Monte Carlo tree search in simultaneous move games", NIPS (2013)."""


class SeatLearner:
    """Statistics of one player's actions at one state, by index: decoupled UCT, whose policy are the visits."""

    __slots__ = ("actions", "exploration", "totals", "visits")

    def __init__(self, actions: Sequence[int], exploration: float) -> None:
        self.actions, self.exploration = actions, exploration
        self.visits = [0] * len(actions)
        self.totals = [0.0] * len(actions)

    def choose(self, random: RandomNumbers, scale: RewardScale) -> int:
        """The place of the action to play in the next simulation."""
        untried = [place for place, visits in enumerate(self.visits) if not visits]
        if untried:
            return untried[random.draw([1 / len(untried)] * len(untried))]
        random.draw([1.0])  # the textbook draws here too
        log, best, chosen = math.log(sum(self.visits)), -math.inf, 0
        for place, visits in enumerate(self.visits):
            bound = scale.to_unit(self.totals[place] / visits) + self.exploration * math.sqrt(log / visits)
            if bound > best:
                best, chosen = bound, place
        return chosen

    def learn(self, place: int, others: tuple[int, ...], utility: float, scale: RewardScale) -> None:
        """Takes the outcome of an action against those of the others."""
        self.visits[place] += 1
        self.totals[place] += utility

    def policy_weights(self) -> Sequence[float]:
        """The weight of each action in the policy, exploration left out."""
        return self.visits

    def policy(self) -> list[float]:
        """The probability of each action."""
        weights, total = self.policy_weights(), sum(self.policy_weights())
        return [weight / total for weight in weights] if total else [1 / len(weights)] * len(weights)


class _Mixing(SeatLearner):
    """A learner that draws its actions; the weights of its policy are the sums of the probabilities."""

    __slots__ = ("played", "sums")

    def __init__(self, actions: Sequence[int], exploration: float) -> None:
        super().__init__(actions, exploration)
        self.sums = [0.0] * len(actions)
        self.played = self.sums

    def choose(self, random: RandomNumbers, scale: RewardScale) -> int:
        shares = self.shares()
        for place, share in enumerate(shares):
            self.sums[place] += share
        rest, explored = 1 - self.exploration, self.exploration / len(shares)
        self.played = [rest * share + explored for share in shares]
        return random.draw(self.played)

    def shares(self) -> list[float]:
        """The probability of each action, exploration left out."""
        raise NotImplementedError

    def policy_weights(self) -> Sequence[float]:
        return self.sums


class _RegretMatching(_Mixing):
    __slots__ = ("regrets", "seen")

    def __init__(self, actions: Sequence[int], exploration: float) -> None:
        super().__init__(actions, exploration)
        self.regrets = [0.0] * len(actions)
        # By what the others played: for each own action how often it was played against that, and what it got.
        self.seen: dict[tuple[int, ...], tuple[list[int], list[float]]] = {}

    def shares(self) -> list[float]:
        positive = [max(regret, 0.0) for regret in self.regrets]
        total = sum(positive)
        return [each / total for each in positive] if total > 0 else [1 / len(positive)] * len(positive)

    def learn(self, place: int, others: tuple[int, ...], utility: float, scale: RewardScale) -> None:
        super().learn(place, others, utility, scale)
        if others not in self.seen:
            self.seen[others] = [0] * len(self.visits), [0.0] * len(self.visits)
        visits, totals = self.seen[others]
        visits[place] += 1
        totals[place] += utility
        for other, tried in enumerate(visits):
            if tried and other != place:
                self.regrets[other] += totals[other] / tried - utility


class _Exp3(_Mixing):
    __slots__ = ("gains",)

    def __init__(self, actions: Sequence[int], exploration: float) -> None:
        super().__init__(actions, exploration)
        self.gains = [0.0] * len(actions)

    def shares(self) -> list[float]:
        rate, most = self.exploration / len(self.gains), max(self.gains)
        weights = [math.exp(rate * (gain - most)) for gain in self.gains]
        total = sum(weights)
        return [weight / total for weight in weights]

    def learn(self, place: int, others: tuple[int, ...], utility: float, scale: RewardScale) -> None:
        super().learn(place, others, utility, scale)
        self.gains[place] += scale.to_unit(utility) / self.played[place]


_LEARNERS: Final[Mapping[JointSelection, type[SeatLearner]]] = {
    JointSelection.DUCT: SeatLearner,
    JointSelection.REGRET: _RegretMatching,
    JointSelection.EXP3: _Exp3,
}


class _JointNode:
    __slots__ = ("children", "learners", "movers")

    def __init__(self, movers: Sequence[int], learners: list[SeatLearner]) -> None:
        self.movers, self.learners = movers, learners
        self.children: dict[Hashable, _JointNode] = {}


class SimultaneousSearch(SimulationSearch):
    """A search from one state of a game with simultaneous moves; settings are those of the agent."""

    def __init__(
        self, game: Any, state: Any, budget: Budget, *, selection: JointSelection, exploration: float, seed: int
    ) -> None:
        self.game, self.root_state, self.budget = game, state, budget
        self.tree_nodes = 0
        self._learner, self._exploration = _LEARNERS[selection], exploration
        self._random = RandomNumbers(seed)
        is_unlimited = math.isinf(budget.nodes_left)
        self._playouts = JointPlayouts(game, self._random, np.random.default_rng(seed), whole=is_unlimited)
        self._scale = RewardScale(given_bounds(game.traits))
        self._totals = [0.0] * game.traits.seats
        self.root = self._node(state)

    def values(self) -> tuple[float, ...]:
        """The mean utility of each seat; before the first simulation, what has been paid so far."""
        if not self.simulations:
            return tuple(map(float, self.game.utility(self.root_state)))
        return tuple(total / self.simulations for total in self._totals)

    def learner(self, seat: int) -> SeatLearner:
        """Statistics of one player at the root."""
        return self.root.learners[list(self.root.movers).index(seat)]

    def simulate_once(self) -> None:
        game, visit, random, ends = self.game, self.budget.visit, self._random, self.ends()
        visit(0)
        state, node = self.root_state, self.root
        path: list[tuple[_JointNode, list[int]]] = []
        while True:
            places = [learner.choose(random, self._scale) for learner in node.learners]
            path.append((node, places))
            visit(len(path))
            pairs = zip(node.movers, node.learners, places, strict=True)
            joint = {seat: learner.actions[place] for seat, learner, place in pairs}
            after = game.joint_result(state, joint, self._playouts.generator)
            state, chances = self._playouts.through_chance(after, self.budget)
            if game.is_terminal(state) or not game.movers(state):
                break
            edge: Hashable = (*places, *chances)
            if self._playouts.generator is not None:  # one of many states that these moves may lead to
                edge = edge, game.key(state), game.utility(state)
            child = node.children.get(edge)
            if child is None:
                node.children[edge] = self._node(state)
            if child is None or len(path) >= MAX_PLIES:
                state, _ = self._playouts.play(state, self.budget, ends=ends)
                break
            node = child
        outcome = finite(game.traits, tuple(map(float, game.utility(state))))
        self._scale.widen(outcome)
        for node, places in path:
            for index, seat in enumerate(node.movers):
                others = tuple([place for other, place in enumerate(places) if other != index])
                node.learners[index].learn(places[index], others, outcome[seat], self._scale)
        for seat, utility in enumerate(outcome):
            self._totals[seat] += utility
        self.simulations += 1

    def _node(self, state: Any) -> _JointNode:
        self.tree_nodes += 1
        movers, actions = self.game.movers(state), self._playouts.actions
        return _JointNode(movers, [self._learner(actions(state, seat), self._exploration) for seat in movers])
