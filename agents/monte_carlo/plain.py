"""Monte Carlo tree search over any game, in plain Python.

A node gets its actions when it is visited for the second time, so most of the memory goes to states that matter.
With a solver, nodes also have proven bounds: a node whose bounds meet is not simulated any more, and an action
that can at best equal what its siblings are proven to give is left alone. Winands, Bjornsson and Saito,
"Monte-Carlo tree search solver", Computers and Games (2008); Cazenave and Saffidine, "Score bounded Monte-Carlo
tree search", Computers and Games (2010).

``kernel`` does the same over compiled rules: node for node, and bit for bit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.branches import can_skip_branch, child_of, choices_in, no_action_works, skip_branch
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import Playouts, RandomNumbers
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import finite, undecided_reward
from zermelo.agents.monte_carlo.compiled.record import NODE_WORDS
from zermelo.agents.monte_carlo.interface import (
    MAX_REUSE_PROBES,
    PRIOR_DRAWS,
    BestPlayout,
    Edge,
    MonteCarlo,
    RewardScale,
    RootSetup,
)
from zermelo.agents.monte_carlo.kept_states import KeptStates
from zermelo.agents.monte_carlo.plain_nodes import Simulation, UctNode, below, children_at, nodes_from
from zermelo.envs.capabilities import (
    SupportsCopies,
    SupportsPlayoutActions,
    copy_facts,
    offers,
    playout_game,
    rules_of,
)
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Chance

_FOR_REUSE: Final = 0.1
"""The share of the time that may go into finding a state in the tree of the last move."""
STATE_WORDS: Final = 512
"""Estimated words of a state of a game without rules, for the limit on memory."""
Evaluation = Callable[[Any], tuple[float, ...]]
"""A function that gives each seat's value of a state, rewards so far included."""


class PlainMonteCarlo(MonteCarlo):
    """Monte Carlo tree search over any game.

    Args:
        evaluation: What an unfinished state is believed to be worth where a player is to move, or None.
        plays_out: Whether leaves are played on at random; otherwise the evaluation says what they are worth.
        prior: ``prior(state, actions)``, the probability of each action, for PUCT; all the same if None.
    """

    root: UctNode

    def __init__(
        self,
        start: RootSetup,
        budget: Budget,
        *,
        evaluation: Evaluation | None = None,
        plays_out: bool = True,
        prior: Callable[[Any, Sequence[int]], Sequence[float]] | None = None,
    ) -> None:
        super().__init__(start, budget)
        game, config, traits, facts = start.game, start.config, start.game.traits, copy_facts(start.game)
        self.evaluation, self.plays_out, self.prior = evaluation, plays_out, prior
        self.is_sampled = traits.chance is Chance.SAMPLED
        self.solves = config.solver and self.num_values == 1 and not self.is_sampled
        self.state_words = 0 if rules_of(game) is not None else STATE_WORDS
        self.all_words = self.words_left = int(config.memory_mb * 2**17)
        self.states = KeptStates(game)
        if offers(game, SupportsCopies) and config.on_simulation is None:
            size = game.state_bytes(start.state)
            if self.is_sampled:  # a replay would draw others
                self.state_words = max(size // 8, STATE_WORDS)
            else:
                self.states.limit(size, self.all_words)
                self.state_words, self.words_left = 0, self.all_words - self.states.words
        self.first_takers: dict[int, int] = {}  # of actions in this simulation, for all moves as first
        self.constant = traits.constant
        self.random, self.generator = RandomNumbers(start.seed), np.random.default_rng(start.seed)
        guide = game.playout_action if offers(game, SupportsPlayoutActions) else None
        is_whole, longest = math.isinf(budget.nodes_left) and math.isinf(self.ends()), self.playout_moves
        self.playouts = Playouts(
            playout_game(game), self.random, self.generator, guide=guide, longest=longest, whole=is_whole
        )
        self.copying = facts.copying
        self.playout_ends = math.inf
        self.keeps_best = traits.seats == 1 and traits.chance is Chance.NONE and rules_of(game) is None
        self.path_actions: tuple[int, ...] = ()
        self.keys_are_slow = facts.keys_are_slow
        self.scale = RewardScale(traits.utility_bounds if self.by_bounds else None, default=0.5)
        budget.nodes += 1  # whatever the limits: there must be an answer
        self.root = self.make_node(start.state)
        self.expand(self.root)

    def simulate(self, count: int) -> bool:
        for _ in range(count):
            if self.is_proven(self.root):
                return True
            self.playout_ends = self.ends()
            path, node, outcome = self.go_down()
            if self.keeps_best:
                self.path_actions = tuple(above.actions[place] for above, place in path)
                if node.state is not None and self.game.is_terminal(node.state):
                    self.offer_line(node.state, ())
            if outcome is None:
                outcome = self.evaluate(node.state)
            self.finish(path, node, outcome)
        return self.is_proven(self.root)

    def finish(self, path: list[tuple[UctNode, int]], node: UctNode, outcome: tuple[float, ...]) -> None:
        self.simulations += 1
        self.tree_depth = max(self.tree_depth, len(path))
        self.back_up(path, node, outcome)

    def go_down(self) -> tuple[list[tuple[UctNode, int]], UctNode, tuple[float, ...] | None]:
        """Nodes and places on the way from the root, the leaf, and its outcome if that is known."""
        node: UctNode = self.root
        path: list[tuple[UctNode, int]] = []
        if self.config.rave:
            self.first_takers.clear()
        while True:
            if node.outcome is not None:
                self.budget.visit(0)  # so that simulations in a tree that has all states come to an end
                return path, node, node.outcome
            if self.solves and node.bounds[0] == node.bounds[1]:
                self.budget.visit(0)
                return path, node, (node.bounds[0],)
            if node.state is None and (failed := self.states.restore(path, node)) is not None:
                node, place = failed
                self.drop(node, place)
                continue
            is_leaf = (node.visits == 0 and node.mover != CHANCE) or len(path) >= MAX_PLIES
            if not node.is_expanded and (is_leaf or not self.expand(node)):
                return path, node, None
            place = self.random.draw(node.probabilities) if node.mover == CHANCE else self.select(node)
            if place < 0:
                node.tighten(self.bounds)
                if self.is_proven(node):
                    continue
                place = 0
            child = self.child(node, place, len(path) + 1)
            if child is None:  # the environment failed after it
                self.drop(node, place)
                continue
            path.append((node, place))
            node = child

    def drop(self, node: UctNode, place: int) -> None:
        node.drop(place)
        if not node.actions:
            if node is self.root:
                raise no_action_works(self.game)
            node.outcome = self.own_values(self.static_value(node.state))

    def child(self, node: UctNode, place: int, ply: int) -> UctNode | None:
        """The node below an edge, which is made where there is none; None where the environment fails."""
        found = node.children[place]
        if isinstance(found, UctNode):
            return found
        if self.is_sampled:
            return self.drawn_child(node, place, ply)
        self.budget.visit(ply)
        state = child_of(self.game, node.state, node.actions[place])
        if state is None:
            return None
        made = node.children[place] = self.make_node(state)
        return made

    def drawn_child(self, node: UctNode, place: int, ply: int) -> UctNode | None:
        """One of the states that chance has drawn after an action, or a new one: progressive widening.

        There are as many different ones as the square root of its visits. Couetoux et al., "Continuous upper
        confidence trees", LION (2011).
        """
        drawn: dict[Any, list[Any]] = node.children[place] or {}
        if len(drawn) >= math.sqrt(node.counts[place] + 1):
            place = self.random.below(sum(count for _, count in drawn.values()))
            for child, count in drawn.values():
                place -= count
                if place < 0:
                    return child  # type: ignore[no-any-return]  # a node
        self.budget.visit(ply)
        try:
            state = self.game.sample_result(node.state, node.actions[place], self.generator)
        except EnvFailedError as error:
            skip_branch(self.game, error)
            return None
        key = len(drawn) if self.keys_are_slow else (self.game.key(state), self.game.utility(state))
        if key not in drawn:
            drawn[key] = [self.make_node(state), 0]
        drawn[key][1] += 1
        node.children[place] = drawn
        return drawn[key][0]  # type: ignore[no-any-return]  # a node

    def make_node(self, state: Any) -> UctNode:
        game = self.game
        is_over = game.is_terminal(state)
        node = UctNode(None, 0 if is_over else game.to_move(state), self.bounds)
        self.states.keep(node, state, getattr(self, "root", None))
        if is_over:
            node.outcome = self.own_values(game.utility(state))
            node.bounds = node.outcome[0], node.outcome[0]
        self.tree_nodes += 1
        self.words_left -= NODE_WORDS + self.state_words
        return node

    def expand(self, node: UctNode) -> bool:
        """Gives a node its actions; false where memory is out."""
        game, state = self.game, node.state
        if node.mover == CHANCE:
            outcomes = game.chance_outcomes(state)
            actions = [outcome for outcome, _ in outcomes]
            node.probabilities = [probability for _, probability in outcomes]
        else:
            actions = list(choices_in(game, state))
        count = len(actions)
        if not count and node is not self.root and can_skip_branch(game):
            node.outcome = self.own_values(self.static_value(state))
            return False
        words = self.edge_words * count
        if self.words_left < words and node is not self.root:
            return False
        if node.mover != CHANCE:
            for last in range(count - 1, 0, -1):
                other = self.random.below(last + 1)
                actions[last], actions[other] = actions[other], actions[last]
        self.words_left -= words
        node.priors = self.priors(node, actions)
        node.expand(actions, self.num_values)
        if self.has_priors and node.mover != CHANCE:
            node.virtual = list(game.action_priors(state, actions))
        return True

    def priors(self, node: UctNode, actions: list[int]) -> list[float]:
        if node.mover == CHANCE or not self.rule.has_prior:
            return []
        if self.prior is None:
            return [1.0 / len(actions)] * len(actions)
        return list(self.prior(node.state, actions))

    def select(self, node: UctNode) -> int:
        """The place of the action to follow; -1 where those that are left, all proven, settle the node."""
        if self.tries_first and node.tried < len(node.actions):
            node.tried += 1
            return node.tried - 1
        if self.is_sampled and node is self.root:  # the first draws of the best action may have been unlucky
            rarest = node.counts.index(min(node.counts))
            if node.counts[rarest] < math.sqrt(node.visits / len(node.counts)):
                return rarest
        mover, priors, exploration, random = node.mover, node.priors, self.config.exploration, self.random
        weight, bonus = self.rule.plain.weight(node.visits), self.rule.plain.bonus
        best, chosen = -math.inf, -1 if node.has_proven_child else 0
        for place, count in enumerate(node.counts):
            if node.has_proven_child and node.is_dominated(place):
                continue
            prior = priors[place] if priors else 0.0
            value = self.value_of(node, place, mover) + bonus(weight, count, prior, exploration, random)
            if value > best:
                best, chosen = value, place
        return chosen

    def value_of(self, node: UctNode, place: int, mover: int) -> float:
        """The estimated value of an action for the player to move, from 0 to 1."""
        config, count = self.config, node.counts[place]
        tries: float = count
        value = self.rule.untried
        if count:
            total = node.totals[place][0 if self.num_values == 1 else mover]
            value = self.scale.to_unit(self.mean(total / count, mover))
        if self.has_priors:
            prior = node.virtual[place]
            tries += PRIOR_DRAWS + abs(prior)
            value = (value * count + 0.5 * PRIOR_DRAWS + max(prior, 0.0)) / tries
        if config.rave and node.amaf_counts[place]:
            seen = float(node.amaf_counts[place])
            weight = seen / (seen + tries + seen * tries / config.rave)
            others = self.scale.to_unit(self.mean(node.amaf_totals[place] / node.amaf_counts[place], mover))
            value = (1.0 - weight) * value + weight * others
        return value

    def back_up(self, path: list[tuple[UctNode, int]], leaf: UctNode, outcome: tuple[float, ...]) -> None:
        """Takes an outcome, and what is newly proven, from a leaf to the root."""
        finite(self.game.traits, outcome)
        if not self.by_bounds:
            both = self.num_values == 1 and self.game.traits.seats == 2
            self.scale.widen([outcome[0], self.constant - outcome[0]] if both else outcome)
        leaf.visits += 1
        changed = self.solves and leaf.bounds != self.bounds
        for node, place in reversed(path):
            node.visits += 1
            node.counts[place] += 1
            for seat, value in enumerate(outcome):
                node.totals[place][seat] += value
            if self.config.rave and node.mover != CHANCE:
                value = outcome[0 if self.num_values == 1 else node.mover]
                node.back_up_amaf(place, value, self.first_takers)
            changed = changed and node.tighten(self.bounds)
        if self.config.on_simulation is not None:
            self.config.on_simulation(Simulation(tuple(path), leaf, outcome))

    def mean(self, kept: float, mover: int) -> float:
        return self.constant - kept if self.num_values == 1 and mover == 1 else kept

    def evaluate(self, state: Any) -> tuple[float, ...]:
        """The value of a leaf, by playouts or the evaluation, for each seat with one; the time is measured."""
        began, games = self.budget.now(), self.config.playouts
        self.leaves += 1
        try:
            if not self.plays_out:
                return self.own_values(self.expected_value(state))
            results = [self.play_out(state) for _ in range(games)]
            return tuple(sum(values) / games for values in zip(*results, strict=True))
        finally:  # a playout may be cut short
            self.leaf_seconds += self.budget.now() - began

    def play_out(self, state: Any) -> tuple[float, ...]:
        if self.playout_ends < math.inf and self.budget.now() + self.copying >= self.playout_ends:
            return self.own_values(self.static_value(state))  # there is no time to play on
        end, taken = self.playouts.play(state, self.budget, ends=self.playout_ends)
        if self.config.rave:
            for mover, action in taken:
                self.first_takers.setdefault(action, mover)
        if self.playouts.cut_off:
            return self.own_values(self.static_value(end))
        if self.keeps_best:
            self.offer_line(end, taken)
        return self.own_values(self.game.utility(end))

    def offer_line(self, end: Any, taken: Sequence[tuple[int, int]]) -> None:
        """Keeps the simulated game if none has brought the only player more, or as much in fewer moves."""
        total, best = float(self.game.utility(end)[0]), self.best_line
        length = len(self.path_actions) + len(taken)
        if total > best.total or (total == best.total and length < len(best.actions)):
            self.best_line = BestPlayout(total, (*self.path_actions, *(action for _, action in taken)))

    def expected_value(self, state: Any) -> tuple[float, ...]:
        game = self.game
        if game.is_terminal(state) or game.to_move(state) != CHANCE:
            return self.static_value(state)
        total = [0.0] * game.traits.seats
        for outcome, probability in game.chance_outcomes(state):
            for seat, value in enumerate(self.static_value(game.result(state, outcome))):
                total[seat] += probability * value
        return tuple(total)

    def static_value(self, state: Any) -> tuple[float, ...]:
        """The evaluation of a state, or the middle value where there is none."""
        game = self.game
        so_far: tuple[float, ...] = tuple(map(float, game.utility(state)))
        if game.is_terminal(state):
            return so_far
        if self.evaluation is not None and game.to_move(state) != CHANCE:
            return self.evaluation(state)
        to_come = undecided_reward(game.traits, so_far)
        return tuple(value + to_come for value in so_far)

    def own_values(self, utility: Sequence[float]) -> tuple[float, ...]:
        return tuple(map(float, utility[: self.num_values]))

    def know_children(self, children: Mapping[int, Any]) -> None:
        for place, action in enumerate(self.root.actions):
            if self.root.children[place] is None and action in children:
                self.root.children[place] = self.make_node(children[action])

    def root_totals(self) -> Mapping[int, tuple[float, ...]]:
        followed = zip(self.root.actions, self.root.children, strict=True)
        found = {}
        for place, (action, child) in enumerate(followed):
            if not isinstance(child, UctNode):
                continue
            if child.state is not None or self.states.restore([(self.root, place)], child) is None:
                found[action] = tuple(map(float, self.game.utility(child.state)))
        return found

    def edges(self, node: UctNode) -> list[Edge]:
        if not node.is_expanded:
            return []
        children = (child if isinstance(child, UctNode) else None for child in node.children)
        return list(map(Edge, node.actions, node.counts, node.totals, children))

    def mover(self, node: UctNode) -> int:
        return node.mover

    def bounds_of(self, node: UctNode) -> tuple[float, float]:
        return node.bounds

    def move_to(self, state: Any, budget: Budget, played: int) -> bool:
        if self.keys_are_slow or played not in self.root.actions:
            return False
        key, seat = self.game.key(state), self.root.mover
        waiting = [self.root, *children_at(self.root, self.root.actions.index(played))]
        ends = budget.now() + _FOR_REUSE * budget.seconds_left
        for node in itertools.islice(waiting, MAX_REUSE_PROBES):  # which grows on the way
            if budget.now() > ends:
                return False
            is_open = node.outcome is None and node.mover != CHANCE and node.state is not None
            if is_open and self.game.key(node.state) == key:
                return self._go_on(node, state, budget, played)
            if node.mover != seat:
                waiting += below(node)
        return False

    def _go_on(self, node: UctNode, state: Any, budget: Budget, played: int) -> bool:
        if self.game.utility(node.state) != self.game.utility(state):
            return False
        kept = nodes_from(node)
        self.tree_nodes = len(kept)
        of_edges = self.edge_words * sum(len(each.actions) for each in kept if each.is_expanded)
        self.words_left = self.all_words - self.tree_nodes * (NODE_WORDS + self.state_words) - of_edges
        self.words_left -= self.states.words
        self.states.begin_again(kept)
        if node is not self.root:
            is_child = node in children_at(self.root, self.root.actions.index(played))
            self.best_line = self.best_line.after(played) if is_child else BestPlayout()
        self.root, self.root_state, self.budget = node, state, budget
        self.simulations = self.tree_depth = 0
        budget.nodes += 1  # whatever the limits: there must be an answer
        if not node.is_expanded:
            self.expand(node)
        return True
