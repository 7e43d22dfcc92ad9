"""Watching a plain search at work: a mixin that tells an observer what happens at each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from zermelo.agents.base.scores import Frame, Score
from zermelo.agents.tree_search.interface import Iteration, RootMove, RootNode, RootRequest, Visit
from zermelo.agents.tree_search.observer import NodeEvent, NodeEventKind, NodeRole, Observer
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.envs.game import CHANCE

FoundT = TypeVar("FoundT", Visit, RootMove)


@dataclass(slots=True)
class _Node:
    """A node on the path: how the search came to it, its window now, and how probable each way on is."""

    event: NodeEvent
    window: tuple[Score, Score]
    chances: dict[int, float] = field(default_factory=dict)


class WatchedSearch(PlainSearch):
    """Mixed into a plain search, it tells ``on_node`` of each event, and knows the path to the node searched.

    The window of max^n is what the player who moved to the node can already get elsewhere, with no upper edge.
    Nodes of quiescence have a depth of 0 and less.
    """

    on_node: Observer

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._path: list[_Node] = []
        self._tried: set[int] = set()

    def search_root(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        self._tried.clear()
        with self._at(NodeEventKind.ENTER, node.state, iteration.depth, *node.window, 0, None):
            super().search_root(node, iteration, actions, request)
            assert iteration.best is not None, "a root has actions"
            self.cut(iteration.best.action, [action for action in node.legal if action not in self._tried])
            self._tell(NodeEventKind.VALUE, iteration.best)

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        taken: int | None = None,
        context: Any = None,
    ) -> Visit:
        with self._at(NodeEventKind.ENTER, state, depth, alpha, beta, ply, taken):
            found = super().visit(state, depth, alpha, beta, ply, taken, context)  # type: ignore[safe-super]
            return self._tell(NodeEventKind.VALUE, found)

    def quiet_visit(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int | None = None
    ) -> Visit:
        with self._at(NodeEventKind.ENTER, state, depth, alpha, beta, ply, taken):
            found: Visit = super().quiet_visit(state, depth, alpha, beta, ply, taken)  # type: ignore[misc]
            return self._tell(NodeEventKind.VALUE, found)

    def probe(
        self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int, action: int
    ) -> Visit:
        with self._at(NodeEventKind.PROBE, state, depth, alpha, beta, ply, taken):
            found: Visit = super().probe(state, depth, alpha, beta, ply, taken, action)  # type: ignore[misc]
            return self._tell(NodeEventKind.VALUE, found)

    def evaluated(self, state: Any, frame: Frame) -> Visit:
        return self._tell(NodeEventKind.EVALUATED, super().evaluated(state, frame))

    def from_table(self, found: Visit) -> Visit:
        return self._tell(NodeEventKind.TABLE, super().from_table(found))

    def following(self, state: Any, ways: Iterable[tuple[int, float]]) -> list[tuple[int, float, Any]]:
        found = super().following(state, ways)
        self._path[-1].chances = {way: p for way, p, _ in found}
        return found

    def narrowed(self, alpha: Score, beta: Score) -> None:
        here = self._path[-1]
        if (alpha, beta) != here.window:
            here.window = alpha, beta
            self.on_node(here.event._replace(kind=NodeEventKind.WINDOW, alpha=alpha, beta=beta))

    def cut(self, action: int | None, choices: Sequence[int]) -> None:
        left = list(choices)
        if action in left:
            left = left[left.index(action) + 1 :]
        if left:
            here = self._path[-1]
            alpha, beta = here.window
            kind, not_searched = NodeEventKind.CUTOFF, tuple(left)
            self.on_node(
                here.event._replace(kind=kind, alpha=alpha, beta=beta, action=action, not_searched=not_searched)
            )

    @contextmanager
    def _at(
        self, kind: NodeEventKind, state: Any, depth: float, alpha: Score, beta: Score, ply: int, taken: int | None
    ) -> Iterator[None]:
        """Puts a node on the path and tells of it."""
        game, role, seat = self.game, NodeRole.END, None
        if not game.is_terminal(state):
            role, seat = NodeRole.CHANCE, game.to_move(state)
            if seat == CHANCE:
                kind, seat = NodeEventKind.CHANCE, None
            else:
                role = self.roles[seat != self.max_seat]
        chance = 1.0
        if taken is not None:
            chance = self._path[-1].chances.get(taken, 1.0)
            if len(self._path) == 1:
                self._tried.add(taken)
        event = NodeEvent(
            kind, state, ply, depth, alpha, beta, taken=taken, chance=chance, role=role, seat=seat, game=game
        )
        self._path.append(_Node(event, (alpha, beta)))
        try:
            self.on_node(event)
            yield
        finally:
            self._path.pop()

    def _tell(self, kind: NodeEventKind, found: FoundT) -> FoundT:
        self.on_node(self._path[-1].event._replace(kind=kind, score=found.score, values=found.values))
        return found


def watched(kind: type[PlainSearch], on_node: Observer) -> type[Any]:
    """A class of plain searches that does what ``kind`` does, and tells an observer of it."""
    return type(f"Watched{kind.__name__}", (WatchedSearch, kind), {"on_node": staticmethod(on_node)})
