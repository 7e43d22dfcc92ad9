"""Recording a search of the game tree, from what it tells its observer."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Final

from zermelo.agents.search.observer import NodeEvent, NodeEventKind, NodeRole
from zermelo.evaluation.output.tree.draft import STAND_PAT, Draft
from zermelo.evaluation.output.tree.model import Cut, SearchNode, SearchPass, Source, Span, Vector
from zermelo.evaluation.output.tree.names import move_text, position_text, short_name
from zermelo.evaluation.output.tree.viewpoint import Viewpoint

_ENTERING: Final = (NodeEventKind.ENTER, NodeEventKind.CHANCE, NodeEventKind.PROBE)


class SearchRecorder:
    """An observer of plain searches that makes trees of what they tell.

    A tree that becomes too large loses its deepest level, so that what is left is whole down to some level. Then
    the next may go too.

    Args:
        max_nodes: How many nodes to keep of each search of the root.
        seat: From whose point of view values are; None for the player to move at the root.
        depth: Record only searches so deep; None records all, and forgets the first ones where there is no room.
        patience: After how many visited nodes to call ``stop``.
        stop: Ends the search.
    """

    def __init__(
        self,
        max_nodes: int,
        seat: int | None,
        depth: int | None = None,
        patience: float = math.inf,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._max_nodes, self._seat, self._depth = max_nodes, seat, depth
        self._patience, self._stop = patience, stop
        self.visited = 0
        self.stopped = False
        self.view = Viewpoint(0 if seat is None else seat)
        self._done: list[_Pass] = []
        self._pass: _Pass | None = None

    def __call__(self, event: NodeEvent) -> None:
        """Takes an event."""
        if event.kind in _ENTERING:
            self.visited += 1
            if self.visited >= self._patience and self._stop is not None:
                self.stopped = True
                self._stop()
            if event.ply == 0:
                self._begin(event)
        if self._pass is not None:
            self._pass.take(event)

    def passes(self) -> list[SearchPass]:
        """The searches of the root so far."""
        return [one.frozen() for one in self._done]

    def _begin(self, event: NodeEvent) -> None:
        """The root is searched once more."""
        assert event.seat is not None, "a player moves at the root"
        told = event.seat
        if event.role is NodeRole.MIN:
            told = next(seat for seat in range(event.game.traits.seats) if seat != event.seat)
        if event.role is NodeRole.OWN:
            self.view = Viewpoint(event.seat if self._seat is None else self._seat)
        else:
            self.view = Viewpoint.of(event.game.traits, told, event.seat if self._seat is None else self._seat)
        self._pass = None
        if self._depth is None or event.depth == self._depth:
            while sum(len(one.nodes) for one in self._done) > self._max_nodes:
                self._done.pop(0)
            self._pass = _Pass(self._max_nodes, self.view)
            self._done.append(self._pass)


class _Pass:
    """One search of the root.

    Nodes that are not kept stand in the path as None: what happens there is counted and nothing else.
    """

    def __init__(self, max_nodes: int, view: Viewpoint) -> None:
        self.max_nodes, self.view = max_nodes, view
        self.step = self.visited = 0
        self.lowest: float = math.inf  # no deeper level is kept
        self.nodes: list[Draft] = []
        self.path: list[Draft | None] = []
        self.finished = self.probes = False

    def take(self, event: NodeEvent) -> None:
        """Takes an event."""
        if event.kind in _ENTERING:
            self.visited += 1
            self._enter(event)
            return
        node = self.path[-1]
        if event.kind is NodeEventKind.VALUE:
            self.path.pop()
            self.finished = not self.path
        if node is None:
            return
        if event.kind is NodeEventKind.VALUE:
            self._leave(node, event)
        elif event.kind is NodeEventKind.WINDOW:
            node.windows.append(self._window(event))
        elif event.kind is NodeEventKind.CUTOFF:
            self._cut(node, event)
        elif event.kind is NodeEventKind.TABLE:
            node.source = Source.TABLE
        elif event.kind is NodeEventKind.EVALUATED:
            self._evaluate(node, event)

    def _window(self, event: NodeEvent) -> Span:
        if event.role is NodeRole.OWN:
            return Span(self.step, event.alpha[0], event.beta[0])
        return Span(self.step, *self.view.interval(event.alpha[0], event.beta[0]))

    def _enter(self, event: NodeEvent) -> None:
        parent = self.path[-1] if self.path else None
        if self.path and (parent is None or parent.level + 1 > self.lowest):
            self._count_hidden()
            self.path.append(None)
            return
        self.step += 1
        if parent is not None:
            parent.below += 1
        again = self._probed_before(parent, event)
        if again is not None:
            again.entry = event
            again.entries.append(self.step)
            again.windows.append(self._window(event))
            self.path.append(again)
            return
        node = Draft(event, parent, self.step, self.view)
        node.windows.append(self._window(event))
        node.probed = event.kind is NodeEventKind.PROBE
        self.probes = self.probes or node.probed
        self.nodes.append(node)
        self.path.append(node)
        if len(self.nodes) > self.max_nodes:
            self._drop_level()

    def _count_hidden(self) -> None:
        for node in reversed(self.path):
            if node is not None:
                node.hidden += 1
                return

    def _probed_before(self, parent: Draft | None, event: NodeEvent) -> Draft | None:
        """The node of an outcome that was probed, which now is searched in full."""
        if not self.probes or parent is None or parent.role is not NodeRole.CHANCE:
            return None
        if event.kind is NodeEventKind.PROBE:
            return None
        for node in reversed(self.nodes):
            if node.level <= parent.level:
                return None
            if node.parent is parent and node.probed and node.entry.taken == event.taken:
                return node
        return None

    def _drop_level(self) -> None:
        """Forgets the deepest level."""
        deepest = max(node.level for node in self.nodes)
        self.lowest = deepest - 1
        for node in self.nodes:
            if node.level == deepest and node.parent is not None:
                node.parent.hidden += 1 + node.hidden
        self.nodes = [node for node in self.nodes if node.level < deepest]
        self.path = [None if node is None or node.level == deepest else node for node in self.path]

    def _evaluate(self, node: Draft, event: NodeEvent) -> None:
        node.evaluated = True
        node.source = Source.EVALUATION
        if node.entry.depth <= 0 and event.score is not None and node.role is not NodeRole.OWN:
            value = self.view.value(event.score[0])
            node.results[STAND_PAT] = value, value, 1.0

    def _cut(self, node: Draft, event: NodeEvent) -> None:
        self.step += 1
        game, state = event.game, event.state
        by = "" if event.action is None else move_text(game, state, event.action)
        node.cut = Cut(self.step, by, tuple(move_text(game, state, action) for action in event.not_searched))
        node.windows.append(self._window(event))

    def _leave(self, node: Draft, event: NodeEvent) -> None:
        assert event.score is not None, "a value has a score"
        if node.below:
            node.source = Source.BELOW
        elif node.source is Source.BELOW and not node.hidden:
            node.source = Source.BOUNDS
        if node.below or node.hidden or node.cut is not None:
            self.step += 1
        node.left = self.step
        parent = node.parent
        if NodeRole.OWN in (node.role, NodeRole.MAX if parent is None else parent.role):
            self._own(node, event)
            return
        if event.values and node.entry.game.traits.seats > 2:
            node.vectors.append(Vector(self.step, event.values))
        low, high = self._final(node, event)
        node.known.append(Span(self.step, low, high))
        if parent is None or event.taken is None:
            return
        parent.results[event.taken] = low, high, event.chance
        before = parent.known[-1] if parent.known else None
        found = parent.interval(self.view.bounds)
        if before is None or found != before[1:]:
            parent.known.append(Span(self.step, *found))

    def _own(self, node: Draft, event: NodeEvent) -> None:
        """Vectors instead of values: the player to move keeps the best for itself."""
        node.vectors.append(Vector(self.step, event.values))
        parent = node.parent
        if parent is None or parent.role is not NodeRole.OWN:
            return
        seat = parent.entry.seat
        assert seat is not None, "a player moves there"
        best = parent.vectors[-1].values[seat] if parent.vectors else -math.inf
        if event.values[seat] > best:
            parent.vectors.append(Vector(self.step, event.values))

    def _final(self, node: Draft, event: NodeEvent) -> tuple[float, float]:
        """Between which values a node lies that the search leaves: one value, or a bound of it."""
        assert event.score is not None, "a value has a score"
        value = self.view.value(event.score[0])
        exact = value, value
        if node.source in (Source.END, Source.EVALUATION):
            return exact
        low, high = node.interval(self.view.bounds) if node.results else self.view.bounds
        if low == high == value:
            return exact
        is_upper = event.score <= event.alpha or event.score[1] == math.inf
        is_lower = event.score >= event.beta or event.score[1] == -math.inf
        if event.kind is NodeEventKind.VALUE and node.probed and node.entry.kind is NodeEventKind.PROBE:
            is_lower = event.role is NodeRole.MAX
            is_upper = not is_lower
        if is_lower == is_upper:
            return exact
        if self.view.turned:
            is_upper = not is_upper
        if is_upper:
            return min(low, value) if low <= value else self.view.bounds[0], value
        return value, high if high >= value else self.view.bounds[1]

    def frozen(self) -> SearchPass:
        """The tree, with steps numbered from 1 without gaps."""
        used = sorted({step for node in self.nodes for step in _steps(node)})

        def number(step: int) -> int:
            """What happened at a step of a node that is not kept counts for the next step."""
            return min(bisect.bisect_left(used, step) + 1, len(used))

        for place, node in enumerate(self.nodes):
            node.number = place
        has_windows = any(
            math.isfinite(one.low) or math.isfinite(one.high) for n in self.nodes for one in n.windows
        )
        nodes = tuple(_frozen(node, number, has_windows) for node in self.nodes)
        return SearchPass(self.nodes[0].entry.depth, nodes, len(used), self.finished, self.visited)


def _steps(node: Draft) -> list[int]:
    """The steps that a node was entered, cut off or left at."""
    steps = [*node.entries] if node.left is None else [*node.entries, node.left]
    return steps if node.cut is None else [*steps, node.cut.step]


def _frozen(node: Draft, number: Callable[[int], int], has_windows: bool) -> SearchNode:
    entry, parent = node.entry, node.parent
    move = ""
    if parent is not None:
        move = "pass" if entry.taken is None else move_text(entry.game, parent.entry.state, entry.taken)
    position = position_text(entry.game, entry.state)
    return SearchNode(
        parent=-1 if parent is None else parent.number,
        level=node.level,
        role=node.role,
        seat=entry.seat,
        move=move,
        chance=entry.chance,
        depth=entry.depth,
        entered=number(node.entries[0]),
        left=None if node.left is None else number(node.left),
        windows=_dated(node.windows, number) if has_windows else (),
        known=_dated(node.known, number),
        vectors=tuple(one._replace(step=number(one.step)) for one in node.vectors),
        source=node.source,
        cut=None if node.cut is None else node.cut._replace(step=number(node.cut.step)),
        quiet=node.is_quiet,
        probed=node.probed,
        hidden=node.hidden,
        name=short_name(position),
        position=position,
    )


def _dated(spans: list[Span], number: Callable[[int], int]) -> tuple[Span, ...]:
    """The last of each step, with the steps numbered anew, and without repetitions."""
    found: list[Span] = []
    for span in spans:
        span = span._replace(step=number(span.step))
        if found and found[-1].step == span.step:
            found.pop()
        if not found or found[-1][1:] != span[1:]:
            found.append(span)
    return tuple(found)
