"""Recording a Monte Carlo tree search, from what it tells its observer."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

from zermelo.agents.monte_carlo.plain_nodes import Simulation, UctNode
from zermelo.agents.tree_search.observer import NodeRole
from zermelo.envs.game import CHANCE
from zermelo.evaluation.search_trees.model import SearchNode, SearchPass, Source
from zermelo.evaluation.search_trees.names import Viewpoint, describe, move_text


class _Way:
    """A node as one way leads to it; where ways meet it stands in the drawing once for each."""

    __slots__ = ("below", "inner", "is_kept", "node", "parent")

    def __init__(self, inner: UctNode, parent: _Way | None, node: SearchNode) -> None:
        self.inner, self.parent, self.node = inner, parent, node
        self.below: dict[tuple[int, int], _Way] = {}
        self.is_kept = False

    def hidden(self) -> int:
        count, waiting = 0, [below for below in self.below.values() if not below.is_kept]
        while waiting:
            count += 1
            waiting += waiting.pop().below.values()
        return count


class SimulationRecorder:
    """An observer of plain Monte Carlo tree searches; of large trees it keeps what was visited most."""

    stop: Callable[[], None]

    def __init__(self, game: Any, max_nodes: int, patience: float) -> None:
        self._game, self._max_nodes, self._patience = game, max_nodes, patience
        self._root: _Way | None = None
        self._outcomes: list[tuple[float, ...]] = []
        self.visited, self.stopped = 0, False
        self.view = Viewpoint(0)

    def __call__(self, simulation: Simulation) -> None:
        path, leaf, outcome = simulation
        if self._root is None:
            first = path[0][0] if path else leaf
            self._root = _Way(first, None, SearchNode())
            self.visited = 1
            self.view = Viewpoint(first.mover)
            if len(outcome) == 1:  # the first seat's
                self.view = Viewpoint.of(self._game.traits, first.mover, turned=first.mover != 0)
        number = len(self._outcomes) + 1
        way = self._root
        way.node.visits.append(number)
        after = [node for node, _ in path[1:]] + [leaf]
        for (node, chosen), inner in zip(path, after, strict=True):
            key = chosen, id(inner)
            if key not in way.below:
                self.visited += 1
                chance = node.probabilities[chosen] if node.mover == CHANCE else 1.0
                move = move_text(self._game, node.state, node.actions[chosen])
                way.below[key] = _Way(inner, way, SearchNode(level=way.node.level + 1, move=move, chance=chance))
            way = way.below[key]
            way.node.visits.append(number)
        self._outcomes.append(tuple(map(self.view.value, outcome)))
        if number >= self._patience:
            self.stopped = True
            self.stop()

    def passes(self) -> list[SearchPass]:
        """The search, as the one pass that it is; none if there was no simulation."""
        if self._root is None:
            return []
        kept = self._most_visited(self._root)
        numbers = {id(way): number for number, way in enumerate(kept)}
        for way in kept:
            node = way.node
            node.parent = -1 if way.parent is None else numbers[id(way.parent)]
            node.role, node.seat = self._role(way.inner)
            node.source = Source.END if node.role is NodeRole.END else Source.BELOW
            node.entered = node.left = node.visits[0]
            node.hidden = way.hidden()
            describe(node, self._game, way.inner.state)
        nodes = [way.node for way in kept]
        depth = max(node.level for node in nodes)
        return [SearchPass(depth, nodes, len(self._outcomes), True, self.visited, self._outcomes)]

    def _most_visited(self, root: _Way) -> list[_Way]:
        """The most visited nodes, in the order in which they were first visited."""
        kept: list[_Way] = []
        count = itertools.count()
        waiting = [(-len(root.node.visits), next(count), root)]
        while waiting and len(kept) < self._max_nodes:
            way = heapq.heappop(waiting)[-1]
            way.is_kept = True
            kept.append(way)
            for below in way.below.values():
                heapq.heappush(waiting, (-len(below.node.visits), next(count), below))
        return sorted(kept, key=lambda way: (way.node.visits[0], way.node.level))

    def _role(self, inner: UctNode) -> tuple[NodeRole, int | None]:
        if inner.outcome is not None:
            return NodeRole.END, None
        if inner.mover == CHANCE:
            return NodeRole.CHANCE, None
        if self._game.traits.seats > 2 or (self._outcomes and len(self._outcomes[0]) > 1):
            return NodeRole.OWN, inner.mover
        return (NodeRole.MAX if inner.mover == self.view.seat else NodeRole.MIN), inner.mover
