"""Monte Carlo tree search over information sets: each simulation deals again what the player has not seen.

Statistics belong to what a player can tell apart, not to states. Which actions there are may depend on the deal;
so an action competes with its siblings only in simulations in which it was there, and its bonus counts these.
Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on Computational
Intelligence and AI in Games 4 (2012).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.playouts import Playouts, RandomNumbers
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.requirements import no_legal_action
from zermelo.agents.base.scores import finite
from zermelo.agents.monte_carlo.interface import RewardScale, RootEdge, SimulationSearch, given_bounds
from zermelo.agents.monte_carlo.selection_rules import INFORMATION_SETS, SelectionRule
from zermelo.envs.game import CHANCE


class Observers(enum.StrEnum):
    """Through whose eyes the tree sees the game."""

    SINGLE = "single"
    """The searching player's: opponents' decisions are averaged over what it does not see (SO-ISMCTS)."""
    MULTIPLE = "multiple"
    """Each player's where it decides: opponents know their own cards (MO-ISMCTS)."""


class _Edge:
    """An action at an information set, with sums of what each seat was paid from there on."""

    __slots__ = ("available", "totals", "visits")

    def __init__(self, seats: int) -> None:
        self.visits = self.available = 0  # how often the action was followed, and how often it was there
        self.totals = [0.0] * seats


class InformationSetSearch(SimulationSearch):
    """A search from one state, of which only what its player sees plays a part; settings are those of the agent.

    Args:
        guide: The action in each state of a playout; a random one, if not given.
        deal: Deals again, with a random generator, what the player does not see; as chance has it, if not given.
        rule: The selection rule; of its formulas the plain one counts.
    """

    def __init__(
        self,
        game: Any,
        state: Any,
        budget: Budget,
        *,
        observers: Observers,
        exploration: float,
        seed: int,
        playout_moves: int | None = None,
        guide: Callable[[Any], int] | None = None,
        deal: Callable[[np.random.Generator], Any] | None = None,
        rule: SelectionRule = INFORMATION_SETS,
    ) -> None:
        self.game, self.root_state, self.budget = game, state, budget
        self.seat: int = game.to_move(state)
        self.observers, self.exploration, self._rule = observers, exploration, rule.plain
        self.nodes: dict[Hashable, dict[int, _Edge]] = {}
        self._random = RandomNumbers(seed)
        self._generator = np.random.default_rng(seed)
        chooses = None if guide is None else lambda state, _: guide(state)
        is_whole = math.isinf(budget.nodes_left) and guide is None
        self._playouts = Playouts(
            game, self._random, self._generator, longest=playout_moves, guide=chooses, whole=is_whole
        )
        self._scale = RewardScale(given_bounds(game.traits))
        self._pays = not game.traits.terminal_rewards_only
        self._nothing = (0.0,) * game.traits.seats
        self._deal = deal if deal is not None else lambda generator: game.resample(state, self.seat, generator)
        self._deals_are_kept = deal is not None
        self._root_key = self._key(state, self.seat)
        self.nodes[self._root_key] = {}
        self.tree_nodes = 1

    def root_actions(self) -> list[RootEdge]:
        edges, unknown = self.nodes[self._root_key], _Edge(0)
        paid = self._paid(self.root_state)
        found = []
        for action in self.game.legal_actions(self.root_state):
            edge = edges.get(action, unknown)
            totals = zip(paid, edge.totals, strict=False)
            means = tuple(so_far + total / edge.visits for so_far, total in totals) if edge.visits else ()
            found.append(RootEdge(action, edge.visits, means))
        return found

    def simulate_once(self) -> None:
        game, visit, playouts, ends = self.game, self.budget.visit, self._playouts, self.ends()
        visit(0)
        state = self._deal(self._generator)
        if playouts.own_state is not None and (self._deals_are_kept or state is self.root_state):
            state = playouts.own_state(state)
        path: list[tuple[_Edge, Sequence[float]]] = []
        edges, mover = self.nodes[self._root_key], self.seat
        while len(path) < MAX_PLIES:
            actions = game.legal_actions(state)
            if not actions:
                raise no_legal_action(game)
            action = self._select(edges, actions, mover)
            path.append((edges[action], self._paid(state)))
            visit(len(path))
            state = playouts.after(state, action, playouts.generator)
            if game.is_terminal(state):
                break
            mover = game.to_move(state)
            if mover == CHANCE:
                state, _ = playouts.through_chance(state, self.budget)
                if game.is_terminal(state) or (mover := game.to_move(state)) == CHANCE:
                    break
            key = self._key(state, mover)
            if key not in self.nodes:
                self.nodes[key] = {}
                self.tree_nodes += 1
                break
            edges = self.nodes[key]
        end, _ = playouts.play(state, self.budget, is_own=True, ends=ends)
        outcome = finite(game.traits, tuple(map(float, game.utility(end))))
        for edge, paid in path:
            to_come = [final - so_far for final, so_far in zip(outcome, paid, strict=True)]
            self._scale.widen(to_come)
            edge.visits += 1
            for seat, value in enumerate(to_come):
                edge.totals[seat] += value
        self.simulations += 1

    def _paid(self, state: Any) -> Sequence[float]:
        paid: Sequence[float] = self.game.utility(state) if self._pays else self._nothing
        return paid

    def _select(self, edges: dict[int, _Edge], actions: Sequence[int], mover: int) -> int:
        untried = []
        for action in actions:
            edge = edges.get(action)
            if edge is None:
                edge = edges[action] = _Edge(self.game.traits.seats)
            edge.available += 1
            if not edge.visits:
                untried.append(action)
        if untried:
            return untried[self._random.below(len(untried))]
        low, unit, exploration, random = self._scale.low, self._scale.unit, self.exploration, self._random
        rule, prior = self._rule, 1.0 / len(actions)
        best, chosen = -math.inf, actions[0]
        for action in actions:
            edge = edges[action]
            value = (edge.totals[mover] / edge.visits - low) * unit
            bound = value + rule.bonus(rule.weight(edge.available), edge.visits, prior, exploration, random)
            if bound > best:
                best, chosen = bound, action
        return chosen

    def _key(self, state: Any, mover: int) -> Hashable:
        observer = self.seat if self.observers is Observers.SINGLE else mover
        key: Hashable = self.game.information_state_key(state, observer)
        return mover, key
