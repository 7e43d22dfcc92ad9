"""Watching a plain search at work, node by node: for teaching, drawing trees and tests.

A search that nobody watches is not slowed down: these are other classes, which the backend takes only where an
agent has ``on_node``.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.core.tree_search import Visit
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.chance_nodes import Searched
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.max_n import MaxNSearch, Parent
from zermelo.agents.search.transposition_table import Entry
from zermelo.envs import CHANCE, Game

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


class _Watch:
    """Tells an observer, and knows the node that the search is at.

    Args:
        on_node: The observer.
        game: The game that is searched.
    """

    def __init__(self, on_node: Observer, game: Game[Any]) -> None:
        self._on_node = on_node
        self._game = game
        self._path: list[NodeEvent] = []

    def node(
        self, state: Any, ply: int, depth: float, alpha: Score, beta: Score, search: Callable[[], Visit]
    ) -> Visit:
        """Tells of coming to a node and of leaving it, and searches it in between."""
        is_chance = not self._game.is_terminal(state) and self._game.to_move(state) == CHANCE
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

    def table(self, found: Visit) -> Visit:
        """Tells that the table has answered for the node."""
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.TABLE, score=found.score))
        return found

    def cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        """Tells that at the node what comes after number ``last`` is left out, if that is anything."""
        left = tuple(choices[last + 1 :])
        if not left:
            return
        self._on_node(self._path[-1]._replace(kind=NodeEventKind.CUTOFF, action=action, not_searched=left))


class WatchedAlphaBeta(AlphaBetaSearch):
    """Alpha-beta that tells an observer what it does; the arguments are those of ``AlphaBetaSearch``.

    Nodes of quiescence are not told: they belong to the node that they evaluate.
    """

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._watch = _Watch(on_node, self.game)

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
        search = functools.partial(super().visit, state, depth, alpha, beta, ply, outcome, probed)
        return self._watch.node(state, ply, depth, alpha, beta, search)

    def _remembered(self, state: Any, entry: Entry, score: Score) -> Visit:
        return self._watch.table(super()._remembered(state, entry, score))

    def _cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        self._watch.cut_off(action, choices, last)


class WatchedFullWidth(FullWidthSearch):
    """Full width that tells an observer what it does; the arguments are those of ``FullWidthSearch``."""

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._watch = _Watch(on_node, self.game)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """As ``FullWidthSearch.visit``."""
        search = functools.partial(super().visit, state, depth, alpha, beta, ply)
        return self._watch.node(state, ply, depth, alpha, beta, search)

    def _remembered(self, state: Any, entry: Entry, frame: Frame) -> Visit:
        return self._watch.table(super()._remembered(state, entry, frame))


class WatchedMaxN(MaxNSearch):
    """max^n that tells an observer what it does; the arguments are those of ``MaxNSearch``.

    Its window is what the player who moved to the node can already get elsewhere, and no upper edge; scores are
    those of the seat to move at the root. Table hits are not told.
    """

    def __init__(self, *args: Any, on_node: Observer, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._watch = _Watch(on_node, self.game)

    def _visit(self, state: Any, depth: float, parent: Parent | None, ply: int) -> Visit:
        alpha = (-math.inf if parent is None else parent.value), 0.0
        search = functools.partial(super()._visit, state, depth, parent, ply)
        return self._watch.node(state, ply, depth, alpha, (math.inf, 0.0), search)

    def _cut_off(self, action: int | None, choices: Sequence[int], last: int) -> None:
        self._watch.cut_off(action, choices, last)
