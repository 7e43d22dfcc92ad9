"""Recording a search of the game tree, from what it tells its observer."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable
from typing import Any, Final

from zermelo.agents.tree_search.observer import NodeEvent, NodeEventKind, NodeRole
from zermelo.evaluation.search_trees.model import Cut, SearchNode, SearchPass, Source, Span, Vector
from zermelo.evaluation.search_trees.names import Viewpoint, describe, move_text

_ENTERING: Final = (NodeEventKind.ENTER, NodeEventKind.CHANCE, NodeEventKind.PROBE)
STAND_PAT: Final = "stand pat"
"""In quiescence the player to move may leave it at the evaluation: that counts as an action."""


class SearchRecorder:
    """An observer of plain searches that makes trees of what they tell; calls ``stop`` after ``patience`` nodes.

    A tree of more than ``max_nodes`` loses its deepest level, so that the rest is whole down to some level. Then
    the next may go too. The first searches of the root are forgotten where there is no room.
    """

    stop: Callable[[], None]

    def __init__(self, max_nodes: int, patience: float) -> None:
        self._max_nodes, self._patience = max_nodes, patience
        self.visited, self.stopped = 0, False
        self.view = Viewpoint(0)
        self._done: list[_Pass] = []
        self._pass: _Pass | None = None

    def __call__(self, event: NodeEvent) -> None:
        if event.kind in _ENTERING:
            self.visited += 1
            if self.visited >= self._patience:
                self.stopped = True
                self.stop()
            if event.ply == 0:
                self._begin(event)
        if self._pass is not None:
            self._pass.take(event)

    def passes(self) -> list[SearchPass]:
        return [one.finish() for one in self._done]

    def _begin(self, event: NodeEvent) -> None:
        assert event.seat is not None, "a player moves at the root"
        self.view = Viewpoint(event.seat)
        if event.role is not NodeRole.OWN:
            self.view = Viewpoint.of(event.game.traits, event.seat, turned=event.role is NodeRole.MIN)
        while sum(len(one.drafts) for one in self._done) > self._max_nodes:
            self._done.pop(0)
        self._pass = _Pass(self._max_nodes, self.view)
        self._done.append(self._pass)


class _Draft:
    """A node while the search goes on, with steps that are not numbered yet, and the event that came to it."""

    __slots__ = ("actions", "below", "entries", "entry", "evaluated", "node", "parent", "results")

    def __init__(self, entry: NodeEvent, parent: _Draft | None, step: int, view: Viewpoint) -> None:
        self.entry, self.parent, self.entries = entry, parent, [step]
        self.node: SearchNode = SearchNode(
            level=0 if parent is None else parent.node.level + 1, role=view.role(entry.role), seat=entry.seat,
            chance=entry.chance, depth=entry.depth, probed=entry.kind is NodeEventKind.PROBE,
            source=Source.END if entry.role is NodeRole.END else Source.BELOW,
        )  # fmt: skip
        self.below, self.evaluated = 0, False
        self.actions = _count_actions(entry)
        self.results: dict[Any, tuple[float, float, float]] = {}  # bounds and probability of each action searched

    def interval(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Bounds of its value, where actions that are not searched may be worth anything."""
        intervals = list(self.results.values())
        if self.node.role is NodeRole.CHANCE:
            rest = 1.0 - math.fsum(p for _, _, p in intervals)
            if len(intervals) < self.actions and rest > 0:
                intervals.append((*bounds, rest))
            return math.fsum(p * low for low, _, p in intervals), math.fsum(p * high for _, high, p in intervals)
        if len(intervals) < self.actions or not intervals:
            intervals.append((*bounds, 0.0))
        best = max if self.node.role is NodeRole.MAX else min
        return best(low for low, _, _ in intervals), best(high for _, high, _ in intervals)


def _count_actions(entry: NodeEvent) -> int:
    """Number of actions, or outcomes; a great number at the depth limit, where not all are searched."""
    if entry.role is NodeRole.END:
        return 0
    if entry.depth <= 0 and entry.seat is not None:
        return 1 << 30
    if entry.role is NodeRole.CHANCE and entry.seat is None:
        return sum(p > 0 for _, p in entry.game.chance_outcomes(entry.state))
    return len(entry.game.legal_actions(entry.state))


class _Pass:
    """One search of the root; nodes that are not kept stand in the path as None, and are only counted."""

    def __init__(self, max_nodes: int, view: Viewpoint) -> None:
        self.max_nodes, self.view = max_nodes, view
        self.step = self.visited = 0
        self.lowest: float = math.inf  # no deeper level is kept
        self.drafts: list[_Draft] = []
        self.path: list[_Draft | None] = []
        self.finished = self.probes = False

    def take(self, event: NodeEvent) -> None:
        if event.kind in _ENTERING:
            self.visited += 1
            self._enter(event)
            return
        draft = self.path[-1]
        if event.kind is NodeEventKind.VALUE:
            self.path.pop()
            self.finished = not self.path
        if draft is None:
            return
        if event.kind is NodeEventKind.VALUE:
            self._leave(draft, event)
        elif event.kind is NodeEventKind.WINDOW:
            draft.node.windows.append(self._window(event))
        elif event.kind is NodeEventKind.CUTOFF:
            self._cut(draft, event)
        elif event.kind is NodeEventKind.TABLE:
            draft.node.source = Source.TABLE
        elif event.kind is NodeEventKind.EVALUATED:
            draft.evaluated, draft.node.source = True, Source.EVALUATION
            if draft.entry.depth <= 0 and event.score is not None and draft.node.role is not NodeRole.OWN:
                value = self.view.value(event.score[0])
                draft.results[STAND_PAT] = value, value, 1.0

    def _window(self, event: NodeEvent) -> Span:
        if event.role is NodeRole.OWN:
            return Span(self.step, event.alpha[0], event.beta[0])
        return Span(self.step, *self.view.interval(event.alpha[0], event.beta[0]))

    def _enter(self, event: NodeEvent) -> None:
        parent = self.path[-1] if self.path else None
        if self.path and (parent is None or parent.node.level + 1 > self.lowest):
            next(draft for draft in reversed(self.path) if draft is not None).node.hidden += 1
            self.path.append(None)
            return
        self.step += 1
        if parent is not None:
            parent.below += 1
        if (draft := self._probed_before(parent, event)) is not None:
            draft.entry = event
            draft.entries.append(self.step)
        else:
            draft = _Draft(event, parent, self.step, self.view)
            self.probes = self.probes or draft.node.probed
            self.drafts.append(draft)
        draft.node.windows.append(self._window(event))
        self.path.append(draft)
        if len(self.drafts) > self.max_nodes:
            self._drop_level()

    def _probed_before(self, parent: _Draft | None, event: NodeEvent) -> _Draft | None:
        if not self.probes or parent is None or event.kind is NodeEventKind.PROBE:
            return None
        below = itertools.takewhile(lambda draft: draft.node.level > parent.node.level, reversed(self.drafts))
        same = (draft for draft in below if draft.parent is parent and draft.entry.taken == event.taken)
        return next((draft for draft in same if draft.node.probed), None)

    def _drop_level(self) -> None:
        deepest = max(draft.node.level for draft in self.drafts)
        self.lowest = deepest - 1
        for draft in self.drafts:
            if draft.node.level == deepest and draft.parent is not None:
                draft.parent.node.hidden += 1 + draft.node.hidden
        self.drafts = [draft for draft in self.drafts if draft.node.level < deepest]
        self.path = [None if draft is None or draft.node.level == deepest else draft for draft in self.path]

    def _cut(self, draft: _Draft, event: NodeEvent) -> None:
        self.step += 1
        by = "" if event.action is None else move_text(event.game, event.state, event.action)
        left = tuple(move_text(event.game, event.state, action) for action in event.not_searched)
        draft.node.cut = Cut(self.step, by, left)
        draft.node.windows.append(self._window(event))

    def _leave(self, draft: _Draft, event: NodeEvent) -> None:
        node, parent = draft.node, draft.parent
        if draft.below:
            node.source = Source.BELOW
        elif node.source is Source.BELOW and not node.hidden:
            node.source = Source.BOUNDS
        if draft.below or node.hidden or node.cut is not None:
            self.step += 1
        node.left = self.step
        if NodeRole.OWN in (node.role, NodeRole.MAX if parent is None else parent.node.role):
            self._leave_own(draft, event)
            return
        if event.values and event.game.traits.seats > 2:
            node.vectors.append(Vector(self.step, event.values))
        low, high = self._final(draft, event)
        node.known.append(Span(self.step, low, high))
        if parent is None or event.taken is None:
            return
        parent.results[event.taken] = low, high, event.chance
        interval = parent.interval(self.view.bounds)
        if not parent.node.known or interval != parent.node.known[-1][1:]:
            parent.node.known.append(Span(self.step, *interval))

    def _leave_own(self, draft: _Draft, event: NodeEvent) -> None:
        """Vectors instead of values: the player to move keeps the best for itself."""
        draft.node.vectors.append(Vector(self.step, event.values))
        above = draft.parent.node if draft.parent is not None else None
        if above is None or above.role is not NodeRole.OWN or above.seat is None:
            return
        best = above.vectors[-1].values[above.seat] if above.vectors else -math.inf
        if event.values[above.seat] > best:
            above.vectors.append(Vector(self.step, event.values))

    def _final(self, draft: _Draft, event: NodeEvent) -> tuple[float, float]:
        assert event.score is not None, "a value has a score"
        value = self.view.value(event.score[0])
        if draft.node.source in (Source.END, Source.EVALUATION):
            return value, value
        low, high = draft.interval(self.view.bounds) if draft.results else self.view.bounds
        if low == high == value:
            return value, value
        is_upper = event.score <= event.alpha or event.score[1] == math.inf
        is_lower = event.score >= event.beta or event.score[1] == -math.inf
        if draft.entry.kind is NodeEventKind.PROBE:
            is_lower = event.role is NodeRole.MAX
            is_upper = not is_lower
        if is_lower == is_upper:
            return value, value
        if is_upper is not self.view.turned:
            return min(low, value) if low <= value else self.view.bounds[0], value
        return value, high if high >= value else self.view.bounds[1]

    def finish(self) -> SearchPass:
        steps = {step for draft in self.drafts for step in (*draft.entries, draft.node.left) if step is not None}
        used = sorted(steps | {draft.node.cut.step for draft in self.drafts if draft.node.cut is not None})

        def number(step: int) -> int:
            """The number of a step; one of a node that is not kept counts as the next."""
            return min(bisect.bisect_left(used, step) + 1, len(used))

        numbers = {id(draft): place for place, draft in enumerate(self.drafts)}
        ends = (end for draft in self.drafts for span in draft.node.windows for end in span[1:])
        has_windows = any(map(math.isfinite, ends))
        for draft in self.drafts:
            node, entry, parent = draft.node, draft.entry, draft.parent
            if parent is not None:
                node.parent = numbers[id(parent)]
                taken, before = entry.taken, parent.entry.state
                node.move = "pass" if taken is None else move_text(entry.game, before, taken)
            node.entered = number(draft.entries[0])
            node.left = None if node.left is None else number(node.left)
            node.windows = _renumbered(node.windows, number) if has_windows else []
            node.known = _renumbered(node.known, number)
            node.vectors = [vector._replace(step=number(vector.step)) for vector in node.vectors]
            node.cut = None if node.cut is None else node.cut._replace(step=number(node.cut.step))
            node.quiet = entry.depth < 0 or (entry.depth <= 0 and draft.evaluated and draft.below > 0)
            describe(node, entry.game, entry.state)
        nodes = [draft.node for draft in self.drafts]
        return SearchPass(self.drafts[0].entry.depth, nodes, len(used), self.finished, self.visited)


def _renumbered(spans: list[Span], number: Callable[[int], int]) -> list[Span]:
    """The last span of each step, with the steps numbered anew, and without repetitions."""
    kept: list[Span] = []
    for span in spans:
        span = span._replace(step=number(span.step))
        if kept and kept[-1].step == span.step:
            kept.pop()
        if not kept or kept[-1][1:] != span[1:]:
            kept.append(span)
    return kept
