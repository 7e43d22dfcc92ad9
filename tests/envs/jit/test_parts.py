"""What kernels call in unusual ways: each other, functions that the author compiled, and what makes arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from zermelo.agents import MinimaxAgent
from zermelo.agents.tree_search.textbook_minimax import minimax
from zermelo.envs.jit.compiling import Functions
from zermelo.envs.rules import RulesGame

pytestmark = pytest.mark.thorough


class PileState(NamedTuple):
    left: int
    mover: int


def is_even(number: int) -> int:
    return 1 if number == 0 else is_odd(number - 1)


def is_odd(number: int) -> int:
    return 0 if number == 0 else is_even(number - 1)


def one_more(number: int) -> int:
    return number + 1


@numba.njit
def next_seat(mover: Any) -> Any:
    """A compiled function of the author's, which calls another one."""
    return one_more_compiled(mover) % 2


one_more_compiled = numba.njit(one_more)
OFFSETS = np.array([1, 2, 3])


class Pile(NamedTuple):
    """Take one, two or three; who takes the last wins if the pile at the start was even, else loses."""

    start: int = 8

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> PileState:
        return PileState(self.start, 0)

    def to_move(self, state: PileState) -> int:
        return state.mover

    def legal_actions(self, state: PileState, actions: list[int]) -> int:
        count = min(state.left, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: PileState, action: int) -> PileState:
        taken = np.zeros(3, np.int64)
        taken[action] = OFFSETS[action]
        return PileState(state.left - taken.sum(), next_seat(state.mover))

    def is_terminal(self, state: PileState) -> bool:
        return state.left == 0

    def utility(self, state: PileState, seat: int) -> int:
        won = 1 if is_even(self.start) == 1 else -1
        return -won if seat == state.mover else won


def test_functions_that_call_each_other_and_compiled_ones_are_searched() -> None:
    for start in (8, 9):
        game = RulesGame(Pile(start))
        found = MinimaxAgent().search_state(game, game.initial_state())
        assert found.proven
        assert found.value == minimax(game, game.initial_state())


def test_parts_run_as_python_if_python_calls_them() -> None:
    compiled = Functions().compiled
    assert compiled(is_even)(4) == 1
    assert compiled(one_more)(4) == 5
