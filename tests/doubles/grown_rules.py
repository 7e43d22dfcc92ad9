"""Rules of a dice game whose tree is drawn by hashing: any seed is another game, and many ways lead together."""

from __future__ import annotations

from typing import NamedTuple

from zermelo.envs import CHANCE
from zermelo.envs.rules import GENERAL_SUM
from zermelo.envs.rules.bits import mix, shift_right


def _drawn(code: int, what: int, count: int) -> int:
    """A number below ``count`` that belongs to a code."""
    return shift_right(mix(code * 16 + what), 1) % count


class GrownState(NamedTuple):
    code: int
    left: int


class Grown(NamedTuple):
    """Whole-number utilities from -2 to 2 with many ties, early ends, chance after chance, turns in any order."""

    seed: int = 0
    height: int = 6
    width: int = 40
    players: int = 2

    def seats(self) -> int:
        return self.players

    def utility_sum(self) -> int:
        return 0 if self.players == 2 else GENERAL_SUM

    def num_actions(self) -> int:
        return 4

    def utility_bounds(self) -> tuple[int, int]:
        return (-2, 2)

    def initial_state(self) -> GrownState:
        code = self.seed
        while _drawn(code, 0, 10) < 4:
            code += 1
        return GrownState(code, self.height)

    def to_move(self, state: GrownState) -> int:
        draw = _drawn(state.code, 0, 10)
        return CHANCE if draw < 4 and not self.is_terminal(state) else draw % self.players

    def legal_actions(self, state: GrownState, actions: list[int]) -> int:
        count = 1 + _drawn(state.code, 1, 3)
        for action in range(count):
            actions[action] = action
        return count

    def chance_outcomes(self, state: GrownState, outcomes: list[int], probabilities: list[float]) -> int:
        count = 2 + _drawn(state.code, 1, 3)
        total = 0.0
        for outcome in range(count):
            outcomes[outcome] = outcome
            probabilities[outcome] = 1.0 + _drawn(state.code, 8 + outcome, 4)
            total += probabilities[outcome]
        for outcome in range(count):
            probabilities[outcome] /= total
        return count

    def result(self, state: GrownState, action: int) -> GrownState:
        return GrownState(self.seed + _drawn(state.code, 4 + action, self.width), state.left - 1)

    def is_terminal(self, state: GrownState) -> bool:
        return state.left == 0 or (state.left < self.height and _drawn(state.code, 2, 8) == 0)

    def utility(self, state: GrownState, seat: int) -> int:
        value = _drawn(state.code, 3, 5) - 2
        return value if seat == 0 else -value

    def evaluation(self, state: GrownState, seat: int) -> int:
        value = 512 * (_drawn(state.code, 3, 7) - 3)
        return value if seat == 0 else -value

    def ordering_hint(self, state: GrownState, action: int) -> int:
        return _drawn(state.code + action, 3, 3)
