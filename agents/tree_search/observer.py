"""Events of a plain search, node by node: for teaching, drawing trees and tests."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from zermelo.agents.base.scores import Score


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
