"""Strengths of hands and their equity, in compiled code, and buckets of hands that are about as strong.

Cards are numbers ``13 * suit + rank``, the two lowest; sets of cards are integers with a bit for each. The 1,326
pairs of cards are numbered in order: 0 and 1, 0 and 2, and so on to 50 and 51.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.experts.poker.betting import Ints
from zermelo.envs.jit.build import build, is_ready
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel, Wanted
from zermelo.envs.jit.memory import floats, words
from zermelo.envs.rules.bits import mix, popcount

PAIRS: Final = 1_326
RUNOUTS: Final = 150  # boards that are tried for a flop
_ROOM: Final = 3 * PAIRS + 64
_SUIT: Final = (1 << 13) - 1


class NoState(NamedTuple):
    """Stands for the state of a game where a kernel is built."""

    unused: int = 0


class Cards(NamedTuple):
    """Stands for the rules of a game where the kernel is built."""

    unused: int = 0

    def initial_state(self) -> NoState:
        return NoState()


class Equities(NamedTuple):
    """The equity of every pair of cards on a board against one that is dealt at random. 1,326 of each."""

    means: NDArray[np.float64]  # wins, and half the draws, once all cards are open; -1 of pairs on the board
    spreads: NDArray[np.float64]  # the standard deviation of that over the cards to come
    strengths: NDArray[np.int64]  # which hands are stronger, on the river


def equities(board: int, seed: int = 0) -> Equities:
    """The equities on a board of three to five cards; of a flop over a sample of the cards to come."""
    result = Equities(np.zeros(PAIRS), np.zeros(PAIRS), np.zeros(PAIRS, np.int64))
    work = np.zeros(_ROOM, np.int64)
    function: Callable[..., int] = _COMPILED[0] if _COMPILED else open_boards
    start = argument_maker(_RULES, 1)(_RULES.initial_state())
    addresses = (array.ctypes.data for array in (*result, work))
    function(*start, board, RUNOUTS if board.bit_count() == 3 else 0, seed, *addresses)
    return result


_COMPILED: list[Callable[..., int]] = []
_RULES: Final = Cards()


def is_compiled(waits: Callable[[], bool] = lambda: True) -> bool:
    """True if equities are computed in compiled code from now on; waits for the compiler while ``waits()``."""
    if not _COMPILED and can_compile() and is_ready(*equities_kernel(), waits):
        _COMPILED.append(build(*equities_kernel()))
    return bool(_COMPILED)


def equities_kernel() -> Wanted:
    """The kernel of ``equities``."""
    return Wanted(_RULES, Kernel(open_boards, ("int64",) * 7))


def pair_number(first: int, second: int) -> int:
    """The number of a pair of cards."""
    low, high = min(first, second), max(first, second)
    return low * (103 - low) // 2 + high - low - 1


def strength(cards: int) -> int:
    """How strong the best five cards of a set are: stronger hands have higher numbers, equal ones the same."""
    clubs, others = cards & _SUIT, cards >> 13 & _SUIT
    third, last = cards >> 26 & _SUIT, cards >> 39 & _SUIT
    once = clubs | others | third | last
    flush = 0
    if popcount(clubs) >= 5:
        flush = clubs
    elif popcount(others) >= 5:
        flush = others
    elif popcount(third) >= 5:
        flush = third
    elif popcount(last) >= 5:
        flush = last
    if flush:
        straight = _straight(flush)
        if straight >= 0:
            return 8 << 26 | straight
    twice = (
        (clubs & others) | (clubs & third) | (clubs & last) | (others & third) | (others & last) | (third & last)
    )
    if twice:
        fours = clubs & others & third & last
        if fours:
            return 7 << 26 | fours << 13 | _top(once & ~fours, 1)
        thrice = (clubs & others & (third | last)) | (third & last & (clubs | others))
        if thrice:
            three = _top(thrice, 1)
            if twice & ~three:
                return 6 << 26 | three << 13 | _top(twice & ~three, 1)
    if flush:
        return 5 << 26 | _top(flush, 5)
    straight = _straight(once)
    if straight >= 0:
        return 4 << 26 | straight
    if twice == 0:
        return _top(once, 5)
    thrice = (clubs & others & (third | last)) | (third & last & (clubs | others))
    if thrice:
        return 3 << 26 | thrice << 13 | _top(once & ~thrice, 2)
    if popcount(twice) >= 2:
        pairs = _top(twice, 2)
        return 2 << 26 | pairs << 13 | _top(once & ~pairs, 1)
    return 1 << 26 | twice << 13 | _top(once & ~twice, 3)


def _straight(ranks: int) -> int:
    """The lowest rank, the ace as 0, of the highest five in a row; -1 if there are none."""
    low = ranks << 1 | ranks >> 12 & 1
    runs = low & low >> 1 & low >> 2 & low >> 3 & low >> 4
    return popcount(_filled(runs)) - 1


def _filled(bits: int) -> int:
    bits |= bits >> 1
    bits |= bits >> 2
    bits |= bits >> 4
    bits |= bits >> 8
    return bits


def _top(ranks: int, count: int) -> int:
    extra = popcount(ranks) - count
    while extra > 0:
        ranks &= ranks - 1
        extra -= 1
    return ranks


def open_boards(
    rules: Any,
    state: Any,
    board: int,
    runouts: int,
    seed: int,
    means: int,
    spreads: int,
    strengths: int,
    work: int,
) -> int:
    """Works out ``equities``; the last four arguments are addresses, of three arrays and of room to work in.

    Boards are filled up with ``runouts`` draws, or without any with each card that is left, if one is missing.
    """
    mean, spread, rank = floats(means, PAIRS), floats(spreads, PAIRS), words(strengths, PAIRS)
    hands, counts = words(work, PAIRS), words(work + 8 * PAIRS, PAIRS)
    wins, below = words(work + 16 * PAIRS, PAIRS), words(work + 24 * PAIRS, 52)
    for pair in range(PAIRS):
        mean[pair] = spread[pair] = 0.0
        counts[pair] = rank[pair] = 0
    missing = 5 - popcount(board)
    tries = 1 if missing == 0 else runouts if runouts else 52
    for attempt in range(tries):
        full = board
        if missing and runouts == 0:
            if board >> attempt & 1:
                continue
            full |= 1 << attempt
        while popcount(full) < 5:
            seed = mix(seed)
            full |= 1 << (seed & 0x7FFFFFFF) % 52
        _open_board(full, mean, spread, rank, hands, counts, wins, below)
    for pair in range(PAIRS):
        if counts[pair] == 0:
            mean[pair] = spread[pair] = -1.0
            continue
        mean[pair] /= counts[pair]
        spread[pair] = max(spread[pair] / counts[pair] - mean[pair] * mean[pair], 0.0) ** 0.5
    return 0


def _open_board(
    board: int, mean: Any, spread: Any, rank: Any, hands: Any, counts: Any, wins: Any, below: Any
) -> None:
    """Adds the equities of all hands on a board of five cards, and their squares."""
    size = pair = 0
    for low in range(51):
        for high in range(low + 1, 52):
            cards = 1 << low | 1 << high
            if board & cards == 0:
                hands[size] = strength(board | cards) << 24 | low << 18 | high << 12 | pair
                size += 1
            pair += 1
    _sort(hands, size)
    for card in range(52):
        below[card] = 0
    first = 0
    while first < size:
        last = first
        while last < size and hands[last] >> 24 == hands[first] >> 24:
            last += 1
        # Hands do not count that share a card with this one; of the hand itself, both cards count.
        for place in range(first, last):
            hand = hands[place]
            wins[hand & 4095] = first - below[hand >> 18 & 63] - below[hand >> 12 & 63]
        for place in range(first, last):
            below[hands[place] >> 18 & 63] += 1
            below[hands[place] >> 12 & 63] += 1
        for place in range(first, last):
            hand = hands[place]
            number = hand & 4095
            at_most = last + 1 - below[hand >> 18 & 63] - below[hand >> 12 & 63]
            equity = (wins[number] + at_most) / 1980  # 990 hands are left for the other
            mean[number] += equity
            spread[number] += equity * equity
            counts[number] += 1
            rank[number] = first
        first = last


def _sort(array: Any, size: int) -> None:
    """Sorts the first numbers of an array; by Shell's method, as Numba would ask for memory."""
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for place in range(gap, size):
            value, hole = array[place], place
            while hole >= gap and array[hole - gap] > value:
                array[hole] = array[hole - gap]
                hole -= gap
            array[hole] = value


CLASSES: Final = 169  # pairs of cards before the flop that differ by more than their suits
_REMEMBERED: Final = 64  # boards whose buckets are remembered, as the next decision may be on one of them
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
    """Bounds between buckets by equity, from the flop to the river, and by spread between those of each."""

    def __init__(
        self, sizes: Sizes, equity_bounds: list[NDArray[np.float64]], spread_bounds: list[NDArray[np.float64]]
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
