"""Watching a plain search at work, node by node: for teaching, drawing trees and tests.

A search that nobody watches is not slowed down: these are other classes, which the backend takes only where an
agent has ``on_node``.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.core.mate_distance import Score
from zermelo.agents.core.tree_search import Visit
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.max_n import MaxNSearch
from zermelo.agents.search.plain_search import PlainSearch
from zermelo.envs import CHANCE

__all__ = ["NodeEvent", "NodeEventKind", "Observer", "WatchedAlphaBeta", "WatchedFullWidth", "WatchedMaxN"]


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
        ply: How many moves below the root it lies (an outcome of chance is no move).
        depth: How many moves the search looks ahead from it.
        alpha, beta: The window's edges: (value, mate distance) for the seat that maximizes.
        score: What was found, with ``TABLE`` and ``VALUE``; outside the window it is a bound.
        action: The one that caused a ``CUTOFF``; None at chance nodes, and where a quiet evaluation did.
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


class _Watched(PlainSearch):
    """A search with an observer, which knows the node that the search is at; it stands before that search's class.

    Args:
        args: As the search takes them.
        on_node: The observer.
        settings: As the search takes them.
    """

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._on_node = on_node
        self._path: list[NodeEvent] = []

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, *rest: Any) -> Visit:
        """As the search itself, with events before and after."""
        search = functools.partial(super().visit, state, depth, alpha, beta, ply, *rest)
        return self._node(state, ply, depth, alpha, beta, search)

    def _node(
        self, state: Any, ply: int, depth: float, alpha: Score, beta: Score, search: Callable[[], Visit]
    ) -> Visit:
        is_chance = not self.game.is_terminal(state) and self.game.to_move(state) == CHANCE
        kind = NodeEventKind.CHANCE if is_chance else NodeEventKind.ENTER
        event = NodeEvent(kind, state, ply, depth, alpha, beta)
        self._on_node(event)
        self._path.append(event)
        try:
            found = search()
        finally:
            self._path.pop()
        self._on_node(event._replace(kind=NodeEventKind.VALUE, score=found.score))
        return found

    def _on_table(self, found: Visit) -> Visit:
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.TABLE, score=found.score))
        return found

    def _on_cutoff(self, action: int | None, choices: Sequence[int], last: int) -> None:
        left = tuple(choices[last + 1 :])
        if left:
            event = self._path[-1]._replace(kind=NodeEventKind.CUTOFF, action=action, not_searched=left)
            self._on_node(event)


class WatchedAlphaBeta(_Watched, AlphaBetaSearch):
    """Alpha-beta with an observer; nodes of quiescence have a depth of 0 and less."""

    def _quiet_visit(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        search = functools.partial(super()._quiet_visit, state, left, alpha, beta, ply)
        return self._node(state, ply, left - self._quiescence, alpha, beta, search)


class WatchedFullWidth(_Watched, FullWidthSearch):
    """Full width with an observer."""


class WatchedMaxN(_Watched, MaxNSearch):
    """max^n with an observer.

    Its window is what the player who moved to the node can already get elsewhere, and no upper edge; scores are
    those of the seat to move at the root.
    """
