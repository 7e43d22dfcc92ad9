"""Minimax and alpha-beta below the root, compiled: as the plain searches, a thousand times faster."""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.compiled.front_end import CompiledTreeSearch, plies_of
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program, can_evaluate, fits
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, Scale, Score
from zermelo.agents.core.options import FITTED_UNIT, Ordering
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root, Visit
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


class CompiledAlphaBeta(CompiledTreeSearch):
    """Alpha-beta or minimax over compiled rules, for two players with a constant sum, without chance."""

    program = Program("alphabeta", "two_player.kernel", "visit", ("int64",) * 4)

    def __init__(
        self, root: Root, budget: Budget, config: AlphaBetaConfig, table: CompiledTable | None = None
    ) -> None:
        game: RulesGame = root.game
        rules, traits = game.rules, game.traits
        has_bounds = config.use_bounds is not False
        self.scale = Scale(game, sooner=config.sooner, use_bounds=has_bounds)
        self._prunes = config.prunes
        self._middle = traits.constant / 2
        self._unit = EVALUATION_UNIT if root.fitted is None else FITTED_UNIT
        self._fitted = root.fitted  # whose memory the kernel reads
        if table is None and config.memory_mb:
            largest = max(abs(self._units(bound)) for bound in traits.utility_bounds) + 1
            score_bits = largest.bit_length() + SHIFT + 1
            table = CompiledTable(config.memory_mb, int(rules.num_actions()), score_bits=score_bits)
        self._late_moves, self._null_move = config.late_move_reductions, config.null_move
        self._singular, self.selective = config.singular, config.is_selective
        self._beyond = config.quiescence if hasattr(rules, "is_noisy") and config.prunes else 0
        constants = self.constants(game, config, fitted=root.fitted is not None)
        super().__init__(
            root,
            budget,
            config,
            constants=constants,
            ordering=config.ordering if config.prunes else Ordering.FIXED,
            table=table,
            threads=config.threads,
            row=1 + 2 * game.max_legal_actions,
            shares=constants["SHARES"],
        )
        # Whoever is not there yet wins a move from here at the soonest.
        lower, upper = self.scale.bounds((0.0, 0.0))
        for search in self.searches:
            search.total = int(traits.constant)
            if root.fitted is not None:
                search.hold("patterns", root.fitted.words())
            search.lower_score = self._units(lower) * SCALE + 2 * config.sooner if has_bounds else -_INFINITY
            search.upper_score = self._units(upper) * SCALE - 2 * config.sooner if has_bounds else _INFINITY
            if not search.evaluated:
                search.lower_evaluation = search.upper_evaluation = int(traits.constant) * (EVALUATION_UNIT // 2)
            search.quiescence = self._beyond
            search.null_windows = table is not None
            search.futility = round(config.futility * EVALUATION_UNIT)

    @classmethod
    def can_search(cls, root: Root) -> bool:
        """Whether the kernel fits the game and the evaluator."""
        return can_search(root.game) and (root.fitted is not None or can_evaluate(root.evaluator))

    @classmethod
    def constants(cls, game: RulesGame, config: AlphaBetaConfig, *, fitted: bool = False) -> dict[str, bool]:
        """What of the kernel a game and settings need."""
        return {
            "PRUNES": config.prunes,
            "NOISY": config.prunes and hasattr(game.rules, "is_noisy"),
            "SELECTIVE": config.prunes and config.is_selective,
            "SHARES": config.share_positions and has_history(game.rules),
            "FITTED": fitted,
        }

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta to start with."""
        return super().window(state) if self._prunes else INFINITE_WINDOW

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
        kernel = self.kernel
        unlimited = math.isinf(depth)
        for search in self.searches:
            search.late_moves = self._late_moves if self._late_moves and not unlimited else plies_of(math.inf)
            search.null_move = 0 if unlimited else self._null_move
            search.singular = 0 if unlimited else round(self._singular * EVALUATION_UNIT)
            search.last_ply = 0 if unlimited or not self.selective else 2 * (plies + 1)

        def call(search: Search) -> int:
            return int(kernel(*search.start(state), plies, low, high, ply, search))

        found, search = self.run(call, depth, ply)
        score = found & -2
        value = (score + HALF) // SCALE
        distance = (score - value * SCALE) / 2
        if mover != 0:
            value, distance = -value, -distance
        return Visit((value / self._unit + self._middle, distance), bool(found & 1), self.line(search, ply))

    def _reach(self, depth: float) -> float:
        """How far a visit may look: extensions go no further than twice the depth."""
        return super()._reach(2 * (depth + 1) if self.selective else depth)

    def _units(self, value: float) -> int:
        return round((value - self._middle) * self._unit)

    def _edge(self, score: Score) -> int:
        """A window's edge as the kernel counts, for seat 0."""
        value, distance = score
        if math.isinf(value):
            return _INFINITY if value > 0 else -_INFINITY
        return self._units(value) * SCALE + round(2 * distance)
