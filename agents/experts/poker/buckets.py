"""Buckets of hands that are about as strong as each other."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.experts.poker.betting import Ints
from zermelo.agents.experts.poker.cards import PAIRS, equities

CLASSES: Final = 169  # pairs of cards before the flop that differ by more than their suits
_REMEMBERED: Final = 64
"""Boards whose buckets are remembered, as the next decision may be on one of them."""
FIRSTS, SECONDS = (np.array(each) for each in np.triu_indices(52, 1))  # the cards of each pair


def _classes() -> Ints:
    ranks = np.sort(np.stack((FIRSTS % 13, SECONDS % 13)), axis=0)
    suited = FIRSTS // 13 == SECONDS // 13
    classes: Ints = np.where(suited, 13 * ranks[1] + ranks[0], 13 * ranks[0] + ranks[1])
    return classes


CLASS_OF: Final = _classes()  # of each pair its class before the flop


class Sizes(NamedTuple):
    """How many buckets there are by equity and, of each of those, by its spread."""

    equity: tuple[int, int, int]
    spread: tuple[int, int, int] = (3, 3, 1)

    @property
    def types(self) -> tuple[int, ...]:
        return (CLASSES, *(equity * spread for equity, spread in zip(self.equity, self.spread, strict=True)))


class Buckets:
    """Bounds between buckets, from the flop to the river.

    Attributes:
        sizes: How many there are.
        equity_bounds: Between the buckets by equity, for each of the three rounds.
        spread_bounds: Between the buckets by spread, of each bucket by equity.
    """

    def __init__(
        self,
        sizes: Sizes,
        equity_bounds: list[NDArray[np.float64]],
        spread_bounds: list[NDArray[np.float64]],
    ) -> None:
        self.sizes, self.equity_bounds, self.spread_bounds = sizes, equity_bounds, spread_bounds
        self._known: dict[int, Ints] = {}

    def of_hand(self, pair: int, board: int) -> int:
        if board not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[board] = self.on_board(board)[0]
        return int(self._known[board][pair])

    def on_board(self, board: int) -> tuple[Ints, Ints]:
        """The bucket of each pair of cards on a board, -1 of those that are on it; and how strong each is."""
        if not board:
            return CLASS_OF, np.zeros(PAIRS, np.int64)
        hands = equities(board, seed=board)
        part = board.bit_count() - 3
        buckets = np.searchsorted(self.equity_bounds[part], hands.means)
        spread = self.sizes.spread[part]
        if spread > 1:
            wider = hands.spreads[:, None] > self.spread_bounds[part][buckets]
            buckets = buckets * spread + wider.sum(axis=1)
        return np.where(hands.means < 0, -1, buckets), hands.strengths
