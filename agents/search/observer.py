"""Watching a plain search at work, node by node: for teaching, drawing trees and tests.

A search that nobody watches is not slowed down: these are other classes, which the backend takes only where an
agent has ``on_node``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.agents.core.tree_search import RootMove, Visit
from zermelo.agents.search.tree.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.tree.full_width import FullWidthSearch
from zermelo.agents.search.tree.max_n import MaxNSearch
from zermelo.agents.search.tree.plain_search import PlainSearch
from zermelo.envs import CHANCE


class NodeEventKind(enum.StrEnum):
    """What has happened at a node."""

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
    """Who decides at a node, and how its score follows from those below."""

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
        self._windows: list[tuple[Score, Score]] = []
        self._tried: set[int] = set()

    def enter_root(self, state: Any, depth: float, alpha: Score, beta: Score) -> None:
        """Tells of the root."""
        self._path.clear()
        self._windows.clear()
        self._tried.clear()
        self.taken = None
        self._enter(NodeEventKind.ENTER, state, 0, depth, alpha, beta)

    def try_root(self, action: int, alpha: Score, beta: Score) -> None:
        """Tells of the root's window, if it has changed."""
        self.taken = action
        self._tried.add(action)
        if (alpha, beta) != self._windows[-1]:
            self._on_window(alpha, beta)

    def leave_root(self, found: RootMove) -> None:
        """Tells of what the root is worth, and of actions that were left out as nothing is better."""
        actions = self.game.legal_actions(self._path[0].state)
        left = tuple(action for action in actions if action not in self._tried)
        if left:
            alpha, beta = self._windows[0]
            self._tell(NodeEventKind.CUTOFF, alpha=alpha, beta=beta, action=found.action, not_searched=left)
        self._tell(NodeEventKind.VALUE, score=found.score, values=found.values)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, *rest: Any) -> Visit:
        """As the search itself, with events before and after."""
        self._enter(NodeEventKind.ENTER, state, ply, depth, alpha, beta)
        try:
            return self._left(super().visit(state, depth, alpha, beta, ply, *rest))
        finally:
            self._leave()

    def probe(self, state: Any, action: int, depth: float, window: tuple[Score, Score], ply: int) -> Visit:
        """As the search itself; the state that is probed is told of too."""
        self._enter(NodeEventKind.PROBE, state, ply, depth, *window)
        try:
            return self._left(super().probe(state, action, depth, window, ply))
        finally:
            self._leave()

    def evaluated(self, state: Any, frame: Frame) -> Visit:
        """As the search itself; what the evaluator says is told."""
        found = super().evaluated(state, frame)
        self._tell(NodeEventKind.EVALUATED, score=found.score, values=found.values)
        return found

    def _enter(self, kind: NodeEventKind, state: Any, ply: int, depth: float, alpha: Score, beta: Score) -> None:
        """Tells of a node that the search has come to."""
        role, seat = self._role(state)
        if role is NodeRole.CHANCE and seat is None:
            kind = NodeEventKind.CHANCE
        parent = self._path[-1].role if self._path else None
        event = NodeEvent(
            kind,
            state,
            ply,
            depth,
            alpha,
            beta,
            taken=self.taken,
            chance=self.chance if parent is NodeRole.CHANCE else 1.0,
            role=role,
            seat=seat,
            game=self.game,
        )
        self._path.append(event)
        self._windows.append((alpha, beta))
        self._on_node(event)

    def _leave(self) -> None:
        self._path.pop()
        self._windows.pop()

    def _left(self, found: Visit) -> Visit:
        self._tell(NodeEventKind.VALUE, score=found.score, values=found.values)
        return found

    def _tell(self, kind: NodeEventKind, **more: Any) -> None:
        """Tells of something at the node that the search is at."""
        self._on_node(self._path[-1]._replace(kind=kind, **more))

    def _role(self, state: Any) -> tuple[NodeRole, int | None]:
        """Who decides at a state, and which seat that is."""
        if self.game.is_terminal(state):
            return NodeRole.END, None
        seat = self.game.to_move(state)
        if seat == CHANCE:
            return NodeRole.CHANCE, None
        return (NodeRole.MAX if seat == self.max_seat else NodeRole.MIN), seat

    def _on_table(self, found: Visit) -> Visit:
        self._tell(NodeEventKind.TABLE, score=found.score, values=found.values)
        return found

    def _on_window(self, alpha: Score, beta: Score) -> None:
        self._windows[-1] = alpha, beta
        self._tell(NodeEventKind.WINDOW, alpha=alpha, beta=beta)

    def _on_cutoff(self, action: int | None, choices: Sequence[int], last: int) -> None:
        left = tuple(choices[last + 1 :])
        if left:
            alpha, beta = self._windows[-1]
            self._tell(NodeEventKind.CUTOFF, alpha=alpha, beta=beta, action=action, not_searched=left)


class WatchedAlphaBeta(_Watched, AlphaBetaSearch):
    """Alpha-beta with an observer; nodes of quiescence have a depth of 0 and less."""

    def _quiet_visit(self, state: Any, left: int, alpha: Score, beta: Score, ply: int) -> Visit:
        self._enter(NodeEventKind.ENTER, state, ply, left - self._quiescence, alpha, beta)
        try:
            return self._left(super()._quiet_visit(state, left, alpha, beta, ply))
        finally:
            self._leave()


class WatchedFullWidth(_Watched, FullWidthSearch):
    """Full width with an observer."""

    def _role(self, state: Any) -> tuple[NodeRole, int | None]:
        role, seat = super()._role(state)
        averaged = self._replies is not None and role is NodeRole.MIN
        return (NodeRole.CHANCE if averaged else role), seat


class WatchedMaxN(_Watched, MaxNSearch):
    """max^n with an observer.

    Its window is what the player who moved to the node can already get elsewhere, and no upper edge; scores are
    those of the seat to move at the root.
    """

    def _role(self, state: Any) -> tuple[NodeRole, int | None]:
        role, seat = super()._role(state)
        return (role if seat is None else NodeRole.OWN), seat
