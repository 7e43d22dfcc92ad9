"""A search as a tree, with what was known of each node at each step.

Steps count from 1; step 0 is before the search. A step is one of: a node is entered (a leaf has its value at
once); a node is left with its value; the rest of a node is cut off; or, in Monte Carlo tree search, a simulation.
"""

from __future__ import annotations

import bisect
import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from zermelo.agents.tree_search.observer import NodeRole


class Span(NamedTuple):
    """An interval from a step on, such as a window or bounds of a value."""

    step: int
    low: float
    high: float


class Vector(NamedTuple):
    """Every seat's value from a step on."""

    step: int
    values: tuple[float, ...]


class Cut(NamedTuple):
    """Actions, or outcomes, that need not be searched from a step on; ``by`` is the one that showed it."""

    step: int
    by: str
    not_searched: tuple[str, ...]


class Source(enum.StrEnum):
    """The source of a node's value, if it is not the nodes below it."""

    BELOW = ""
    END = "end"  # of the game
    EVALUATION = "evaluation"
    TABLE = "table"  # of transpositions
    BOUNDS = "bounds"  # the game's bounds, or a selective search, say that no value can matter


_Dated = TypeVar("_Dated", Span, Vector)


@dataclass(slots=True, kw_only=True)
class SearchNode:
    """A node. Values and windows are the viewpoint's (``SearchTree.seat``)."""

    parent: int = -1
    level: int = 0
    role: NodeRole = NodeRole.MAX
    seat: int | None = None  # that decides; None where chance does, or nobody
    move: str = ""  # that leads to it
    chance: float = 1.0  # of an outcome
    depth: float = math.inf  # that is left to search
    entered: int = 0  # steps
    left: int | None = None
    windows: list[Span] = field(default_factory=list)  # alpha and beta
    known: list[Span] = field(default_factory=list)  # bounds of its value, as far as the search has seen
    vectors: list[Vector] = field(default_factory=list)  # in max^n, what the player to move can get so far
    source: Source = Source.BELOW
    cut: Cut | None = None
    quiet: bool = False  # part of quiescence
    probed: bool = False  # one of its actions was looked at first (Star2)
    hidden: int = 0  # nodes below it that are left out of the drawing
    name: str = ""  # the state as text: short, if the game has such names
    position: str = ""
    visits: list[int] = field(default_factory=list)  # the simulations that came by

    def visits_at(self, step: int) -> int:
        return bisect.bisect_right(self.visits, step)


def at_step(dated: Sequence[_Dated], step: int) -> _Dated | None:
    index = bisect.bisect_right(dated, step, key=lambda one: one.step)
    return dated[index - 1] if index else None


class StepKind(enum.StrEnum):
    """Kind of a step."""

    ENTER = "enter"
    LEAF = "leaf"  # its value is known at once
    CUT = "cut"  # the rest of a node is cut off
    LEAVE = "leave"
    SIMULATION = "simulation"  # the node is where it ended


@dataclass(frozen=True, slots=True)
class SearchPass:
    """One search of the root: an iteration, or all there is."""

    depth: float
    nodes: list[SearchNode]  # in the order in which they were entered, the root first
    steps: int
    finished: bool  # whether the search left the root
    visited: int  # also nodes that are not drawn
    outcomes: list[tuple[float, ...]] = field(default_factory=list)  # simulations', to the viewpoint or every seat

    def children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes[1:], start=1):
            below[node.parent].append(number)
        return below

    def mean_at(self, node: SearchNode, step: int) -> tuple[float, ...]:
        visits = node.visits[: node.visits_at(step)]
        if not visits:
            return ()
        columns = zip(*(self.outcomes[visit - 1] for visit in visits), strict=True)
        return tuple(math.fsum(column) / len(visits) for column in columns)

    def kinds(self) -> list[tuple[StepKind, int]]:
        steps: dict[int, tuple[StepKind, int]] = {}
        for number, node in enumerate(self.nodes):
            if self.outcomes:
                steps |= dict.fromkeys(node.visits, (StepKind.SIMULATION, number))  # the deepest comes last
                continue
            again = [span.step for span in node.windows if span.step > node.entered]
            steps |= {step: (StepKind.ENTER, number) for step in again if node.probed and step not in steps}
            if node.cut is not None:
                steps[node.cut.step] = StepKind.CUT, number
            if node.left is not None:
                steps[node.left] = StepKind.LEAVE, number
            steps[node.entered] = (StepKind.LEAF if node.left == node.entered else StepKind.ENTER), number
        return [steps[step] for step in sorted(steps)]

    def best_line(self, answer: str) -> set[int]:
        """The numbers of the nodes of the principal variation below the root, as far as no chance is met."""
        children, line = self.children(), set()
        here = next((child for child in children[0] if self.nodes[child].move == answer), -1)
        while here >= 0 and self.finished:
            line.add(here)
            here = -1 if self.nodes[here].role is NodeRole.CHANCE else self._best_child(here, children[here])
        return line

    def _best_child(self, parent: int, children: list[int]) -> int:
        node = self.nodes[parent]
        if self.outcomes:
            return max(children, key=lambda child: len(self.nodes[child].visits), default=-1)
        for child in children:
            below = self.nodes[child]
            if node.vectors and below.vectors and below.vectors[-1].values == node.vectors[-1].values:
                return child
            if not node.vectors and node.known and below.known and node.known[-1][1:] == below.known[-1][1:]:
                return child
        return -1


@dataclass(frozen=True, slots=True)
class SearchTree:
    """A search, to be drawn; values that are one number are those of ``seat``."""

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
        return any(one.outcomes for one in self.passes)

    def best_line(self, one: SearchPass) -> set[int]:
        """The principal variation in the last search of the root, as numbers of nodes; empty in others."""
        return one.best_line(self.answer) if one is self.passes[-1] else set()
