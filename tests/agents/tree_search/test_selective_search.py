"""Late move reductions, null moves, futility: compiled only, and never in a proof."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest
from doubles.checked import assert_keeps_contract
from oracles.compared_searches import compiled, plain, random_positions, searched
from oracles.plain_minimax import Values

from zermelo.agents import AlphaBetaAgent, SearchResult
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.settings import Ties
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import MNK, Breakthrough, ConnectFour, Othello
from zermelo.envs.rules import RulesGame

EVALUATOR = make_evaluator("game")


class HeapState(NamedTuple):
    left: int
    mover: int
    lead: int = 0


class Heap(NamedTuple):
    """Take one to three of a heap; who takes the last one gets another point. One point to who takes two.

    Taking two gives another turn. To have to move is often bad, so that null moves go wrong.
    """

    start: int = 13

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> HeapState:
        return HeapState(self.start, 0, 0)

    def to_move(self, state: HeapState) -> int:
        return state.mover

    def legal_actions(self, state: HeapState, actions: list[int]) -> int:
        count = min(state.left, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: HeapState, action: int) -> HeapState:
        left = state.left - action - 1
        sign = 1 if state.mover == 0 else -1
        gained = (1 if action == 1 else 0) + (3 if left == 0 else 0)
        return HeapState(left, state.mover if action == 1 else 1 - state.mover, state.lead + sign * gained)

    def is_terminal(self, state: HeapState) -> bool:
        return state.left == 0

    def utility(self, state: HeapState, seat: int) -> int:
        return state.lead if seat == 0 else -state.lead

    def utility_bounds(self) -> tuple[int, int]:
        return (-self.start, self.start)

    def evaluation(self, state: HeapState, seat: int) -> int:
        worth = 1024 * state.lead + 300 * (state.left % 4) * (1 if state.mover == 0 else -1)
        return worth if seat == 0 else -worth

    def is_noisy(self, state: HeapState, action: int) -> bool:
        return state.left == action + 1

    def pass_turn(self, state: HeapState) -> HeapState:
        return HeapState(state.left, 1 - state.mover, state.lead)


_SLOW = [
    pytest.param(rules, marks=pytest.mark.slow)
    for rules in (Breakthrough(6, 4, 2), Othello(4, 4), Othello(4, 5, True))
]
GAMES = (MNK(m=4, n=3, k=3), ConnectFour(4, 5), Heap(), *_SLOW)


@pytest.mark.thorough
def test_passing_in_the_heap_keeps_the_contract() -> None:
    assert_keeps_contract(Heap(), games=5)


def test_plain_searches_go_without() -> None:
    game = RulesGame(Heap())
    found, full = (
        searched(
            plain(SearchSetup(game, HeapState(9, 0), EVALUATOR), Limits(depth=6), config),
            HeapState(9, 0),
            Limits(depth=6),
        )
        for config in (AlphaBetaConfig(late_move_reductions=1, null_move=1, futility=0.5), AlphaBetaConfig())
    )
    assert found == full


@pytest.mark.parametrize("rules", GAMES, ids=str)
@pytest.mark.parametrize("setting", ["late_move_reductions", "null_move", "futility"])
@pytest.mark.thorough
def test_each_setting_changes_what_is_searched(setting: str, rules: Any) -> None:
    if setting == "null_move" and not hasattr(rules, "pass_turn"):
        return
    generator = random.Random(f"{setting} {rules}")
    game, limits = RulesGame(rules), Limits(depth=7)
    values = {"late_move_reductions": 1, "null_move": 1, "futility": 0.25}
    nodes = []
    for config in (AlphaBetaConfig(memory_mb=1), AlphaBetaConfig(memory_mb=1, **{setting: values[setting]})):
        states = random_positions(game, generator, 10, longest=10)
        found = [searched(compiled(SearchSetup(game, at, EVALUATOR), limits, config), at, limits) for at in states]
        again = [searched(compiled(SearchSetup(game, at, EVALUATOR), limits, config), at, limits) for at in states]
        assert found == again
        nodes.append(sum(answer.nodes for answer in found))
        generator = random.Random(f"{setting} {rules}")
    assert nodes[0] != nodes[1]


@pytest.mark.thorough
@pytest.mark.parametrize("memory_mb", [0, 1])
@pytest.mark.parametrize(
    "rules",
    [
        MNK(m=4, n=3, k=3),
        Heap(),
        *(pytest.param(rules, marks=pytest.mark.slow) for rules in (Breakthrough(4, 3, 1), Othello(4, 4))),
    ],
    ids=str,
)
def test_what_is_proven_is_true(rules: Any, memory_mb: float) -> None:
    generator = random.Random(f"proven {rules} {memory_mb}")
    game = RulesGame(rules)
    truth = Values(game)
    proven = 0
    for _ in range(12):
        state = game.initial_state()
        for _ in range(generator.randrange(4, 9)):
            if not game.is_terminal(state):
                before, state = state, game.result(state, generator.choice(game.legal_actions(state)))
        state = before if game.is_terminal(state) else state
        limits = Limits(depth=generator.choice([3, 4, 6, 8, 10]))
        config = AlphaBetaConfig(
            late_move_reductions=generator.choice([0, 1, 2]),
            null_move=generator.choice([1, 2]),
            futility=generator.choice([0.0, 0.25]),
            memory_mb=memory_mb,
        )
        search = compiled(SearchSetup(game, state, EVALUATOR), limits, config)
        found = searched(search, state, limits, exact=generator.random() < 0.5, ties=Ties.RANDOM)
        proven += found.proven
        if found.proven:
            assert found.score[0] == truth.of(state), (state, limits, config)
        for action, score, is_exact, is_proven, *_ in found.moves:
            if is_proven and is_exact:
                assert score[0] == truth.of(game.result(state, action)), (state, action, config)
    assert proven, "the test shows nothing"


@pytest.mark.thorough
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize(
    "rules",
    [
        MNK(),
        Heap(9),
        *(pytest.param(rules, marks=pytest.mark.slow) for rules in (Breakthrough(4, 3, 1), Othello(4, 4))),
    ],
    ids=str,
)
def test_a_tree_searched_to_its_ends_is_then_searched_without_reductions(rules: Any, ties: Ties) -> None:
    """Null moves alone would never prove a draw, and could go on deepening for ever."""
    game = RulesGame(rules)
    state = game.initial_state()
    for action in (0, 0, 0) if isinstance(rules, Othello) else ():
        state = game.result(state, game.legal_actions(state)[action])
    full = AlphaBetaAgent(depth="full", ties=ties).search_state(game, state)
    found = AlphaBetaAgent(
        nodes=20_000_000, late_move_reductions=1, null_move=1, ties=ties, quiescence=0
    ).search_state(game, state)
    assert found.stopped_by is StoppedBy.COMPLETED
    assert found.proven
    assert found.value == full.value == Values(game).of(state) * (1 if game.to_move(state) == 0 else -1)


def test_how_soon_is_not_told_where_a_sooner_win_may_have_been_searched_less_deep() -> None:
    game = RulesGame(MNK(m=4, n=4, k=3))
    plain = AlphaBetaAgent(depth=6).search_state(game)
    assert (plain.proven, plain.plies) == (True, 5)
    for settings in ({"late_move_reductions": 2}, {"null_move": 1}):
        found = AlphaBetaAgent(depth=6, **settings).search_state(game)
        assert (found.proven, found.value, found.plies) == (True, 1.0, None)


def test_a_search_to_the_end_at_once_leaves_nothing_out() -> None:
    game = RulesGame(MNK(m=4, n=3, k=3))

    def found(**settings: Any) -> SearchResult:
        return AlphaBetaAgent(depth="full", ties="first", **settings).search_state(game)

    plain, asked = found(), found(late_move_reductions=1, null_move=1, futility=0.01)
    assert asked.proven
    assert (asked.action, asked.value, asked.plies) == (plain.action, plain.value, plain.plies)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rules", "depth", "settings"),
    [
        (Breakthrough(), 6, {"late_move_reductions": 3}),
        pytest.param(Othello(), 8, {"late_move_reductions": 3}, marks=pytest.mark.slow),
        pytest.param(Othello(), 8, {"null_move": 2}, marks=pytest.mark.slow),
        pytest.param(Othello(), 8, {"late_move_reductions": 3, "null_move": 2}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_same_depth_takes_fewer_nodes(rules: Any, depth: int, settings: dict[str, int]) -> None:
    """In five positions together: at the start, where all moves are alike, there is little to leave out."""
    game = RulesGame(rules)
    states = random_positions(game, random.Random(1), 5)

    def nodes(**settings: Any) -> int:
        return sum(AlphaBetaAgent(depth=depth, **settings).search_state(game, state).nodes for state in states)

    assert nodes(**settings) < 0.9 * nodes()


def test_a_game_without_a_pass_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        UnsupportedGameError,
        match=r"^null_move=2 needs a game in which a turn can be skipped \(pass_turn\), which ConnectFour is not: "
        r"leave null_move out$",
    ):
        AlphaBetaAgent(depth=3, null_move=2).search_state(ConnectFour())


@pytest.mark.thorough
def test_a_game_can_say_what_pays() -> None:
    class Telling(Heap):
        __slots__ = ()

        def search_settings(self, search: str) -> dict[str, float]:
            return {"late_move_reductions": 1, "futility": 0.5} if search == "selective" else {}

    def nodes(**settings: Any) -> int:
        return AlphaBetaAgent(depth=8, quiescence=0, **settings).search_state(RulesGame(Telling(17))).nodes

    assert nodes() > nodes(selective="game") == nodes(late_move_reductions=1, futility=0.5)
    assert nodes(selective="game", late_move_reductions=2) == nodes(late_move_reductions=2, futility=0.5)
