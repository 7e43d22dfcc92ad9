"""What the root needs of a search, plain or compiled, and what a search says of a state."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Frame, Score
from zermelo.envs import Game

__all__ = ["Bound", "RootMove", "SumNotConstantError", "TableCounts", "TreeSearch", "Visit"]


class Visit(NamedTuple):
    """What is known of a state after searching it.

    Attributes:
        score: For the maximizing seat, as totals; outside the window it is a bound, inside it is exact.
        proven: No evaluation, cut-off or sample entered the score.
        line: Best play from there.
        variance: Of the score's value, where chance was sampled.
        values: Every seat's total, in seat order, where the score does not tell them (more than two seats, or sums
            that are not constant).
        plies: Moves to the end of the line, for searches whose score does not tell it.
    """

    score: Score
    proven: bool
    line: tuple[int, ...] = ()
    variance: float = 0.0
    values: tuple[float, ...] = ()
    plies: float = 0.0


class TableCounts(Protocol):
    """What a transposition table says of its use."""

    @property
    def hits(self) -> int:
        """How often an entry was found."""
        ...

    @property
    def stores(self) -> int:
        """How often an entry was stored."""
        ...


class TreeSearch(Protocol):
    """What the root needs of a search: its game, its budget, and how to search below.

    A search may have a number ``max_seat``, the seat that maximizes (0 if not; every other seat minimizes), and a
    method ``preferred(moves)``, which says which of several root moves of equal score it would play. One that is
    ``selective``, searching some moves less deep than others, has a method ``search_fully()`` that ends that. One
    that ``transposes`` may take from its table what an iteration before has left unfinished.

    Attributes:
        budget: What was spent, and the limits on it.
    """

    budget: Budget

    @property
    def game(self) -> Game[Any]:
        """The game that is searched."""
        ...

    @property
    def table(self) -> TableCounts | None:
        """The transposition table, if there is one."""
        ...

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        ...

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta to start with."""
        ...

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """Searches a state ``depth`` moves deep."""
        ...

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state ``ply`` moves below the root, if the search still knows it.

        That is known from an exact score of a search that was just so deep, or of one that has proven it: what
        another search of the state liked best need not lead to the same value.
        """
        ...

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        ...


class RootMove(NamedTuple):
    """A root action that was searched to the end of its iteration; the score reads as at the root.

    ``is_exact`` says that its value is, not only bounded.
    """

    action: int
    score: Score
    is_exact: bool
    proven: bool
    line: tuple[int, ...]
    variance: float
    values: tuple[float, ...] = ()
    plies: float = 0.0


class Bound(enum.IntEnum):
    """What a stored score says about the true one."""

    EXACT = 0
    LOWER = 1
    UPPER = 2


class SumNotConstantError(Exception):
    """An evaluation did not add up to the game's constant, so shallow pruning does not hold."""

    def __init__(self, values: tuple[float, ...]) -> None:
        super().__init__(values)
        self.values = values
