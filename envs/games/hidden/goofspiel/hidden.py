"""Information states of Goofspiel, and sampling of the bids that a player has not seen."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zermelo.envs.games.hidden.goofspiel.rules import GoofspielState


class HiddenBids:
    """The methods for searches over what players know, which are never compiled."""

    def hides_more(self: Any) -> bool:
        """With ``hidden``, bids of earlier rounds."""
        return bool(self.hidden)

    def information_state_key(self: Any, state: GoofspielState, seat: int) -> Hashable:
        """The seat's own bids, the prizes and whose turn it is; the other's bids, or just who won."""
        own, other = (state.second, self.round_start(state).first) if seat else (state.first, state.second)
        seen: Hashable = self._winners(state) if self.hidden else other
        return own, seen, state.prizes, self.to_move(state)

    def resample(self: Any, state: GoofspielState, seat: int, generator: np.random.Generator) -> GoofspielState:
        """Draws bids of the other player that fit; at the end returns the state itself."""
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

    def moves_so_far(self: Any, state: GoofspielState) -> list[int]:
        first, second, prizes = (cards_of(cards) for cards in state[:3])
        rounds = itertools.zip_longest(prizes, first, second)
        return [card - 1 for cards in rounds for card in cards if card]

    def _winners(self: Any, state: GoofspielState) -> tuple[int, ...]:
        """The winner of each round that both have bid in; -1 for a tie."""
        bids = zip(cards_of(state.first), cards_of(state.second), strict=False)
        return tuple(-1 if first == second else int(second > first) for first, second in bids)


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


@functools.lru_cache(maxsize=1 << 17)
def _ways(ranges: tuple[tuple[int, int], ...], spent: int) -> int:
    """The number of ways to take different unspent cards from all ranges."""
    if not ranges:
        return 1
    lower, upper = ranges[0]
    cards = (card for card in range(lower, upper + 1) if not spent >> card & 1)
    return sum(_ways(ranges[1:], spent | 1 << card) for card in cards)
