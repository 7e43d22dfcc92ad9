"""Counterfactual regret minimization over public trees: games for two whose players hold something private.

Everybody sees where play stands in the tree. What a player holds counts for what it does by its *type* alone, such
as a bucket of hands that are about as strong as each other; chance deals the types of both players for each round,
and which of them wins a showdown. Each iteration passes over the whole tree for one deal: Zinkevich, Johanson,
Bowling and Piccione, "Regret minimization in games with incomplete information", NIPS 20 (2007); iterations count
the more the later they are: Brown and Sandholm, "Solving imperfect-information games via discounted regret
minimization", AAAI (2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.experts.poker.betting import FIXED, Ints, PublicTree
from zermelo.agents.experts.poker.cards import CLASS_OF, FIRSTS, PAIRS, SECONDS, Buckets, NoState, Sizes, equities
from zermelo.envs.jit.build import build
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.jit.memory import floats, words
from zermelo.envs.rules.bits import mix

Floats = NDArray[np.float64]
_FINER: Final = 0.6
"""Exponent of the evenly spaced quantiles; below 1 it makes buckets of strong hands narrower."""
_PER_FLOP, _PER_TURN = 3, 4
MASKS: Final = (1 << FIRSTS.astype(np.int64)) | (1 << SECONDS.astype(np.int64))


class DealArrays(NamedTuple):
    """Deals of chance.

    Attributes:
        types: The type of each seat in each round. D x 2 x rounds.
        outcomes: 1 if seat 0 wins a showdown, -1 if seat 1 does, 0 for a draw. D of them.
    """

    types: Ints
    outcomes: Ints


class _Sweep(NamedTuple):
    """Stands for the rules of a game where a kernel is built."""

    rounds: int

    def initial_state(self) -> NoState:
        return NoState()


class PublicTreeCFR:
    """Regrets and average shares of a public tree.

    Args:
        tree: The tree.
        types: How many types there are in each round.
        tremble: The probability with which the other player takes any action at random, so that it is learned what
            to do after mistakes.
    """

    def __init__(self, tree: PublicTree, types: Sequence[int], *, tremble: float = 0.0) -> None:
        self.tree, self.types, self._tremble = tree, tuple(types), tremble
        self.starts, size = tree.entries(types)
        self.regrets, self.sums = np.zeros(size), np.zeros(size)
        self.batches = 0
        self.value = 0.0
        """Seat 0's average payoff in the last batch."""
        parts = (tree.movers, tree.rounds, tree.firsts, tree.widths, self.starts, tree.children)
        self._shape = np.concatenate(parts).astype(np.int64)
        self._payoffs = np.ascontiguousarray(tree.payoffs, np.float64)
        self._work = np.zeros(2 * len(tree.movers) + len(tree.children) + 1)
        rules = _Sweep(len(types))
        self._start = argument_maker(rules, 1)(rules.initial_state())
        self._function: Any = sweep
        if can_compile():
            self._function = build(rules, Kernel(sweep, (*("int64",) * 11, "float64")))

    def iterate(self, deals: DealArrays) -> None:
        """One iteration for each deal. What came before counts less, in proportion to the number of batches."""
        packed = np.ascontiguousarray(
            np.column_stack((deals.types.reshape(len(deals.types), -1), deals.outcomes)), np.int64
        )
        self.regrets *= self.batches / (self.batches + 1)
        self.sums *= self.batches / (self.batches + 1)
        self.batches += 1
        self._work[-1] = 0
        arrays = (self._shape, self._payoffs, self.regrets, self.sums, self._work, packed)
        sizes = (len(self.tree.movers), len(self.tree.children), len(self.regrets), len(packed), self.batches)
        self._function(*self._start, *(array.ctypes.data for array in arrays), *sizes, self._tremble)
        self.value = float(self._work[-1]) / (2 * len(packed))

    def average(self) -> Floats:
        """The average share of each entry; uniform where a decision was never reached."""
        counts = np.repeat(self.tree.widths, self.tree.kinds(self.types))
        starts = np.append(0, np.cumsum(counts)[:-1])
        totals = np.repeat(np.add.reduceat(self.sums, starts), counts)
        uniform = np.repeat(1 / np.maximum(counts, 1), counts)
        return np.where(totals > 0, self.sums / np.where(totals > 0, totals, 1), uniform)


def with_memory(deals: DealArrays, types: Sequence[int]) -> tuple[DealArrays, list[int]]:
    """Returns the deals with types that include those of earlier rounds, and the number of types in each round."""
    found, counts = deals.types.copy(), [types[0]]
    for place in range(1, len(types)):
        found[:, :, place] += types[place] * found[:, :, place - 1]
        counts.append(counts[-1] * types[place])
    return DealArrays(found, deals.outcomes), counts


def exploitability_on(tree: PublicTree, types: Sequence[int], shares: Floats, deals: DealArrays) -> float:
    """The gain of a best response where chance draws one of some deals, averaged over the seats.

    Whoever responds remembers all of its types and all moves, whatever the shares depend on.

    Args:
        tree: The tree.
        types: How many types there are in each round.
        shares: The share of each entry, as ``PublicTreeCFR.average`` gives them.
        deals: All deals that there are, each as likely as the others.
    """
    starts, _ = tree.entries(types)
    total = 0.0
    for seat in (0, 1):
        groups, codes = [], np.zeros(len(deals.outcomes), np.int64)
        for round_ in range(len(types)):
            codes = np.unique(codes * types[round_] + deals.types[:, seat, round_], return_inverse=True)[1]
            groups.append(codes)
        respond = _Response(tree, starts, shares, deals, seat, groups)
        total += float(respond.values(0, np.ones(len(codes))).sum()) / len(codes)
    return total / 2


class _Response(NamedTuple):
    """A best response of a seat; ``groups`` are the numbers of what it knows in each deal, for each round."""

    tree: PublicTree
    starts: Ints
    shares: Floats
    deals: DealArrays
    seat: int
    groups: list[Ints]

    def values(self, node: int, reach: Floats) -> Floats:
        """The seat's payoff in each deal, times the probability that the other plays to here."""
        tree, mover = self.tree, int(self.tree.movers[node])
        if mover < 0:
            pays = float(tree.payoffs[node]) * (1 if self.seat == 0 else -1)
            return pays * reach if mover == FIXED else pays * reach * self.deals.outcomes
        first, width, round_ = int(tree.firsts[node]), int(tree.widths[node]), int(tree.rounds[node])
        children = tree.children[first : first + width].tolist()
        if mover == self.seat:
            found = np.stack([self.values(child, reach) for child in children])
            group = self.groups[round_]
            best = np.stack([np.bincount(group, each) for each in found]).argmax(axis=0)
            chosen: Floats = found[best[group], np.arange(len(group))]
            return chosen
        entries = self.starts[node] + self.deals.types[:, mover, round_] * width
        found = np.zeros(len(reach))
        for action, child in enumerate(children):
            part = reach * self.shares[entries + action]
            if part.any():
                found += self.values(child, part)
        return found


def sweep(
    rules: Any,
    state: Any,
    shape: int,
    payoffs: int,
    regrets: int,
    sums: int,
    work: int,
    deals: int,
    nodes: int,
    slots: int,
    entries: int,
    count: int,
    seed: int,
    tremble: float,
) -> int:
    """One iteration for each of ``count`` deals; arguments are addresses, as ``iterate`` lays them out."""
    layout, pays = words(shape, 5 * nodes + slots), floats(payoffs, nodes)
    values, visits, shares = (
        floats(work, nodes),
        floats(work + 8 * nodes, nodes),
        floats(work + 16 * nodes, slots + 1),
    )
    size = 2 * rules.rounds + 1
    dealt = words(deals, count * size)
    regret, played = floats(regrets, entries), floats(sums, entries)
    for number in range(2 * count):
        seat, row = number & 1, (number >> 1) * size
        # 1. From the root on: the seat tries all its actions, of the other one is drawn as its regrets have it.
        for node in range(nodes):
            visits[node] = 0.0
        visits[0] = 1.0
        for node in range(nodes):
            mover = layout[node]
            if mover < 0 or visits[node] == 0:
                continue
            first, width = layout[2 * nodes + node], layout[3 * nodes + node]
            kind = dealt[row + mover * rules.rounds + layout[nodes + node]]
            entry = layout[4 * nodes + node] + kind * width
            total = 0.0
            for action in range(width):
                total += max(regret[entry + action], 0.0)
            seed = mix(seed)
            draw, drawn = (seed & 0x7FFFFFFF) / 2147483648.0, width - 1
            for action in range(width):
                share = max(regret[entry + action], 0.0) / total if total > 0 else 1.0 / width
                shares[first + action] = share
                if mover == seat:
                    visits[layout[5 * nodes + first + action]] += visits[node]
                else:
                    played[entry + action] += visits[node] * share
                    chance = (1 - tremble) * share + tremble / width
                    if draw >= 0 and draw < chance:
                        drawn = action
                    draw -= chance
            if mover != seat:
                child = layout[5 * nodes + first + drawn]
                visits[child] += visits[node]
                shares[first] = drawn
        # 2. From the ends back: values for seat 0, and what each action would have gained.
        for back in range(nodes):
            node = nodes - 1 - back
            if visits[node] == 0:
                continue
            mover = layout[node]
            if mover < 0:
                values[node] = pays[node] if mover == FIXED else pays[node] * dealt[row + size - 1]
                continue
            first, width = layout[2 * nodes + node], layout[3 * nodes + node]
            if mover != seat:
                values[node] = values[layout[5 * nodes + first + int(shares[first])]]
                continue
            value = 0.0
            for action in range(width):
                value += shares[first + action] * values[layout[5 * nodes + first + action]]
            values[node] = value
            kind = dealt[row + mover * rules.rounds + layout[nodes + node]]
            entry = layout[4 * nodes + node] + kind * width
            gain = visits[node] if seat == 0 else -visits[node]
            for action in range(width):
                regret[entry + action] += gain * (values[layout[5 * nodes + first + action]] - value)
        shares[slots] += values[0]
    return 0


# -- buckets, and deals of an abstract hold'em


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
