"""Monte Carlo tree search where players move at the same time: decoupled UCT, regret matching, Exp3."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from zermelo.agents.base.textbook_calls import check_learner, textbook_call
from zermelo.agents.monte_carlo.textbook_uct import Draws
from zermelo.envs.capabilities import SupportsSimultaneousMoves


class Learner(Protocol):
    """The regrets of one player at one state; it learns the others' actions only after the move."""

    def strategy(self) -> dict[int, float]:
        """How likely to play each action in the next simulation."""

    def learn(self, action: int, others: tuple[int, ...], utility: float) -> None:
        """Learns from the outcome of an action when the others played theirs."""

    def average(self) -> dict[int, float]:
        """How likely each action was to be played over all simulations, exploration left out."""


class DecoupledUCT:
    """Each player chooses by UCB1 as if the others' moves were chance. It may go in circles for ever.

    Tak, Lanctot and Winands, "Monte Carlo tree search variants for simultaneous move games", IEEE Conference on
    Computational Intelligence and Games (2014).
    """

    def __init__(self, actions: Sequence[int], lower: float, upper: float, exploration: float = 0.7) -> None:
        check_learner(actions, lower, upper, exploration)
        self.lower, self.upper, self.exploration = lower, upper, exploration
        self.visits, self.totals = dict.fromkeys(actions, 0), dict.fromkeys(actions, 0.0)

    def strategy(self) -> dict[int, float]:
        untried = [action for action, visits in self.visits.items() if not visits]
        if untried:
            return dict.fromkeys(untried, 1 / len(untried))
        log = math.log(sum(self.visits.values()))

        def upper_confidence_bound(action: int) -> float:
            visits = self.visits[action]
            mean = (self.totals[action] / visits - self.lower) / (self.upper - self.lower)
            return mean + self.exploration * math.sqrt(log / visits)

        return {max(self.visits, key=upper_confidence_bound): 1.0}

    def learn(self, action: int, others: tuple[int, ...], utility: float) -> None:
        self.visits[action] += 1
        self.totals[action] += utility

    def average(self) -> dict[int, float]:
        return {action: visits / sum(self.visits.values()) for action, visits in self.visits.items()}


class RegretMatching:
    """Each player plays actions in proportion to how much it regrets not having played them.

    What another action would have got is the mean of when it was played against the same actions of the others.
    Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 68 (2000);
    Lanctot, Lisy and Winands, "Monte Carlo tree search in simultaneous move games with applications to Goofspiel",
    Computer Games Workshop at IJCAI (2013).
    """

    def __init__(self, actions: Sequence[int], lower: float, upper: float, exploration: float = 0.1) -> None:
        check_learner(actions, lower, upper, exploration)
        self.exploration = exploration
        self.regrets, self.sums = dict.fromkeys(actions, 0.0), dict.fromkeys(actions, 0.0)
        self.seen: dict[tuple[int, tuple[int, ...]], tuple[int, float]] = {}

    def strategy(self) -> dict[int, float]:
        count = len(self.regrets)
        total = sum(max(regret, 0.0) for regret in self.regrets.values())
        matched = {a: max(regret, 0.0) / total if total > 0 else 1 / count for a, regret in self.regrets.items()}
        for action, share in matched.items():
            self.sums[action] += share
        return {a: (1 - self.exploration) * share + self.exploration / count for a, share in matched.items()}

    def learn(self, action: int, others: tuple[int, ...], utility: float) -> None:
        visits, total = self.seen.get((action, others), (0, 0.0))
        self.seen[action, others] = visits + 1, total + utility
        for other in self.regrets:
            if other != action and (other, others) in self.seen:
                visits, total = self.seen[other, others]
                self.regrets[other] += total / visits - utility

    def average(self) -> dict[int, float]:
        return {action: share / sum(self.sums.values()) for action, share in self.sums.items()}


class Exp3:
    """Each player plays actions in proportion to the exponential of what they got, and any now and then.

    What an action got counts the more the less likely it was. Auer, Cesa-Bianchi, Freund and Schapire, "The
    nonstochastic multiarmed bandit problem", SIAM Journal on Computing 32 (2002), figure 1; in trees: Lisy,
    Kovarik, Lanctot and Bosansky, "Convergence of Monte Carlo tree search in simultaneous move games", NIPS
    (2013).
    """

    def __init__(self, actions: Sequence[int], lower: float, upper: float, exploration: float = 0.2) -> None:
        check_learner(actions, lower, upper, exploration)
        self.lower, self.upper, self.exploration = lower, upper, exploration
        self.gains, self.sums = dict.fromkeys(actions, 0.0), dict.fromkeys(actions, 0.0)
        self.played: dict[int, float] = {}

    def strategy(self) -> dict[int, float]:
        count, most = len(self.gains), max(self.gains.values())
        weights = {a: math.exp(self.exploration / count * (gain - most)) for a, gain in self.gains.items()}
        total = sum(weights.values())
        for action, weight in weights.items():
            self.sums[action] += weight / total
        self.played = {
            a: (1 - self.exploration) * weight / total + self.exploration / count for a, weight in weights.items()
        }
        return self.played

    def learn(self, action: int, others: tuple[int, ...], utility: float) -> None:
        self.gains[action] += (utility - self.lower) / (self.upper - self.lower) / self.played[action]

    def average(self) -> dict[int, float]:
        return {action: share / sum(self.sums.values()) for action, share in self.sums.items()}


class JointNode:
    """A state in the tree, and what its movers have learnt; a chance event has no movers."""

    def __init__(self) -> None:
        self.learners: dict[int, Learner] = {}
        self.children: dict[Hashable, JointNode] = {}


@textbook_call(needs=SupportsSimultaneousMoves, bounds=True)
def simultaneous_mcts(
    game: Any, state: Any, simulations: int, random: Draws, learner: Callable[..., Learner] = RegretMatching
) -> dict[int, dict[int, float]]:
    """The mixed strategy of each player that moves, as the probability of each action.

    For two opposed players those of ``RegretMatching`` and ``Exp3`` come near an equilibrium, those of
    ``DecoupledUCT`` may not. Chance is exact or none, utility bounds are finite, and rewards come only at the end.
    """
    bounds = game.traits.utility_bounds

    def simulate(state: Any, node: JointNode) -> Sequence[float]:
        if game.is_terminal(state):
            return game.utility(state)  # type: ignore[no-any-return]  # a tuple
        movers = game.movers(state)
        if not movers:
            outcome = chance(state)
            return simulate(game.result(state, outcome), node.children.setdefault(outcome, JointNode()))
        if not node.learners:
            node.learners = {seat: learner(game.actions_of(state, seat), *bounds) for seat in movers}
            if node is not root:
                return play_out(state)
        joint = {}
        for seat in movers:
            strategy = node.learners[seat].strategy()
            joint[seat] = [*strategy][random.draw([*strategy.values()])]
        child = node.children.setdefault(tuple(joint.values()), JointNode())
        utility = simulate(game.joint_result(state, joint), child)
        for seat in movers:
            others = tuple(action for other, action in joint.items() if other != seat)
            node.learners[seat].learn(joint[seat], others, utility[seat])
        return utility

    def chance(state: Any) -> int:
        outcomes: Sequence[tuple[int, float]] = game.chance_outcomes(state)
        return outcomes[random.draw([probability for _, probability in outcomes])][0]

    def play_out(state: Any) -> Sequence[float]:
        while not game.is_terminal(state):
            movers = game.movers(state)
            if movers:
                actions = {seat: game.actions_of(state, seat) for seat in movers}
                joint = {seat: legal[random.below(len(legal))] for seat, legal in actions.items()}
                state = game.joint_result(state, joint)
            else:
                state = game.result(state, chance(state))
        return game.utility(state)  # type: ignore[no-any-return]  # a tuple

    root = JointNode()
    for _ in range(simulations):
        simulate(state, root)
    return {seat: learner.average() for seat, learner in root.learners.items()}
