"""The one front end of all compiled searches: does the game fit, is the kernel ready, run it, read it back.

A kernel is described by a ``Program``. A search that uses it makes a ``Runner``, which owns a ``layout.Search``
for each thread, the memory behind it and the table; it sets the fields that only its kernel knows, and calls::

    runner = Runner(game, budget, limits=limits, ...)
    for search in runner.searches:
        search.root_seat = seat                                  # what only this kernel has
    found, search = runner.run(lambda search: kernel(rules, state, depth, ply, search), depth, ply)

``run`` obeys the limits, counts into ``budget``, gives more memory where that helps, and raises what a search
raises. Afterwards the principal variation (``runner.line``) or the record (``runner.record``) of the search that
answered can be read.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.background import BackgroundTask, in_background
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.compiled.threads import race, run_here
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.recursion import MAX_PLIES, GameTooLongError
from zermelo.envs import Chance
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["Program", "Record", "Runner", "can_evaluate", "evaluates", "fits", "plies_of", "spread"]

_PATIENCE: Final = 0.75
"""How much of a time limit to wait for the compiler, or for machine code to come from disk."""
_ALL_NODES: Final = 1 << 62
_ENDLESS: Final = 1 << 20
"""More moves than any search looks ahead."""
_SHORT: Final = 20_000
"""Visits of fewer nodes than this are not worth another thread."""
_LONGEST: Final = 20 * _SHORT
"""A visit taken for a short one that has more nodes is searched again in another thread."""
_USUAL_NODES: Final = 30
_USUAL_GROWTH: Final = 400
"""How many nodes a visit that looks no move ahead may take through chance, and how many times more each move."""
_ARENA: Final = 1 << 18
"""Words of memory for records to begin with."""


def fits(game: Any) -> bool:
    """Whether a game's rules can be compiled here."""
    return isinstance(game, RulesGame) and can_compile()


def can_evaluate(evaluator: Any) -> bool:
    """Whether a kernel can evaluate as an evaluator does: None, ``"game"`` and ``"rewards"``."""
    return evaluator is None or getattr(evaluator, "spec", lambda: None)() in ("game", "rewards")


def evaluates(evaluator: Any) -> bool:
    """Whether the rules' own evaluation counts at the depth limit."""
    return evaluator is not None and bool(evaluator.spec() == "game")


def plies_of(depth: float) -> int:
    """A depth as kernels count it; no depth limit is a large one."""
    return int(depth) if depth < _ENDLESS else _ENDLESS


@dataclass(frozen=True)
class Program:
    """A kernel that can be compiled for any rules.

    Attributes:
        name: What needs it, such as ``"alphabeta"``.
        module: The module it is in, under ``zermelo.agents.compiled``; importing that imports Numba.
        function: The function's name.
        arguments: The types of its arguments between ``rules, state`` and ``search``.
    """

    name: str
    module: str
    function: str
    arguments: tuple[str, ...]

    def load(self, rules: Any) -> Callable[..., Any]:
        """The kernel compiled for the class of ``rules``, or read from disk.

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        module = importlib.import_module(f"zermelo.agents.compiled.{self.module}")
        return build(rules, Kernel(getattr(module, self.function), (*self.arguments, layout.RECORD)))

    def load_in_background(self, rules: Any) -> BackgroundTask:
        """Begins to load the kernel, or has begun already; a ``BackgroundTask`` says when it is there."""
        return in_background((type(rules), self), lambda: self.load(rules))

    def is_ready(self, rules: Any, limits: Limits) -> bool:
        """Whether the kernel is there in time: a limit on time holds for the compiler too.

        Where it is not, it goes on being compiled in the background, for later searches.
        """
        if limits.seconds is None:
            return True
        return self.load_in_background(rules).ready_within(_PATIENCE * limits.seconds)


class Record(NamedTuple):
    """What a kernel that works with records found out about a state."""

    values: tuple[float, ...]
    plies: float
    line: tuple[int, ...]


class Runner:
    """Runs a kernel for one search.

    Args:
        game: Of rules.
        budget: Counts nodes, and says when to stop.
        limits: Its limits.
        ordering: In which order actions are tried.
        sooner: Whether wins should come sooner and losses later.
        choices: How many choices a node can have; as many as there are actions, if not given.
        table: Positions already searched, or None.
        threads: How many threads search together.
        row: Words for each ply besides its principal variation, for kernels with rows (``memory.row_of``).
        beyond: How many moves further than the depth the kernel may look (quiescence).
        room: Words that a node may use before it visits another, for kernels with records in an arena.
        arena: Words of the arena to begin with; it grows as needed.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        *,
        limits: Limits,
        ordering: Ordering,
        sooner: bool,
        choices: int | None = None,
        table: CompiledTable | None = None,
        threads: int = 1,
        row: int = 0,
        beyond: int = 0,
        room: int = 0,
        arena: int | None = None,
    ) -> None:
        self.table = table
        self.budget = budget
        self._game, self._limits = game, limits
        self._row, self._beyond = spread(row), beyond
        size = int(game.rules.num_actions())
        self._branching = max(size if choices is None else choices, 2)
        self._busy = np.zeros(1 << layout.BUSY_BITS, np.int64) if threads > 1 else None
        self._unclaimed = np.zeros(1, np.int64)
        self._plies = 0
        self._spent: dict[float, int] = {}
        self.searches = [Search() for _ in range(max(threads, 1))]
        for search in self.searches:
            search.actions = size
            search.choices = self._branching if choices is not None else size
            search.sooner = sooner
            search.ordered = ordering is not Ordering.FIXED
            search.seats = search.kept_seats = game.traits.seats
            search.max_ply = MAX_PLIES
            search.hold("killers", np.full(2 * (MAX_PLIES + 2), -1, np.int64))
            search.hold("history", np.zeros(search.seats * search.choices, np.int64))
            if table is not None:
                table.serve(search)
            if self._busy is not None:
                search.hold("busy", self._busy)
                search.hold("unclaimed", self._unclaimed)
            if room:
                search.room = 8 * room
                self._allot_arena(search, max(arena or _ARENA, room))

    def run(
        self, call: Callable[[Search], Any], depth: float, ply: int, *, short: bool | None = None
    ) -> tuple[Any, Search]:
        """Runs the kernel, in every thread, and counts what it did.

        Args:
            call: Calls the kernel with one thread's search; may be called again with more memory.
            depth: How many moves it looks ahead.
            ply: How many moves below the root it begins.
            short: Whether it will take no longer than handing it to another thread; found out, if not given.

        Returns:
            What the kernel returned, and the search that it was called with.

        Raises:
            SearchStopped: A limit was reached.
            GameTooLongError: The game does not end in time.
        """
        self.budget.check_clock()
        self._allot_rows(depth, ply)
        short = (self._is_short(depth) if short is None else short) and len(self.searches) == 1
        before = self.budget.nodes
        try:
            while True:
                self._prepare(depth, _LONGEST if short else _ALL_NODES)
                if short:
                    found, reason, search = run_here(call, self.searches[0])
                else:
                    found, reason, search = race(call, self.searches, self.budget.check_clock)
                if reason == layout.OUT_OF_MEMORY:
                    self._allot_arena(search, 4 * len(search.held("arena")))
                elif short and self._was_long(reason):
                    short = False
                else:
                    break
        finally:
            self._count()
        self._spent[depth] = max(self._spent.get(depth, 1), self.budget.nodes - before)
        self._refuse(reason, search)
        return found, search

    def line(self, search: Search, ply: int) -> tuple[int, ...]:
        """The principal variation that a kernel with rows left at a ply."""
        start = ply * search.line - ply * (ply - 1) // 2
        length = int(search.held("rows")[ply * search.row])
        return tuple(search.held("lines")[start : start + length].tolist())

    def record(self, search: Search, place: int = 0) -> Record:
        """The record that a kernel with records wrote at a word of its arena."""
        arena, seats = search.held("arena"), search.kept_seats
        *values, plies = arena[place : place + seats + 1].view(np.float64).tolist()
        start = place + seats + 2
        return Record(tuple(values), plies, tuple(arena[start : start + int(arena[start - 1])].tolist()))

    def _is_short(self, depth: float) -> bool:
        """Whether a visit will take no longer than handing it to another thread.

        Through chance that is told by what visits have taken so far, of this depth or of one and two moves less.
        """
        if self._game.traits.chance is Chance.NONE:
            return depth * math.log(self._branching) <= math.log(_SHORT) and not self._beyond
        if self._limits.seconds is not None:
            return False  # a guess that is wrong would overrun the limit: nobody looks at the clock meanwhile
        spent = self._spent
        if depth in spent:
            nodes = spent[depth]
        elif depth - 1 in spent:
            growth = spent[depth - 1] // spent[depth - 2] if depth - 2 in spent else _USUAL_GROWTH
            nodes = spent[depth - 1] * max(growth, 1)
        else:
            nodes = _USUAL_NODES * _USUAL_GROWTH ** int(min(depth, 2))
        return nodes <= _SHORT or (self._limits.nodes or math.inf) <= _SHORT

    def _was_long(self, reason: int) -> bool:
        """Whether a visit that was to be short has to begin again where the clock and Ctrl-C are heeded."""
        out_of_nodes = reason == layout.OUT_OF_NODES and self.budget.nodes_left > _LONGEST
        return reason == layout.OUT_OF_STACK or out_of_nodes

    def _prepare(self, depth: float, nodes: int) -> None:
        """Sets what a call of the kernel begins with; another may have left it half way."""
        left = int(min(self.budget.nodes_left, nodes))
        self._unclaimed[0] = left
        for search in self.searches:
            search.stop = layout.GOING
            search.nodes = 0
            search.node_limit = 0 if search.unclaimed else left
            search.deepest = -1
            search.age = int(depth) & 1 if depth < _ENDLESS else 0
            search.passed_ply = 0
            search.known = -1
        if self._busy is not None:
            self._busy[:] = 0

    def _count(self) -> None:
        """Adds what all threads have done to what the search has spent."""
        searches = self.searches
        self.budget.nodes += sum(search.nodes for search in searches)
        self.budget.deepest = max(self.budget.deepest, *(search.deepest for search in searches))
        if self.table is not None:
            self.table.hits = sum(search.table_hits for search in searches)
            self.table.stores = sum(search.table_stores for search in searches)

    def _refuse(self, reason: int, search: Search) -> None:
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self._game, search.deepest - 1)

    def _allot_rows(self, depth: float, ply: int) -> None:
        """Sees that there are rows as far as a search can look. The system gives memory to used ones only."""
        plies = int(min(ply + depth + self._beyond, MAX_PLIES)) + 2
        if not self._row or plies <= self._plies:
            return
        self._plies = plies = min(max(plies, 2 * self._plies, 32), MAX_PLIES + 2)
        for search in self.searches:
            search.row, search.line = self._row, plies
            search.hold("rows", np.empty((plies + 1) * self._row, np.int64))
            search.hold("lines", np.empty((plies + 1) * (plies + 2) // 2, np.int64))

    def _allot_arena(self, search: Search, size: int) -> None:
        search.hold("arena", np.empty(size, np.int64))
        search.arena_end = search.arena + 8 * size


def spread(row: int) -> int:
    """The words of a row, so that rows do not compete for the same few lines of the cache."""
    return row if row <= 8 else (row + 7) // 8 * 8 + (8 if (row + 7) // 8 % 8 == 0 else 0)
