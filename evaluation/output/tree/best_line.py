"""The line of play that a search chose, as nodes of its tree."""

from __future__ import annotations

from zermelo.agents.search.observer import NodeRole
from zermelo.evaluation.output.tree.model import SearchPass, SearchTree


def best_line(tree: SearchTree, one: SearchPass) -> set[int]:
    """The numbers of the nodes on it below the root, as far as no chance is met.

    Below the root the first child that gave a node its value is taken; of simulations, the one visited most.
    """
    if not one.finished or one is not tree.passes[-1]:
        return set()
    children, found = one.children(), set()
    here = next((child for child in children[0] if one.nodes[child].move == tree.answer), -1)
    while here >= 0:
        found.add(here)
        here = -1 if one.nodes[here].role is NodeRole.CHANCE else _best_child(one, here, children[here])
    return found


def _best_child(one: SearchPass, parent: int, children: list[int]) -> int:
    node = one.nodes[parent]
    if one.outcomes:
        return max(children, key=lambda child: len(one.nodes[child].visits), default=-1)
    for child in children:
        below = one.nodes[child]
        if node.vectors and below.vectors and below.vectors[-1].values == node.vectors[-1].values:
            return child
        if not node.vectors and node.known and below.known and node.known[-1][1:] == below.known[-1][1:]:
            return child
    return -1
