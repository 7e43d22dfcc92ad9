"""The betting of hold'em for two, by RLCard's rules, as a public tree; seat 0 has the small blind."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
BLINDS: Final = (1, 2)
RIVER: Final = 3
FIXED: Final = -1  # the mover of an end that pays the same whoever holds what
SHOWDOWN: Final = -2  # the mover of an end that the better hand wins


class Bets(NamedTuple):
    """Where the betting stands."""

    round: int = 0  # 0 before the flop to 3 on the river; 4 at a showdown
    mover: int = 0  # the seat to act
    chips: tuple[int, int] = BLINDS  # what each seat has put in
    raised: tuple[int, int] = BLINDS  # what each has put in in this round
    raises: int = 0  # how often somebody has raised in this round
    passive: int = 0  # how many have acted since and not raised
    raiser: int = -1  # who raised last in this round; -1 for nobody
    before: int = -1  # who raised last in the round before
    folded: int = -1  # who has folded; -1 for nobody


class Limit(NamedTuple):
    """Limit hold'em: bets of 2 before and on the flop and 4 afterwards."""

    unit: int = 2  # chips that a reward of 1 stands for
    raises: int = 4  # in a round, at most

    def actions(self, bets: Bets) -> list[int]:
        behind = max(bets.raised) - bets.raised[bets.mover]
        possible = [0] if behind else [3]
        return sorted([*possible, 2, *([1] if bets.raises < self.raises else [])])

    def after(self, bets: Bets, action: int) -> Bets:
        behind = max(bets.raised) - bets.raised[bets.mover]
        if action == 2:
            return _folded(bets)
        if action == 1:
            return _put(bets, behind + (2 if bets.round < 2 else 4), raises=True)
        done = _put(bets, behind, raises=False)
        return _next_round(done, done.mover) if done.passive >= 2 else done


class NoLimit(NamedTuple):
    """No-limit hold'em with RLCard's raises: half the pot, the pot, and everything."""

    stack: int = 100  # chips that each seat begins with
    unit: int = 1

    def actions(self, bets: Bets) -> list[int]:
        pot, left = sum(bets.chips), self.stack - bets.chips[bets.mover]
        most, own = max(bets.raised), bets.raised[bets.mover]
        actions = [0, 1]
        if most - own < left or most == own:
            actions += [2] if own + pot // 2 > most and pot // 2 <= left else []
            actions += [3] if pot <= left else []
            actions += [4]
        return actions

    def after(self, bets: Bets, action: int) -> Bets:
        pot, left = sum(bets.chips), self.stack - bets.chips[bets.mover]
        if action == 0:
            return _folded(bets)
        if action == 1:
            done = _put(bets, max(bets.raised) - bets.raised[bets.mover], raises=False)
            if min(done.chips) == self.stack:
                return _shown(done)
            return _next_round(done, 0) if done.passive >= 2 else done
        raised = _put(bets, {2: pot // 2, 3: pot, 4: left}[action], raises=True)
        return raised._replace(raises=0, raiser=-1)  # neither counts later on


def _put(bets: Bets, amount: int, *, raises: bool) -> Bets:
    mover = bets.mover
    chips, raised = list(bets.chips), list(bets.raised)
    chips[mover] += amount
    raised[mover] += amount
    return bets._replace(
        mover=1 - mover,
        chips=(chips[0], chips[1]),
        raised=(raised[0], raised[1]),
        raises=bets.raises + raises,
        passive=1 if raises else bets.passive + 1,
        raiser=mover if raises else bets.raiser,
    )


def _folded(bets: Bets) -> Bets:
    return Bets(bets.round, chips=bets.chips, raised=(0, 0), folded=bets.mover)


def _shown(bets: Bets) -> Bets:
    return Bets(RIVER + 1, chips=bets.chips, raised=(0, 0))


def _next_round(bets: Bets, mover: int) -> Bets:
    if bets.round == RIVER:
        return _shown(bets)
    return Bets(bets.round + 1, mover, bets.chips, (0, 0), before=bets.raiser)


@dataclass(frozen=True)
class PublicTree:
    """Decisions and ends that both players see, each after all that lead to it; the first is the root."""

    movers: Ints  # the seat that decides, ``FIXED`` or ``SHOWDOWN``. N of them
    rounds: Ints  # the round of each, from 0 on; chance deals before each round
    firsts: Ints  # where in ``children`` those of each begin
    children: Ints  # the decisions and ends that follow, by decision and action. K of them
    actions: Ints  # the number of the action that leads to each child
    payoffs: NDArray[np.float64]  # what seat 0 gets at an end, or of a showdown that it wins. N of them

    @functools.cached_property
    def widths(self) -> Ints:
        return np.diff(np.append(self.firsts, len(self.children)))

    def actions_of(self, node: int) -> list[int]:
        first = int(self.firsts[node])
        return self.actions[first : first + int(self.widths[node])].tolist()  # type: ignore[no-any-return]

    def kinds(self, types: Sequence[int]) -> Ints:
        """How many types the mover of each decision may have; 0 at ends."""
        is_decision = self.movers >= 0
        return np.where(is_decision, np.asarray(types)[np.where(is_decision, self.rounds, 0)], 0)

    def entries(self, types: Sequence[int]) -> tuple[Ints, int]:
        """Where the entries of each decision begin, one for each type and action; and how many there are."""
        sizes = self.kinds(types) * self.widths
        return np.append(0, np.cumsum(sizes)[:-1]), int(sizes.sum())


def betting_tree(rules: Limit | NoLimit, *, forgets: bool = True) -> PublicTree:
    """The tree of all that can be bet; payoffs are rewards.

    With ``forgets``, a player remembers of earlier rounds the chips that were put in and, in limit hold'em, who
    raised last in the round before; else all that was done.
    """
    ordered: list[tuple[Bets, list[int], list[object]]] = []
    numbers: dict[object, int] = {}

    def add(bets: Bets, path: tuple[int, ...]) -> object:
        """Appends all that follows, and then this."""
        name: object = bets if forgets else path
        if name in numbers:
            return name
        is_end = bets.folded >= 0 or bets.round > RIVER
        moves = [] if is_end else rules.actions(bets)
        following = [add(rules.after(bets, move), (*path, move)) for move in moves]
        numbers[name] = len(ordered)
        ordered.append((bets, moves, following))
        return name

    add(Bets(), ())
    ordered.reverse()
    movers, payoffs = [], []
    firsts: list[int] = []
    children: list[int] = []
    actions: list[int] = []
    for bets, moves, following in ordered:
        firsts.append(len(children))
        children += [len(ordered) - 1 - numbers[name] for name in following]
        actions += moves
        movers.append(bets.mover if moves else FIXED if bets.folded >= 0 else SHOWDOWN)
        stake = min(bets.chips) if bets.folded < 0 else bets.chips[bets.folded]
        payoffs.append((-stake if bets.folded == 0 else stake) / rules.unit)
    rounds = [bets.round for bets, _, _ in ordered]
    return PublicTree(*map(np.array, (movers, rounds, firsts, children, actions, payoffs)))
