"""Nodes of a tree while the search goes on, and what follows for a node from those below it."""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.search.observer import NodeEvent, NodeRole
from zermelo.evaluation.output.tree.model import Cut, Source, Span, Vector
from zermelo.evaluation.output.tree.viewpoint import Viewpoint

STAND_PAT: Final = "stand pat"
"""In quiescence the player to move may leave it at the evaluation: that counts as an action."""


class Draft:
    """A node while the search goes on.

    Attributes:
        entry: The event that the search has come to it with.
        actions: How many actions, or outcomes, it has.
        entries: The steps at which the search came to it: two, where it was probed first.
        results: Between which values each action lies that was searched, and how probable it is, by the action.
        others: As ``SearchNode`` has them.
    """

    __slots__ = (
        "actions", "below", "cut", "entries", "entry", "evaluated", "hidden", "known", "left", "level", "number",
        "parent", "probed", "results", "role", "source", "vectors", "windows",
    )  # fmt: skip

    def __init__(self, entry: NodeEvent, parent: Draft | None, entered: int, view: Viewpoint) -> None:
        self.entry, self.parent, self.entries = entry, parent, [entered]
        self.level: int = 0 if parent is None else parent.level + 1
        self.number = -1
        self.role = view.role(entry.role)
        self.left: int | None = None
        self.windows: list[Span] = []
        self.known: list[Span] = []
        self.vectors: list[Vector] = []
        self.source = Source.END if entry.role is NodeRole.END else Source.BELOW
        self.cut: Cut | None = None
        self.probed = self.evaluated = False
        self.hidden = self.below = 0
        self.actions = _count(entry)
        self.results: dict[Any, tuple[float, float, float]] = {}

    @property
    def is_quiet(self) -> bool:
        """Whether it belongs to quiescence."""
        return self.entry.depth < 0 or (self.entry.depth <= 0 and self.evaluated and self.below > 0)

    def interval(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Between which values it lies, where actions that are not searched may be worth anything."""
        found = list(self.results.values())
        if self.role is NodeRole.CHANCE:
            rest = 1.0 - math.fsum(p for _, _, p in found)
            if len(found) < self.actions and rest > 0:
                found.append((*bounds, rest))
            return math.fsum(p * low for low, _, p in found), math.fsum(p * high for _, high, p in found)
        if len(found) < self.actions or not found:
            found.append((*bounds, 0.0))
        best = max if self.role is NodeRole.MAX else min
        return best(low for low, _, _ in found), best(high for _, high, _ in found)


def _count(entry: NodeEvent) -> int:
    """How many actions, or outcomes, a node has; a great number at the depth limit, where not all are searched."""
    if entry.role is NodeRole.END:
        return 0
    if entry.depth <= 0 and entry.seat is not None:
        return 1 << 30
    if entry.role is NodeRole.CHANCE and entry.seat is None:
        return sum(p > 0 for _, p in entry.game.chance_outcomes(entry.state))
    return len(entry.game.legal_actions(entry.state))
