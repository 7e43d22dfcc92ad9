"""The compiled searches' transposition table: its memory, which is used again, and what it can hold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracles.compared_searches import compiled, searched

from zermelo.agents import AlphaBetaAgent, SearchResult
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.tree_search.compiled.search import most_states
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.agents.tree_search.textbook_minimax import minimax
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame

pytestmark = pytest.mark.thorough

GAME = RulesGame(ConnectFour())


class Count(NamedTuple):
    at: int


class ManyActions(NamedTuple):
    """Three moves, of which the one with the greatest number wins."""

    actions: int = 100_000

    def num_actions(self) -> int:
        return self.actions

    def max_legal_actions(self) -> int:
        return 2

    def initial_state(self) -> Count:
        return Count(0)

    def to_move(self, state: Count) -> int:
        return state.at % 2

    def legal_actions(self, state: Count, out: Any) -> int:
        out[0] = 7
        out[1] = self.actions - 1
        return 2

    def result(self, state: Count, action: int) -> Count:
        return Count(state.at + 2 if action == self.actions - 1 else state.at + 1)

    def is_terminal(self, state: Count) -> bool:
        return state.at >= 5

    def utility(self, state: Count, seat: int) -> int:
        return 1 if (state.at == 5) == (seat == 1) else -1


def filled(game: RulesGame, depth: int, memory_mb: float = 1) -> Any:
    """A search that has filled its table."""
    limits, state = Limits(depth=depth), game.initial_state()
    search = compiled(SearchSetup(game, state), limits, AlphaBetaConfig(memory_mb=memory_mb))
    searched(search, state, limits, step=False)
    return search


def what(result: SearchResult) -> tuple[Any, ...]:
    return result.value, result.nodes, result.stats, result.principal_variation


@pytest.mark.parametrize("limit", [{"depth": 3}, {"depth": 8}, {"nodes": 5_000}], ids=str)
@pytest.mark.parametrize("how", [{}, {"threads": 2}, {"exact": True}, {"late_move_reductions": 2}], ids=str)
def test_an_agent_searches_with_the_memory_of_its_last_search_as_a_new_one_does(limit: Any, how: Any) -> None:
    agent, state = AlphaBetaAgent(ties="first", memory_mb=1, **limit, **how), GAME.initial_state()
    for action in (3, 3, 2, 5, 0):
        fresh = AlphaBetaAgent(ties="first", memory_mb=1, **limit, **how).search_state(GAME, state)
        again = agent.search_state(GAME, state)
        if how == {"threads": 2}:
            assert ("nodes" in limit) or (again.value, again.proven) == (fresh.value, fresh.proven)
        else:
            assert what(again) == what(fresh)
        state = GAME.result(state, action)


def test_a_limit_bounds_the_states_of_a_table() -> None:
    assert most_states(GAME, Limits(depth=3)) == 7**3
    assert most_states(GAME, Limits(depth=3), beyond=True) == math.inf
    assert most_states(GAME, Limits(depth=3, nodes=1_000), beyond=True) == 1_000
    assert most_states(GAME, Limits(seconds=0.1), threads=2) == 2 * most_states(GAME, Limits(seconds=0.1)) < 1e6


def test_clearing_leaves_nothing_behind() -> None:
    for depth in (3, 11):
        search = filled(GAME, depth)
        assert np.count_nonzero(search.table.words)
        search.clear_memory()
        assert not np.count_nonzero(search.table.words)
        limits = Limits(depth=depth)
        search.set_root(SearchSetup(GAME, GAME.initial_state()), Budget(limits))
        searched(search, GAME.initial_state(), limits, step=False)
        assert search.table.stores == filled(GAME, depth).table.stores


def test_a_table_is_as_large_as_the_search_needs() -> None:
    assert len(filled(GAME, 2, memory_mb=64).table.words) < 1 << 10
    assert len(filled(GAME, 11, memory_mb=1).table.words) == 1 << 17


def test_positions_of_few_numbers_are_not_taken_for_each_other() -> None:
    """Numba's products may not overflow: hashing with them gave all these states one key."""
    game = RulesGame(ManyActions())
    table = filled(game, 6).table
    assert np.count_nonzero(table.words) == 2 * table.stores
    for memory_mb in (0, 1):
        assert AlphaBetaAgent(depth=6, memory_mb=memory_mb).search_state(game).plies == 3


def test_a_table_holds_any_action_number() -> None:
    game = RulesGame(ManyActions())
    search = filled(game, 6)
    assert search.recall(game.result(game.initial_state(), 7), 5, 2) == 99_999


def test_proofs_take_any_action_number() -> None:
    game = RulesGame(ManyActions())
    for at in range(5):
        assert exact_values(game, [Count(at)])[0].values_by_seat[0] == minimax(game, Count(at)), at
