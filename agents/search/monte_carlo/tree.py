"""The nodes of a Monte Carlo tree, what it says about the root, and moving the root on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.monte_carlo import MAX_REUSE_PROBES, Edge, MonteCarlo, Start
from zermelo.envs import CHANCE, Chance

STATE_WORDS: Final = 512
"""Estimated words of a state of a game without rules, for the limit on memory."""


class Node:
    """A state in the tree; where chance is to move its actions are the outcomes.

    Attributes:
        state, mover: The state, and who is to move.
        bounds: What the first seat is proven to get at least and at most.
        has_proven_child: Whether a simulation has come back from a child of which something was proven.
        visits: How many simulations came by or ended here.
        tried: How many of the actions have been tried.
        stamp: The last simulation that came by.
        outcome: The utilities that are kept, of a finished state; else None.
        is_expanded: Whether it has what follows: for each action (of chance: outcome) a number.
        actions: The actions, in the order in which they are tried.
        probabilities: Where chance is to move.
        children: Nodes; None where there is none; where chance is simulated, what it drew, by key, and how often.
        counts, totals: Visits, and sums of outcomes for each seat that is kept.
        priors: For PUCT; else empty.
        virtual: How many simulations each action begins with, won if positive, lost if negative, if the game says.
        amaf_counts, amaf_totals: The same of all simulations in which the action came later.
    """

    __slots__ = (
        "actions",
        "amaf_counts",
        "amaf_totals",
        "bounds",
        "children",
        "counts",
        "has_proven_child",
        "is_expanded",
        "mover",
        "outcome",
        "priors",
        "probabilities",
        "stamp",
        "state",
        "totals",
        "tried",
        "virtual",
        "visits",
    )

    actions: list[int]
    probabilities: list[float]
    children: list[Any]
    counts: list[int]
    totals: list[list[float]]
    priors: list[float]
    virtual: list[float]
    amaf_counts: list[int]
    amaf_totals: list[float]

    def __init__(self, state: Any, mover: int, bounds: tuple[float, float]) -> None:
        self.state = state
        self.mover = mover
        self.bounds = bounds
        self.visits = self.tried = self.stamp = 0
        self.outcome: tuple[float, ...] | None = None
        self.is_expanded = self.has_proven_child = False

    def expand(self, actions: list[int], kept: int) -> None:
        """Gives the node its actions, and a number of each kind for each of them."""
        count = len(actions)
        self.actions = actions
        self.children = [None] * count
        self.counts, self.amaf_counts = [0] * count, [0] * count
        self.amaf_totals = [0.0] * count
        self.totals = [[0.0] * kept for _ in range(count)]
        self.is_expanded = True


def children_at(node: Node, place: int) -> list[Node]:
    """The children of an action, where there are any: those that were drawn too."""
    child = node.children[place]
    if child is None or isinstance(child, Node):
        return [] if child is None else [child]
    return [drawn for drawn, _ in child.values()]


def below(node: Node) -> Iterator[Node]:
    """All children of a node that are there."""
    for place in range(len(node.children) if node.is_expanded else 0):
        yield from children_at(node, place)


class Simulation(NamedTuple):
    """One simulation, after its outcome was backed up.

    Attributes:
        path: The nodes that it went through, the root first, each with the place among its actions that it took.
        leaf: The node that it came to: a new one, or one whose value is known.
        outcome: What it brought each seat whose values are kept: of one or two opposed players only the first.
    """

    path: tuple[tuple[Node, int], ...]
    leaf: Node
    outcome: tuple[float, ...]


class PlainTree(MonteCarlo):
    """A tree of nodes, of which a search in plain Python makes the root.

    Args:
        start, budget: As ``MonteCarlo`` takes them.

    Attributes:
        root: Its root, which has its actions.
        words_left: The memory that may still be used, in words of eight bytes.
        nodes_by_key: All nodes by the key of their state, where those that several move sequences reach are one.
    """

    root: Node

    def __init__(self, start: Start, budget: Budget) -> None:
        super().__init__(start, budget)
        game, config = start.game, start.config
        self.is_sampled = game.traits.chance is Chance.SAMPLED
        self.solves = config.solver and self.num_values == 1 and not self.is_sampled
        self.shares = config.transpositions and game.traits.terminal_rewards_only and not self.is_sampled
        self.state_words = 0 if hasattr(game, "rules") else STATE_WORDS
        self.words_left = self.all_words
        self.nodes_by_key: dict[Any, Node] = {}

    @property
    def all_words(self) -> int:
        """The memory for the tree, in words of eight bytes."""
        return int(self.config.memory_mb * 2**17)

    def forget_nodes(self, kept: dict[int, Node]) -> None:
        """Called with the nodes that stay, by their identity, when the root moves on."""

    def expand(self, node: Node) -> bool:
        """Gives a node its actions; false where memory is out."""
        raise NotImplementedError

    def edges(self, node: Node) -> list[Edge]:
        if not node.is_expanded:
            return []
        children = (child if isinstance(child, Node) else None for child in node.children)
        return list(map(Edge, node.actions, node.counts, node.totals, children))

    def mover(self, node: Node) -> int:
        return node.mover

    def bounds_of(self, node: Node) -> tuple[float, float]:
        return node.bounds

    def move_to(self, state: Any, budget: Budget, played: int) -> bool:
        key, seat = self.game.key(state), self.root.mover
        place = self.root.actions.index(played)
        waiting = [self.root, *children_at(self.root, place)]
        for index in range(MAX_REUSE_PROBES):
            if index == len(waiting):
                break
            node = waiting[index]
            if node.outcome is None and node.mover != CHANCE and self.game.key(node.state) == key:
                return self._go_on(node, state, budget)
            if node.mover != seat:
                waiting += below(node)
        return False

    def _go_on(self, node: Node, state: Any, budget: Budget) -> bool:
        if self.game.utility(node.state) != self.game.utility(state):
            return False
        kept = {id(node): node}
        waiting = [node]
        while waiting:
            for child in below(waiting.pop()):
                if id(child) not in kept:
                    kept[id(child)] = child
                    waiting.append(child)
        self.forget_nodes(kept)
        self.tree_nodes = len(kept)
        edges = sum(len(each.actions) for each in kept.values() if each.is_expanded)
        words = self.tree_nodes * (self.node_words + self.state_words) + edges * self.edge_words
        self.words_left = self.all_words - words
        self.nodes_by_key = {self.game.key(each.state): each for each in kept.values()} if self.shares else {}
        self.root, self.root_state, self.budget = node, state, budget
        self.simulations = self.tree_depth = 0
        budget.nodes += 1  # whatever the limits: there must be an answer
        if not node.is_expanded:
            self.expand(node)
        return True

    def add_noise(self, noise: dict[int, float], weight: float) -> None:
        root = self.root
        for place, action in enumerate(root.actions):
            root.priors[place] = (1.0 - weight) * root.priors[place] + weight * noise[action]
