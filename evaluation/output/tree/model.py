"""A search as a tree, with what was known of each node at each step; nothing here changes any more.

Steps count from 1; step 0 is before the search. In a search of the game tree a step is one of: a node is entered
(a leaf has its value at once); a node is left with its value, which goes to its parent; the rest of a node is cut
off. In a Monte Carlo tree search a step is a simulation.
"""

from __future__ import annotations

import bisect
import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from zermelo.agents.search.observer import NodeRole


class Span(NamedTuple):
    """From a step on: an interval, such as a window or what is known of a value."""

    step: int
    low: float
    high: float


class Vector(NamedTuple):
    """From a step on: every seat's value."""

    step: int
    values: tuple[float, ...]


class Cut(NamedTuple):
    """From a step on: these actions, or outcomes, need not be looked at; ``by`` is the one that showed it."""

    step: int
    by: str
    not_searched: tuple[str, ...]


class Source(enum.StrEnum):
    """Where the value of a node comes from, if not from the nodes below it."""

    BELOW = ""
    END = "end"
    """The game is over."""
    EVALUATION = "evaluation"
    """It was evaluated, as at the depth limit."""
    TABLE = "table"
    """The transposition table knew it."""
    BOUNDS = "bounds"
    """Nothing that it can be worth matters: the game's bounds, or a selective search, say so."""


_Dated = TypeVar("_Dated", Span, Vector)


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A node. Values and windows are the viewpoint's (``SearchTree.seat``).

    Attributes:
        parent: The number of its parent; -1 for the root.
        level: How many edges below the root it lies.
        role, seat: Who decides there; the seat is None where chance does, or nobody.
        move: The action, or outcome, that leads to it, as the game writes it.
        chance: How probable that outcome is; 1 after an action.
        depth: How many moves the search looks ahead from it.
        entered, left: The steps at which the search came to it and left it; ``left`` is None where it never did.
        windows: Alpha and beta; none in searches that use no window.
        known: Between which values it lies, as far as the search has seen; none in max^n.
        vectors: In max^n, the values that the player to move can get so far.
        source: Where its value comes from.
        cut: What was cut off.
        quiet: Whether it belongs to quiescence.
        probed: Whether the search has looked at one of its actions first (Star2).
        hidden: How many nodes below it are left out of the drawing.
        name, position: The state as text: short, if the game has such names, and in full.
        visits: The simulations that came by, for Monte Carlo tree search.
    """

    parent: int
    level: int
    role: NodeRole
    seat: int | None
    move: str
    chance: float
    depth: float
    entered: int
    left: int | None
    windows: tuple[Span, ...] = ()
    known: tuple[Span, ...] = ()
    vectors: tuple[Vector, ...] = ()
    source: Source = Source.BELOW
    cut: Cut | None = None
    quiet: bool = False
    probed: bool = False
    hidden: int = 0
    name: str = ""
    position: str = ""
    visits: tuple[int, ...] = ()

    def window_at(self, step: int) -> Span | None:
        """Its window at a step."""
        return _at(self.windows, step)

    def known_at(self, step: int) -> Span | None:
        """What is known of its value at a step."""
        return _at(self.known, step)

    def values_at(self, step: int) -> tuple[float, ...]:
        """In max^n, the values so far at a step; none before the first."""
        found = _at(self.vectors, step)
        return () if found is None else found.values

    def visits_at(self, step: int) -> int:
        """How many simulations have come by."""
        return bisect.bisect_right(self.visits, step)


def _at(dated: Sequence[_Dated], step: int) -> _Dated | None:
    """What holds at a step."""
    place = bisect.bisect_right(dated, step, key=lambda one: one.step)
    return dated[place - 1] if place else None


@dataclass(frozen=True, slots=True)
class SearchPass:
    """One search of the root: an iteration, or all there is.

    Attributes:
        depth: How deep it looked.
        nodes: The nodes in the order in which they were entered, the root first.
        steps: The number of the last step.
        finished: Whether the search left the root.
        visited: How many nodes it visited, also those that are not drawn.
        outcomes: What each simulation brought, for Monte Carlo tree search: to the viewpoint, or to every seat.
    """

    depth: float
    nodes: tuple[SearchNode, ...]
    steps: int
    finished: bool
    visited: int
    outcomes: tuple[tuple[float, ...], ...] = ()

    @property
    def has_windows(self) -> bool:
        """Whether the search uses windows."""
        return any(node.windows for node in self.nodes)

    def children(self) -> list[list[int]]:
        """The numbers of every node's children, in the order in which they were entered."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes[1:], start=1):
            found[node.parent].append(number)
        return found

    def mean_at(self, node: SearchNode, step: int) -> tuple[float, ...]:
        """The mean outcome of the simulations that have come by a node; none before the first."""
        visits = node.visits[: node.visits_at(step)]
        if not visits:
            return ()
        columns = zip(*(self.outcomes[visit - 1] for visit in visits), strict=True)
        return tuple(math.fsum(column) / len(visits) for column in columns)


@dataclass(frozen=True, slots=True)
class SearchTree:
    """What a search did, to be drawn.

    Attributes:
        game, agent: What was searched, and by whom.
        seats: The players' names.
        seat: From whose point of view values are, where they are one number.
        bounds: Between which numbers all of these lie.
        passes: The searches of the root, in order.
        shown: Which of them to show first.
        answer: The action that the search chose.
        value: What that is worth.
        notes: What whoever looks at it should know.
    """

    game: str
    agent: str
    seats: tuple[str, ...]
    seat: int
    passes: tuple[SearchPass, ...]
    shown: int
    answer: str
    value: float
    bounds: tuple[float, float] = (-math.inf, math.inf)
    notes: tuple[str, ...] = ()

    @property
    def simulates(self) -> bool:
        """Whether it is a Monte Carlo tree search."""
        return any(one.outcomes for one in self.passes)
