"""Games of many moves, compiled as plain: as deep, in any thread, with memory that grows."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import pytest

from zermelo.agents import BestReplyAgent, ExpectiminimaxAgent, MaxNAgent, ParanoidAgent, StoppedBy
from zermelo.envs import CHANCE
from zermelo.envs.rules import GENERAL_SUM, RulesGame


class Walk(NamedTuple):
    left: int
    rolled: int


class Corridor(NamedTuple):
    """One way to walk, for so many moves; with dice that have one side, if asked for, before each."""

    length: int = 1500
    players: int = 3
    dice: int = 0

    def seats(self) -> int:
        return self.players

    def utility_sum(self) -> int:
        return GENERAL_SUM

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

    def chance_outcomes(self, state: Walk, outcomes: list[int], probabilities: list[float]) -> int:
        outcomes[0] = 0
        probabilities[0] = 1.0
        return 1

    def result(self, state: Walk, action: int) -> Walk:
        if state.rolled < self.dice:
            return Walk(state.left, state.rolled + 1)
        return Walk(state.left - 1, 0 if state.left > 1 else self.dice)

    def is_terminal(self, state: Walk) -> bool:
        return state.left == 0

    def utility(self, state: Walk, seat: int) -> int:
        return 1 if seat == 0 else 0


SEARCHES = [
    (MaxNAgent(depth="full"), Corridor()),
    pytest.param(MaxNAgent(depth="full"), Corridor(dice=1), marks=pytest.mark.slow),
    pytest.param(ParanoidAgent(depth="full"), Corridor(dice=1), marks=pytest.mark.slow),
    pytest.param(BestReplyAgent(depth="full"), Corridor(players=2), marks=pytest.mark.slow),
    (ParanoidAgent(depth="full"), Corridor()),
    (ExpectiminimaxAgent(depth="full", pruning="none"), Corridor(players=1, dice=1)),
    (ExpectiminimaxAgent(depth="full", pruning="star2"), Corridor(players=1, dice=1)),
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
    found: list[Any] = []
    game = RulesGame(rules._replace(length=990))
    agent.search_state(RulesGame(rules._replace(length=2)))  # the compiler needs more
    before = threading.stack_size(kilobytes << 10)
    try:
        thread = threading.Thread(target=lambda: found.append(agent.search_state(game)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert [result.depth for result in found] == [990]
    assert found[0].proven


def test_chance_after_chance_needs_memory_and_stack_too() -> None:
    game = RulesGame(Corridor(length=300, players=1, dice=50))
    found = ExpectiminimaxAgent(depth="full", memory_mb=0).search_state(game)
    assert (found.depth, found.nodes, found.proven) == (300, 2 + 299 * 51, True)
