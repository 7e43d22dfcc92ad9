"""max^n compiled, and what the compiled searches for many players have in common.

``compiled_max_n`` gives a search for ``search.iterative_deepening.deepen`` where the rules can be compiled, and
None where the plain one has to be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.compiled import context as words
from zermelo.agents.compiled.background import is_ready
from zermelo.agents.compiled.context import Context
from zermelo.agents.compiled.running import race
from zermelo.agents.compiled.table import CompiledTable, KnownAction
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.mate_distance import Score
from zermelo.agents.core.options import Ordering, TieRule
from zermelo.agents.core.recursion import GameTooLongError
from zermelo.agents.core.tree_search import Bound, SumNotConstantError, Visit
from zermelo.agents.evaluators.protocol import inside_bounds
from zermelo.agents.search.max_n import MaxNSearch
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import Chance, RewardSum
from zermelo.envs.rules.bits import shift_right
from zermelo.envs.rules.compiling import can_compile
from zermelo.envs.rules.defaults import DEFAULTS
from zermelo.envs.rules.rules_game import RulesGame

__all__ = [
    "CompiledMaxN",
    "KernelRun",
    "ManySeatsTable",
    "can_search_many",
    "compiled_max_n",
    "expected_rewards",
    "fits",
    "max_n_kernel",
    "most_states",
]

_MASK: Final = (1 << 64) - 1
_MAX_PLY: Final = 1000
_MEMORY: Final = 1 << 18
"""Words of memory for records to begin with."""
_SHORT: Final = 20_000
"""Visits of fewer nodes than this are not worth another thread."""
_GREATEST_UTILITY: Final = 1 << 40
"""Beyond that an evaluation would not be exact as a float."""


def can_search_many(game: Any) -> bool:
    """Whether a game can be searched compiled by the searches for any number of players."""
    if not isinstance(game, RulesGame) or not can_compile():
        return False
    least, greatest = game.traits.utility_bounds
    return least < greatest and max(-least, greatest) <= _GREATEST_UTILITY


def fits(game: Any, evaluator: Any) -> bool:
    """Whether a search of this game with this evaluator can be compiled: not with evaluators of other people's."""
    if not can_search_many(game):
        return False
    if evaluator is None:
        return True
    named = getattr(evaluator, "spec", lambda: None)()
    if named == "game":
        return hasattr(game.rules, "evaluation")
    traits = game.traits
    return named == "rewards" and inside_bounds(
        expected_rewards(game), traits.utility_bounds, strictly=traits.seats == 2
    )


def max_n_kernel(rules: Any) -> Callable[..., int]:
    """The compiled max^n for a class of rules."""
    from zermelo.agents.compiled import max_n_kernel as kernels
    from zermelo.envs.rules.build import Kernel, build

    return build(rules, Kernel(kernels.max_n, ("int64", "int64", "float64", "int64", "int64", "int64")))


def compiled_max_n(
    game: Any, evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> CompiledMaxN | None:
    """max^n compiled, for a game of rules; None where plain Python has to search it.

    Args:
        game: Any game.
        evaluator: As the agent would use it; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        settings: As ``CompiledMaxN`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not fits(game, evaluator):
        return None
    if not is_ready((type(game.rules), "maxn"), lambda: max_n_kernel(game.rules), limits):
        return None
    return CompiledMaxN(game, budget, evaluator, limits=limits, **settings)


def expected_rewards(game: Any) -> float:
    """What the evaluator ``"rewards"`` expects for every seat."""
    traits = game.traits
    return float(traits.constant) / 2 if traits.seats == 2 else 0.0


class ManySeatsTable(CompiledTable):
    """Memory for entries of the layout that ``multi_memory`` explains, and a way to read them.

    Args:
        megabytes: The most memory to take, in MiB; a power of two of entries that fits is taken.
        seats: The number of players.
        most: No more states than that will be kept: fresh memory takes time, so there is no more of it.
    """

    def __init__(self, megabytes: float, seats: int, most: float = math.inf) -> None:
        entry = 4 + seats
        buckets = int(max(min(megabytes * (1 << 20) / (16 * entry), most), 2))
        self.bits = buckets.bit_length() - 1
        self.words = np.zeros(2 * entry << self.bits, np.int64)
        self.hits = 0
        self.stores = 0
        self._entry = entry

    def known(self, key: Any, depth: float, chooser: int = -1) -> KnownAction | None:
        """The best action of a position, if it was searched to that depth or is proven.

        Args:
            key: As ``RulesGame.key`` gives it.
            depth: How many moves ahead.
            chooser: Which opponent chooses, in best-reply search.
        """
        from zermelo.agents.compiled.max_n_memory import INFINITE_DEPTH

        number = key if isinstance(key, int) else DEFAULTS["key"](None, key)
        number = ((number + (1 << 63)) & _MASK) - (1 << 63)
        mixed = (number ^ shift_right(number, 32) ^ chooser + 1) * -7046029254386353131 & _MASK
        bucket = 2 * self._entry * (mixed >> (64 - self.bits))
        for place in (bucket, bucket + self._entry):
            data = int(self.words[place + 1])
            if data & 1 and int(self.words[place]) == number and data >> 44 == chooser + 1:
                if not data >> 2 & 1 and data >> 5 & 0xFFFF != min(depth, INFINITE_DEPTH):
                    return None
                return KnownAction(Bound(data >> 3 & 3), (data >> 21 & (1 << 23) - 1) - 1)
        return None


def most_states(game: Any, limits: Limits) -> float:
    """How many states a search within these limits can visit at most, roughly."""
    most = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.depth is None or limits.depth > 16:
        return most
    levels = limits.depth if game.traits.chance is Chance.NONE else 2 * limits.depth
    return min(most, float(game.rules.num_actions()) ** levels)


class Record(NamedTuple):
    """What a kernel found out about a state."""

    values: tuple[float, ...]
    plies: float
    line: tuple[int, ...]


class KernelRun:
    """The memory that a kernel for many players works with, and how it is called.

    Args:
        game: Of rules.
        budget: Counts nodes.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        choices: How many choices a node can have.
        sooner: Whether wins should come sooner and losses later.
        ordering: In which order actions are tried.
        table: Positions already searched, or None.
        memory: Words of memory for records to begin with; plenty, if not given.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        *,
        limits: Limits,
        choices: int,
        sooner: bool,
        ordering: Ordering,
        table: ManySeatsTable | None,
        memory: int | None = None,
    ) -> None:
        from zermelo.agents.compiled import max_n_memory as multi_memory

        self._game = game
        self._budget = budget
        self._limits = limits
        self.table = table
        self._seats = game.traits.seats
        size = int(game.rules.num_actions())
        self._branching = max(choices, 2)
        self.context = Context(size, _MAX_PLY, 1)
        block = self.context.words
        if limits.nodes is not None:
            block[words.MOST_NODES] = limits.nodes
        block[words.SOONER] = sooner
        block[words.ORDERED] = ordering is not Ordering.FIXED
        block[words.KILLERS] = self.context.hold(np.full(2 * (_MAX_PLY + 2), -1, np.int64))
        block[words.HISTORY] = self.context.hold(np.zeros(self._seats * choices, np.int64))
        block[multi_memory.SEATS] = self._seats
        block[multi_memory.NOBODY] = -1
        block[multi_memory.CHOICES] = choices
        room = (self._seats + 4) * max(size, choices) + self._seats + _MAX_PLY + 16
        block[multi_memory.ROOM] = 8 * room
        if table is not None:
            block[words.TABLE] = self.context.hold(table.words)
            block[words.TABLE_BITS] = table.bits
        self._allot(max(memory or _MEMORY, room))

    def _allot(self, size: int) -> None:
        from zermelo.agents.compiled import max_n_memory as multi_memory

        self._arena = np.empty(size, np.int64)
        self._start = int(self._arena.ctypes.data)
        self.context.words[multi_memory.ARENA_END] = self._start + 8 * size

    def __call__(self, call: Callable[[int, int], int], depth: float) -> int:
        """Runs a kernel, with more memory if that runs out; what it returns.

        Args:
            call: Given the address of the record to write and of the context.
            depth: How many moves it looks ahead.

        Raises:
            SearchStopped: A limit was reached.
            UnsupportedGameError: The game does not end in time.
        """
        from zermelo.agents.compiled.max_n_memory import OUT_OF_MEMORY

        self._budget.check_clock()
        short = (
            depth * math.log(self._branching) <= math.log(_SHORT) and self._game.traits.chance == "deterministic"
        )
        block = self.context.words
        while True:
            block[words.STOP] = words.GOING
            block[words.NODES] = self._budget.nodes
            block[words.DEEPEST] = self._budget.deepest
            block[words.AGE] = int(depth) & 1 if depth < 1 << 20 else 0
            found = race(
                lambda context: call(self._start, context.address),
                [self.context],
                self._budget.check_clock,
                short=short,
            )
            if block[words.STOP] != OUT_OF_MEMORY:
                break
            self._allot(4 * len(self._arena))
        self._budget.nodes = int(block[words.NODES])
        self._budget.deepest = int(block[words.DEEPEST])
        if self.table is not None:
            self.table.hits = int(block[words.TABLE_HITS])
            self.table.stores = int(block[words.TABLE_STORES])
        reason = int(block[words.STOP])
        if reason == words.TOO_DEEP:
            raise GameTooLongError(self._game, _MAX_PLY)
        if reason == words.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        return found

    @property
    def reason(self) -> int:
        """Why the kernel stopped."""
        return int(self.context.words[words.STOP])

    def floats(self, place: int, count: int) -> tuple[float, ...]:
        """Numbers in the memory for records, from a word on."""
        return tuple(map(float, self._arena[place : place + count].view(np.float64)))

    def record(self, place: int = 0) -> Record:
        """The record that the kernel wrote."""
        seats = self._seats
        length = int(self._arena[place + seats + 1])
        start = place + seats + 2
        line = tuple(int(action) for action in self._arena[start : start + length])
        *values, plies = self.floats(place, seats + 1)
        return Record(tuple(values), plies, line)

    def place(self, address: int) -> int:
        """The word of the memory for records at an address."""
        return (address - self._start) // 8


class CompiledMaxN(MaxNSearch):
    """max^n over compiled rules, as ``deepen`` wants a search; the root is the plain search's.

    Args:
        game: Of rules, of any number of players and any sums, with or without chance.
        budget: Counts nodes.
        evaluator: None, ``"game"`` or ``"rewards"``.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        seat: The seat to move at the root.
        tie_rule: Which of several actions a player takes that are as good for itself.
        sooner: Whether, of actions that are the same for everybody, wins come sooner and losses later.
        ordering: In which order actions are tried.
        prunes: Whether to prune.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        memory: Words of memory for records to begin with; it grows as needed.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        evaluator: Any,
        *,
        limits: Limits,
        seat: int,
        tie_rule: TieRule,
        sooner: bool,
        ordering: Ordering,
        prunes: bool,
        table_mb: float = 0,
        memory: int | None = None,
    ) -> None:
        order = MoveOrder(game, ordering)
        super().__init__(
            game,
            budget,
            evaluator,
            seat=seat,
            tie_rule=tie_rule,
            sooner=sooner,
            order=order,
            prunes=prunes,
            table=None,
        )
        from zermelo.agents.compiled import max_n_kernel as kernels

        self._kernel = max_n_kernel(game.rules)
        self._rules = game.rules
        traits = game.traits
        self._known = ManySeatsTable(table_mb, traits.seats, most_states(game, limits)) if table_mb else None
        self._run = KernelRun(
            game,
            budget,
            limits=limits,
            choices=int(game.rules.num_actions()),
            sooner=sooner,
            ordering=ordering,
            table=self._known,
            memory=memory,
        )
        context = self._run.context
        block = context.words
        numbers = block.view(np.float64)
        ranks = {
            TieRule.FIRST: kernels.FIRST,
            TieRule.PARANOID: kernels.PARANOID,
            TieRule.FRIENDLY: kernels.FRIENDLY,
            TieRule.SPITEFUL: kernels.SPITEFUL,
            TieRule.GENEROUS: kernels.GENEROUS,
        }
        block[kernels.RULE] = ranks[tie_rule]
        block[kernels.ROOT_SEAT] = seat
        block[kernels.PRUNES] = prunes
        block[kernels.LEAST], block[kernels.GREATEST] = map(int, traits.utility_bounds)
        block[kernels.SUM] = int(traits.constant)
        block[kernels.EVALUATED] = evaluator is not None and evaluator.spec() == "game"
        numbers[kernels.MIDDLE] = expected_rewards(game)
        shares = traits.reward_sum is not RewardSum.GENERAL
        numbers[kernels.SHARES] = traits.constant / traits.seats if shares else 0.0
        block[kernels.SCRATCH] = context.hold(np.zeros(2 * traits.seats, np.int64))

    @property
    def table(self) -> ManySeatsTable | None:
        """The transposition table, if there is one."""
        return self._known

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The values of a state, as the plain search gives them."""
        from zermelo.agents.compiled import max_n_kernel as kernels

        plies = int(depth) if depth < 1 << 20 else 1 << 20
        rules, kernel, seat, kept = self._rules, self._kernel, self.max_seat, float(alpha[0])

        def call(record: int, context: int) -> int:
            return int(kernel(rules, state, plies, seat, kept, ply, record, context))

        found = self._run(call, depth)
        if self._run.reason == kernels.SUM_NOT_CONSTANT:
            wrong = self._run.place(int(self._run.context.words[kernels.WRONG_VALUES]))
            raise SumNotConstantError(self._run.floats(wrong, self.game.traits.seats))
        values, length, line = self._run.record()
        return Visit((values[self.max_seat], 0), bool(found & 1), line, 0.0, values, length)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        known = None if self._known is None else self._known.known(self.game.key(state), depth)
        return known.action if known is not None and known.bound is Bound.EXACT else None
