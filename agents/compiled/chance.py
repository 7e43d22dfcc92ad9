"""Expectiminimax below the root, compiled: unpruned, Star1 and Star2, as in plain Python but much faster.

``compiled_chance_search`` gives a search for ``search.iterative_deepening.deepen`` where the rules can be compiled
and None where the plain one has to be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled import context as words
from zermelo.agents.compiled.background import is_ready
from zermelo.agents.compiled.chance_table import ChanceTable
from zermelo.agents.compiled.context import Context
from zermelo.agents.compiled.running import race
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, SLACK, Frame, Scale, Score
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.recursion import GameTooLongError
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import Chance, RewardSum
from zermelo.envs.rules.compiling import can_compile
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["CompiledChanceSearch", "can_search_chance", "chance_kernel", "compiled_chance_search"]

_MOST_PLIES: Final = 1000
_ENDLESS: Final = (1 << 63) - 1
_LONGEST: Final = 1 << 20
"""How many moves ahead a search without a limit looks."""
_LEVELS_PER_PLY: Final = 3
_MORE_LEVELS: Final = 100
"""States on a path, beyond those: chance may have several events in a row."""
_GREATEST_UTILITY: Final = 1 << 53
_SHORT: Final = 20_000
"""Searches of fewer nodes than this are not worth another thread."""


def compiled_chance_search(
    game: Any, evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> CompiledChanceSearch | None:
    """A compiled search through chance for a game of rules; None where only plain Python can search it.

    A limit on time holds for the compiler too: where it is not done in time, it goes on in the background for
    later searches, and this one is a plain one.

    Args:
        game: Any game.
        evaluator: As the agent would use it; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        settings: As ``CompiledChanceSearch`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not can_search_chance(game):
        return None
    named = None if evaluator is None else getattr(evaluator, "spec", lambda: None)()
    if evaluator is not None and named not in ("game", "rewards"):
        return None
    if not is_ready((type(game.rules), "chance"), lambda: chance_kernel(game.rules), limits):
        return None
    return CompiledChanceSearch(game, budget, limits=limits, evaluated=named == "game", **settings)


def can_search_chance(game: Any) -> bool:
    """Whether this search fits: rules with exact chance, for one player or two with a constant sum."""
    if not isinstance(game, RulesGame) or not can_compile():
        return False
    traits = game.traits
    opposed = traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL
    fits = traits.chance is Chance.EXACT and (opposed or traits.seats == 1)
    return fits and max(map(abs, traits.utility_bounds)) <= _GREATEST_UTILITY


def chance_kernel(rules: Any) -> Callable[..., float]:
    """The compiled search through chance for a class of rules."""
    from zermelo.agents.compiled import chance_kernel as kernels
    from zermelo.envs.rules.build import Kernel, build

    arguments = ("int64", *("float64",) * 4, *("int64",) * 4)
    return build(rules, Kernel(kernels.visit, arguments, "float64"))


class CompiledChanceSearch:
    """Expectiminimax over compiled rules, as ``deepen`` wants a search.

    Args:
        game: Of rules with chance, for one player or two with a constant sum.
        budget: Counts nodes.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        pruning: What to leave out.
        evaluated: Whether the rules' own evaluation counts at the depth limit; otherwise it is the middle.
        sooner: Whether wins should come sooner and losses later.
        ordering: In which order actions are tried; without pruning they are ascending.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        at_chance: Whether a chance state at the depth limit is evaluated, not averaged over.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        *,
        limits: Limits,
        pruning: ChancePruning = ChancePruning.NONE,
        evaluated: bool = True,
        sooner: bool = True,
        ordering: Ordering = Ordering.AUTO,
        table_mb: float = 0,
        at_chance: bool = False,
    ) -> None:
        from zermelo.agents.compiled import chance_memory as memory

        self.game = game
        self.budget = budget
        self.scale = Scale(game, sooner=sooner)
        self.table = ChanceTable(table_mb) if table_mb else None
        self._prunes = pruning is not ChancePruning.NONE
        self._most = limits.nodes
        self._order = MoveOrder(game, ordering if self._prunes else Ordering.FIXED)
        self._kernel = chance_kernel(game.rules)
        self._max_ply = _MOST_PLIES if limits.depth is None else min(limits.depth + 2, _MOST_PLIES)

        size = int(game.rules.num_actions())
        levels = _LEVELS_PER_PLY * (self._max_ply + 2) + _MORE_LEVELS
        line = self._max_ply + 2
        context = Context(size, levels, memory.HEAD + line + 8 * size)
        self._context = context
        block, floats = context.words, context.words.view(np.float64)
        block[words.MAX_PLY] = self._max_ply
        block[words.SOONER] = sooner
        block[memory.PRUNED] = self._prunes
        block[memory.PROBING] = pruning is ChancePruning.STAR2
        block[memory.AT_CHANCE] = at_chance
        block[memory.EVALUATED] = evaluated
        block[memory.MAX_LEVEL] = levels
        block[memory.LINE] = line
        block[memory.NOTHING] = -1
        self._known, self._nothing = memory.KNOWN, memory.NOTHING
        block[words.LEAST_EVALUATION], block[words.GREATEST_EVALUATION] = game.rules_bounds
        frame = self.scale.frame(None)
        floats[memory.LOWEST], floats[memory.LOWEST_PROMPTNESS] = frame.lowest
        floats[memory.HIGHEST], floats[memory.HIGHEST_PROMPTNESS] = frame.highest
        floats[memory.MIDDLE] = frame.middle
        floats[memory.REST] = game.traits.constant / 2 if game.traits.seats == 2 else 0.0
        floats[memory.SLACK] = SLACK * max(1.0, abs(frame.lowest[0]), abs(frame.highest[0]))
        block[words.ORDERED] = self._prunes and ordering is not Ordering.FIXED
        # What orders learn: two killers for each ply and roll, then each player's history.
        places = min(memory.PLACES, self._max_ply + 1) * (size + 1) if block[words.ORDERED] else 0
        self._learned = np.full(2 * places + 2 * size, -1, np.int64)
        self._learned[2 * places :] = 0
        self._learned_before = self._learned.copy()
        block[words.KILLERS] = context.hold(self._learned)
        block[words.HISTORY] = block[words.KILLERS] + 16 * places
        self._long: float = math.inf
        self._short = _SHORT if limits.seconds is None else _SHORT // 10
        if self.table is not None:
            block[words.TABLE] = context.hold(self.table.words)
            block[words.TABLE_BITS] = self.table.bits

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta at the root."""
        if not self._prunes:
            return INFINITE_WINDOW
        frame = self.scale.frame(state)
        return frame.lowest, frame.highest

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        return self._order.ordered(state, self.game.legal_actions(state), self.game.to_move(state), 0, None)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, as the plain searches give it."""
        plies = int(min(depth, _LONGEST))
        rules, kernel = self.game.rules, self._kernel
        window = (*map(float, alpha), *map(float, beta))
        value = 0.0

        def call(context: Context) -> int:
            nonlocal value
            value = kernel(rules, state, plies, *window, ply, ply, -1, context.address)
            return 0

        most = _ENDLESS if self._most is None else self._most
        if depth < self._long:
            # Here, unless it takes longer than thought: then it is as if it had not been tried.
            self._learned_before[:] = self._learned
            self._prepare(plies, min(most, self.budget.nodes + self._short))
            call(self._context)
            block = self._context.words
            if block[words.STOP] != words.OUT_OF_NODES or block[words.NODES] >= most:
                return self._answer(value, ply)
            self._learned[:] = self._learned_before
            self._long = depth
        self._prepare(plies, most)
        race(call, [self._context], self.budget.check_clock)
        return self._answer(value, ply)

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows its exact score at that depth."""
        known = None if self.table is None else self.table.get(self.game.key(state), min(depth, _LONGEST))
        return known.action if known is not None and known.bound is Bound.EXACT else None

    def _prepare(self, plies: int, most_nodes: int) -> None:
        """Sets the counters for a call of the kernel, which another may have left half way."""
        self.budget.check_clock()
        block = self._context.words
        block[self._known] = block[self._nothing]
        block[words.STOP] = words.GOING
        block[words.NODES] = self.budget.nodes
        block[words.MOST_NODES] = most_nodes
        block[words.DEEPEST] = self.budget.deepest
        block[words.AGE] = plies & 1

    def _answer(self, value: float, level: int) -> Visit:
        """Reads the counters, and the row of the level that was searched."""
        from zermelo.agents.compiled import chance_memory as memory

        context = self._context
        block = context.words
        self.budget.nodes = int(block[words.NODES])
        self.budget.deepest = int(block[words.DEEPEST])
        if self.table is not None:
            self.table.hits = int(block[words.TABLE_HITS])
            self.table.stores = int(block[words.TABLE_STORES])
        reason = int(block[words.STOP])
        if reason == words.TOO_DEEP:
            raise GameTooLongError(self.game, self._max_ply - 1)
        if reason == words.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        row = level * int(block[words.ROW])
        answer = context.workspace[row : row + int(block[words.ROW])]
        promptness = float(answer[: memory.HEAD].view(np.float64)[memory.PROMPTNESS])
        length = int(answer[memory.LENGTH])
        line = tuple(int(action) for action in answer[memory.HEAD : memory.HEAD + length])
        return Visit((value, promptness), bool(answer[memory.PROVEN]), line)
