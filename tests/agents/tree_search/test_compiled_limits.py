"""Compiled searches at their limits: nodes that threads share, long games, small stacks, rules without fields."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from zermelo.agents import (
    AlphaBetaAgent,
    BestReplyAgent,
    ExpectiminimaxAgent,
    MaxNAgent,
    MinimaxAgent,
    ParanoidAgent,
)
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.kernels import threads
from zermelo.agents.kernels.layout import ASKED, OUT_OF_NODES, KernelRecord
from zermelo.agents.kernels.threads import run_first_done
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs import CHANCE, UnsupportedGameError
from zermelo.envs.rules import GENERAL_SUM, RulesGame


class Walk(NamedTuple):
    left: int
    rolled: int


class Corridor(NamedTuple):
    """One way to walk, for so many moves; the first player wins at its end."""

    length: int = 1500
    players: int = 3
    dice: int = 0

    def seats(self) -> int:
        return self.players

    def utility_sum(self) -> int:
        return GENERAL_SUM if self.players > 2 else 0

    def utility_bounds(self) -> tuple[int, int]:
        return (-1, 1)

    def num_actions(self) -> int:
        return 1

    def initial_state(self) -> Walk:
        return Walk(self.length, self.dice)

    def to_move(self, state: Walk) -> int:
        return CHANCE if state.rolled < self.dice else state.left % self.players

    def legal_actions(self, state: Walk, actions: list[int]) -> int:
        actions[0] = 0
        return 1

    def result(self, state: Walk, action: int) -> Walk:
        if state.rolled < self.dice:
            return Walk(state.left, state.rolled + 1)
        return Walk(state.left - 1, 0 if state.left > 1 else self.dice)

    def is_terminal(self, state: Walk) -> bool:
        return state.left == 0

    def utility(self, state: Walk, seat: int) -> int:
        return 1 if seat == 0 else -1 if self.players == 2 else 0


class DicedCorridor(Corridor):
    """The same with dice that have one side before each move."""

    __slots__ = ()

    def chance_outcomes(self, state: Walk, outcomes: list[int], probabilities: list[float]) -> int:
        outcomes[0] = 0
        probabilities[0] = 1.0
        return 1


class Wide(NamedTuple):
    place: int
    cells: tuple[int, ...]


class WideCorridor(NamedTuple):
    """A corridor with a state of 129 numbers, so that every move takes kilobytes of stack."""

    length: int

    def num_actions(self) -> int:
        return 1

    def initial_state(self) -> Wide:
        return Wide(0, (0,) * 128)

    def to_move(self, state: Wide) -> int:
        return state.place % 2

    def legal_actions(self, state: Wide, out: Any) -> int:
        out[0] = 0
        return 1

    def result(self, state: Wide, action: int) -> Wide:
        return Wide(state.place + 1 + action, state.cells)

    def is_terminal(self, state: Wide) -> bool:
        return state.place >= self.length

    def utility(self, state: Wide, seat: int) -> int:
        return 1 if seat == 0 else -1


def in_thread(stack: int, call: Callable[[], Any]) -> Any:
    """What a call returns in a thread with so many bytes of stack."""
    answers: list[Any] = []
    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=lambda: answers.append(call()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return answers[0]


def test_a_thread_that_runs_out_of_nodes_leaves_the_answer_to_the_other() -> None:
    poor, rich = KernelRecord(), KernelRecord()
    done = threading.Event()

    def call(search: KernelRecord) -> int:
        if search is poor:
            search.stop = OUT_OF_NODES
            done.set()
            return 0
        done.wait()
        return 42

    for _ in range(100):
        poor.stop = rich.stop = 0
        done.clear()
        assert run_first_done(call, [poor, rich], lambda: None) == (0, rich)


def test_what_a_stopped_thread_returns_is_no_answer() -> None:
    first, second = KernelRecord(), KernelRecord()

    def call(search: KernelRecord) -> int:
        if search is second:
            return 42
        while search.stop == 0:
            pass
        return 0

    assert run_first_done(call, [first, second], lambda: None) == (0, second)
    assert first.stop == ASKED


@pytest.mark.thorough
@pytest.mark.parametrize("agent", [AlphaBetaAgent(depth="full"), MinimaxAgent()])
def test_games_as_long_as_plain_searches_take_are_searched_compiled(agent: SearchAgent) -> None:
    found = agent.search_state(RulesGame(Corridor(MAX_PLIES, 2)))
    assert (found.value, found.proven, found.plies, found.nodes) == (1.0, True, MAX_PLIES, MAX_PLIES + 1)
    assert len(found.principal_variation) == MAX_PLIES
    with pytest.raises(UnsupportedGameError, match=f"more than {MAX_PLIES} moves from here"):
        agent.search_state(RulesGame(Corridor(MAX_PLIES + 1, 2)))


@pytest.mark.thorough
def test_a_long_game_loses_no_finished_iteration() -> None:
    found = AlphaBetaAgent(nodes=20_000, evaluator="rewards").search_state(RulesGame(Corridor(players=2)))
    assert (found.depth, found.nodes) == (198, 20_000)


@pytest.mark.thorough
def test_depths_beyond_a_thousand_are_not_taken_for_each_other() -> None:
    agent = AlphaBetaAgent(depth=1600, evaluator="rewards")
    found = agent.search_state(RulesGame(Corridor(players=2)))
    assert (found.value, found.proven, found.depth) == (1.0, True, 1500)


@pytest.mark.thorough
def test_the_callers_stack_does_not_matter() -> None:
    found = in_thread(1 << 18, lambda: MinimaxAgent().search_state(RulesGame(Corridor(MAX_PLIES, 2))))
    assert found.plies == MAX_PLIES


@pytest.mark.thorough
def test_wide_states_are_searched_as_far_as_the_stack_goes() -> None:
    found = MinimaxAgent().search_state(RulesGame(WideCorridor(1500)))
    assert found.plies == 1500


@pytest.mark.thorough
def test_a_stack_that_is_too_small_is_an_error_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_SPARE_STACK", threads._STACK - (1 << 16))
    with pytest.raises(UnsupportedGameError, match=r"more than \d+ moves from here.*limit the search with depth="):
        MinimaxAgent().search_state(RulesGame(WideCorridor(1500)))


SEARCHES = [
    (MaxNAgent(depth="full"), Corridor()),
    pytest.param(MaxNAgent(depth="full"), DicedCorridor(dice=1), marks=pytest.mark.slow),
    pytest.param(ParanoidAgent(depth="full"), DicedCorridor(dice=1), marks=pytest.mark.slow),
    pytest.param(BestReplyAgent(depth="full"), Corridor(players=2), marks=pytest.mark.slow),
    (ParanoidAgent(depth="full"), Corridor()),
    (ExpectiminimaxAgent(depth="full", pruning="none"), DicedCorridor(players=1, dice=1)),
    (ExpectiminimaxAgent(depth="full", pruning="star2"), DicedCorridor(players=1, dice=1)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("agent", "rules"), SEARCHES, ids=str)
def test_long_games_are_searched_to_their_end(agent: Any, rules: Corridor) -> None:
    found = agent.search_state(RulesGame(rules))
    assert (found.stopped_by, found.depth, found.proven) == (StoppedBy.COMPLETED, rules.length, True)
    assert found.values_by_seat[0] == 1
    assert len(found.principal_variation) == (1 if rules.dice else rules.length)


@pytest.mark.thorough
@pytest.mark.parametrize("kilobytes", [256, 2048])
@pytest.mark.parametrize(("agent", "rules"), SEARCHES, ids=str)
def test_so_they_are_in_threads_with_little_stack(agent: Any, rules: Corridor, kilobytes: int) -> None:
    agent.search_state(RulesGame(rules._replace(length=2)))  # the compiler needs more
    found = in_thread(kilobytes << 10, lambda: agent.search_state(RulesGame(rules._replace(length=990))))
    assert (found.depth, found.proven) == (990, True)


@pytest.mark.thorough
def test_chance_after_chance_needs_memory_and_stack_too() -> None:
    game = RulesGame(DicedCorridor(length=300, players=1, dice=50))
    found = ExpectiminimaxAgent(depth="full", memory_mb=0).search_state(game)
    assert (found.depth, found.nodes, found.proven) == (300, 2 + 299 * 51, True)
