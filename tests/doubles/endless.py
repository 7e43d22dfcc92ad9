"""Games that never end, in several ways: for tests that every search can be stopped."""

from typing import Any, NamedTuple

from doubles.small_games import PlainGame

from zermelo.envs import CHANCE, Traits
from zermelo.envs.game import Chance, Information, RewardSum


class Place(NamedTuple):
    """How many moves have been made, and where they led."""

    moves: int
    place: int


class Endless(NamedTuple):
    """Players in turn choose one of ``width`` actions, for ever; with a ``period`` states come again.

    Every ``chance``-th event is a die of two sides, or with 1 every event after the first move.
    """

    width: int = 2
    period: int = 0
    chance: int = 0

    def num_actions(self) -> int:
        return 2 if self.width < 2 else self.width

    def initial_state(self) -> Place:
        return Place(0, 0)

    def to_move(self, state: Place) -> int:
        if self.chance and state.moves and state.moves % self.chance == 0:
            return CHANCE
        return state.moves & 1

    def legal_actions(self, state: Place, actions: Any) -> int:
        for action in range(self.width):
            actions[action] = action
        return self.width

    def result(self, state: Place, action: int) -> Place:
        moves, place = state.moves + 1, (state.place * 2 + action + 1) & 0xFFFFFFFF
        if self.period:
            return Place(moves % self.period, 0)
        return Place(moves, place)

    def is_terminal(self, state: Place) -> bool:
        return False

    def utility(self, state: Place, seat: int) -> int:
        return 0


class EndlessChance(Endless):
    """The same, with the method that rules with chance have."""

    def chance_outcomes(self, state: Place, outcomes: Any, probabilities: Any) -> int:
        for side in range(2):
            outcomes[side] = side
            probabilities[side] = 0.5
        return 2


class EndlessGame(PlainGame):
    """A plain ``Game`` of ``length`` moves, or without end; players may decide together, or not see all."""

    def __init__(self, length: int | None = None, *, together: bool = False, hidden: bool = False) -> None:
        self.length, self.together = length, together
        self.traits = Traits(
            name="endless" if length is None else f"{length} moves",
            seat_names=("first", "second"),
            reward_sum=RewardSum.ZERO,
            chance=Chance.NONE,
            information=Information.HIDDEN if hidden or together else Information.PERFECT,
            simultaneous=together,
            utility_bounds=(-1.0, 1.0),
            terminal_rewards_only=True,
            num_actions=2,
        )
        if together:
            self.movers, self.actions_of, self.joint_result = self._movers, self._actions_of, self._joint_result
            self.hides_more = lambda: False
        if hidden:
            self.information_state_key = lambda state, seat: (state[0], seat)
            self.resample = lambda state, seat, generator: state

    def initial_state(self):
        return 0, 0

    def to_move(self, state):
        return state[0] & 1

    def legal_actions(self, state):
        return [] if self.is_terminal(state) else [0] if self.length else [0, 1]

    def result(self, state, action):
        return state[0] + 1, state[1] * 2 + action & 0xFFFFFF

    def is_terminal(self, state):
        return self.length is not None and state[0] >= self.length

    def utility(self, state):
        return (1.0, -1.0) if self.is_terminal(state) and state[0] % 3 == 1 else (0.0, 0.0)

    def _movers(self, state):
        return () if self.is_terminal(state) else (0, 1)

    def _actions_of(self, state, seat):
        return [0, 1] if self.length is None else [0] if seat else [0, 1]

    def _joint_result(self, state, actions, generator=None):
        return state[0] + 1, 0 if self.length else state[1] * 4 + actions[0] * 2 + actions[1] & 0xFFFFFF
