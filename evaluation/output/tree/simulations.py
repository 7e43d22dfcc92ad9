"""Recording a Monte Carlo tree search, from what it tells its observer."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any

from zermelo.agents.search.monte_carlo.tree import Node, Simulation
from zermelo.agents.search.observer import NodeRole
from zermelo.envs import CHANCE
from zermelo.evaluation.output.tree.model import SearchNode, SearchPass, Source
from zermelo.evaluation.output.tree.names import move_text, position_text, short_name
from zermelo.evaluation.output.tree.viewpoint import Viewpoint


class _Place:
    """A node of the tree as one way leads to it; where ways meet it stands in the drawing once for each."""

    __slots__ = ("below", "chance", "level", "move", "node", "number", "parent", "visits")

    def __init__(self, node: Node, parent: _Place | None, move: str, chance: float) -> None:
        self.node, self.parent, self.move, self.chance = node, parent, move, chance
        self.level: int = 0 if parent is None else parent.level + 1
        self.visits: list[int] = []
        self.below: dict[tuple[int, int], _Place] = {}
        self.number = -1


class SimulationRecorder:
    """An observer of plain Monte Carlo tree searches.

    Of a tree that is too large the nodes that were visited most are kept.

    Args:
        game: The game.
        max_nodes: How many nodes to keep.
        seat: From whose point of view values are; None for the player to move at the root.
        patience: After how many simulations to call ``stop``.
        stop: Ends the search.
    """

    def __init__(
        self,
        game: Any,
        max_nodes: int,
        seat: int | None,
        patience: float = math.inf,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._game, self._max_nodes, self._seat = game, max_nodes, seat
        self._patience, self._stop = patience, stop
        self._root: _Place | None = None
        self._outcomes: list[tuple[float, ...]] = []
        self.visited = 0
        self.stopped = False
        self.view = Viewpoint(0 if seat is None else seat)

    def __call__(self, simulation: Simulation) -> None:
        """Takes a simulation."""
        path, leaf, outcome = simulation
        first = path[0][0] if path else leaf
        if self._root is None:
            self._root = _Place(first, None, "", 1.0)
            self.visited = 1
            seat = first.mover if self._seat is None else self._seat
            self.view = Viewpoint.of(self._game.traits, 0, seat) if len(outcome) == 1 else Viewpoint(seat)
        number = len(self._outcomes) + 1
        place = self._root
        place.visits.append(number)
        after = [node for node, _ in path[1:]] + [leaf]
        for (node, chosen), below in zip(path, after, strict=True):
            key = chosen, id(below)
            if key not in place.below:
                place.below[key] = self._place(place, node, chosen, below)
            place = place.below[key]
            place.visits.append(number)
        self._outcomes.append(tuple(map(self.view.value, outcome)))
        if number >= self._patience and self._stop is not None:
            self.stopped = True
            self._stop()

    def _place(self, parent: _Place, node: Node, chosen: int, below: Node) -> _Place:
        self.visited += 1
        chance = node.probabilities[chosen] if node.mover == CHANCE else 1.0
        return _Place(below, parent, move_text(self._game, node.state, node.actions[chosen]), chance)

    def passes(self) -> list[SearchPass]:
        """The search, as the one pass that it is; none if there was no simulation."""
        if self._root is None:
            return []
        kept = self._most_visited(self._root)
        for number, place in enumerate(kept):
            place.number = number
        depth = max(place.level for place in kept)
        nodes = tuple(map(self._frozen, kept))
        return [SearchPass(depth, nodes, len(self._outcomes), True, self.visited, tuple(self._outcomes))]

    def _most_visited(self, root: _Place) -> list[_Place]:
        """As many nodes as there is room for, in the order in which they were first visited."""
        kept: list[_Place] = []
        waiting = [(-len(root.visits), 0, root)]
        count = 1
        while waiting and len(kept) < self._max_nodes:
            place = heapq.heappop(waiting)[-1]
            kept.append(place)
            for below in place.below.values():
                heapq.heappush(waiting, (-len(below.visits), count, below))
                count += 1
        return sorted(kept, key=lambda place: (place.visits[0], place.level))

    def _frozen(self, place: _Place) -> SearchNode:
        node = place.node
        role, seat = self._role(node)
        position = position_text(self._game, node.state)
        hidden, waiting = 0, [below for below in place.below.values() if below.number < 0]
        while waiting:
            hidden += 1
            waiting += waiting.pop().below.values()
        return SearchNode(
            parent=-1 if place.parent is None else place.parent.number,
            level=place.level,
            role=role,
            seat=seat,
            move=place.move,
            chance=place.chance,
            depth=math.inf,
            entered=place.visits[0],
            left=place.visits[0],
            source=Source.END if role is NodeRole.END else Source.BELOW,
            hidden=hidden,
            name=short_name(position),
            position=position,
            visits=tuple(place.visits),
        )

    def _role(self, node: Node) -> tuple[NodeRole, int | None]:
        if node.outcome is not None:
            return NodeRole.END, None
        if node.mover == CHANCE:
            return NodeRole.CHANCE, None
        if self._game.traits.seats > 2 or (self._outcomes and len(self._outcomes[0]) > 1):
            return NodeRole.OWN, node.mover
        return (NodeRole.MAX if node.mover == self.view.seat else NodeRole.MIN), node.mover
