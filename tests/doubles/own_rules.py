"""Rules as a user would write them in a file of their own: dice, three players, nothing optional."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zermelo.envs import CHANCE


class PiglikeState(NamedTuple):
    first: int
    second: int
    turn: int
    seat: int
    rolling: int


class Piglike(NamedTuple):
    """Roll for points or hold them; a one loses the turn's points. The first to the goal wins."""

    goal: int = 10
    faces: int = 4

    def num_actions(self) -> int:
        return 2

    def num_outcomes(self) -> int:
        return self.faces

    def initial_state(self) -> PiglikeState:
        return PiglikeState(0, 0, 0, 0, 1)  # the first roll is made for the first player

    def to_move(self, state: PiglikeState) -> int:
        return CHANCE if state.rolling else state.seat

    def legal_actions(self, state: PiglikeState, actions: list[int]) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2

    def chance_outcomes(self, state: PiglikeState, outcomes: list[int], probabilities: list[float]) -> int:
        for face in range(self.faces):
            outcomes[face] = face
            probabilities[face] = 1.0 / self.faces
        return self.faces

    def result(self, state: PiglikeState, action: int) -> PiglikeState:
        first, second, turn, seat, rolling = state
        if rolling:
            if action == 0:
                return PiglikeState(first, second, 0, 1 - seat, 0)
            return PiglikeState(first, second, turn + action + 1, seat, 0)
        if action == 1:
            return PiglikeState(first, second, turn, seat, 1)
        if seat == 0:
            return PiglikeState(first + turn, second, 0, 1, 0)
        return PiglikeState(first, second + turn, 0, 0, 0)

    def is_terminal(self, state: PiglikeState) -> bool:
        return state.first >= self.goal or state.second >= self.goal

    def utility(self, state: PiglikeState, seat: int) -> int:
        winner = 0 if state.first >= self.goal else 1
        return 1 if seat == winner else -1


class HeapState(NamedTuple):
    left: int
    seat: int


class ThreeTake(NamedTuple):
    """Three players take one or two counters in turn; who takes the last one gets 2 and the others pay 1."""

    counters: int = 10

    def seats(self) -> int:
        return 3

    def num_actions(self) -> int:
        return 2

    def utility_bounds(self) -> tuple[int, int]:
        return (-1, 2)

    def initial_state(self) -> HeapState:
        return HeapState(self.counters, 0)

    def to_move(self, state: HeapState) -> int:
        return state.seat

    def legal_actions(self, state: HeapState, actions: list[int]) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2 if state.left >= 2 else 1

    def result(self, state: HeapState, action: int) -> HeapState:
        return HeapState(state.left - action - 1, (state.seat + 1) % 3)

    def is_terminal(self, state: HeapState) -> bool:
        return state.left == 0

    def utility(self, state: HeapState, seat: int) -> int:
        return 2 if seat == (state.seat + 2) % 3 else -1


class Pictured(NamedTuple):
    """One move, and what people see of it: ``fault`` breaks something."""

    fault: int = 0

    def num_actions(self) -> int:
        return 1

    def initial_state(self) -> HeapState:
        return HeapState(1, 0)

    def to_move(self, state: HeapState) -> int:
        return state.seat

    def legal_actions(self, state: HeapState, actions: list[int]) -> int:
        actions[0] = 0
        return 1

    def result(self, state: HeapState, action: int) -> HeapState:
        return HeapState(0, 1)

    def is_terminal(self, state: HeapState) -> bool:
        return state.left == 0

    def utility(self, state: HeapState, seat: int) -> int:
        return 0

    def observation(self, state: HeapState, seat: int) -> np.ndarray:
        return np.array([state.left * 5 + (100 if self.fault == 1 else 0), seat], dtype=np.int16)

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (2,), (0, 5), "int16"

    def image(self, state: HeapState) -> np.ndarray:
        return np.zeros((4, 5) if self.fault == 2 else (4, 5, 3), dtype=np.uint8)


game_of_five = ThreeTake(counters=5)


def make_rules(counters: int = 4) -> ThreeTake:
    """A function that returns rules."""
    return ThreeTake(counters)
