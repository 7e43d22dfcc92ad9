"""Watching a plain search at work, node by node: for teaching, drawing trees and tests."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.base.scores import Score
from zermelo.agents.tree_search.interface import RootMove, Visit
from zermelo.envs.game import CHANCE


class NodeEventKind(enum.StrEnum):
    """Events at a node."""

    ENTER = "enter"
    """The search has come to it."""
    CHANCE = "chance"
    """The search has come to it, and chance moves there."""
    PROBE = "probe"
    """The search has come to an outcome of chance to look at one of its actions only (Star2)."""
    EVALUATED = "evaluated"
    """The evaluator was asked about it."""
    TABLE = "table"
    """The transposition table has answered for it."""
    WINDOW = "window"
    """Its window has become narrower."""
    CUTOFF = "cutoff"
    """The rest of its actions, or outcomes, need not be looked at."""
    VALUE = "value"
    """The search leaves it with a score."""


class NodeRole(enum.StrEnum):
    """The role of a node: who decides, and how its score follows from those below."""

    MAX = "max"
    MIN = "min"
    CHANCE = "chance"
    """Scores are averaged: chance moves, or a player whose actions are averaged over."""
    OWN = "own"
    """The player to move maximizes its own value (max^n)."""
    END = "end"
    """The game is over."""


class NodeEvent(NamedTuple):
    """Something that has happened at a node.

    The root has events once for each time it is searched: for each iteration, and again where a window was too
    narrow. A search that is stopped half way has no ``VALUE`` for the nodes that it was at.

    Attributes:
        ply: How many moves below the root it lies (an outcome of chance is no move).
        depth: How many moves the search looks ahead from it.
        alpha, beta: The window's edges: (value, mate distance) for the seat that maximizes. With ``WINDOW`` and
            ``CUTOFF`` as they are now, with all others as the search came to the node.
        score: What was found, with ``EVALUATED``, ``TABLE`` and ``VALUE``; outside the window it is a bound.
        action: The one that caused a ``CUTOFF``; None at chance nodes, and where a quiet evaluation did.
        not_searched: The actions, or outcomes, that a ``CUTOFF`` leaves out.
        taken: The action, or outcome, that has led to it; None at the root and after a skipped turn.
        chance: How probable that outcome is; 1 after an action.
        role: Who decides there.
        seat: The seat to move; None where chance does, or nobody.
        values: Every seat's value, where the score does not say it, with ``TABLE`` and ``VALUE``.
        game: The game of the state, which is what the search sees of the agent's.
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
    taken: int | None = None
    chance: float = 1.0
    role: NodeRole = NodeRole.MAX
    seat: int | None = None
    values: tuple[float, ...] = ()
    game: Any = None


Observer: TypeAlias = Callable[[NodeEvent], Any]
"""Called with every event, in order."""


class NodeWatcher:
    """Tells an observer what a plain search does; knows the path to the node that the search is at.

    The window of max^n is what the player who moved to the node can already get elsewhere, with no upper edge.
    Nodes of quiescence have a depth of 0 and less. The search's methods ``visit``, ``quiet_visit`` and ``probe``
    tell of their nodes from now on.
    """

    def __init__(self, search: Any, on_node: Observer) -> None:
        self._search, self._on_node = search, on_node
        self._path: list[NodeEvent] = []
        self._windows: list[tuple[Score, Score]] = []
        self._tried: set[int] = set()
        for name, kind in _NODE_METHODS.items():
            if hasattr(search, name):
                setattr(search, name, self._told(getattr(search, name), kind))

    def _told(self, visit: Callable[..., Visit], kind: NodeEventKind) -> Callable[..., Visit]:
        def visited(state: Any, depth: float, alpha: Score, beta: Score, ply: int, *rest: Any) -> Visit:
            self._enter(kind, state, ply, depth, alpha, beta)
            try:
                found = visit(state, depth, alpha, beta, ply, *rest)
                self._leave(found)
                return found
            finally:
                self._path.pop()
                self._windows.pop()

        return visited

    def enter_root(self, state: Any, depth: float, alpha: Score, beta: Score) -> None:
        self._path.clear()
        self._windows.clear()
        self._tried.clear()
        self._search.taken = None
        self._enter(NodeEventKind.ENTER, state, 0, depth, alpha, beta)

    def try_root(self, action: int, alpha: Score, beta: Score) -> None:
        self._search.taken = action
        self._tried.add(action)
        if (alpha, beta) != self._windows[-1]:
            self.narrow(alpha, beta)

    def leave_root(self, found: RootMove) -> None:
        root = self._path[0]
        left = tuple(action for action in root.game.legal_actions(root.state) if action not in self._tried)
        if left:
            alpha, beta = self._windows[0]
            self.tell(NodeEventKind.CUTOFF, alpha=alpha, beta=beta, action=found.action, not_searched=left)
        self._leave(found)

    def narrow(self, alpha: Score, beta: Score) -> None:
        self._windows[-1] = alpha, beta
        self.tell(NodeEventKind.WINDOW, alpha=alpha, beta=beta)

    def cut(self, action: int | None, left: tuple[int, ...]) -> None:
        if left:
            alpha, beta = self._windows[-1]
            self.tell(NodeEventKind.CUTOFF, alpha=alpha, beta=beta, action=action, not_searched=left)

    def _enter(self, kind: NodeEventKind, state: Any, ply: int, depth: float, alpha: Score, beta: Score) -> None:
        search, game = self._search, self._search.game
        role, seat = NodeRole.END, None
        if not game.is_terminal(state):
            role, seat = NodeRole.CHANCE, game.to_move(state)
            if seat == CHANCE:
                kind, seat = NodeEventKind.CHANCE, None
            else:
                role = search.roles[seat != search.max_seat]
        chance = search.chance if self._path and self._path[-1].role is NodeRole.CHANCE else 1.0
        taken: dict[str, Any] = {"taken": search.taken, "chance": chance, "role": role, "seat": seat}
        event = NodeEvent(kind, state, ply, depth, alpha, beta, **taken, game=game)
        self._path.append(event)
        self._windows.append((alpha, beta))
        self._on_node(event)

    def _leave(self, found: Visit | RootMove) -> None:
        self.tell(NodeEventKind.VALUE, score=found.score, values=found.values)

    def tell(self, kind: NodeEventKind, **more: Any) -> None:
        self._on_node(self._path[-1]._replace(kind=kind, **more))


_NODE_METHODS = {"visit": NodeEventKind.ENTER, "quiet_visit": NodeEventKind.ENTER, "probe": NodeEventKind.PROBE}
