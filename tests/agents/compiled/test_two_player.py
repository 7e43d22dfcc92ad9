"""Compiled minimax and alpha-beta against the plain ones: the same nodes, lines, values and best actions."""

from __future__ import annotations

import dataclasses
import random
from typing import Any, NamedTuple

import pytest
from doubles.small_games import ConnectK
from oracles.compared_searches import compiled, plain, random_positions, searched

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import ChancePruning, Ordering, Ties
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.core.tree_search import Root
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.backend import tree_search
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, ConnectFour
from zermelo.envs.rules import RulesGame

EVALUATOR = make_evaluator("game")


class TakeState(NamedTuple):
    left: int
    mover: int
    first: int
    second: int


class Take(NamedTuple):
    """Take one to three stones for yourself; taking two gives another turn. A constant sum, not zero."""

    start: int = 11

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> TakeState:
        return TakeState(self.start, 0, 0, 0)

    def to_move(self, state: TakeState) -> int:
        return state.mover

    def legal_actions(self, state: TakeState, actions: list[int]) -> int:
        count = min(state.left, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: TakeState, action: int) -> TakeState:
        taken = action + 1
        mover = state.mover if taken == 2 else 1 - state.mover
        if state.mover == 0:
            return TakeState(state.left - taken, mover, state.first + taken, state.second)
        return TakeState(state.left - taken, mover, state.first, state.second + taken)

    def is_terminal(self, state: TakeState) -> bool:
        return state.left == 0

    def utility(self, state: TakeState, seat: int) -> int:
        return state.first if seat == 0 else state.second

    def utility_bounds(self) -> tuple[int, int]:
        return (0, self.start)

    def utility_sum(self) -> int:
        return self.start

    def evaluation(self, state: TakeState, seat: int) -> int:
        mine = state.first if seat == 0 else state.second
        return mine * 1024 + state.left * 512 + (1 if seat == state.mover else -1) * state.left % 7

    def is_noisy(self, state: TakeState, action: int) -> bool:
        return action == 1

    def ordering_hint(self, state: TakeState, action: int) -> int:
        return -action if state.left % 2 else action


GAMES = (MNK(), MNK(m=4, n=3, k=3), ConnectFour(rows=4, columns=5), ConnectFour(), Take(), Take(start=16))


def root_of(game: RulesGame, state: Any) -> Root:
    return Root(game, state, EVALUATOR)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_without_a_table_everything_agrees(rules: Any, seed: int) -> None:
    generator = random.Random(f"{seed} {rules}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 12):
        limits = Limits(depth=generator.randint(1, 5), nodes=generator.choice([None, None, 300]))
        config = AlphaBetaConfig(
            sooner=generator.random() < 0.7,
            use_bounds=generator.random() < 0.7,
            ordering=generator.choice(list(Ordering)),
            quiescence=generator.choice([0, 3]),
        )
        how: dict[str, Any] = {"exact": generator.random() < 0.5, "ties": generator.choice(list(Ties))}
        how["step"] = limits.nodes is not None or generator.random() < 0.5
        expected = searched(plain(root_of(game, state), limits, config), state, limits, **how)
        found = searched(compiled(root_of(game, state), limits, config), state, limits, **how)
        assert found == expected, (seed, state, limits, config, how)


@pytest.mark.thorough
@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_minimax_agrees(rules: Any) -> None:
    generator = random.Random(f"minimax {rules}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 12):
        limits = Limits(depth=generator.choice([1, 2, 3, 4]), nodes=generator.choice([None, 100]))
        config = AlphaBetaConfig(sooner=generator.random() < 0.5, pruning=ChancePruning.NONE)
        expected = searched(plain(root_of(game, state), limits, config), state, limits, exact=True)
        assert searched(compiled(root_of(game, state), limits, config), state, limits, exact=True) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [{}, {"threads": 2}, {"memory_mb": 0.001}], ids=str)
@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_with_a_table_values_and_best_actions_agree(rules: Any, settings: dict[str, Any]) -> None:
    generator = random.Random(f"table {rules} {settings}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 5):
        limits = Limits(depth=generator.choice([2, 4, 5, 6]))
        config = AlphaBetaConfig(sooner=generator.random() < 0.7, memory_mb=8)
        how: dict[str, Any] = {"exact": generator.random() < 0.5, "ties": Ties.RANDOM}
        expected = searched(plain(root_of(game, state), limits, config), state, limits, **how)
        config = dataclasses.replace(config, **{"memory_mb": 1, **settings})
        found = searched(compiled(root_of(game, state), limits, config), state, limits, **how)
        assert (found.score, found.tied) == (expected.score, expected.tied), (state, limits)
        if "threads" not in settings:  # which of two equal proofs is found first is then a matter of luck
            assert (found.depth, found.stopped_by) == (expected.depth, expected.stopped_by), (state, limits)
            assert found.proven == expected.proven, (state, limits)


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


def test_one_thread_is_deterministic() -> None:
    game, limits = RulesGame(ConnectFour()), Limits(depth=9)
    state, config = game.initial_state(), AlphaBetaConfig(memory_mb=1)
    first, again = (searched(compiled(root_of(game, state), limits, config), state, limits) for _ in range(2))
    assert first == again


def test_where_it_does_not_fit_the_plain_search_is_left_to_do_it() -> None:
    def own(game: Any, state: Any) -> tuple[float, float]:
        return (0.0, 0.0)

    game = RulesGame(MNK())
    many = type("Many", (Take,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 40)})
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
