"""Minimax and alpha-beta below the root, compiled: the same searches as in plain Python, a thousand times faster.

``compiled_search`` gives a search for ``search.iterative_deepening.deepen`` where the rules can be compiled
and None where the plain one has to be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from zermelo.agents.compiled.front_end import Program, Runner, can_evaluate, evaluates, fits, plies_of
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.mate_distance import Frame, Scale, Score
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import Chance, RewardSum
from zermelo.envs.rules.rules_game import EVALUATION_UNIT, RulesGame

__all__ = [
    "ALPHA_BETA",
    "HALF",
    "MINIMAX",
    "SCALE",
    "SHIFT",
    "CompiledSearch",
    "can_search",
    "compiled_search",
    "search_kernel",
]

SHIFT: Final = 15
SCALE: Final = 1 << SHIFT
"""More than twice the mate distance of any search (see ``two_player_kernel``)."""
HALF: Final = SCALE >> 1
_INFINITY: Final = 1 << 60
_GREATEST_UTILITY: Final = 16_000

MINIMAX: Final = Program("minimax", "two_player_kernel", "full_width", ("int64",) * 2)
ALPHA_BETA: Final = Program("alphabeta", "two_player_kernel", "visit", ("int64",) * 4)


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
    if not can_search(game) or not can_evaluate(evaluator):
        return None
    if not (MINIMAX if full_width else ALPHA_BETA).is_ready(game.rules, limits):
        return None
    evaluated = evaluates(evaluator)
    return CompiledSearch(game, budget, limits=limits, full_width=full_width, evaluated=evaluated, **settings)


def can_search(game: Any) -> bool:
    """Whether a game can be searched compiled: rules for two players with a constant sum, without chance."""
    if not fits(game):
        return False
    traits = game.traits
    opposed = traits.seats == 2 and traits.chance is Chance.NONE and traits.reward_sum is not RewardSum.GENERAL
    return opposed and max(map(abs, traits.utility_bounds)) <= _GREATEST_UTILITY


def search_kernel(rules: Any, *, full_width: bool) -> Callable[..., int]:
    """The compiled alpha-beta, or with ``full_width`` minimax, for a class of rules."""
    return (MINIMAX if full_width else ALPHA_BETA).load(rules)


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
        table: The table of an earlier search of this game with these settings, to go on with; a new one, if not
            given.
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
        table: CompiledTable | None = None,
    ) -> None:
        use_bounds = use_bounds or full_width  # minimax only asks of them whether a value is proven
        rules, traits = game.rules, game.traits
        size = int(rules.num_actions())
        least, greatest = traits.utility_bounds
        self.game = game
        self.scale = Scale(game, sooner=sooner, use_bounds=use_bounds)
        self._middle = traits.constant / 2
        largest = max(self._units(greatest), -self._units(least)) + 1
        bits = largest.bit_length() + SHIFT + 1
        self.table = table
        if table is None and table_mb:
            self.table = CompiledTable(table_mb, size, score_bits=bits)
        self._full_width = full_width
        self._late_moves, self._null_move = late_move_reductions, null_move
        self._order = MoveOrder(game, Ordering.FIXED if full_width else ordering)
        self._kernel = search_kernel(rules, full_width=full_width)
        quiescence = quiescence if hasattr(rules, "is_noisy") else 0
        self._runner = Runner(
            game,
            budget,
            limits=limits,
            ordering=ordering,
            sooner=sooner,
            table=self.table,
            threads=threads,
            row=1 + 2 * size,
            beyond=quiescence,
        )
        # Whoever is not there yet wins a move from here at the soonest.
        lowest, highest = self.scale.bounds((0.0, 0.0))
        middle = int(traits.constant) * (EVALUATION_UNIT // 2)
        for search in self._runner.searches:
            search.total = int(traits.constant)
            search.lower_score = self._units(lowest) * SCALE + 2 * sooner if use_bounds else -_INFINITY
            search.upper_score = self._units(highest) * SCALE - 2 * sooner if use_bounds else _INFINITY
            search.lower_evaluation = int(least) * EVALUATION_UNIT + 1 if evaluated else middle
            search.upper_evaluation = int(greatest) * EVALUATION_UNIT - 1 if evaluated else middle
            search.quiescence = quiescence
            search.null_windows = self.table is not None
            if symmetric and hasattr(rules, "symmetries"):
                search.symmetries = int(rules.symmetries())

    @property
    def budget(self) -> Budget:
        """What was spent, and the limits on it."""
        return self._runner.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._runner.budget = budget

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
        plies = plies_of(depth)
        window = () if self._full_width else (low, high)
        rules, kernel = self.game.rules, self._kernel
        unlimited = math.isinf(depth)
        for search in self._runner.searches:
            search.late_moves = self._late_moves if self._late_moves and not unlimited else plies_of(math.inf)
            search.null_move = 0 if unlimited else self._null_move

        def call(search: Search) -> int:
            return int(kernel(rules, state, plies, *window, ply, search))

        found, search = self._runner.run(call, depth, ply)
        score = found & -2
        value = (score + HALF) // SCALE
        distance = (score - value * SCALE) / 2
        if mover != 0:
            value, distance = -value, -distance
        line = self._runner.line(search, ply)
        return Visit((value / EVALUATION_UNIT + self._middle, distance), bool(found & 1), line)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows what a search to this depth would find.

        Symmetric positions share an entry, whose action may be another one's.
        """
        if self._runner.searches[0].symmetries > 1:
            return None
        entry = None if self.table is None else self.table.get(self.game.key(state), depth)
        return entry.action if entry is not None and entry.bound is Bound.EXACT else None

    def _units(self, value: float) -> int:
        return round((value - self._middle) * EVALUATION_UNIT)

    def _edge(self, score: Score) -> int:
        """A window's edge as the kernel counts, for seat 0."""
        value, distance = score
        if math.isinf(value):
            return _INFINITY if value > 0 else -_INFINITY
        return self._units(value) * SCALE + round(2 * distance)
