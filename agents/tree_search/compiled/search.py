"""The one front end of all compiled tree searches: run the kernel of the root, read back what it found."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.recursion import MAX_PLIES, GameTooLongError
from zermelo.agents.base.settings import Ties
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.program import Program, evaluates
from zermelo.agents.kernels.threads import pad_row, run_first_done, run_in_caller
from zermelo.agents.tree_search.compiled.kernel_memory import (
    EXACT,
    bound_of,
    is_proven,
    probe,
    serves,
    table_action_of,
)
from zermelo.agents.tree_search.compiled.record import TreeRecord
from zermelo.agents.tree_search.compiled.table import CompiledTable
from zermelo.agents.tree_search.interface import (
    Iteration,
    MoveOrdering,
    RootMove,
    RootNode,
    RootRequest,
    SearchSetup,
    TreeSearch,
)
from zermelo.agents.tree_search.settings import Ordering, TreeConfig
from zermelo.envs.game import Chance
from zermelo.envs.jit.history import argument_maker, table_key
from zermelo.envs.rules.boards import whole
from zermelo.envs.rules.contract import DEFAULTS
from zermelo.envs.rules.rules_game import RulesGame

_ALL_NODES: Final = 1 << 62
_ENDLESS: Final = 1 << 20
"""More moves than any search looks ahead."""
_SHORT: Final = 1 << 16
"""An iteration that cannot have more nodes than this runs in the caller's thread."""
_FASTEST: Final = 4_000_000
"""Nodes a second of the fastest kernels, for the size of the table: a larger one is slower."""
_FEW: Final = 1 << 13
"""A search of so few nodes, and without a clock, runs in the caller's thread."""
_PATH: Final = 4 * MAX_PLIES
"""How many states there can be on a path, those of chance and of opponents that do not choose included."""
ARENA: Final = 1 << 18
"""Words of memory for records to begin with."""
_HEADER, _PROVEN, _VALUES, _IS_EXACT = 2, 1, 2, 4  # as the kernels have them
_TIES: Final = (None, Ties.FIRST, Ties.RANDOM)
"""In the order of their numbers for kernels."""


def plies_of(depth: float) -> int:
    """A depth as kernels count it; no depth limit is a large one."""
    return int(depth) if depth < _ENDLESS else _ENDLESS


def most_states(game: Any, limits: Limits, *, beyond: bool = False, threads: int = 1) -> float:
    """A rough upper bound of the states that a search visits; ``beyond`` if some lie deeper than its limit."""
    most = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.seconds is not None:
        most = min(most, threads * _FASTEST * limits.seconds)
    if beyond or limits.depth is None or limits.depth > 16:
        return most
    levels = limits.depth if game.traits.chance is Chance.NONE else 2 * limits.depth
    return min(most, float(game.max_legal_actions) ** levels)


class KernelMemory(NamedTuple):
    """The memory that a kernel needs.

    Attributes:
        choices: How many numbers of choices there are; as many as actions, if not given.
        width: The most choices that a node can have; as many as legal actions, if not given.
        row: Words for each ply besides its principal variation, for kernels with rows (``memory.row_of``).
        room: Words that a node may use before it visits another, for kernels with records in an arena.
        num_values: How many seats' values a record has.
    """

    choices: int | None = None
    width: int | None = None
    row: int = 0
    room: int = 0
    num_values: int = 1


class CompiledTreeSearch(TreeSearch):
    """A search whose nodes a kernel visits; they are counted inside it."""

    program: ClassVar[Program]
    searches: Sequence[Any]
    compiled = True
    shares = False
    """Whether positions share their table entries whatever was before them."""
    _beyond = 0
    """How many moves further than the depth the kernel may look (quiescence)."""

    def __init__(
        self,
        root: SearchSetup,
        budget: Budget,
        config: TreeConfig,
        memory: KernelMemory,
        table: CompiledTable | None,
        threads: int = 1,
    ) -> None:
        super().__init__(root, budget, config.move_ordering)
        game: RulesGame = root.game
        self._ordering = config.move_ordering
        self.table: CompiledTable | None = table
        self.transposes = table is not None
        self._rules = game.rules
        self._kernel = self.program.load(game.rules, *self.variants(root, config))
        self._row = pad_row(memory.row)
        size = game.num_moves
        width = game.max_legal_actions if memory.width is None else memory.width
        self._replies = root.searched is not None
        self.orders_root = threads == 1 and not self._replies
        levels = 1 if game.traits.chance is Chance.NONE else 2
        self._short_depth = 0.0 if threads > 1 or self._beyond else math.log(_SHORT, max(width, 2)) / levels
        """Deeper iterations of many nodes are worth a thread, so that the clock and Ctrl-C are heeded."""
        self._busy = np.zeros(1 << layout.BUSY_BITS, np.int64) if threads > 1 else None
        self._unclaimed = np.zeros(1, np.int64)
        self._plies = self._slots = 0
        self.searches = [self.program.record() for _ in range(threads)]
        for search in self.searches:
            search.start = argument_maker(game.rules, _PATH, shares=self.shares)
            search.actions = size
            search.choices = size if memory.choices is None else memory.choices
            search.width = width
            search.prefer_short_wins = config.prefer_short_wins
            search.ordered = self._ordering is not Ordering.FIXED
            search.seats, search.num_values = game.traits.seats, memory.num_values
            search.root_seat = self.max_seat
            search.own = self.max_seat if memory.num_values > 1 else 0
            search.evaluated = evaluates(root.evaluator)
            search.lower_evaluation, search.upper_evaluation = game.rules_bounds
            search.max_ply = MAX_PLIES
            search.attach("killers", np.zeros(2 * (MAX_PLIES + 2), np.int64))
            search.attach("history", np.zeros(search.seats * search.choices, np.int64))
            if self._busy is not None:
                search.attach("in_search", self._busy)
                search.attach("unclaimed", self._unclaimed)
            if memory.room:
                search.node_bytes = 8 * memory.room
                self._allot_arena(search, max(ARENA, memory.room))
        if table is not None:
            table.serve(self.searches)

    def set_root(self, root: SearchSetup, budget: Budget) -> None:
        if root.view is not self.game:
            self.game, self.order = root.view, MoveOrdering(root.view, self._ordering)
        self.budget, self.proof = budget, None
        for search in self.searches:
            search.arrays["killers"][:] = 0
            if self.selective:
                search.arrays["history"][:] //= 2  # what was good a move ago often still is
            else:
                search.arrays["history"][:] = 0
            search.table_hits = search.table_stores = 0

    def clear_memory(self) -> None:
        if self.table is not None:
            self.table.clear()
        for search in self.searches:
            search.arrays["history"][:] = 0

    @classmethod
    @abc.abstractmethod
    def can_search(cls, root: SearchSetup) -> bool:
        """True if the kernel fits the game and the evaluator."""

    @classmethod
    @abc.abstractmethod
    def variants(cls, root: SearchSetup, config: Any) -> tuple[Any, ...]:
        """The variants of the kernel: what of it a game and settings need."""

    def set_iteration_depth(self, depth: float) -> None:
        """Sets what depends on the depth, in selective searches."""

    def search_moves(self, node: RootNode, iteration: Iteration, actions: list[int], request: RootRequest) -> None:
        budget, kernel, count = self.budget, self._kernel, len(actions)
        budget.check_clock()
        self.ensure_memory(iteration.depth, count)
        listed, depth = self._listed, int(min(iteration.depth, _ENDLESS))
        listed[:count] = actions
        (low, low_distance), (high, high_distance) = node.window
        for search in self.searches:
            search.root_count, search.depth, search.age = count, depth, depth & 1
            search.orders_root = iteration.unordered
            search.exact, search.sees_ties = request.exact, _TIES.index(request.ties)
            search.root_alpha, search.root_alpha_distance = low, low_distance
            search.root_beta, search.root_beta_distance = high, high_distance
        if self.selective:
            self.set_iteration_depth(iteration.depth)
        here = node.state.state if self._replies else node.state
        is_bounded = self.game.traits.chance is Chance.NONE  # else a move may have any number of chance events
        is_short = depth <= self._short_depth and (is_bounded or math.isinf(budget.seconds_left))
        if len(self.searches) == 1 and math.isinf(budget.seconds_left):
            is_short |= budget.most_nodes - budget.nodes <= _FEW
        reason = layout.ASKED

        def call(search: TreeRecord) -> None:
            kernel(*search.start(here), search)

        try:
            while True:
                self._begin()
                if is_short:
                    reason, search = run_in_caller(call, self.searches[0])
                else:
                    reason, search = run_first_done(call, self.searches, budget.check_clock)
                if reason == layout.OUT_OF_MEMORY:
                    self._allot_arena(search, 4 * len(search.arrays["arena"]))
                elif is_short and reason == layout.OUT_OF_STACK:
                    is_short = False
                else:
                    break
        finally:
            self._count()  # of the last call: those that ran out of memory were begun again
            if iteration.unordered:
                actions[:] = listed[:count].tolist()
            if reason != layout.GOING:
                search = max(self.searches, key=lambda search: search.root_done)
            self._read(iteration, search, node)
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self.game, search.deepest - 1)
        iteration.finish(node)

    def _read(self, iteration: Iteration, search: TreeRecord, node: RootNode) -> None:
        slots, words, seats = search.arrays["root_slots"], search.slot_words, search.num_values
        numbers, floats = slots[: words * search.root_done].tolist(), slots.view(np.float64)
        for start in range(0, len(numbers), words):
            action, found = numbers[start : start + _HEADER]
            record = start + _HEADER
            *values, distance = floats[record : record + seats + 1].tolist()
            line = (action, *numbers[record + seats + 2 : record + seats + 2 + numbers[record + seats + 1]])
            has_values = self.breaks_ties or (seats > 1 and found & _VALUES)
            score, plies = (values[search.own], distance), 0.0
            if self.breaks_ties:
                score, plies = (values[search.own], 0), distance
            rest = bool(found & _IS_EXACT), bool(found & _PROVEN), line, 0.0, tuple(values) if has_values else ()
            iteration.add(RootMove(action, score, *rest, plies), node.maximizing)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        if self.table is None:
            return None
        _, data = probe(self.searches[0], self._table_key(state))
        if data == 0 or bound_of(data) != EXACT or not (is_proven(data) or serves(data, plies_of(depth))):
            return None
        action = table_action_of(self.searches[0], data)
        return action if action >= 0 else None

    def _table_key(self, state: Any) -> int:
        here, chooser = (state.state, state.chooser) if self._replies else (state, None)
        key, signature = table_key(self._rules, here)
        number = key if isinstance(key, int) else DEFAULTS["key"](None, key)
        mark = 0 if self.shares else signature
        return whole(number ^ mark ^ (0 if chooser is None else 2 * (chooser + 1) * layout.CHANCE_KEY))

    def _begin(self) -> None:
        """Sets what a call of the kernel begins with; another may have left it half way."""
        left = int(min(self.budget.most_nodes - self.budget.nodes, _ALL_NODES))
        self._unclaimed[0] = left
        for search in self.searches:
            search.stop = layout.GOING
            search.nodes = search.root_done = 0
            search.node_limit = 0 if search.unclaimed else left
            search.deepest = -1
            self.reset_record(search)
        if self._busy is not None:
            self._busy[:] = 0

    def reset_record(self, search: Any) -> None:
        """Sets what a call of this kernel begins with, besides what all do."""

    def _count(self) -> None:
        self.budget.nodes += sum(search.nodes for search in self.searches)
        self.budget.deepest = max(self.budget.deepest, *(search.deepest for search in self.searches))
        if self.table is not None:
            self.table.hits = sum(search.table_hits for search in self.searches)
            self.table.stores = sum(search.table_stores for search in self.searches)

    def ensure_memory(self, depth: float, actions: int) -> None:
        """Sees that there is memory as far as a search can look. The system gives it to used addresses only."""
        plies = int(min(depth + self._beyond, MAX_PLIES)) + 3
        if plies > self._plies:
            self._plies = plies = min(max(plies, 2 * self._plies, 32), MAX_PLIES + 3)
            for search in self.searches:
                search.row, search.line = self._row, plies
                if self._row:
                    search.attach("rows", np.empty((plies + 1) * self._row, np.int64))
                    search.attach("lines", np.empty((plies + 1) * (plies + 2) // 2, np.int64))
                search.slot_words = _HEADER + search.num_values + 2 + plies
            self._slots = 0
        if actions > self._slots:
            self._slots = actions
            self._listed = np.empty(2 * actions, np.int64)  # the kernel writes move scores behind the actions
            for search in self.searches:
                search.attach("root_actions", self._listed)
                search.attach("root_slots", np.empty(actions * search.slot_words, np.int64))

    def _allot_arena(self, search: TreeRecord, size: int) -> None:
        search.attach("arena", np.empty(size, np.int64))
        search.arena_end = search.arena + 8 * size
