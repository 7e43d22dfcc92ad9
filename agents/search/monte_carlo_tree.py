"""The nodes of a Monte Carlo tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Node", "below", "children_at"]


class Node:
    """A state in the tree; where chance is to move its actions are the outcomes.

    Attributes:
        state, mover: The state, and who is to move.
        bounds: What the first seat is proven to get at least and at most.
        visits: How many simulations came by or ended here.
        tried: How many of the actions have been tried.
        stamp: The last simulation that came by.
        estimate: What the evaluation says, backed up as minimax does (implicit minimax).
        outcome: The utilities that are kept, of a finished state; else None.
        is_expanded: Whether it has what follows: for each action (of chance: outcome) a number.
        actions: The actions, in the order in which they are tried.
        probabilities: Where chance is to move.
        children: Nodes; None where there is none; where chance is simulated, what it drew, by key, and how often.
        counts, totals, squares: Visits, sums of outcomes (for each seat that is kept) and of their squares.
        priors: For PUCT, and for progressive bias; else empty.
        amaf_counts, amaf_totals: The same of all simulations in which the action came later.
    """

    __slots__ = (
        "actions",
        "amaf_counts",
        "amaf_totals",
        "bounds",
        "children",
        "counts",
        "estimate",
        "is_expanded",
        "mover",
        "outcome",
        "priors",
        "probabilities",
        "squares",
        "stamp",
        "state",
        "totals",
        "tried",
        "visits",
    )

    actions: list[int]
    probabilities: list[float]
    children: list[Any]
    counts: list[int]
    totals: list[list[float]]
    squares: list[float]
    priors: list[float]
    amaf_counts: list[int]
    amaf_totals: list[float]

    def __init__(self, state: Any, mover: int, bounds: tuple[float, float]) -> None:
        self.state = state
        self.mover = mover
        self.bounds = bounds
        self.visits = self.tried = self.stamp = 0
        self.estimate = 0.0
        self.outcome: tuple[float, ...] | None = None
        self.is_expanded = False

    def expand(self, actions: list[int], kept: int) -> None:
        """Gives the node its actions, and a number of each kind for each of them."""
        count = len(actions)
        self.actions = actions
        self.children = [None] * count
        self.counts, self.amaf_counts = [0] * count, [0] * count
        self.squares, self.amaf_totals = [0.0] * count, [0.0] * count
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
