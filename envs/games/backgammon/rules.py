"""Backgammon and Hypergammon, without the doubling cube.

Rules: those of the World Backgammon Federation, money play without cube and Jacoby rule. Each player's points are
numbered from its own side, 24 down to 1; a player's point ``p`` is the other player's ``25 - p``. Checkers move
down, by the numbers on two dice, to points where the other player has at most one checker; a single one that is
hit goes to the bar, from which it must enter (by a six on point 19) before anything else moves. A player with all
checkers on points 1 to 6 may bear off: from the point of the number, or from the highest occupied point if the
number is higher than that. A double is played four times. As many of the numbers must be played as can be; if only
one of two can, the higher one. The first to bear off all checkers wins: one point; a gammon, two points, if the
other has borne off none; a backgammon, three, if that player then has a checker on the bar or on its points 19 to
24. Both players roll a die first; the higher one starts with these two numbers, equal ones are rolled again.

Actions: a number means the same at every position: ``676 * order + 26 * first + second``.

- ``first`` and ``second`` are where the checkers come from, seen by the mover: 1 to 24 a point, 25 the bar, 0
  nothing is played. The first one is played first; ``second`` may be where the first one arrived.
- ``order`` is 0 if the higher number is played first, 1 if the lower one is.
- 0 plays nothing, when nothing can be played.

A double is two actions of two checkers each. Of actions that lead to the same position with the same checkers only
one is legal: the higher number is played first unless that gives something else, and the checkers of a double come
from the higher points first, through both actions.

Chance outcomes: ``6 * (high - 1) + low - 1`` for the numbers of a roll, a double once; at the opening
``6 * (first player's die - 1) + second player's die - 1``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.game import CHANCE
from zermelo.envs.games.backgammon.features import count_at
from zermelo.envs.games.backgammon.network import backgammon_weights, expected, hypergammon_weights
from zermelo.envs.games.backgammon.picture import paint, path, spots
from zermelo.envs.games.backgammon.plays import (
    BAR,
    ORDER,
    PLACES,
    both_numbers,
    can_play,
    doubles,
    lower_number_first,
    played,
)
from zermelo.envs.pictures.squares import Squares
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.protocol import EVALUATION_UNIT

_OPENING: Final = -1


class BackgammonState(NamedTuple):
    """The mover's checkers, the other player's, each seen from its own side, the seat to move, and the roll.

    Places 0 to 12 are in the first integer and 13 to 25 in the second, four bits each: 0 is what was borne off, 25
    the bar. The roll is 0 before it, -1 before the opening roll, else ``8 * high + low``; in the second half of a
    double, 64 times the place from which the first half's last checker came more than that.
    """

    low: int
    high: int
    other_low: int
    other_high: int
    seat: int
    roll: int


class _BackgammonParameters(NamedTuple):
    most_points: int = 1


class Backgammon(_BackgammonParameters):
    """Bring all checkers home and off the board before the other player does.

    Attributes:
        most_points: What a game can count: 1, a win is a win; 2, gammons count double; 3, backgammons triple.
    """

    __slots__ = ()
    board_squares = Squares(size=None, spots=spots, path=path)

    def check(self) -> None:
        require_limits(self, most_points=(1, 3))

    def num_actions(self) -> int:
        return 2 * ORDER

    def num_outcomes(self) -> int:
        return 36

    def utility_bounds(self) -> tuple[int, int]:
        return -self.most_points, self.most_points

    def initial_state(self) -> BackgammonState:
        low, high = 5 << 4 * 6 | 3 << 4 * 8, 5 | 2 << 4 * (24 - 13)
        return BackgammonState(low, high, low, high, 0, _OPENING)

    def to_move(self, state: BackgammonState) -> int:
        return state.seat if state.roll > 0 else CHANCE

    def legal_actions(self, state: BackgammonState, actions: list[int]) -> int:
        own = state.low, state.high, state.other_low, state.other_high
        high_die, low_die = state.roll >> 3 & 7, state.roll & 7
        if high_die == low_die:
            return doubles(own, state.roll, actions)
        count = both_numbers(own, high_die, low_die, actions)
        count += lower_number_first(own, high_die, low_die, actions, count)
        if count:
            return count
        for order in range(2):
            die = low_die if order else high_die
            for place in range(1, PLACES):
                if can_play(own, place, die):
                    actions[count] = order * ORDER + PLACES * place
                    count += 1
            if count:
                return count
        actions[0] = 0
        return 1

    def chance_outcomes(self, state: BackgammonState, outcomes: list[int], probabilities: list[float]) -> int:
        """Writes the 21 rolls; at the opening the 30 that are not doubles."""
        count = 0
        for one in range(6):
            for two in range(6):
                if (one != two) if state.roll == _OPENING else (one >= two):
                    outcomes[count] = 6 * one + two
                    rolls = 30.0 if state.roll == _OPENING else 36.0 if one == two else 18.0
                    probabilities[count] = 1.0 / rolls
                    count += 1
        return count

    def result(self, state: BackgammonState, action: int) -> BackgammonState:
        low, high, other_low, other_high, seat, roll = state
        if roll <= 0:
            one, two = action // 6 + 1, action % 6 + 1
            if roll == _OPENING and two > one:
                return BackgammonState(other_low, other_high, low, high, 1 - seat, 8 * two + one)
            return BackgammonState(low, high, other_low, other_high, seat, 8 * one + two)
        high_die, low_die = roll >> 3 & 7, roll & 7
        first, second = action % ORDER // PLACES, action % PLACES
        if action >= ORDER:
            high_die, low_die = low_die, high_die
        own = low, high, other_low, other_high
        if first:
            own = played(own, first, high_die)
        if second:
            own = played(own, second, low_die)
        if own[0] & 15 == self._checkers():
            return BackgammonState(own[0], own[1], own[2], own[3], seat, roll)
        if high_die == low_die and roll < 64 and second:
            return BackgammonState(own[0], own[1], own[2], own[3], seat, 64 * second + roll)
        return BackgammonState(own[2], own[3], own[0], own[1], 1 - seat, 0)

    def is_terminal(self, state: BackgammonState) -> bool:
        return state.low & 15 == self._checkers()

    def utility(self, state: BackgammonState, seat: int) -> int:
        points = 1
        if state.other_low & 15 == 0:
            points = 3 if state.other_high >> 4 * (19 - 13) else 2
        points = min(points, self.most_points)
        return points if seat == state.seat else -points

    def evaluation(self, state: BackgammonState, seat: int) -> int:
        """The expected utility by a network (``zermelo.envs.games.backgammon.network``)."""
        most = EVALUATION_UNIT * self.most_points - 1
        worth = min(max(self.estimate(state), -most), most)
        return worth if seat == state.seat else -worth

    def estimate(self, state: BackgammonState) -> int:
        """The expected utility of the player to move, in 1024ths of a point.

        It is that before a roll; one that is known counts as the pips by which it is above the average. Where half
        a double has been played, the other half is played as looks best: a position in between says little.
        """
        low, high, other_low, other_high, seat, roll = state
        if roll == _OPENING:
            return 0
        weights = self._weights()
        if roll < 64:
            high_die, low_die = roll >> 3 & 7, roll & 7
            rolled = 0 if roll == 0 else high_die + low_die - 8
            if roll > 0 and high_die == low_die:
                rolled += 2 * high_die
            return expected(low, high, other_low, other_high, rolled, self.most_points, weights)
        actions = np.empty(ORDER, np.int64)
        best = -4 * EVALUATION_UNIT
        for index in range(doubles((low, high, other_low, other_high), roll, actions)):
            after = self.result(state, int(actions[index]))
            if after.roll > 0:
                return EVALUATION_UNIT * self.utility(after, seat)
            low, high, other_low, other_high, _, _ = after
            best = max(best, -expected(low, high, other_low, other_high, 0, self.most_points, weights))
        return best

    def continues_move(self, state: BackgammonState) -> bool:
        return state.roll >= 64

    def search_settings(self, search: str) -> dict[str, Any]:
        return {"beam_width": 1} if search == "expectiminimax" else {}

    def evaluates_before_chance(self) -> bool:
        return True

    def text(self, state: BackgammonState) -> str:
        """The board as the first player (X) sees it: points 13 to 24 above, 12 to 1 below."""
        sides = [(state.low, state.high), (state.other_low, state.other_high)]
        first, second = sides if state.seat == 0 else sides[::-1]

        def mark(point: int) -> str:
            mine, theirs = count_at(*first, point), count_at(*second, 25 - point)
            return f"X{mine}" if mine else f"O{theirs}" if theirs else "."

        def line(points: range, show: Callable[[int], str]) -> str:
            marks = [f"{show(point):>3}" for point in points]
            return "".join(marks[:6]) + "  |" + "".join(marks[6:])

        upper, lower = range(13, 25), range(12, 0, -1)
        lines = [line(upper, str), line(upper, mark), line(lower, mark), line(lower, str)]
        for name, side in (("X", first), ("O", second)):
            lines.append(f"{name}: bar {count_at(*side, BAR)}, off {count_at(*side, 0)}")
        if state.roll == _OPENING:
            return "\n".join([*lines, "opening roll"])
        high, low = state.roll >> 3 & 7, state.roll & 7
        rolled = f"{high}-{low}" + (", second half" if state.roll >= 64 else "") if state.roll else "to roll"
        return "\n".join([*lines, f"{'XO'[state.seat]} {rolled}"])

    def action_text(self, state: BackgammonState, action: int) -> str:
        if state.roll <= 0:
            return f"{action // 6 + 1}-{action % 6 + 1}"
        dice = [state.roll >> 3 & 7, state.roll & 7]
        played = zip(divmod(action % ORDER, PLACES), dice[::-1] if action >= ORDER else dice, strict=True)
        moves = (f"{'bar' if at == BAR else at}/{at - die if at > die else 'off'}" for at, die in played if at)
        return " ".join(moves) or "pass"

    def action_aliases(self, state: BackgammonState, action: int) -> tuple[str, ...]:
        """The two checkers in the other order, unless one checker makes both moves."""
        checkers = self.action_text(state, action).split()
        if len(checkers) < 2 or checkers[0].partition("/")[2] == checkers[1].partition("/")[0]:
            return ()
        return (" ".join(reversed(checkers)),)

    def image(self, state: BackgammonState) -> Any:
        return paint(state).image()

    def observation_box(self) -> tuple[tuple[int, int], tuple[int, int], str]:
        return (2, PLACES + 2), (0, 15), "int8"

    def write_observation(self, state: BackgammonState, seat: int, numbers: Any) -> None:
        """Shape (2, 28), the observer's row first: checkers off, on points 1 to 24 and on the bar, then the dice.

        Columns 26 and 27 are the higher and the lower number if that player is to move them, else 0. Each row
        counts points from its player's side.
        """
        row = PLACES + 2
        first = 0 if seat == state.seat else row
        for place in range(PLACES):
            numbers[first + place] = count_at(state.low, state.high, place)
            numbers[row - first + place] = count_at(state.other_low, state.other_high, place)
        if state.roll > 0:
            numbers[first + PLACES] = state.roll >> 3 & 7
            numbers[first + PLACES + 1] = state.roll & 7

    def _checkers(self) -> int:
        return 15

    def _weights(self) -> Any:
        return backgammon_weights()


class Hypergammon(Backgammon):
    """Backgammon with three checkers each, which start on points 24, 23 and 22.

    Attributes:
        most_points: What a game can count: 1, a win is a win; 2, gammons count double; 3, backgammons triple.
    """

    __slots__ = ()

    def initial_state(self) -> BackgammonState:
        high = 1 << 4 * (24 - 13) | 1 << 4 * (23 - 13) | 1 << 4 * (22 - 13)
        return BackgammonState(0, high, 0, high, 0, _OPENING)

    def _checkers(self) -> int:
        return 3

    def _weights(self) -> Any:
        return hypergammon_weights()
