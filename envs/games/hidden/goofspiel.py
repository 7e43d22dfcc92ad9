"""Goofspiel, the game of pure strategy, for two players.

Rules: both hold the cards 1 to n; a third suit, of prizes, lies in the middle. In each round a prize is turned up,
both bid one of their cards at the same time, and the higher card wins as many points as the prize says; equal bids
throw it away. Bids are spent. The player with more points at the end wins. S. M. Ross, "Goofspiel: the game of
pure strategy", Journal of Applied Probability 8 (1971).

Prizes come by chance, or from the highest to the lowest, which both know. With ``hidden`` players are told who won
a round, but not what the other has bid. The last round is played without asking, as nobody has a choice. All this
is OpenSpiel's ``goofspiel`` too, whose ``point_difference`` is half of what players get here with ``difference``.

Actions: the card bid, from 0 for the 1. Chance outcomes: the next prize, likewise. The first player of a round is
asked first, and the second one does not see its bid.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.bits import bit_index, mix
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.boards import all_squares, list_evenly, list_squares


def cards_of(packed: int) -> list[int]:
    """The cards noted, the first one first."""
    return [int(card, 16) for card in f"{packed:x}" if packed]


def _drawn_bids(ranges: tuple[tuple[int, int], ...], generator: np.random.Generator) -> list[int]:
    """Draws different cards, one from each range, uniformly."""
    drawn: list[int] = []
    spent = 0
    for place in range(len(ranges)):
        lower, upper = ranges[place]
        cards = [card for card in range(lower, upper + 1) if not spent >> card & 1]
        ways = [_ways(ranges[place + 1 :], spent | 1 << card) for card in cards]
        number = int(generator.integers(sum(ways)))
        drawn.append(cards[bisect.bisect_right([*itertools.accumulate(ways)], number)])
        spent |= 1 << drawn[-1]
    return drawn


@functools.lru_cache(maxsize=1 << 17)  # by all arguments, integers
def _ways(ranges: tuple[tuple[int, int], ...], spent: int) -> int:
    """The number of ways to take different unspent cards from all ranges."""
    if not ranges:
        return 1
    lower, upper = ranges[0]
    cards = (card for card in range(lower, upper + 1) if not spent >> card & 1)
    return sum(_ways(ranges[1:], spent | 1 << card) for card in cards)


class GoofspielState(NamedTuple):
    """The bids of both players and the prizes so far, four bits a round, the last one lowest; the points won.

    Prizes from the highest down are not noted.
    """

    first: int
    second: int
    prizes: int
    first_points: int = 0
    second_points: int = 0


class Goofspiel(NamedTuple):
    """Goofspiel: bid for prizes, both at the same time.

    Attributes:
        cards: How many cards each player has, from 2 to 13.
        shuffled: Whether prizes come in any order; else from the highest to the lowest.
        hidden: Whether players see who won a round, but not the other's bids.
        difference: Whether players get as many points as they have more than the other; else 1 for a win.
    """

    cards: int = 13
    shuffled: bool = True
    hidden: bool = False
    difference: bool = False

    def check(self) -> None:
        require_limits(self, cards=(2, 13), shuffled=bool, hidden=bool, difference=bool)

    def num_actions(self) -> int:
        return self.cards

    def utility_bounds(self) -> tuple[int, int]:
        most = self.cards * (self.cards + 1) // 2 if self.difference else 1
        return -most, most

    def initial_state(self) -> GoofspielState:
        return GoofspielState(0, 0, 0, 0, 0)

    def to_move(self, state: GoofspielState) -> int:
        first = self._rounds(state.first)
        if first > self._rounds(state.second):
            return 1
        if self.shuffled and self._rounds(state.prizes) == first and first < self.cards - 1:
            return CHANCE
        return 0

    def legal_actions(self, state: GoofspielState, actions: list[int]) -> int:
        seat = self.to_move(state)
        return list_squares(self._left(state.second if seat == 1 else state.first), actions)

    def chance_outcomes(self, state: GoofspielState, outcomes: list[int], probabilities: list[float]) -> int:
        return list_evenly(self._left(state.prizes), outcomes, probabilities)

    def result(self, state: GoofspielState, action: int) -> GoofspielState:
        first, second, prizes, first_points, second_points = state
        seat, card = self.to_move(state), action + 1
        if seat == CHANCE:
            return GoofspielState(first, second, prizes << 4 | card, first_points, second_points)
        if seat == 0:
            return GoofspielState(first << 4 | card, second, prizes, first_points, second_points)
        prize = prizes & 15 if self.shuffled else self.cards - self._rounds(second)
        first_points += prize if first & 15 > card else 0
        second_points += prize if first & 15 < card else 0
        return GoofspielState(first, second << 4 | card, prizes, first_points, second_points)

    def is_terminal(self, state: GoofspielState) -> bool:
        return self._rounds(state.second) == self.cards - 1

    def utility(self, state: GoofspielState, seat: int) -> int:
        first, second = self._last(state.first), self._last(state.second)
        more = state.first_points - state.second_points
        prize = self._last(state.prizes) if self.shuffled else 1
        if first != second:
            more += prize if first > second else -prize
        if seat == 1:
            more = -more
        if self.difference or more == 0:
            return more
        return 1 if more > 0 else -1

    def key(self, state: GoofspielState) -> int:
        """The cards that are left and the lead, whatever the order in which cards were played."""
        rounds = self._rounds(state.second)
        pending = self._rounds(state.first) - rounds
        mixed = mix(self._spent(state.first) | self._spent(state.second) << 16 | self._spent(state.prizes) << 32)
        mixed = mix(mixed ^ state.first_points - state.second_points + 128)
        turned_up = self._rounds(state.prizes) - rounds
        return mix(mixed ^ ((state.first & 15) * pending << 8 | (state.prizes & 15) * turned_up))

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (4 * self.cards + 2,), (0, self.cards * (self.cards + 1) // 2), "int8"

    def write_observation(self, state: GoofspielState, seat: int, numbers: Any) -> None:
        """Each card: in the own hand, in the other's (0 if hidden), still to be won, to be won now; points."""
        rounds, now = self._rounds(state.second), 0
        if not self.shuffled:
            now = self.cards - rounds
        elif self._rounds(state.prizes) > rounds:
            now = state.prizes & 15
        gone = self._spent(state.prizes) if self.shuffled else -1 << self.cards - rounds + 1
        is_pending = self._rounds(state.first) > rounds  # a bid that the second player has not answered
        first = self._spent(state.first >> 4 if seat and is_pending else state.first)
        second = self._spent(state.second)
        own, other = (second, first) if seat else (first, second)
        for card in range(1, self.cards + 1):
            numbers[card - 1] = 1 - (own >> card & 1)
            numbers[self.cards + card - 1] = 0 if self.hidden else 1 - (other >> card & 1)
            numbers[2 * self.cards + card - 1] = 1 if card == now else 1 - (gone >> card & 1)
            numbers[3 * self.cards + card - 1] = card == now
        numbers[4 * self.cards] = state.second_points if seat else state.first_points
        numbers[4 * self.cards + 1] = state.first_points if seat else state.second_points

    def round_start(self, state: GoofspielState) -> GoofspielState:
        return state if self.to_move(state) != 1 else state._replace(first=state.first >> 4)

    def text(self, state: GoofspielState) -> str:
        hands = [cards_of(cards) for cards in state[:3]]
        if not self.shuffled:
            hands[-1] = [self.cards - number for number in range(len(hands[1]) + 1)]
        first, second, prizes = (" ".join(map(str, cards)) or "-" for cards in hands)
        points = f"{state.first_points} to {state.second_points}"
        return f"player 0: {first}\nplayer 1: {second}\nprizes: {prizes}\npoints: {points}"

    def action_text(self, state: GoofspielState, action: int) -> str:
        return f"{'prize' if self.to_move(state) == CHANCE else 'card'} {action + 1}"

    def _rounds(self, packed: int) -> int:
        count = 0
        while packed >> 4 * count:
            count += 1
        return count

    def _spent(self, packed: int) -> int:
        """The cards noted, as bits ``card``."""
        spent = 0
        while packed:
            spent |= 1 << (packed & 15)
            packed >>= 4
        return spent

    def _left(self, packed: int) -> int:
        """The cards that have not been noted, as bits ``card - 1``."""
        return all_squares(self.cards) & ~(self._spent(packed) >> 1)

    def _last(self, packed: int) -> int:
        """The one card that has not been noted."""
        return bit_index(self._left(packed)) + 1

    def hides_more(self) -> bool:
        return bool(self.hidden)

    def information_state_key(self, state: GoofspielState, seat: int) -> Hashable:
        """The seat's own bids, the prizes and whose turn it is; the other's bids, or just who won."""
        own, other = (state.second, self.round_start(state).first) if seat else (state.first, state.second)
        seen: Hashable = self._winners(state) if self.hidden else other
        return own, seen, state.prizes, self.to_move(state)

    def resample(self, state: GoofspielState, seat: int, generator: np.random.Generator) -> GoofspielState:
        is_pending = seat == 1 and self.to_move(state) == 1
        if self.is_terminal(state) or not (self.hidden or is_pending):
            return state
        seen = self.round_start(state)
        own, other = (seen.second, seen.first) if seat else (state.first, state.second)
        # Of each of the other's bids the lowest and the highest card that it may have been.
        ranges = [(card, card) for card in cards_of(other)]
        if self.hidden:
            bids = zip(cards_of(own), self._winners(seen), strict=False)
            ranges = [
                (bid, bid) if winner < 0 else (1, bid - 1) if winner == seat else (bid + 1, self.cards)
                for bid, winner in bids
            ]
        drawn = _drawn_bids((*ranges, *[(1, self.cards)] * is_pending), generator)
        packed = functools.reduce(lambda packed, card: packed << 4 | card, drawn, 0)
        return state._replace(first=packed) if seat else state._replace(second=packed)

    def moves_so_far(self, state: GoofspielState) -> list[int]:
        first, second, prizes = (cards_of(cards) for cards in state[:3])
        rounds = itertools.zip_longest(prizes, first, second)
        return [card - 1 for cards in rounds for card in cards if card]

    def _winners(self, state: GoofspielState) -> tuple[int, ...]:
        """The winner of each round that both have bid in; -1 for a tie."""
        bids = zip(cards_of(state.first), cards_of(state.second), strict=False)
        return tuple(-1 if first == second else int(second > first) for first, second in bids)
