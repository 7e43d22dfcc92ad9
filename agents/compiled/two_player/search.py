"""Minimax and alpha-beta below the root, compiled: as the plain searches, a thousand times faster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from zermelo.agents.compiled.front_end import CompiledTreeSearch, plies_of
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program, can_evaluate, evaluates, fits
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, Scale, Score
from zermelo.agents.core.options import FITTED_UNIT, Ordering
from zermelo.agents.core.tree_search import Visit
from zermelo.envs import Chance, RewardSum
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.protocol import EVALUATION_UNIT
from zermelo.envs.rules.rules_game import RulesGame

SHIFT: Final = 15
SCALE: Final = 1 << SHIFT
"""More than twice the mate distance of any search (see the kernel)."""
HALF: Final = SCALE >> 1
_INFINITY: Final = 1 << 60
_MAX_UTILITY: Final = 16_000


def can_search(game: Any) -> bool:
    """Whether a game can be searched compiled: rules for two players with a constant sum, without chance."""
    if not fits(game):
        return False
    traits = game.traits
    opposed = traits.seats == 2 and traits.chance is Chance.NONE and traits.reward_sum is not RewardSum.GENERAL
    return opposed and max(map(abs, traits.utility_bounds)) <= _MAX_UTILITY


class Fitted(Protocol):
    """What a fitted evaluation is looked up in (``patterns``)."""

    def words(self) -> npt.NDArray[np.int64]:
        """The words, with room for one thread to work in; of use as long as this object lives."""
        ...


def _evaluating(settings: Mapping[str, Any]) -> dict[str, bool]:
    """The constant that says how kernels evaluate."""
    return {} if settings.get("fitted") is None else {"FITTED": True}


class CompiledAlphaBeta(CompiledTreeSearch):
    """Alpha-beta over compiled rules, for two players with a constant sum, without chance.

    The settings are those of ``AlphaBetaSearch`` and ``CompiledTreeSearch``, and:

    Args:
        memory_mb: Memory for the transposition table, in MiB; 0 for none.
        symmetric: Whether symmetric positions share their table entry.
        threads: How many threads search each root action together.
        share_positions: Whether positions share their table entries whatever was before them.
        fitted: What a fitted evaluation is looked up in, to evaluate by in place of ``evaluator``; or None.
        table: The table of an earlier search of this game with these settings, to go on with; a new one, if None.
    """

    program = Program("alphabeta", "two_player.kernel", "visit", ("int64",) * 4)

    def __init__(
        self,
        game: RulesGame,
        evaluator: Any,
        budget: Budget,
        *,
        sooner: bool = True,
        use_bounds: bool = True,
        memory_mb: float = 0,
        quiescence: int = 0,
        symmetric: bool = False,
        late_move_reductions: int = 0,
        null_move: int = 0,
        futility: float = 0.0,
        singular: float = 0.0,
        fitted: Fitted | None = None,
        share_positions: bool = False,
        table: CompiledTable | None = None,
        **others: Any,
    ) -> None:
        rules, traits = game.rules, game.traits
        size = int(rules.num_actions())
        self.scale = Scale(game, sooner=sooner, use_bounds=use_bounds)
        self._middle = traits.constant / 2
        self._unit = EVALUATION_UNIT if fitted is None else FITTED_UNIT
        self._fitted = fitted  # whose memory the kernel reads
        if table is None and memory_mb:
            largest = max(abs(self._units(bound)) for bound in traits.utility_bounds) + 1
            table = CompiledTable(memory_mb, size, score_bits=largest.bit_length() + SHIFT + 1)
        self._late_moves, self._null_move, self._singular = late_move_reductions, null_move, singular
        self.selective = bool(late_move_reductions or null_move or futility or singular)
        quiescence = quiescence if hasattr(rules, "is_noisy") else 0
        settings = {"selective": self.selective, "share_positions": share_positions, "fitted": fitted}
        others |= {"settings": settings, "beyond": quiescence}
        others["row"] = 1 + 2 * game.max_legal_actions
        super().__init__(game, evaluator, budget, sooner=sooner, table=table, **others)
        # Whoever is not there yet wins a move from here at the soonest.
        lower, upper = self.scale.bounds((0.0, 0.0))
        for search in self.searches:
            search.total = int(traits.constant)
            if fitted is not None:
                search.hold("patterns", fitted.words())
            search.lower_score = self._units(lower) * SCALE + 2 * sooner if use_bounds else -_INFINITY
            search.upper_score = self._units(upper) * SCALE - 2 * sooner if use_bounds else _INFINITY
            if not evaluates(evaluator):
                search.lower_evaluation = search.upper_evaluation = int(traits.constant) * (EVALUATION_UNIT // 2)
            search.quiescence = quiescence
            search.null_windows = table is not None
            search.futility = round(futility * EVALUATION_UNIT)
            search.symmetries = game.symmetries if symmetric else 1

    @classmethod
    def can_search(cls, game: Any, evaluator: Any) -> bool:
        """Whether the game and the evaluator fit."""
        return can_search(game) and can_evaluate(evaluator)

    @classmethod
    def constants(cls, game: RulesGame, settings: Mapping[str, Any]) -> dict[str, bool]:
        """Whether there is quiescence, some moves may be searched less deep, and positions share entries."""
        names = "selective", "late_move_reductions", "null_move", "futility", "singular"
        selective = any(settings.get(name) for name in names)
        shares = has_history(game.rules) and bool(settings.get("share_positions"))
        constants = {"NOISY": hasattr(game.rules, "is_noisy"), "SELECTIVE": selective, "SHARES": shares}
        return constants | _evaluating(settings)

    def search_fully(self) -> None:
        """Searches all moves to the same depth from now on, and forgets what was found otherwise."""
        self._late_moves = self._null_move = 0
        self._singular = 0.0
        self.selective = False
        for search in self.searches:
            search.futility = 0
        if self.table is not None:
            self.table.clear()

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, as the plain searches give it."""
        mover = self.game.to_move(state)
        low, high = self._edge(alpha), self._edge(beta)
        if mover != 0:
            low, high = -high, -low
        plies = plies_of(depth)
        window = self._window_arguments(low, high)
        kernel = self.kernel
        unlimited = math.isinf(depth)
        for search in self.searches:
            search.late_moves = self._late_moves if self._late_moves and not unlimited else plies_of(math.inf)
            search.null_move = 0 if unlimited else self._null_move
            search.singular = 0 if unlimited else round(self._singular * EVALUATION_UNIT)
            search.last_ply = 0 if unlimited or not self.selective else 2 * (plies + 1)

        def call(search: Search) -> int:
            return int(kernel(*search.start(state), plies, *window, ply, search))

        found, search = self.run(call, depth, ply)
        score = found & -2
        value = (score + HALF) // SCALE
        distance = (score - value * SCALE) / 2
        if mover != 0:
            value, distance = -value, -distance
        return Visit((value / self._unit + self._middle, distance), bool(found & 1), self.line(search, ply))

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows what a search to this depth would find.

        Symmetric positions share an entry, whose action may be another one's.
        """
        return None if self.searches[0].symmetries > 1 else super().recall(state, depth, ply)

    def _reach(self, depth: float) -> float:
        """How far a visit may look: extensions go no further than twice the depth."""
        return super()._reach(2 * (depth + 1) if self.selective else depth)

    def _window_arguments(self, low: int, high: int) -> tuple[int, ...]:
        return low, high

    def _units(self, value: float) -> int:
        return round((value - self._middle) * self._unit)

    def _edge(self, score: Score) -> int:
        """A window's edge as the kernel counts, for seat 0."""
        value, distance = score
        if math.isinf(value):
            return _INFINITY if value > 0 else -_INFINITY
        return self._units(value) * SCALE + round(2 * distance)


class CompiledMinimax(CompiledAlphaBeta):
    """Minimax over compiled rules: it prunes nothing, and asks of bounds only whether a value is proven."""

    program = Program("minimax", "two_player.kernel", "full_width", ("int64",) * 2)

    def __init__(self, game: RulesGame, evaluator: Any, budget: Budget, **others: Any) -> None:
        super().__init__(game, evaluator, budget, ordering=Ordering.FIXED, **others)

    @classmethod
    def constants(cls, game: RulesGame, settings: Mapping[str, Any]) -> dict[str, bool]:
        """How evaluations are found."""
        return _evaluating(settings)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Everything: nothing is left out."""
        return INFINITE_WINDOW

    def _window_arguments(self, low: int, high: int) -> tuple[int, ...]:
        return ()
