"""max^n, compiled: what its kernel does; the root is the plain search's."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import CompiledTreeSearch, most_states, plies_of
from zermelo.agents.compiled.general.search import can_search_any, can_use, expected_reward
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import Scale, Score
from zermelo.agents.core.max_n import MaxNRoot
from zermelo.agents.core.options import TieRule
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.tree_config import MaxNConfig
from zermelo.agents.core.tree_search import Root, SumNotConstantError, Visit
from zermelo.envs import Chance
from zermelo.envs.rules.rules_game import RulesGame

FIRST, PARANOID, FRIENDLY, SPITEFUL, GENEROUS = range(5)  # the rules for ties, in the order of TieRule


class CompiledMaxN(MaxNRoot, CompiledTreeSearch):
    """max^n over compiled rules, with or without chance."""

    program = Program("maxn", "max_n.kernel", "max_n", ("int64", "int64", "float64", "int64", "int64"))

    def __init__(self, root: Root, budget: Budget, config: MaxNConfig, table: CompiledTable | None = None) -> None:
        game: RulesGame = root.game
        traits, size = game.traits, int(game.rules.num_actions())
        seats = traits.seats
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, sooner=False, use_bounds=False, seat=self.max_seat)
        self.prefer_by(config, traits)
        if table is None and config.memory_mb:
            megabytes = min(config.memory_mb, most_states(game, budget.limits) * 16 * (3 + seats) / 2**20)
            table = CompiledTable(megabytes, size, score_words=1 + seats)
        room = (seats + 4) * game.max_legal_actions + seats + MAX_PLIES + 16
        constants, ordering = self.constants(game, config), config.ordering
        super().__init__(root, budget, config, constants=constants, ordering=ordering, table=table, room=room)
        search = self.searches[0]
        search.tie_rule = list(TieRule).index(config.tie_rule)
        search.root_seat = self.max_seat
        search.prunes = config.prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.total = int(traits.constant)
        search.expected = expected_reward(game)
        search.middle = self.middle
        search.hold("scratch", np.zeros(2 * seats, np.int64))

    @classmethod
    def can_search(cls, root: Root) -> bool:
        """Whether the kernel fits the game and the evaluator."""
        return can_search_any(root.game) and can_use(root.game, root.evaluator)

    @classmethod
    def constants(cls, game: RulesGame, config: MaxNConfig, **about: bool) -> dict[str, bool]:
        """Whether the game has chance."""
        return {"HAS_CHANCE": game.traits.chance is not Chance.NONE}

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The values of a state, as the plain search gives them."""
        plies = plies_of(depth)
        kernel, seat, enough = self.kernel, self.max_seat, float(alpha[0])

        def call(search: Search) -> int:
            return int(kernel(*search.start(state), plies, seat, enough, ply, search.arena, search))

        found, search = self.run(call, depth, ply)
        if search.stop == layout.SUM_NOT_CONSTANT:
            place = (search.wrong_values - search.arena) // 8
            raise SumNotConstantError(self.record(search, place).values)
        values, length, line = self.record(search)
        return Visit((values[self.max_seat], 0), bool(found & 1), line, 0.0, values, length)
