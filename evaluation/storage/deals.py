"""What games paid, counted by deal: the games of a rotation of the seats, dealt alike where chance deals.

The games of a deal depend on each other, so that intervals of mean rewards take deals, not games, as independent.
What is kept of the deals of one line-up does not grow with their number: sums and sums of squares, in whole
numbers, which do not depend on the order of the games.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Finished(Protocol):
    """Who sat where, and who failed; see ``zermelo.evaluation.storage.totals.Finish``."""

    @property
    def agents(self) -> tuple[str, ...]:
        """By seat."""
        ...

    @property
    def failed_seat(self) -> int | None:
        """Whose fault it was that the game was not finished, or None."""
        ...


class Dealt(NamedTuple):
    """One agent's part in a deal.

    Attributes:
        agent: Its name.
        games: How many seats it had in the games of the deal, one in each game of different agents.
        failed: In how many of them it failed.
        spoilt: In how many of them somebody else did.
    """

    agent: str
    games: int
    failed: int = 0
    spoilt: int = 0


DealKey = tuple[Dealt, ...]
"""The agents of a deal, by name."""


class DealTotal:
    """The deals of one key.

    Attributes:
        deals: How many.
        sums: For each agent of the key what it earned in them, in millionths, unfinished games left out.
        squares: The sum of the squares of what it earned in a deal.
    """

    __slots__ = ("deals", "squares", "sums")

    def __init__(self, deals: int, sums: Sequence[int], squares: Sequence[int]) -> None:
        self.deals, self.sums, self.squares = deals, [*sums], [*squares]

    def __eq__(self, other: object) -> bool:
        mine = (self.deals, self.sums, self.squares)
        return isinstance(other, DealTotal) and mine == (other.deals, other.sums, other.squares)

    __hash__ = None  # type: ignore[assignment]  # totals change, so they have no hash; typeshed wants a method

    def __repr__(self) -> str:
        return f"DealTotal({self.deals}, {self.sums}, {self.squares})"


def count_deal(
    totals: dict[DealKey, DealTotal], finishes: Sequence[Finished], rewards: Sequence[Sequence[int]], sign: int = 1
) -> None:
    """Counts one deal.

    Args:
        totals: Where.
        finishes: Of its games; those that count for nobody are left out.
        rewards: For each game what each seat earned, in millionths; nothing is read where a seat failed.
        sign: -1 takes the deal out again.
    """
    key, places = _plan(tuple(finishes))
    earned = [0] * len(key)
    for seats, paid in zip(places, rewards, strict=True):
        for place, reward in zip(seats, paid, strict=False):
            earned[place] += reward
    total = totals.get(key)
    if total is None:
        total = totals[key] = DealTotal(0, [0] * len(key), [0] * len(key))
    total.deals += sign
    for place, amount in enumerate(earned):
        total.sums[place] += sign * amount
        total.squares[place] += sign * amount * amount
    if not total.deals:
        del totals[key]


@functools.lru_cache(maxsize=4096)
def _plan(finishes: tuple[Finished, ...]) -> tuple[DealKey, tuple[tuple[int, ...], ...]]:
    """The key of such a deal, and of each finished game the place in it of the agent in each seat."""
    names = sorted({name for finish in finishes for name in finish.agents})
    key = []
    for name in names:
        games = failed = spoilt = 0
        for finish in finishes:
            seats = finish.agents.count(name)
            games += seats
            if finish.failed_seat is not None:
                own = finish.agents[finish.failed_seat] == name
                failed += own
                spoilt += seats - own
        key.append(Dealt(name, games, failed, spoilt))
    places = tuple(
        tuple(names.index(name) for name in finish.agents) if finish.failed_seat is None else ()
        for finish in finishes
    )
    return tuple(key), places
