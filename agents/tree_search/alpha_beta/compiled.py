"""Minimax and alpha-beta below the root, compiled: as the plain searches, a thousand times faster."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import FITTED_UNIT, Scale
from zermelo.agents.kernels.program import Program, can_evaluate, fits
from zermelo.agents.tree_search.alpha_beta.kernel import visit_child
from zermelo.agents.tree_search.alpha_beta.kernel_scores import INFINITY, NOTHING, SCALE, SHIFT
from zermelo.agents.tree_search.compiled.record import TreeVariant, TwoPlayerRecord, TwoPlayerVariant
from zermelo.agents.tree_search.compiled.search import CompiledTreeSearch, KernelMemory, most_states, plies_of
from zermelo.agents.tree_search.compiled.table import CompiledTable
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs.capabilities import SupportsQuiescence, offers
from zermelo.envs.game import Chance
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.protocol import EVALUATION_UNIT
from zermelo.envs.rules.rules_game import RulesGame

DEEPEST: Final = 32
"""Games of self-play are searched no deeper."""
EXPLORE: Final = 0.5
"""The probability that a move of their opening is random."""
_MAX_UTILITY: Final = 16_000


_LOGARITHMS: Final = np.log(np.maximum(np.arange(64), 1))
_REDUCTIONS: Final = (
    np.floor(1024 * (0.75 + np.outer(_LOGARITHMS, _LOGARITHMS) / 2.25)).astype(np.int64).reshape(-1)
)
"""By how much less to search the move of a number at a depth, in 1024ths of a move."""


def can_search(game: Any) -> bool:
    """True if a game can be searched compiled: rules for two players with a constant sum, without chance."""
    if not fits(game) or not game.traits.is_opposed or game.traits.chance is not Chance.NONE:
        return False
    return bool(max(map(abs, game.traits.utility_bounds)) <= _MAX_UTILITY)


class CompiledAlphaBeta(CompiledTreeSearch):
    """Alpha-beta or minimax over compiled rules, for two players with a constant sum, without chance."""

    program = Program("alphabeta", "tree_search.compiled.kernel_root", "search_root", TwoPlayerRecord)
    searches: Sequence[TwoPlayerRecord]

    def __init__(self, root: SearchSetup, budget: Budget, config: AlphaBetaConfig) -> None:
        game: RulesGame = root.game
        rules, traits = game.rules, game.traits
        tables = None
        if config.tables is not None:
            from zermelo.agents.knowledge.endgame_tables import table_for

            tables = table_for(config.tables, game)
        if tables is not None and tables.gains:
            config = dataclasses.replace(config, prefer_short_wins=False)  # the table does not count moves
        has_bounds = config.use_bounds is not False
        self.scale = Scale(game, prefer_short_wins=config.prefer_short_wins, use_bounds=has_bounds)
        self.prunes = config.prunes
        self._middle = traits.constant / 2
        self._unit = EVALUATION_UNIT if root.fitted is None else FITTED_UNIT
        self._fitted = root.fitted  # whose memory the kernel reads
        self._lmr_after, self._null_move = config.late_move_reductions, config.null_move
        self.selective = config.is_selective
        self._beyond = config.quiescence if offers(game, SupportsQuiescence) and config.prunes else 0
        largest = max(abs(self._units(bound)) for bound in traits.utility_bounds) + 1
        table = None
        if config.memory_mb:
            beyond = self.selective or self._beyond > 0
            most = most_states(game, budget.limits, beyond=beyond, threads=config.threads)
            bits = largest.bit_length() + SHIFT + 1
            table = CompiledTable(config.memory_mb, int(rules.num_actions()), score_bits=bits, most_states=most)
        self.shares = self.variants(root, config)[1].shares
        super().__init__(
            root, budget, config, KernelMemory(row=1 + 2 * game.max_legal_actions), table, config.threads
        )
        # Whoever is not there yet wins a move from here at the soonest.
        lower, upper = self.scale.bounds((0.0, 0.0))
        for search in self.searches:
            search.total = int(traits.constant)
            search.middle = self._middle
            search.lower_value, search.upper_value = lower, upper
            if root.fitted is not None:
                search.attach("fitted", root.fitted.words())
            search.lower_score, search.upper_score = -INFINITY, INFINITY
            if has_bounds:
                search.lower_score = self._units(lower) * SCALE + 2 * config.prefer_short_wins
                search.upper_score = self._units(upper) * SCALE - 2 * config.prefer_short_wins
            if not search.evaluated:
                search.lower_evaluation = search.upper_evaluation = int(traits.constant) * (EVALUATION_UNIT // 2)
            search.quiescence = self._beyond
            search.null_windows = table is not None
            search.futility = round(config.futility * EVALUATION_UNIT)
            if tables is not None:
                search.attach("tables", tables.words)
            if self.selective:
                search.selective, search.span = True, largest
                search.attach("static_values", np.full(MAX_PLIES + 4, NOTHING))
                search.attach("reductions", _REDUCTIONS)
        self.set_iteration_depth(math.inf)

    @classmethod
    def can_search(cls, root: SearchSetup) -> bool:
        return can_search(root.game) and (root.fitted is not None or can_evaluate(root.evaluator))

    @classmethod
    def variants(cls, root: SearchSetup, config: AlphaBetaConfig) -> tuple[TreeVariant, TwoPlayerVariant]:
        rules = root.game.rules
        return TreeVariant(visit_child), TwoPlayerVariant(
            prunes=config.prunes,
            selective=config.prunes and config.is_selective,
            noisy=config.prunes and offers(root.game, SupportsQuiescence),
            shares=config.share_positions and has_history(rules),
            tables=config.tables is not None,
            network=root.fitted is not None,
        )

    def reset_record(self, search: TwoPlayerRecord) -> None:
        search.passed_ply = 0
        search.repetition_ply = MAX_PLIES

    def disable_reductions(self) -> None:
        self._lmr_after = self._null_move = 0
        self.selective = False
        self.reuse_key = ()
        self.set_iteration_depth(math.inf)
        for search in self.searches:
            search.futility = 0
        if self.table is not None:
            self.table.clear()

    def set_iteration_depth(self, depth: float) -> None:
        """Has a search to the end of the game use nothing that is not proven."""
        unlimited, never = math.isinf(depth), plies_of(math.inf)
        for search in self.searches:
            search.lmr_after = self._lmr_after if self._lmr_after and not unlimited else never
            search.null_move = 0 if unlimited else self._null_move

    def _units(self, value: float) -> int:
        return round((value - self._middle) * self._unit)
