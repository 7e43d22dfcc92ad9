"""max^n, compiled: what its kernel does; the root is the plain search's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import CompiledTreeSearch, most_states, plies_of
from zermelo.agents.compiled.general.search import can_search_any, can_use, expected_reward
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.mate_distance import Score
from zermelo.agents.core.max_n import MaxNRoot
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ordering, TieRule
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.tree_search import SumNotConstantError, Visit
from zermelo.envs import Chance
from zermelo.envs.rules.rules_game import RulesGame

FIRST, PARANOID, FRIENDLY, SPITEFUL, GENEROUS = range(5)  # the rules for ties, in the order of TieRule


class CompiledMaxN(MaxNRoot, CompiledTreeSearch):
    """max^n over compiled rules, with or without chance.

    The settings are those of ``MaxNSearch`` and ``CompiledTreeSearch``, and ``memory_mb`` and ``table`` as
    ``CompiledGeneralSearch`` takes them.
    """

    program = Program("maxn", "max_n.kernel", "max_n", ("int64", "int64", "float64", "int64", "int64"))

    def __init__(
        self,
        game: RulesGame,
        evaluator: Any,
        budget: Budget,
        *,
        limits: Limits,
        seat: int,
        tie_rule: TieRule,
        sooner: bool,
        prunes: bool,
        ordering: Ordering = Ordering.AUTO,
        memory_mb: float = 0,
        table: CompiledTable | None = None,
        **others: Any,
    ) -> None:
        order = MoveOrder(game, ordering)
        MaxNRoot.__init__(self, game, budget, seat=seat, tie_rule=tie_rule, sooner=sooner, order=order)
        traits, size = game.traits, int(game.rules.num_actions())
        seats = traits.seats
        if table is None and memory_mb:
            megabytes = min(memory_mb, most_states(game, limits) * 16 * (3 + seats) / 2**20)
            table = CompiledTable(megabytes, size, score_words=1 + seats)
        others |= {"limits": limits, "ordering": ordering, "sooner": sooner, "settings": {}}
        room = (seats + 4) * game.max_legal_actions + seats + MAX_PLIES + 16
        CompiledTreeSearch.__init__(self, game, evaluator, budget, table=table, room=room, **others)
        search = self.searches[0]
        search.tie_rule = list(TieRule).index(tie_rule)
        search.root_seat = seat
        search.prunes = prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.total = int(traits.constant)
        search.expected = expected_reward(game)
        search.middle = self.middle
        search.hold("scratch", np.zeros(2 * seats, np.int64))

    @classmethod
    def can_search(cls, game: Any, evaluator: Any) -> bool:
        """Whether the game and the evaluator fit."""
        return can_search_any(game) and can_use(game, evaluator)

    @classmethod
    def constants(cls, game: RulesGame, settings: Mapping[str, Any]) -> dict[str, bool]:
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
