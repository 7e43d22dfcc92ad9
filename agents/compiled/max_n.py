"""max^n, compiled: what ``max_n_kernel`` does, as ``deepen`` wants it; the root is the plain search's.

``compiled_max_n`` gives a search where the rules can be compiled, and None where the plain one has to be used.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import Program, Runner, evaluates, plies_of
from zermelo.agents.compiled.general import can_search_any, can_use, expected_reward, most_states
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.mate_distance import Score
from zermelo.agents.core.options import Ordering, TieRule
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.tree_search import Bound, SumNotConstantError, Visit
from zermelo.agents.search.max_n import MaxNSearch
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import RewardSum
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["FIRST", "FRIENDLY", "GENEROUS", "MAX_N", "PARANOID", "SPITEFUL", "CompiledMaxN", "compiled_max_n"]

FIRST: Final = 0
PARANOID: Final = 1
FRIENDLY: Final = 2
SPITEFUL: Final = 3
GENEROUS: Final = 4
_RULES: Final = {
    TieRule.FIRST: FIRST,
    TieRule.PARANOID: PARANOID,
    TieRule.FRIENDLY: FRIENDLY,
    TieRule.SPITEFUL: SPITEFUL,
    TieRule.GENEROUS: GENEROUS,
}

MAX_N: Final = Program("maxn", "max_n_kernel", "max_n", ("int64", "int64", "float64", "int64", "int64"))


def compiled_max_n(
    game: Any, evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> CompiledMaxN | None:
    """max^n compiled, for a game of rules; None where plain Python has to search it.

    Args:
        game: Any game.
        evaluator: As the agent would use it; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        settings: As ``CompiledMaxN`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not can_search_any(game) or not can_use(game, evaluator):
        return None
    if not MAX_N.is_ready(game.rules, limits):
        return None
    return CompiledMaxN(game, budget, evaluator, limits=limits, **settings)


class CompiledMaxN(MaxNSearch):
    """max^n over compiled rules, as ``deepen`` wants a search; the root is the plain search's.

    Args:
        game: Of rules, of any number of players and any sums, with or without chance.
        budget: Counts nodes.
        evaluator: None, ``"game"`` or ``"rewards"``.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        seat: The seat to move at the root.
        tie_rule: Which of several actions a player takes that are as good for itself.
        sooner: Whether, of actions that are the same for everybody, wins come sooner and losses later.
        ordering: In which order actions are tried.
        prunes: Whether to prune.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        memory: Words of memory for records to begin with; it grows as needed.
    """

    def __init__(
        self,
        game: RulesGame,
        budget: Budget,
        evaluator: Any,
        *,
        limits: Limits,
        seat: int,
        tie_rule: TieRule,
        sooner: bool,
        ordering: Ordering,
        prunes: bool,
        table_mb: float = 0,
        memory: int | None = None,
    ) -> None:
        order = MoveOrder(game, ordering)
        super().__init__(
            game,
            budget,
            evaluator,
            seat=seat,
            tie_rule=tie_rule,
            sooner=sooner,
            order=order,
            prunes=prunes,
            table=None,
        )
        traits, size = game.traits, int(game.rules.num_actions())
        seats = traits.seats
        self._rules, self._kernel = game.rules, MAX_N.load(game.rules)
        self._known = None
        if table_mb:
            megabytes = min(table_mb, most_states(game, limits) * 16 * (3 + seats) / 2**20)
            self._known = CompiledTable(megabytes, size, score_words=1 + seats)
        self._runner = Runner(
            game,
            budget,
            limits=limits,
            ordering=ordering,
            sooner=sooner,
            choices=size,
            table=self._known,
            room=(seats + 4) * size + seats + MAX_PLIES + 16,
            arena=memory,
        )
        search = self._runner.searches[0]
        search.tie_rule = _RULES[tie_rule]
        search.root_seat = seat
        search.prunes = prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.lower_evaluation, search.upper_evaluation = game.rules_bounds
        search.total = int(traits.constant)
        search.evaluated = evaluates(evaluator)
        search.expected = expected_reward(game)
        shares = traits.reward_sum is not RewardSum.GENERAL
        search.middle = traits.constant / seats if shares else 0.0
        search.hold("scratch", np.zeros(2 * seats, np.int64))

    @property
    def table(self) -> CompiledTable | None:
        """The transposition table, if there is one."""
        return self._known

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The values of a state, as the plain search gives them."""
        plies = plies_of(depth)
        rules, kernel, seat, enough = self._rules, self._kernel, self.max_seat, float(alpha[0])

        def call(search: Search) -> int:
            return int(kernel(rules, state, plies, seat, enough, ply, search.arena, search))

        found, search = self._runner.run(call, depth, ply)
        if search.stop == layout.SUM_NOT_CONSTANT:
            place = (search.wrong_values - search.arena) // 8
            raise SumNotConstantError(self._runner.record(search, place).values)
        values, length, line = self._runner.record(search)
        return Visit((values[self.max_seat], 0), bool(found & 1), line, 0.0, values, length)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows what a search to this depth would find."""
        known = None if self._known is None else self._known.get(self.game.key(state), depth)
        return known.action if known is not None and known.bound is Bound.EXACT else None
