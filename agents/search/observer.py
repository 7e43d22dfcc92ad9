"""Watching a plain search at work, node by node: for teaching, drawing trees and tests.

A search that nobody watches is not slowed down: these are other classes, which the backend takes only where an
agent has ``on_node``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.core.tree_search import Visit
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.chance_nodes import Searched
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.transposition_table import Entry
from zermelo.envs import CHANCE

__all__ = ["NodeEvent", "NodeEventKind", "Observer", "WatchedAlphaBeta", "WatchedFullWidth"]


class NodeEventKind(enum.StrEnum):
    """What has happened at a node."""

    ENTER = "enter"
    """The search has come to it."""
    CHANCE = "chance"
    """The search has come to it, and chance moves there."""
    TABLE = "table"
    """The transposition table has answered for it."""
    CUTOFF = "cutoff"
    """The rest of its actions, or outcomes, need not be looked at."""
    VALUE = "value"
    """The search leaves it with a score."""


class NodeEvent(NamedTuple):
    """Something that has happened at a node below the root.

    Attributes:
        kind: What has happened.
        state: The node's state.
        ply: How many moves below the root it lies (an outcome of chance is no move).
        depth: How many moves the search looks ahead from it.
        alpha: The window's lower edge: (value, mate distance) for the seat that maximizes.
        beta: The window's upper edge.
        score: What was found, with ``TABLE`` and ``VALUE``; outside the window it is a bound.
        action: The one that caused a ``CUTOFF``; None at chance nodes.
        not_searched: The actions, or outcomes, that a ``CUTOFF`` leaves out.
    """

    kind: NodeEventKind
    state: Any
    ply: int
    depth: float
    alpha: Score
    beta: Score
    score: Score | None = None
    action: int | None = None
    not_searched: tuple[int, ...] = ()


Observer: TypeAlias = Callable[[NodeEvent], Any]
"""Called with every event, in order."""


class WatchedAlphaBeta(AlphaBetaSearch):
    """Alpha-beta that tells an observer what it does; the arguments are those of ``AlphaBetaSearch``.

    Nodes of quiescence are not told: they belong to the node that they evaluate.
    """

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._on_node = on_node
        self._path: list[NodeEvent] = []

    def visit(
        self,
        state: Any,
        depth: float,
        alpha: Score,
        beta: Score,
        ply: int,
        outcome: int = -1,
        probed: Searched | None = None,
    ) -> Visit:
        """As ``AlphaBetaSearch.visit``."""
        game = self.game
        is_chance = not game.is_terminal(state) and game.to_move(state) == CHANCE
        kind = NodeEventKind.CHANCE if is_chance else NodeEventKind.ENTER
        event = NodeEvent(kind, state, ply, depth, alpha, beta)
        self._on_node(event)
        self._path.append(event)
        try:
            found = super().visit(state, depth, alpha, beta, ply, outcome, probed)
        finally:
            self._path.pop()
        self._on_node(event._replace(kind=NodeEventKind.VALUE, score=found.score))
        return found

    def _remembered(self, state: Any, entry: Entry, score: Score) -> Visit:
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.TABLE, score=score))
        return super()._remembered(state, entry, score)

    def _cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        left = tuple(choices[last + 1 :])
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.CUTOFF, action=action, not_searched=left))


class WatchedFullWidth(FullWidthSearch):
    """Full width that tells an observer what it does; the arguments are those of ``FullWidthSearch``."""

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._on_node = on_node
        self._path: list[NodeEvent] = []

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """As ``FullWidthSearch.visit``."""
        game = self.game
        is_chance = not game.is_terminal(state) and game.to_move(state) == CHANCE
        kind = NodeEventKind.CHANCE if is_chance else NodeEventKind.ENTER
        event = NodeEvent(kind, state, ply, depth, alpha, beta)
        self._on_node(event)
        self._path.append(event)
        try:
            found = super().visit(state, depth, alpha, beta, ply)
        finally:
            self._path.pop()
        self._on_node(event._replace(kind=NodeEventKind.VALUE, score=found.score))
        return found

    def _remembered(self, state: Any, entry: Entry, frame: Frame) -> Visit:
        found = super()._remembered(state, entry, frame)
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.TABLE, score=found.score))
        return found
