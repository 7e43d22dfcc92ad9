"""Compiled minimax and alpha-beta against the plain ones: the same nodes, lines, values and best actions."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest
from oracles.compared_searches import random_positions

from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta, CompiledMinimax
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import Ordering, Ties
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.iterative_deepening import Iteration, deepen
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.agents.search.tree.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.tree.full_width import FullWidthSearch
from zermelo.envs import CHANCE, UnsupportedGameError
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


class Answer(NamedTuple):
    iteration: Iteration | None
    depth: int
    stopped_by: StoppedBy
    nodes: int
    deepest: int


def search(search: Any, state: Any, limits: Limits, *, step: bool, exact: bool, ties: Ties) -> Answer:
    found = deepen(search, state, limits, step_by_step=step, exact=exact, ties=ties, watch=lambda *_: True)
    return Answer(*found, search.budget.nodes, search.budget.deepest)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_without_a_table_everything_agrees(rules: Any, seed: int) -> None:
    generator = random.Random(f"{seed} {rules}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 12):
        depth, nodes = generator.choice([1, 2, 3, 4, 5]), generator.choice([None, None, 300])
        sooner, use_bounds = generator.random() < 0.7, generator.random() < 0.7
        ordering, quiescence = generator.choice(list(Ordering)), generator.choice([0, 3])
        exact, ties = generator.random() < 0.5, generator.choice(list(Ties))
        step = nodes is not None or generator.random() < 0.5
        limits = Limits(depth=depth, nodes=nodes)
        plain = AlphaBetaSearch(
            game,
            Budget(limits),
            EVALUATOR,
            sooner=sooner,
            use_bounds=use_bounds,
            order=MoveOrder(game, ordering),
            table=None,
            quiescence=quiescence,
        )
        compiled = compiled_search(
            CompiledAlphaBeta,
            game,
            EVALUATOR,
            Budget(limits),
            limits=limits,
            sooner=sooner,
            use_bounds=use_bounds,
            ordering=ordering,
            quiescence=quiescence,
        )
        assert compiled is not None
        expected = search(plain, state, limits, step=step, exact=exact, ties=ties)
        assert search(compiled, state, limits, step=step, exact=exact, ties=ties) == expected, (
            seed,
            state,
            limits,
        )


@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_minimax_agrees(rules: Any) -> None:
    generator = random.Random(f"minimax {rules}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 12):
        limits = Limits(depth=generator.choice([1, 2, 3, 4]), nodes=generator.choice([None, 100]))
        sooner = generator.random() < 0.5
        plain = FullWidthSearch(game, Budget(limits), EVALUATOR, sooner=sooner)
        compiled = compiled_search(CompiledMinimax, game, EVALUATOR, Budget(limits), limits=limits, sooner=sooner)
        assert compiled is not None
        expected = search(plain, state, limits, step=True, exact=True, ties=Ties.FIRST)
        assert search(compiled, state, limits, step=True, exact=True, ties=Ties.FIRST) == expected, (state, limits)


@pytest.mark.parametrize("settings", [{}, {"symmetric": True}, {"threads": 2}, {"memory_mb": 0.001}], ids=str)
@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_with_a_table_values_and_best_actions_agree(rules: Any, settings: dict[str, Any]) -> None:
    generator = random.Random(f"table {rules} {settings}")
    game = RulesGame(rules)
    for state in random_positions(game, generator, 5):
        limits = Limits(depth=generator.choice([2, 4, 5, 6]))
        sooner, exact = generator.random() < 0.7, generator.random() < 0.5
        plain = AlphaBetaSearch(
            game,
            Budget(limits),
            EVALUATOR,
            sooner=sooner,
            use_bounds=True,
            order=MoveOrder(game, Ordering.AUTO),
            table=TranspositionTable(8),
        )
        compiled = compiled_search(
            CompiledAlphaBeta,
            game,
            EVALUATOR,
            Budget(limits),
            limits=limits,
            sooner=sooner,
            **{"memory_mb": 1, **settings},
        )
        assert compiled is not None
        expected = search(plain, state, limits, step=True, exact=exact, ties=Ties.RANDOM)
        found = search(compiled, state, limits, step=True, exact=exact, ties=Ties.RANDOM)
        assert found.iteration is not None
        assert expected.iteration is not None
        assert found.iteration.best is not None
        assert expected.iteration.best is not None
        assert found.iteration.best.score == expected.iteration.best.score, (state, limits)
        best = [move.action for move in expected.iteration.tied()]
        assert [move.action for move in found.iteration.tied()] == best, (state, limits)
        if "threads" not in settings:  # which of two equal proofs is found first is then a matter of luck
            assert found[1:3] == expected[1:3], (state, limits)
            assert found.iteration.proven == expected.iteration.proven, (state, limits)


def test_known_node_counts() -> None:
    game = RulesGame(MNK())
    state = game.initial_state()

    def nodes(full_width: bool = False, window: bool = False) -> int:
        limits = Limits()
        budget, settings = Budget(limits), {"sooner": False, "use_bounds": window, "ordering": Ordering.FIXED}
        kind: Any = CompiledAlphaBeta
        if full_width:
            kind, settings = CompiledMinimax, {"sooner": False}
        compiled = compiled_search(kind, game, None, budget, limits=limits, **settings)
        assert compiled is not None
        found = compiled.visit(state, float("inf"), *compiled.window(state), 0)
        assert found.score == (0.0, 0.0)
        assert found.proven
        return compiled.budget.nodes

    assert nodes(full_width=True) == 549_946
    assert nodes() == 18_297
    assert nodes(window=True) == 16_811


def test_one_thread_is_deterministic() -> None:
    game = RulesGame(ConnectFour())

    def run() -> Answer:
        limits = Limits(depth=9)
        compiled = compiled_search(CompiledAlphaBeta, game, EVALUATOR, Budget(limits), limits=limits, memory_mb=1)
        return search(compiled, game.initial_state(), limits, step=True, exact=False, ties=Ties.RANDOM)

    assert run() == run()


def test_where_it_does_not_fit_the_plain_search_is_left_to_do_it() -> None:
    limits = Limits(depth=2)
    assert compiled_search(CompiledAlphaBeta, object(), None, Budget(limits), limits=limits) is None
    evaluator = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluator of the user's own
    assert compiled_search(CompiledAlphaBeta, RulesGame(MNK()), evaluator, Budget(limits), limits=limits) is None
    many = type("Many", (Take,), {"__slots__": (), "utility_bounds": lambda self: (0, 1 << 40)})
    assert compiled_search(CompiledAlphaBeta, RulesGame(many()), None, Budget(limits), limits=limits) is None


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
    limits = Limits()
    compiled = compiled_search(CompiledAlphaBeta, game, None, Budget(limits), limits=limits)
    assert isinstance(compiled, CompiledAlphaBeta)
    state = game.initial_state()
    with pytest.raises(UnsupportedGameError, match=r"Endless goes on for more than \d+ moves.*depth="):
        compiled.visit(state, float("inf"), *compiled.window(state), 0)
    assert CHANCE == -1
