"""Schedules: the agents, seats and seeds of all games, as data.

Games come in blocks, played one after another, in each of which every pairing plays its rotation of the seats from
one opening. For more than two seats, successive blocks go through the (n - 1)! cyclic orders. A game's seed
depends on the tournament's seed, the names of the agents (but not of those who each take one seat) and the number
of the game within its pairing, and on nothing else.

Everything is known before the first game, but for tournaments in rounds, Swiss and knockout: there the ids,
openings and numbers of games are, and who plays in a round is decided by the games of the rounds before
(``zermelo.evaluation.stats.rounds``) and given as ``drawn``.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import json
import math
import numbers
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, overload

from zermelo.agents.base.settings import check_choice, check_whole
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import did_you_mean


class Pairings(enum.StrEnum):
    """The pairings of a schedule."""

    ROUND_ROBIN = "round-robin"
    """Every agent plays every other."""
    GAUNTLET = "gauntlet"
    """The first agent plays every other."""
    ONE_SEAT = "one-seat"
    """Every other agent takes one seat, the first all others; all in the same seats, with the same seeds."""
    SWISS = "swiss"
    """In each round, agents meet that have as many points and have not met before."""
    KNOCKOUT = "knockout"
    """In each round, whoever loses is out."""

    @property
    def in_rounds(self) -> bool:
        """True if results decide who meets whom."""
        return self in (Pairings.SWISS, Pairings.KNOCKOUT)


def parse_pairings(given: Any) -> tuple[Pairings, int | None]:
    """The pairings, and the number of rounds where it is given, as in ``swiss:9``."""
    name, colon, rounds = str(given).partition(":")
    if not colon:
        return check_choice("pairings", given, Pairings), None
    is_number = rounds.isdecimal() and 0 < int(rounds[:9]) < 10**6
    if name != Pairings.SWISS or not is_number:
        hint = did_you_mean(str(given), [f"{Pairings.SWISS}:{rounds}"]) if is_number else None
        raise InvalidSettingError(
            f"a number of rounds is written swiss:9, for a tournament of nine rounds, not {given!r}"
            + f": {hint}" * bool(hint)
        )
    return Pairings.SWISS, int(rounds)


class ScheduledGame(NamedTuple):
    """A game to be played.

    Attributes:
        game_id: Unique in its schedule: ``block.pairing.game``, counted from 0; in rounds
            ``round.block.pairing.game``.
        seed: What the environment is reset with and the agents' seeds are derived from.
        opening: Actions to play before the agents take over.
        env: The environment's text where the opening begins at a position of its own; else None.
    """

    game_id: str
    seed: int
    seats: tuple[str, ...]
    opening: tuple[Any, ...] = ()
    env: str | None = None


class GameIndex(Protocol):
    """The part of a schedule that a store asks for."""

    @property
    def agents(self) -> Sequence[str]:
        """Their names."""

    @property
    def seats(self) -> int:
        """Of a game."""

    @property
    def pairings(self) -> Pairings:
        """The kind of the schedule."""

    @property
    def beginnings(self) -> Sequence[Any]:
        """The openings as plain values, with where they begin if that differs."""

    def place(self, game_id: str) -> int:
        """The place of a game, by its id."""

    def game_id(self, place: int) -> str:
        """The id of the game at a place."""

    def __getitem__(self, place: int) -> ScheduledGame: ...

    def __len__(self) -> int: ...


def game_order(game_id: str) -> tuple[int, ...]:
    return tuple(int(part) if _is_number(part) else 0 for part in game_id.split("."))


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
        swiss_rounds: Rounds of a Swiss tournament; by default two more than a knockout has.
        drawn: Who meets whom in rounds that are drawn, by their numbers from 0; the first of a pair sits first in
            their first game.

    Raises:
        InvalidSettingError: There are too few agents or games, two agents of one name, a gauntlet of one seat, or
            rounds that these agents or this game cannot have.
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
    swiss_rounds: int | None = None
    drawn: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict, repr=False)

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
        if self.pairings in (Pairings.GAUNTLET, Pairings.ONE_SEAT) and self.seats == 1:
            raise InvalidSettingError(
                f"a {self.pairings} schedule needs an environment with 2 seats or more, not 1"
            )
        if self.pairings.in_rounds and (self.seats != 2 or self.teams):
            what = "a cooperative one" if self.teams else f"one of {self.seats}"
            raise InvalidSettingError(
                f"{self.pairings} pairings need a game of two opponents, not {what}: use round-robin"
            )
        if self.pairings is Pairings.SWISS and self.rounds >= len(self.agents):
            most = f"{len(self.agents) - 1} round{'s' * (len(self.agents) > 2)}"
            raise InvalidSettingError(
                f"{len(self.agents)} agents have met each other after {most}, so they "
                f"cannot play {self.rounds}: use fewer, or round-robin"
            )

    @cached_property
    def _pairs(self) -> list[tuple[int, ...]]:
        if self.pairings is Pairings.ONE_SEAT:
            return [(0,) * (self.seats - 1) + (agent,) for agent in range(1, len(self.agents))]
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

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of pairings of each round; a schedule that is known from the beginning is one round."""
        count = len(self.agents)
        if self.pairings is Pairings.SWISS:
            return [count // 2] * self.rounds
        if self.pairings is Pairings.KNOCKOUT:
            later = [2**power for power in reversed(range(self.rounds - 1))]
            return [max(1, count - 2 ** (self.rounds - 1)), *later]
        return [len(self._pairs)]

    @cached_property
    def _starts(self) -> list[int]:
        """The place of the first game of each round, and of the end."""
        return [self.games * pairings for pairings in itertools.accumulate(self._sizes, initial=0)]

    @cached_property
    def rounds(self) -> int:
        """The number of rounds; 1 where results do not decide who meets whom."""
        halvings = max(1, math.ceil(math.log2(max(2, len(self.agents)))))
        if self.pairings is Pairings.SWISS:
            return min(halvings + 2, len(self.agents) - 1) if self.swiss_rounds is None else self.swiss_rounds
        return halvings if self.pairings is Pairings.KNOCKOUT else 1

    def round_places(self, number: int) -> range:
        """The places of the games of a round, which is counted from 0."""
        return range(self._starts[number], self._starts[number + 1])

    @property
    def _blocks_of_round(self) -> int:
        return -(-self.games // self.seats)

    @property
    def blocks(self) -> int:
        """The number of blocks, of which the last of a round may be incomplete."""
        return self.rounds * self._blocks_of_round

    @property
    def beginnings(self) -> Sequence[Any]:
        """The openings as plain values, with where they begin if that differs."""
        return [*zip(self.starts, self.openings, strict=True)] if self.starts else self.openings

    def block_end(self, block: int) -> int:
        """The place of the first game after that block, counted from 0."""
        number, block = divmod(block, self._blocks_of_round)
        return self._starts[number] + min((block + 1) * self.seats, self.games) * self._sizes[number]

    def game_id(self, place: int) -> str:
        """The id of the game of that place, also where who plays it is not known yet."""
        round_number, block, pairing, turn = self._parts(place)
        return ".".join(map(str, (round_number, block, pairing, turn)[not self.pairings.in_rounds :]))

    def _parts(self, place: int) -> tuple[int, int, int, int]:
        round_number = bisect_right(self._starts, place) - 1
        block, rest = divmod(place - self._starts[round_number], self.seats * self._sizes[round_number])
        return round_number, block, *divmod(rest, self._turns(block))

    def place(self, game_id: str) -> int:
        """The place of a game, by its id."""
        parts = game_id.split(".")
        if len(parts) == 3 + self.pairings.in_rounds and all(map(_is_number, parts)):
            number, block, pairing, turn = map(int, parts if self.pairings.in_rounds else ["0", *parts])
            if number < self.rounds and block < self._blocks_of_round:
                size, turns = self._sizes[number], self._turns(block)
                if pairing < size and turn < turns:
                    return self._starts[number] + block * self.seats * size + pairing * turns + turn
        raise InvalidSettingError(f"the schedule has no game {game_id!r}")

    def _turns(self, block: int) -> int:
        return min(self.seats, self.games - block * self.seats)

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, place: int) -> ScheduledGame: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ScheduledGame, ...]: ...
    def __getitem__(self, place: int | slice) -> ScheduledGame | tuple[ScheduledGame, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} games, so no game {place}")
        place %= len(self)
        round_number, block, pairing, turn = self._parts(place)
        seatings = self._rotation(round_number, block, pairing)
        number = turn
        if self.duplicate:
            # The same agents in the same seats would play the same game again: they have a deal of their own.
            number = seatings[:turn].count(seatings[turn])
        block += round_number * self._blocks_of_round
        is_common = self.seats == 1 or self.pairings is Pairings.ONE_SEAT
        group = [] if is_common else sorted(seatings[turn])
        seed = derived_seed(self.seed, group, block * self.seats + number)
        opening = self.openings[block % len(self.openings)] if self.openings else ()
        start = self.starts[block % len(self.starts)] if self.starts else None
        return ScheduledGame(self.game_id(place), seed, seatings[turn], opening, start)

    def _rotation(self, round_number: int, block: int, pairing: int) -> list[tuple[str, ...]]:
        """The agents by seat in each game of a pairing in a block."""
        if self.pairings.in_rounds:
            if round_number not in self.drawn:
                raise IndexError(f"who plays in round {round_number + 1} is known after the rounds before")
            first, second = self.drawn[round_number][pairing]
            seatings: list[tuple[str, ...]] = [(first, second), (second, first)]
            return seatings[: self._turns(block)]
        group, order = self._groups[pairing], self._orders[block % len(self._orders)]
        # An odd game out: who moves first in it alternates with the sum of the agents' numbers.
        shift = sum(self._numbers[agent] for agent in self._pairs[pairing]) + 1
        shift = 0 if self.pairings is Pairings.ONE_SEAT else shift
        return [
            tuple(group[order[(seat + turn + shift) % self.seats]] for seat in range(self.seats))
            for turn in range(self._turns(block))
        ]


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 20


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
