"""Buckets of hands that are about as strong as each other, and deals of an abstract hold'em."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.experts.poker.cards import PAIRS, equities
from zermelo.agents.experts.poker.public_trees import DealArrays, Ints

CLASSES: Final = 169
"""Pairs of cards before the flop that differ by more than their suits."""
_FINER: Final = 0.6
"""Exponent of the evenly spaced quantiles; below 1 it makes buckets of strong hands narrower."""
_REMEMBERED: Final = 64
"""Boards whose buckets are remembered, as the next decision may be on one of them."""
_PER_FLOP, _PER_TURN = 3, 4
FIRSTS, SECONDS = (np.array(each) for each in np.triu_indices(52, 1))
"""The cards of each pair."""
MASKS: Final = (1 << FIRSTS.astype(np.int64)) | (1 << SECONDS.astype(np.int64))


def _classes() -> Ints:
    ranks = np.sort(np.stack((FIRSTS % 13, SECONDS % 13)), axis=0)
    suited = FIRSTS // 13 == SECONDS // 13
    found: Ints = np.where(suited, 13 * ranks[1] + ranks[0], 13 * ranks[0] + ranks[1])
    return found


CLASS_OF: Final = _classes()
"""Of each pair its class before the flop."""


class Sizes(NamedTuple):
    """How many buckets there are by equity and, of each of those, by its spread."""

    equity: tuple[int, int, int]
    spread: tuple[int, int, int] = (3, 3, 1)

    @property
    def types(self) -> tuple[int, ...]:
        """The number of buckets of each round."""
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
        """The bucket of a pair of cards on a board."""
        if board not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[board] = self.on_board(board)[0]
        return int(self._known[board][pair])

    def on_board(self, board: int) -> tuple[Ints, Ints]:
        """The bucket of each pair of cards on a board, -1 of those that are on it; and how strong each is."""
        if not board:
            return CLASS_OF, np.zeros(PAIRS, np.int64)
        found = equities(board, seed=board)
        part = board.bit_count() - 3
        buckets = np.searchsorted(self.equity_bounds[part], found.means)
        spread = self.sizes.spread[part]
        if spread > 1:
            wider = found.spreads[:, None] > self.spread_bounds[part][buckets]
            buckets = buckets * spread + wider.sum(axis=1)
        return np.where(found.means < 0, -1, buckets), found.strengths


def fit_buckets(sizes: Sizes, boards: int, seed: int) -> Buckets:
    """Buckets with bounds at quantiles of the equities on some random boards."""
    generator = np.random.default_rng(seed)
    bounds: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = [], []
    for part in range(3):
        found = [equities(random_board(generator, 3 + part), seed=number) for number in range(boards)]
        means, spreads = (np.concatenate([each[kind] for each in found]) for kind in (0, 1))
        means, spreads = means[means >= 0], spreads[means >= 0]
        count, wide = sizes.equity[part], sizes.spread[part]
        edges = np.quantile(means, np.linspace(0, 1, count + 1)[1:-1] ** _FINER)
        places = np.searchsorted(edges, means)
        quantiles = np.linspace(0, 1, wide + 1)[1:-1]
        bounds[0].append(edges)
        bounds[1].append(np.array([np.quantile(spreads[places == place], quantiles) for place in range(count)]))
    return Buckets(sizes, *bounds)


def random_board(generator: np.random.Generator, count: int, board: int = 0) -> int:
    """A board with some more cards."""
    left = [card for card in range(52) if not board >> card & 1]
    for card in generator.choice(left, count, replace=False):
        board |= 1 << int(card)
    return board


class Boards:
    """Random flops, turns and rivers, with the buckets of all pairs of cards on them."""

    def __init__(self, buckets: Buckets, flops: int, generator: np.random.Generator) -> None:
        self._generator = generator
        rows: list[tuple[Ints, ...]] = []
        for _ in range(flops):
            flop = random_board(generator, 3)
            on_flop = buckets.on_board(flop)[0]
            for _ in range(_PER_FLOP):
                turn = random_board(generator, 1, flop)
                on_turn = buckets.on_board(turn)[0]
                rows += [
                    (on_flop, on_turn, *buckets.on_board(random_board(generator, 1, turn)))
                    for _ in range(_PER_TURN)
                ]
        self._flops, self._turns, self._rivers, self._strengths = (
            np.array(each, np.int16) for each in zip(*rows, strict=True)
        )

    def deals(self, count: int) -> DealArrays:
        """About as many deals: pairs of cards for two, on one of the boards."""
        tried = 2 * count
        boards = self._generator.integers(len(self._rivers), size=tried)
        first, second = self._generator.integers(PAIRS, size=(2, tried))
        fits = (MASKS[first] & MASKS[second]) == 0
        fits &= (self._rivers[boards, first] >= 0) & (self._rivers[boards, second] >= 0)
        boards, hands = boards[fits][:count], np.stack((first[fits], second[fits]), axis=1)[:count]
        whole = boards[:, None]
        rounds = (
            CLASS_OF[hands],
            self._flops[whole, hands],
            self._turns[whole, hands],
            self._rivers[whole, hands],
        )
        strengths = self._strengths[whole, hands]
        types = np.stack(rounds, axis=2).astype(np.int64)
        return DealArrays(types, np.sign(strengths[:, 0].astype(np.int64) - strengths[:, 1]))
