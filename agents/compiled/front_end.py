"""The one front end of all compiled tree searches: run a kernel, read back what it found.

A search that runs a kernel (``program.Program``) is a ``CompiledTreeSearch``, with a ``layout.Search`` for each
thread, the memory behind it and the table; it sets the fields that only its kernel knows, and calls ``run``, which
obeys the limits, counts, gives more memory where that helps, and raises what a search raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program, evaluates
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.compiled.threads import race, run_here
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.recursion import MAX_PLIES, GameTooLongError
from zermelo.agents.core.tree_config import TreeConfig
from zermelo.agents.core.tree_search import Bound, Root, TreeSearch
from zermelo.envs import Chance
from zermelo.envs.jit.history import starter, table_key
from zermelo.envs.rules.rules_game import RulesGame

_ALL_NODES: Final = 1 << 62
_ENDLESS: Final = 1 << 20
"""More moves than any search looks ahead."""
_SHORT: Final = 1 << 16
"""A visit that cannot have more nodes than this runs in the caller's thread."""
_PATH: Final = 4 * MAX_PLIES
"""How many states there can be on a path, those of chance and of opponents that do not choose included."""
ARENA: Final = 1 << 18
"""Words of memory for records to begin with."""


def plies_of(depth: float) -> int:
    """A depth as kernels count it; no depth limit is a large one."""
    return int(depth) if depth < _ENDLESS else _ENDLESS


def most_states(game: Any, limits: Limits) -> float:
    """How many states a search within these limits can visit at most, roughly."""
    most = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.depth is None or limits.depth > 16:
        return most
    levels = limits.depth if game.traits.chance is Chance.NONE else 2 * limits.depth
    return min(most, float(game.max_legal_actions) ** levels)


class Record(NamedTuple):
    """What a kernel that works with records found out about a state."""

    values: tuple[float, ...]
    plies: float
    line: tuple[int, ...]


class CompiledTreeSearch(TreeSearch):
    """A search whose nodes a kernel visits; they are counted inside it.

    Args:
        root: What to search.
        budget: The limits.
        config: The settings.
        constants: Those of the kernel.
        ordering: In which order actions are tried.
        choices: How many numbers of choices there are; as many as actions, if not given.
        width: The most choices that a node can have; as many as legal actions, if not given.
        table: Positions already searched, or None.
        threads: How many threads search together.
        row: Words for each ply besides its principal variation, for kernels with rows (``memory.row_of``).
        room: Words that a node may use before it visits another, for kernels with records in an arena.
        shares: Whether positions share their table entries whatever was before them.
    """

    program: ClassVar[Program]
    compiled = True
    selective = False
    _beyond = 0
    """How many moves further than the depth the kernel may look (quiescence)."""

    def __init__(
        self,
        root: Root,
        budget: Budget,
        config: TreeConfig,
        *,
        constants: Mapping[str, bool],
        ordering: Ordering,
        choices: int | None = None,
        width: int | None = None,
        table: CompiledTable | None = None,
        threads: int = 1,
        row: int = 0,
        room: int = 0,
        shares: bool = False,
    ) -> None:
        game: RulesGame = root.game
        self.game = game if root.searched is None else root.searched
        self.budget = budget
        self.order = MoveOrder(self.game, ordering)
        self.table: CompiledTable | None = table
        self.transposes = table is not None
        self._rules, self._shares = game.rules, shares
        self.kernel = self.program.load(game.rules, **constants)
        self._row = spread(row)
        size = int(game.rules.num_actions())
        width = game.max_legal_actions if width is None else width
        self._branching = max(width, 2)
        self._busy = np.zeros(1 << layout.BUSY_BITS, np.int64) if threads > 1 else None
        self._unclaimed = np.zeros(1, np.int64)
        self._plies = 0
        self.searches = [Search() for _ in range(threads)]
        for search in self.searches:
            search.start = starter(game.rules, _PATH, shares=shares)
            search.actions = size
            search.choices = size if choices is None else choices
            search.width = width
            search.sooner = config.sooner
            search.ordered = ordering is not Ordering.FIXED
            search.seats = search.kept_seats = game.traits.seats
            search.evaluated = evaluates(root.evaluator)
            search.lower_evaluation, search.upper_evaluation = game.rules_bounds
            search.max_ply = MAX_PLIES
            search.hold("killers", np.full(2 * (MAX_PLIES + 2), -1, np.int64))
            search.hold("history", np.zeros(search.seats * search.choices, np.int64))
            if self._busy is not None:
                search.hold("busy", self._busy)
                search.hold("unclaimed", self._unclaimed)
            if room:
                search.room = 8 * room
                self._allot_arena(search, max(ARENA, room))
        if table is not None:
            table.serve(self.searches)

    @classmethod
    def can_search(cls, root: Root) -> bool:
        """Whether the kernel fits the game and the evaluator."""
        raise NotImplementedError

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows what a search to this depth would find."""
        if self.table is None:
            return None
        known = self.table.probe(*self._table_key(state), depth)
        return known.action if known is not None and known.bound is Bound.EXACT else None

    def _table_key(self, state: Any) -> tuple[Any, int]:
        """The key of a state, and what the kernel makes another of it with (exclusive-or)."""
        key, signature = table_key(self._rules, state)
        return key, 0 if self._shares else signature

    def run(self, call: Callable[[Search], Any], depth: float, ply: int) -> tuple[Any, Search]:
        """Runs the kernel, in every thread, and counts what it did.

        ``call`` calls the kernel with one thread's search, perhaps again with more memory. The kernel looks
        ``depth`` moves ahead from ``ply`` moves below the root.

        Returns:
            What the kernel returned, and the search that it was called with.

        Raises:
            SearchStopped: A limit was reached.
            GameTooLongError: The game does not end in time.
        """
        self.budget.check_clock()
        self._allot_rows(ply + self._reach(depth))
        is_short = self._is_short(depth)
        try:
            while True:
                self._prepare(depth)
                if is_short:
                    found, reason, search = run_here(call, self.searches[0])
                else:
                    found, reason, search = race(call, self.searches, self.budget.check_clock)
                if reason == layout.OUT_OF_MEMORY:
                    self._allot_arena(search, 4 * len(search.held("arena")))
                elif is_short and reason == layout.OUT_OF_STACK:
                    is_short = False
                else:
                    break
        finally:
            self._count()
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self.game, search.deepest - 1)
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
        """Whether a visit has too few nodes to be worth another thread, where the clock and Ctrl-C are heeded."""
        if len(self.searches) > 1 or self._beyond:
            return False
        levels = depth if self.game.traits.chance is Chance.NONE else 2 * depth
        return levels * math.log(self._branching) <= math.log(_SHORT)

    def _prepare(self, depth: float) -> None:
        """Sets what a call of the kernel begins with; another may have left it half way."""
        left = int(min(self.budget.nodes_left, _ALL_NODES))
        self._unclaimed[0] = left
        for search in self.searches:
            search.stop = layout.GOING
            search.nodes = 0
            search.node_limit = 0 if search.unclaimed else left
            search.deepest = -1
            search.age = int(depth) & 1 if depth < _ENDLESS else 0
            search.passed_ply = 0
            search.met = MAX_PLIES
            search.known = -1
        if self._busy is not None:
            self._busy[:] = 0

    def _count(self) -> None:
        """Adds what all threads have done to what the search has spent."""
        budget = self.budget
        hits = stores = 0
        for search in self.searches:
            budget.nodes += search.nodes
            budget.deepest = max(budget.deepest, search.deepest)
            hits += search.table_hits
            stores += search.table_stores
        if self.table is not None:
            self.table.hits, self.table.stores = hits, stores

    def _reach(self, depth: float) -> float:
        """How many moves ahead a visit may look."""
        return depth + self._beyond

    def _allot_rows(self, last_ply: float) -> None:
        """Sees that there are rows as far as a search can look. The system gives memory to used ones only."""
        plies = int(min(last_ply, MAX_PLIES)) + 2
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
