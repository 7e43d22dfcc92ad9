"""Schedules: the agents, seats and seeds of all games, as data that is complete before the first game.

Games come in blocks, played one after another, in each of which every pairing plays its rotation of the seats from
one opening. For more than two seats, successive blocks go through the (n - 1)! cyclic orders. A game's seed
depends on the tournament's seed, the names of the agents and the number of the game within its pairing, and on
nothing else.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import json
import numbers
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, overload

from zermelo.agents.base.settings import check_whole
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call


class Pairings(enum.StrEnum):
    """The pairings of a schedule."""

    ROUND_ROBIN = "round-robin"
    """Every agent plays every other."""
    GAUNTLET = "gauntlet"
    """The first agent plays every other."""


class ScheduledGame(NamedTuple):
    """A game to be played.

    Attributes:
        game_id: Unique in its schedule: ``block.pairing.game``, counted from 0.
        seed: What the environment is reset with and the agents' seeds are derived from.
        opening: Actions to play before the agents take over.
        env: The environment's text where the opening begins at a position of its own; else None.
    """

    game_id: str
    seed: int
    seats: tuple[str, ...]
    opening: tuple[Any, ...] = ()
    env: str | None = None


def game_order(game_id: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() and len(part) < 20 else 0 for part in game_id.split("."))


@checked_call
@dataclass(frozen=True)
class Schedule(Sequence[ScheduledGame]):
    """All games of a tournament in order of play; a game is worked out when it is asked for.

    With one seat, every agent plays alone, all with the same seeds. With fewer agents than seats, the groups are
    those in which every agent has at least one seat.

    Attributes:
        games: For each pairing. Seats come out even if it is a multiple of ``seats``; otherwise they differ by one
            game in a pairing, and the extra games are spread over the agents.
        openings: The openings of the blocks in turn, again from the first when they are through.
        starts: The environment's text for each opening, where openings begin at positions of their own; else none.
        numbers: Of the agents; they decide who begins. By default their places in the list.
        duplicate: Whether the games of a rotation have one seed, as bridge clubs deal: luck that a seat has, every
            agent has once. Agents' own random numbers go by the seat too.
        teams: Whether every agent also plays alone, in all seats.

    Raises:
        InvalidSettingError: There are too few agents or games, two agents of one name, or a gauntlet of one seat.
    """

    agents: Sequence[str]
    _: KW_ONLY
    seats: int
    games: int
    seed: int
    pairings: Pairings = Pairings.ROUND_ROBIN
    openings: Sequence[tuple[Any, ...]] = field(default=(), repr=False)
    starts: Sequence[str | None] = field(default=(), repr=False)
    numbers: Sequence[int] | None = None
    duplicate: bool = False
    teams: bool = False

    def __post_init__(self) -> None:
        check_whole("games", self.games, lower=1)
        twice = [name for name, count in Counter(self.agents).items() if count > 1]
        if twice:
            raise InvalidSettingError(f"two agents are called {twice[0]!r}: give them different names")
        needed = 1 if self.teams else min(self.seats, 2)
        if len(self.agents) < needed:
            raise InvalidSettingError(
                f"a tournament needs at least {needed} agent{'s' * (needed > 1)}, not {len(self.agents)}"
            )
        if self.pairings is Pairings.GAUNTLET and self.seats == 1:
            raise InvalidSettingError("a gauntlet needs an environment with at least 2 seats, not 1")

    @cached_property
    def _pairs(self) -> list[tuple[int, ...]]:
        pairings = dict.fromkeys(_groups(len(self.agents), self.seats))
        if self.teams:
            pairings |= dict.fromkeys((agent,) * self.seats for agent in range(len(self.agents)))
        # By their last agents, so that further agents leave the pairings before them where they are.
        groups = sorted(pairings, key=lambda group: group[::-1])
        if self.pairings is Pairings.GAUNTLET:
            groups = [group for group in groups if 0 in group]
        return [tuple(sorted(group, key=self._numbers.__getitem__)) for group in groups]

    @cached_property
    def _groups(self) -> list[tuple[str, ...]]:
        return [tuple(self.agents[agent] for agent in pairing) for pairing in self._pairs]

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return range(len(self.agents)) if self.numbers is None else self.numbers

    @cached_property
    def _orders(self) -> list[tuple[int, ...]]:
        return [(0, *rest) for rest in itertools.permutations(range(1, self.seats))]

    @property
    def blocks(self) -> int:
        """The number of blocks, the last perhaps incomplete."""
        return -(-self.games // self.seats)

    @property
    def beginnings(self) -> Sequence[Any]:
        """The openings as plain values, with where they begin if that differs."""
        return [*zip(self.starts, self.openings, strict=True)] if self.starts else self.openings

    def block_end(self, block: int) -> int:
        """The place of the first game after that block, counted from 0."""
        return min((block + 1) * self.seats, self.games) * len(self._pairs)

    def place(self, game_id: str) -> int:
        """The place of a game, by its id."""
        parts = game_id.split(".")
        if len(parts) == 3 and all(part.isdecimal() and len(part) < 20 for part in parts):
            block, pairing, turn = map(int, parts)
            turns = self._turns(block)
            if 0 <= block < self.blocks and pairing < len(self._pairs) and turn < turns:
                return block * self.seats * len(self._pairs) + pairing * turns + turn
        raise InvalidSettingError(f"the schedule has no game {game_id!r}")

    def _turns(self, block: int) -> int:
        return min(self.seats, self.games - block * self.seats)

    def __len__(self) -> int:
        return self.games * len(self._pairs)

    @overload
    def __getitem__(self, place: int) -> ScheduledGame: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ScheduledGame, ...]: ...
    def __getitem__(self, place: int | slice) -> ScheduledGame | tuple[ScheduledGame, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} games, so no game {place}")
        block, rest = divmod(place % len(self), self.seats * len(self._pairs))
        pairing, turn = divmod(rest, self._turns(block))
        group = self._groups[pairing]
        seated = self._seated(block, pairing, turn)
        number = turn
        if self.duplicate:
            # The same agents in the same seats would play the same game again: they have a deal of their own.
            number = sum(self._seated(block, pairing, earlier) == seated for earlier in range(turn))
        seed = derived_seed(self.seed, sorted(group) if self.seats > 1 else [], block * self.seats + number)
        opening = self.openings[block % len(self.openings)] if self.openings else ()
        start = self.starts[block % len(self.starts)] if self.starts else None
        return ScheduledGame(f"{block}.{pairing}.{turn}", seed, seated, opening, start)

    def _seated(self, block: int, pairing: int, turn: int) -> tuple[str, ...]:
        group, order = self._groups[pairing], self._orders[block % len(self._orders)]
        # An odd game out: who moves first in it alternates with the sum of the agents' numbers.
        shift = (turn + sum(self._numbers[agent] for agent in self._pairs[pairing]) + 1) % self.seats
        return tuple(group[order[(seat + shift) % self.seats]] for seat in range(self.seats))


def _groups(agents: int, seats: int) -> list[tuple[int, ...]]:
    if agents >= seats:
        return list(itertools.combinations(range(agents), seats))
    groups = itertools.combinations_with_replacement(range(agents), seats)
    return [group for group in groups if len(set(group)) == agents]


def checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise InvalidSettingError(f"seed must be a whole number of at least 0, not {seed!r}")
    return int(seed)


def derived_seed(*parts: Any) -> int:
    """31 bits that depend on these plain values and on nothing else."""
    return int.from_bytes(hashlib.sha256(json.dumps(list(parts)).encode()).digest()[:4]) >> 1
