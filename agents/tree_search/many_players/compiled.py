"""Max^n, compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import Scale, expected_reward
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.program import Program, can_search_any, can_use
from zermelo.agents.tree_search.compiled.record import MaxNRecord, TreeVariant
from zermelo.agents.tree_search.compiled.search import CompiledTreeSearch, KernelMemory, most_states
from zermelo.agents.tree_search.compiled.table import CompiledTable
from zermelo.agents.tree_search.interface import Iteration, RootNode, SearchSetup
from zermelo.agents.tree_search.many_players.interface import MaxNRoot, SumNotConstantError
from zermelo.agents.tree_search.many_players.kernel import visit_child
from zermelo.agents.tree_search.settings import MaxNConfig, TieRule
from zermelo.envs.game import Chance
from zermelo.envs.rules.rules_game import RulesGame


class CompiledMaxN(MaxNRoot, CompiledTreeSearch):
    """max^n over compiled rules, with or without chance."""

    program = Program("maxn", "tree_search.compiled.kernel_root", "search_root", MaxNRecord)
    searches: Sequence[MaxNRecord]

    def __init__(self, root: SearchSetup, budget: Budget, config: MaxNConfig) -> None:
        game: RulesGame = root.game
        traits, seats = game.traits, game.traits.seats
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, prefer_short_wins=False, use_bounds=False, seat=self.max_seat)
        self.prefer_by(config, traits)
        table = None
        if config.memory_mb:
            most = most_states(game, budget.limits)
            table = CompiledTable(config.memory_mb, game.num_moves, score_words=1 + seats, most_states=most)
        room = (seats + 4) * game.max_legal_actions + seats + MAX_PLIES + 16
        super().__init__(root, budget, config, KernelMemory(room=room, num_values=seats), table)
        search = self.searches[0]
        search.tie_rule = list(TieRule).index(config.tie_rule)
        search.lower_value, search.upper_value = -math.inf, math.inf
        search.prunes = config.prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.total = int(traits.constant)
        search.expected = expected_reward(traits)
        search.middle = self.middle

    @classmethod
    def can_search(cls, root: SearchSetup) -> bool:
        return can_search_any(root.game) and can_use(root.game, root.evaluator)

    @classmethod
    def variants(cls, root: SearchSetup, config: MaxNConfig) -> tuple[TreeVariant]:
        return (TreeVariant(visit_child, max_n=True, chance=root.game.traits.chance is not Chance.NONE),)

    def _read(self, iteration: Iteration, search: Any, node: RootNode) -> None:
        super()._read(iteration, search, node)
        if search.stop == layout.SUM_NOT_CONSTANT:
            start = (search.wrong_values - search.arena) // 8
            values = search.arrays["arena"][start : start + search.num_values].view(np.float64)
            raise SumNotConstantError(tuple(values.tolist()))
