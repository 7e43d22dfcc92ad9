"""Compiled minimax and alpha-beta against the plain ones: the same nodes, lines, values and best actions."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import pytest
from doubles.small_games import ConnectK
from oracles.compared_searches import compiled, searched

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.search.backend import tree_search
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK
from zermelo.envs.rules import RulesGame


@pytest.mark.thorough
def test_known_node_counts() -> None:
    game = RulesGame(MNK())
    state = game.initial_state()

    def nodes(**settings: Any) -> int:
        config = AlphaBetaConfig(sooner=False, ordering=Ordering.FIXED, **settings)
        found = searched(compiled(Root(game, state), Limits(), config), state, Limits(), step=False, exact=True)
        assert (found.score, found.proven) == ((0.0, 0.0), True)
        return int(found.nodes)

    assert nodes(pruning=ChancePruning.NONE) == 549_946
    agent = AlphaBetaAgent(depth="full", window="full", sooner=False, ordering="fixed", memory_mb=0, ties="first")
    assert agent.search_state(game).nodes == 18_297
    assert dataclasses.replace(agent, window="bounds").search_state(game).nodes == 16_811


def test_where_it_does_not_fit_the_plain_search_is_left_to_do_it() -> None:
    def own(game: Any, state: Any) -> tuple[float, float]:
        return (0.0, 0.0)

    game = RulesGame(MNK())
    many = type("Many", (MNK,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 40)})
    for other, evaluator in ((ConnectK(), None), (game, own), (RulesGame(many()), None)):
        root = Root(other, other.initial_state(), evaluator)
        assert not tree_search(root, Budget(Limits(depth=2)), AlphaBetaConfig()).compiled


class EndlessState(NamedTuple):
    moves: int
    mover: int


class Endless(NamedTuple):
    """A game without an end."""

    step: int = 1

    def num_actions(self) -> int:
        return 1

    def initial_state(self) -> EndlessState:
        return EndlessState(0, 0)

    def to_move(self, state: EndlessState) -> int:
        return state.mover

    def legal_actions(self, state: EndlessState, actions: list[int]) -> int:
        actions[0] = 0
        return 1

    def result(self, state: EndlessState, action: int) -> EndlessState:
        return EndlessState(state.moves + self.step, 1 - state.mover)

    def is_terminal(self, state: EndlessState) -> bool:
        return state.moves < 0

    def utility(self, state: EndlessState, seat: int) -> int:
        return 0


@pytest.mark.slow
def test_a_game_without_an_end_is_said_to_have_none() -> None:
    game = RulesGame(Endless())
    state = game.initial_state()
    search = compiled(Root(game, state), Limits(), AlphaBetaConfig())
    with pytest.raises(UnsupportedGameError, match=r"Endless goes on for more than \d+ moves.*depth="):
        searched(search, state, Limits(), step=False)
