"""max^n, compiled: what its kernel does; the root is the plain search's."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import CompiledTreeSearch, most_states
from zermelo.agents.compiled.general.search import can_search_any, can_use, expected_reward
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Scale
from zermelo.agents.core.options import TieRule
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.tree_config import MaxNConfig
from zermelo.agents.core.tree_search import Iteration, MaxNRoot, Root, RootNode, SumNotConstantError
from zermelo.envs import Chance
from zermelo.envs.rules.rules_game import RulesGame

KERNEL: Final = "zermelo.agents.compiled.max_n.kernel"
FIRST, PARANOID, FRIENDLY, SPITEFUL, GENEROUS = range(5)  # the rules for ties, in the order of TieRule


class CompiledMaxN(MaxNRoot, CompiledTreeSearch):
    """max^n over compiled rules, with or without chance."""

    program = Program("maxn", "root", "search_root", constants=("MAX_N",))

    def __init__(self, root: Root, budget: Budget, config: MaxNConfig) -> None:
        game: RulesGame = root.game
        traits, size = game.traits, game.num_moves
        seats = traits.seats
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, sooner=False, use_bounds=False, seat=self.max_seat)
        self.prefer_by(config, traits)
        table = None
        if config.memory_mb:
            most = most_states(game, budget.limits)
            table = CompiledTable(config.memory_mb, size, score_words=1 + seats, most_states=most)
        room = (seats + 4) * game.max_legal_actions + seats + MAX_PLIES + 16
        super().__init__(
            root,
            budget,
            config,
            constants=self.constants(root, config),
            ordering=config.ordering,
            table=table,
            room=room,
            num_values=seats,
        )
        search = self.searches[0]
        search.tie_rule = list(TieRule).index(config.tie_rule)
        search.lower_value, search.upper_value = -math.inf, math.inf
        search.prunes = config.prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.total = int(traits.constant)
        search.expected = expected_reward(game)
        search.middle = self.middle

    @classmethod
    def can_search(cls, root: Root) -> bool:
        return can_search_any(root.game) and can_use(root.game, root.evaluator)

    @classmethod
    def constants(cls, root: Root, config: MaxNConfig) -> dict[str, bool]:
        return {f"{KERNEL}.HAS_CHANCE": root.game.traits.chance is not Chance.NONE}

    def _read(self, iteration: Iteration, search: Search, node: RootNode) -> None:
        """Takes the root moves that a search has found; raises ``SumNotConstantError``."""
        super()._read(iteration, search, node)
        if search.stop == layout.SUM_NOT_CONSTANT:
            start = (search.wrong_values - search.arena) // 8
            values = search.held["arena"][start : start + search.num_values].view(np.float64)
            raise SumNotConstantError(tuple(values.tolist()))
