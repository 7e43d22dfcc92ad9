"""Liar's dice for two players.

Rules: each player rolls its dice and hides them. In turn they bid: that all dice together show at least so many of
a face. Each bid must be higher than the last: more dice, or as many of a higher face. Instead of bidding, a player
may say that the other is a liar: then the dice are shown, and the bidder wins if the last bid is true. The highest
face is wild: it counts as whatever was bid.

With one die each this is the game of M. Lanctot, R. Gibson, N. Burch, M. Zinkevich and M. Bowling, "No-regret
learning in extensive-form games with imperfect recall", ICML (2012), and OpenSpiel's.

Actions: ``sides * (quantity - 1) + face``, faces from 0, is a bid; the number after the highest bid says liar.
Chance outcomes: the face of the next die, from 0; the first player's dice are rolled first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.boards import all_squares, list_evenly


class LiarsDiceState(NamedTuple):
    """Both players' dice, how many are rolled, and the bids; the highest one is that somebody has said liar.

    Of each face there are four bits, and a bid is bit ``action``.
    """

    first: int
    second: int
    rolled: int
    bids: int


class LiarsDice(NamedTuple):
    """Liar's dice: bid on what all dice show, and see only your own.

    Attributes:
        dice: How many dice each player has, from 1 to 15.
        sides: Sides of a die, from 2 to 15; the highest is wild. There are at most 62 bids: ``2 * dice * sides``.
    """

    dice: int = 1
    sides: int = 6

    def check(self) -> None:
        bids = "2 * dice * sides", 2 * self.dice * self.sides, 62
        require_limits(self, bids, dice=(1, 15), sides=(2, 15))

    def num_actions(self) -> int:
        return 2 * self.dice * self.sides + 1

    def num_outcomes(self) -> int:
        return self.sides

    def initial_state(self) -> LiarsDiceState:
        return LiarsDiceState(0, 0, 0, 0)

    def to_move(self, state: LiarsDiceState) -> int:
        if state.rolled < 2 * self.dice:
            return CHANCE
        return popcount(state.bids) & 1

    def legal_actions(self, state: LiarsDiceState, actions: list[int]) -> int:
        last, count = self._last(state), 0
        for bid in range(last + 1, 2 * self.dice * self.sides):
            actions[count] = bid
            count += 1
        if last >= 0:
            actions[count] = 2 * self.dice * self.sides
            count += 1
        return count

    def chance_outcomes(self, state: LiarsDiceState, outcomes: list[int], probabilities: list[float]) -> int:
        return list_evenly(all_squares(self.sides), outcomes, probabilities)

    def result(self, state: LiarsDiceState, action: int) -> LiarsDiceState:
        if state.rolled < 2 * self.dice:
            mine = 1 << 4 * action
            if state.rolled < self.dice:
                return LiarsDiceState(state.first + mine, 0, state.rolled + 1, 0)
            return LiarsDiceState(state.first, state.second + mine, state.rolled + 1, 0)
        return LiarsDiceState(state.first, state.second, state.rolled, state.bids | 1 << action)

    def is_terminal(self, state: LiarsDiceState) -> bool:
        return state.bids >> 2 * self.dice * self.sides != 0

    def utility(self, state: LiarsDiceState, seat: int) -> int:
        last = self._last(state)
        face, wild = last % self.sides, self.sides - 1
        there = (state.first >> 4 * face & 15) + (state.second >> 4 * face & 15)
        if face != wild:
            there += (state.first >> 4 * wild & 15) + (state.second >> 4 * wild & 15)
        bidder = popcount(state.bids) & 1  # the other one has said liar
        is_true = there > last // self.sides
        return 1 if is_true == (seat == bidder) else -1

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (self.sides * (2 * self.dice + 1),), (0, self.dice), "int8"

    def write_observation(self, state: LiarsDiceState, seat: int, numbers: Any) -> None:
        """The number of the seat's dice with each face, and for each bid 1 if it was made."""
        mine = state.second if seat else state.first
        for face in range(self.sides):
            numbers[face] = mine >> 4 * face & 15
        for bid in range(2 * self.dice * self.sides):
            numbers[self.sides + bid] = state.bids >> bid & 1

    def information_state_key(self, state: LiarsDiceState, seat: int) -> Hashable:
        return (state.second if seat else state.first), state.bids

    def resample(self, state: LiarsDiceState, seat: int, generator: np.random.Generator) -> LiarsDiceState:
        if self.is_terminal(state):
            return state
        theirs = state.rolled - self.dice if seat == 0 else state.rolled
        rolled = 0
        for face in generator.integers(self.sides, size=min(max(theirs, 0), self.dice)).tolist():
            rolled += 1 << 4 * face
        return state._replace(first=rolled) if seat else state._replace(second=rolled)

    def moves_so_far(self, state: LiarsDiceState) -> list[int]:
        return [*self._faces(state.first), *self._faces(state.second), *self._bids(state)]

    def text(self, state: LiarsDiceState) -> str:
        faces = self._faces(state.first), self._faces(state.second)
        first, second = (" ".join(str(face + 1) for face in shown) or "-" for shown in faces)
        bids = ", ".join(map(self._bid, self._bids(state))) + ("!" if self.is_terminal(state) else "")
        return f"player 0: {first}\nplayer 1: {second}\nbids: {bids}"

    def action_text(self, state: LiarsDiceState, action: int) -> str:
        if self.to_move(state) == CHANCE:
            return str(action + 1)
        return self._bid(action)

    def _last(self, state: LiarsDiceState) -> int:
        """The last bid; -1 before there is one."""
        last = -1
        while (state.bids & all_squares(2 * self.dice * self.sides)) >> last + 1:
            last += 1
        return last

    def _bid(self, action: int) -> str:
        if action == 2 * self.dice * self.sides:
            return "liar"
        return f"{action // self.sides + 1}x{action % self.sides + 1}"

    def _bids(self, state: LiarsDiceState) -> list[int]:
        return [bid for bid in range(2 * self.dice * self.sides + 1) if state.bids >> bid & 1]

    def _faces(self, dice: int) -> list[int]:
        return [face for face in range(self.sides) for _ in range(dice >> 4 * face & 15)]


def from_openspiel(bidding_rule: str, dice_sides: int, numdice: int, players: int) -> LiarsDice | None:
    """For two players, by the rule under which more dice may be bid of any face."""
    return LiarsDice(numdice, dice_sides) if players == 2 and bidding_rule == "reset-face" else None
