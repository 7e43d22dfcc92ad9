"""A chase over six places, in which positions come again, and oracles that know what each is worth.

::

    1 --- 0 --- 4 --- 5
    |     |
    2 --- 3

The cop (seat 0) wins on the robber's place, the robber (seat 1) on place 5, where only it may go. Either may stay
where it is (action 6); who does so after the other did ends the game in a draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from zermelo.envs.rules.bits import mix

ROADS = ((1, 3, 4), (0, 2, 2), (1, 3, 3), (0, 2, 2), (0, 5, 5), (5, 5, 5))
STAY, EXIT = 6, 5


class ChaseState(NamedTuple):
    cop: int
    robber: int
    mover: int
    stayed: int  # whether the last player did


class Chase(NamedTuple):
    cop: int = 1
    robber: int = 3
    limit: int = 3
    superko: int = 0

    def num_actions(self) -> int:
        return 7

    def initial_state(self) -> ChaseState:
        return ChaseState(self.cop, self.robber, 0, 0)

    def to_move(self, state: ChaseState) -> int:
        return state.mover

    def legal_actions(self, state: ChaseState, actions: list[int]) -> int:
        roads = ROADS[state.robber if state.mover else state.cop]
        count = 0
        for number in range(3):
            place = roads[number]
            if (number == 0 or place != roads[number - 1]) and (place != EXIT or state.mover == 1):
                actions[count] = place
                count += 1
        actions[count] = STAY
        return count + 1

    def result(self, state: ChaseState, action: int) -> ChaseState:
        cop, robber, mover, stayed = state
        if action == STAY:
            return ChaseState(cop, robber, 1 - mover, 1 + stayed)
        if mover == 0:
            return ChaseState(action, robber, 1, 0)
        return ChaseState(cop, action, 0, 0)

    def is_terminal(self, state: ChaseState) -> bool:
        return state.cop == state.robber or state.robber == EXIT or state.stayed == 2

    def utility(self, state: ChaseState, seat: int) -> int:
        won = 1 if state.cop == state.robber else -1 if state.robber == EXIT else 0
        return won if seat == 0 else -won

    def evaluation(self, state: ChaseState, seat: int) -> int:
        value = mix(state.cop * 6 + state.robber) % 801 - 400
        return value if seat == 0 else -value

    def repetition_key(self, state: ChaseState) -> int:
        return 0 if state.stayed else 1 + (state.cop * 6 + state.robber) * 2 + state.mover

    def repetition_limit(self) -> int:
        return self.limit

    def repetition_is_illegal(self) -> bool:
        return self.superko != 0


def legal(rules: Chase, state: ChaseState, path: Sequence[ChaseState]) -> list[int]:
    """The legal actions, where the path has all states up to this one; of the rules, only the moves are used."""
    actions = [0] * 7
    found = actions[: rules.legal_actions(state, actions)]
    if not rules.superko:
        return found
    return [a for a in found if a == STAY or [*path, rules.result(state, a)].count(rules.result(state, a)) < 2]


def minimax_with_past(rules: Chase, path: Sequence[ChaseState], depth: int) -> float:
    """What the last of some states is worth to the cop, looking so many moves ahead, by trying everything."""
    state = path[-1]
    if rules.is_terminal(state):
        return rules.utility(state, 0)
    if not rules.superko and not state.stayed and path.count(state) >= rules.limit:
        return 0
    if depth == 0:
        return rules.evaluation(state, 0) / 1024
    children = [rules.result(state, action) for action in legal(rules, state, path)]
    best = min if state.mover else max
    return best(minimax_with_past(rules, [*path, child], depth - 1) for child in children)


def retrograde_values() -> dict[ChaseState, int]:
    """What each state is worth to the cop with nothing behind it, from the ends backwards.

    Who can win can do so without going in circles, and who cannot lose can go on for ever: so the limit on
    repetitions is not asked.
    """
    rules = Chase()
    states = [ChaseState(c, r, m, s) for c in range(5) for r in range(6) for m in range(2) for s in range(3)]
    values = {state: rules.utility(state, 0) for state in states if rules.is_terminal(state)}
    while True:
        found: dict[ChaseState, Any] = {}
        for state in states:
            if state in values:
                continue
            sign = -1 if state.mover else 1
            after = [values.get(rules.result(state, action)) for action in legal(rules, state, ())]
            if sign in after:
                found[state] = sign
            elif all(value == -sign for value in after):
                found[state] = -sign
        if not found:
            return {state: values.get(state, 0) for state in states}
        values |= found
