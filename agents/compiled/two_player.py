"""Minimax and alpha-beta below the root, compiled: the same searches as in plain Python, a thousand times faster.

``compiled_search`` gives a search for ``search.iterative_deepening.deepen`` where the rules can be compiled
and None where the plain one has to be used.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled import context as words
from zermelo.agents.compiled.background import is_ready
from zermelo.agents.compiled.context import Context
from zermelo.agents.compiled.running import race
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import UnsupportedGameError
from zermelo.envs.rules.compiling import can_compile
from zermelo.envs.rules.rules_game import EVALUATION_UNIT, RulesGame

__all__ = ["CompiledSearch", "can_search", "compiled_search", "search_kernel"]

_SCALE: Final = 1 << 13
_INFINITY: Final = 1 << 60
_GREATEST_UTILITY: Final = 16_000
_MAX_PLY: Final = 1000
_SHORT: Final = 20_000
"""Visits of fewer nodes than this are not worth another thread."""


def compiled_search(
    game: Any, evaluator: Any, budget: Budget, *, limits: Limits, full_width: bool = False, **settings: Any
) -> CompiledSearch | None:
    """A compiled search for a game of rules; None where only plain Python can search it.

    A limit on time holds for the compiler too: where it is not done in time, it goes on in the background for
    later searches, and this one is a plain one.

    Args:
        game: Any game.
        evaluator: As the agent would use it; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        full_width: Minimax instead of alpha-beta.
        settings: As ``CompiledSearch`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not can_search(game):
        return None
    named = None if evaluator is None else getattr(evaluator, "spec", lambda: None)()
    if evaluator is not None and named not in ("game", "rewards"):
        return None
    kernel = functools.partial(search_kernel, game.rules, full_width=full_width)
    if not is_ready((type(game.rules), full_width), kernel, limits):
        return None
    evaluated = named == "game"
    return CompiledSearch(game, budget, limits=limits, full_width=full_width, evaluated=evaluated, **settings)


def can_search(game: Any) -> bool:
    """Whether a game can be searched compiled: rules for two players with a constant sum, without chance."""
    if not isinstance(game, RulesGame) or not can_compile():
        return False
    traits = game.traits
    opposed = traits.seats == 2 and traits.chance == "deterministic" and traits.reward_sum != "general_sum"
    return opposed and max(map(abs, traits.utility_bounds)) <= _GREATEST_UTILITY


def search_kernel(rules: Any, *, full_width: bool) -> Callable[..., int]:
    """The compiled alpha-beta, or with ``full_width`` minimax, for a class of rules."""
    from zermelo.agents.compiled import two_player_kernel as tree_kernel
    from zermelo.envs.rules.build import Kernel, build

    minimax = Kernel(tree_kernel.full_width, ("int64",) * 3)
    alpha_beta = Kernel(tree_kernel.visit, ("int64",) * 5)
    return build(rules, minimax if full_width else alpha_beta)


class CompiledSearch:
    """Alpha-beta, or minimax, over compiled rules, as ``deepen`` wants a search.

    Args:
        game: Of rules for two players with a constant sum, without chance.
        budget: Counts nodes.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        full_width: Minimax, which prunes nothing; the settings below are then not used.
        evaluated: Whether the rules' own evaluation counts at the depth limit; otherwise it is the middle.
        sooner: Whether wins should come sooner and losses later.
        use_bounds: Whether to use that no utility lies outside the game's bounds.
        ordering: In which order actions are tried.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        quiescence: How many moves beyond the depth to follow noisy actions.
        symmetric: Whether symmetric positions share their table entry.
        threads: How many threads search each root action together.
        late_move_reductions: How many actions of a node are searched to the full depth before later ones are
            searched one move less deep first; 0 reduces none.
        null_move: How many moves less deep, beyond the skipped turn, a null move is searched; 0 makes none.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        *,
        limits: Limits,
        full_width: bool = False,
        evaluated: bool = True,
        sooner: bool = True,
        use_bounds: bool = True,
        ordering: Ordering = Ordering.AUTO,
        table_mb: float = 0,
        quiescence: int = 0,
        symmetric: bool = False,
        threads: int = 1,
        late_move_reductions: int = 0,
        null_move: int = 0,
    ) -> None:
        use_bounds = use_bounds or full_width  # minimax only asks of them whether a value is proven
        self.game = game
        self.budget = budget
        self.scale = Scale(game, sooner=sooner, use_bounds=use_bounds)
        self.table = CompiledTable(table_mb) if table_mb else None
        self._full_width = full_width
        self._most = limits.nodes
        self._quiescence = quiescence
        self._late_moves, self._null_move = late_move_reductions, null_move
        self._middle = game.traits.constant / 2
        self._order = MoveOrder(game, Ordering.FIXED if full_width else ordering)
        self._kernel = search_kernel(game.rules, full_width=full_width)
        self._busy = np.zeros(1 << words.BUSY_BITS, np.int64) if threads > 1 else None
        self._contexts = [
            self._context(ordering, sooner, use_bounds, evaluated, symmetric) for _ in range(max(threads, 1))
        ]

    @property
    def selective(self) -> bool:
        """Whether some moves are searched less deep than others."""
        return bool(self._late_moves or self._null_move)

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""
        self._late_moves = self._null_move = 0
        if self.table is not None:
            self.table.clear()

    def _context(
        self, ordering: Ordering, sooner: bool, use_bounds: bool, evaluated: bool, symmetric: bool
    ) -> Context:
        game, traits = self.game, self.game.traits
        size = int(game.rules.num_actions())
        context = Context(size, _MAX_PLY, _MAX_PLY + 2 + 2 * size)
        block = context.words
        least, greatest = traits.utility_bounds
        total = int(traits.constant)
        block[words.SOONER] = sooner
        block[words.TOTAL] = total
        # Whoever is not there yet wins a move from here at the soonest.
        lowest, highest = self.scale.bounds((0.0, 0.0))
        block[words.LOWEST] = self._units(lowest) * _SCALE + 2 * sooner if use_bounds else -_INFINITY
        block[words.HIGHEST] = self._units(highest) * _SCALE - 2 * sooner if use_bounds else _INFINITY
        block[words.LEAST_EVALUATION] = int(least) * EVALUATION_UNIT + 1
        block[words.GREATEST_EVALUATION] = int(greatest) * EVALUATION_UNIT - 1
        if not evaluated:
            middle = total * (EVALUATION_UNIT // 2)
            block[words.LEAST_EVALUATION] = block[words.GREATEST_EVALUATION] = middle
        block[words.ORDERED] = ordering is not Ordering.FIXED
        block[words.KILLERS] = context.hold(np.full(2 * (_MAX_PLY + 2), -1, np.int64))
        block[words.HISTORY] = context.hold(np.zeros(2 * size, np.int64))
        if hasattr(game.rules, "is_noisy"):
            block[words.QUIESCENCE] = self._quiescence
        if symmetric and hasattr(game.rules, "symmetries"):
            block[words.SYMMETRIES] = int(game.rules.symmetries())
        if self.table is not None:
            block[words.TABLE] = context.hold(self.table.words)
            block[words.TABLE_BITS] = self.table.bits
            block[words.NULL_WINDOWS] = 1
        if self._busy is not None:
            block[words.BUSY] = context.hold(self._busy)
        return context

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(state)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta at the root."""
        if self._full_width:
            return (-math.inf, 0), (math.inf, 0)
        frame = self.scale.frame(state)
        return frame.lowest, frame.highest

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        return self._order.ordered(state, self.game.legal_actions(state), self.game.to_move(state), 0, None)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, as the plain searches give it."""
        mover = self.game.to_move(state)
        low, high = self._edge(alpha), self._edge(beta)
        if mover != 0:
            low, high = -high, -low
        plies = int(depth) if depth < 1 << 20 else 1 << 20
        window = () if self._full_width else (low, high)
        rules, kernel = self.game.rules, self._kernel

        def call(context: Context) -> int:
            return int(kernel(rules, state, plies, *window, ply, context.address))

        self._prepare(depth)
        short = depth * math.log(max(rules.num_actions(), 2)) <= math.log(_SHORT) and not self._quiescence
        found = race(call, self._contexts, self.budget.check_clock, short=short)
        return self._answer(found, mover, ply)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows its exact score."""
        entry = None if self.table is None else self.table.get(self.game.key(state))
        return entry.action if entry is not None and entry.bound is Bound.EXACT else None

    def _prepare(self, depth: float) -> None:
        self.budget.check_clock()
        for number, context in enumerate(self._contexts):
            block = context.words
            block[words.STOP] = words.GOING
            block[words.NODES] = self.budget.nodes if number == 0 else 0
            block[words.DEEPEST] = self.budget.deepest
            block[words.AGE] = int(depth) & 1 if depth < 1 << 20 else 0
            block[words.LATE_MOVES] = self._late_moves if self._late_moves and depth < 1 << 20 else 1 << 20
            block[words.NULL_MOVE] = self._null_move if depth < 1 << 20 else 0
            block[words.PASSED_PLY] = 0
            if self._most is not None:
                block[words.MOST_NODES] = self._most
        if self._busy is not None:
            self._busy[:] = 0

    def _answer(self, found: int, mover: int, ply: int) -> Visit:
        """Reads the counters, and what the kernel that finished says."""
        blocks = [context.words for context in self._contexts]
        self.budget.nodes = int(sum(block[words.NODES] for block in blocks))
        self.budget.deepest = int(max(block[words.DEEPEST] for block in blocks))
        if self.table is not None:
            self.table.hits = int(sum(block[words.TABLE_HITS] for block in blocks))
            self.table.stores = int(sum(block[words.TABLE_STORES] for block in blocks))
        finished = next((c for c in self._contexts if c.words[words.STOP] in (words.GOING,)), self._contexts[0])
        reason = int(finished.words[words.STOP])
        if reason == words.TOO_DEEP:
            raise UnsupportedGameError(
                f"{self.game.traits.name} goes on for more than {_MAX_PLY} moves from here, if it ends at all: "
                "limit the search with depth="
            )
        if reason == words.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        score = found & -2
        value = (score + _SCALE // 2) // _SCALE
        promptness = (score - value * _SCALE) / 2
        if mover != 0:
            value, promptness = -value, -promptness
        return Visit(
            (value / EVALUATION_UNIT + self._middle, promptness), bool(found & 1), self._line(finished, ply)
        )

    def _line(self, context: Context, ply: int) -> tuple[int, ...]:
        row = int(context.words[words.ROW])
        start = ply * row
        workspace = context.workspace
        length = int(workspace[start])
        return tuple(int(action) for action in workspace[start + 1 : start + 1 + length])

    def _units(self, value: float) -> int:
        return round((value - self._middle) * EVALUATION_UNIT)

    def _edge(self, score: Score) -> int:
        """A window's edge as the kernel counts, for seat 0."""
        value, promptness = score
        if math.isinf(value):
            return _INFINITY if value > 0 else -_INFINITY
        return self._units(value) * _SCALE + round(2 * promptness)
