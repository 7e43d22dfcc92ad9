"""The compiled searches' transposition table: its memory, which is used again, and what it can hold."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracles.compared_searches import compiled, searched

from zermelo.agents import AlphaBetaAgent, SearchResult, exact_values
from zermelo.agents.algorithms.minimax import minimax
from zermelo.agents.compiled import table
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame

pytestmark = pytest.mark.thorough

GAME = RulesGame(ConnectFour())
WORDS = len(CompiledTable(1).words)


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
    search = compiled(Root(game, state), limits, AlphaBetaConfig(memory_mb=memory_mb))
    searched(search, state, limits, step=False)
    return search


def what(result: SearchResult) -> tuple[Any, ...]:
    return result.value, result.nodes, result.stats, result.principal_variation


def test_every_search_begins_with_an_empty_table() -> None:
    agent = AlphaBetaAgent(depth=6, ties="first", memory_mb=1)
    first = what(agent.search_state(GAME))
    filled(GAME, 8)
    assert what(agent.search_state(GAME)) == first
    assert what(agent.search_state(GAME)) == first


def test_memory_is_emptied_and_used_again() -> None:
    gc.collect()  # tables that other tests have let go
    table._kept.clear()
    search = filled(GAME, 5)
    words = search.table.words
    assert np.count_nonzero(words)
    del search
    gc.collect()
    assert table._kept[WORDS] is words
    assert not np.count_nonzero(words)
    assert CompiledTable(1).words is words


def test_memory_that_was_filled_beyond_record_is_let_go() -> None:
    gc.collect()  # tables that other tests have let go
    table._kept.clear()
    search = filled(GAME, 11)
    assert search.table.stores > WORDS // 2 // table._JOURNALED
    del search
    gc.collect()
    assert WORDS not in table._kept


def test_clearing_leaves_nothing_behind() -> None:
    for depth in (5, 11):
        search = filled(GAME, depth)
        search.table.clear()
        assert not np.count_nonzero(search.table.words)


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
