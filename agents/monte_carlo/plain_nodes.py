"""The nodes of a Monte Carlo tree in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zermelo.envs.game import CHANCE


@dataclass(slots=True, eq=False)
class UctNode:
    """A state in the tree; where chance is to move its actions are the outcomes.

    Attributes:
        state: None where it was dropped, as states need too much memory: it can be made again from the root.
        bounds: What the first seat is proven to get at least and at most.
        visits: How many simulations came by or ended here.
        tried: How many of the actions have been tried.
        outcome: The utilities that are kept, of a finished state; else None.
        has_proven_child: Whether a simulation has come back from a child of which something was proven.
        is_expanded: Whether it has what follows, for each action in the order in which they are tried.
        children: Nodes; None where there is none; where chance is simulated, what it drew, by key, and how often.
        counts, totals: Visits, and sums of outcomes for each seat that is kept.
        amaf_counts, amaf_totals: The same of all simulations in which the action came later.
        guess: Priors by action, of a node that a network has judged and that is not expanded.
        virtual: How many simulations each action begins with, won if positive, lost if negative, if the game says.
    """

    state: Any
    mover: int
    bounds: tuple[float, float]
    outcome: tuple[float, ...] | None = None
    visits: int = 0
    tried: int = 0
    has_proven_child: bool = False
    is_expanded: bool = False
    actions: list[int] = field(init=False)
    children: list[Any] = field(init=False)
    counts: list[int] = field(init=False)
    totals: list[list[float]] = field(init=False)
    amaf_counts: list[int] = field(init=False)
    amaf_totals: list[float] = field(init=False)
    probabilities: list[float] = field(init=False)
    priors: list[float] = field(init=False)
    guess: dict[int, float] | None = None
    virtual: list[float] = field(init=False)

    def expand(self, actions: list[int], kept: int) -> None:
        count = len(actions)
        self.actions, self.children = actions, [None] * count
        self.counts, self.amaf_counts = [0] * count, [0] * count
        self.amaf_totals = [0.0] * count
        self.totals = [[0.0] * kept for _ in range(count)]
        self.is_expanded = True

    def drop(self, place: int) -> None:
        """Takes an action out; of outcomes of chance the others become as much more probable."""
        for numbers in (self.actions, self.children, self.counts, self.totals, self.amaf_counts, self.amaf_totals):
            del numbers[place]
        for name in ("priors", "virtual", "probabilities"):
            if found := getattr(self, name, None):
                del found[place]
        if self.mover == CHANCE:
            whole = sum(self.probabilities)
            self.probabilities = [probability / whole for probability in self.probabilities]
        self.tried -= place < self.tried

    def is_dominated(self, place: int) -> bool:
        child = self.children[place]
        if child is None:
            return False
        return bool(child.bounds[1] <= self.bounds[0] if self.mover == 0 else child.bounds[0] >= self.bounds[1])

    def back_up_amaf(self, place: int, value: float, first_takers: dict[int, int]) -> None:
        """All moves as first: every action that the player took later counts as if it had been taken here.

        It counts for who takes it first: in Go a point where the other's stone was captured is another matter.
        Gelly and Silver, "Combining online and offline knowledge in UCT", ICML (2007).
        """
        first_takers[self.actions[place]] = self.mover
        for other, action in enumerate(self.actions):
            if first_takers.get(action) == self.mover:
                self.amaf_counts[other] += 1
                self.amaf_totals[other] += value

    def tighten(self, unknown: tuple[float, float]) -> bool:
        """Brings the proven bounds up to date; whether they changed. ``unknown`` are those of missing children."""
        self.has_proven_child = True
        bounds = [unknown if child is None else child.bounds for child in self.children]
        if self.mover == CHANCE:
            found = 0.0, 0.0
            for probability, (lower, upper) in zip(self.probabilities, bounds, strict=True):
                found = found[0] + probability * lower, found[1] + probability * upper
        else:
            best = max if self.mover == 0 else min
            found = best(bound[0] for bound in bounds), best(bound[1] for bound in bounds)
        changed = found != self.bounds
        self.bounds = found
        return changed


def children_at(node: UctNode, place: int) -> list[UctNode]:
    """The children of an action, where there are any: those that were drawn too."""
    child = node.children[place]
    if child is None or isinstance(child, UctNode):
        return [] if child is None else [child]
    return [drawn for drawn, _ in child.values()]


def below(node: UctNode) -> Iterator[UctNode]:
    """All children of a node that are there."""
    for place in range(len(node.children) if node.is_expanded else 0):
        yield from children_at(node, place)


def nodes_from(root: UctNode) -> list[UctNode]:
    """A node and all nodes below it."""
    found = [root]
    for node in found:  # which grows on the way
        found += below(node)
    return found


class Simulation(NamedTuple):
    """One simulation, after its outcome was backed up.

    Attributes:
        path: The nodes that it went through, the root first, each with the place among its actions that it took.
        leaf: The node that it came to: a new one, or one whose value is known.
        outcome: What it brought each seat whose values are kept: of one or two opposed players only the first.
    """

    path: tuple[tuple[UctNode, int], ...]
    leaf: UctNode
    outcome: tuple[float, ...]
