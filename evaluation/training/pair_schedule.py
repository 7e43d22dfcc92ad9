"""Schedules that grow while they are played: blocks of games of two agents, decided in batches.

A game depends on the seed, its two agents and the number of the block among theirs, and on nothing else. What was
decided stays: further batches and further agents come after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, overload

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.schedule import Pairings, ScheduledGame, derived_seed

Batch: TypeAlias = tuple[tuple[int, int, int], ...]
"""Pairs of agents by their places in the list, the lower one first, and the number of blocks that they play."""


@dataclass(frozen=True)
class PairSchedule(Sequence[ScheduledGame]):
    """Blocks of games of two agents, as many games as there are seats.

    In each game of a block one agent has one seat, a different one each time, and the other the rest; with more
    than two seats the two exchange these parts from block to block.

    Attributes:
        openings: Of the blocks of a pair in turn, again from the first when they are through.
        duplicate: Whether the games of a block have one seed, so that luck which a seat has each agent has once.
    """

    agents: tuple[str, ...]
    seats: int
    seed: int
    openings: tuple[tuple[Any, ...], ...] = ()
    duplicate: bool = False
    batches: tuple[Batch, ...] = ()

    def __post_init__(self) -> None:
        for first, second, blocks in (entry for batch in self.batches for entry in batch):
            if not 0 <= first < second < len(self.agents) or blocks < 1:
                raise InvalidSettingError(f"agents {first} and {second} cannot play {blocks} blocks of games")

    def longer(self, batch: Batch) -> PairSchedule:
        return replace(self, batches=(*self.batches, batch))

    @property
    def pairings(self) -> Pairings:
        """The kind of a tournament in which any two may meet."""
        return Pairings.ROUND_ROBIN

    @property
    def beginnings(self) -> Sequence[Any]:
        """The openings as plain values."""
        return self.openings

    @cached_property
    def _blocks(self) -> list[tuple[int, int, int]]:
        """The pair of each block, and its number among theirs, in the order of play."""
        played, blocks = Counter[tuple[int, int]](), list[tuple[int, int, int]]()
        for first, second, count in (entry for batch in self.batches for entry in batch):
            blocks += ((first, second, played[first, second] + number) for number in range(count))
            played[first, second] += count
        return blocks

    @cached_property
    def _places(self) -> dict[str, int]:
        return {_id(*block): place for place, block in enumerate(self._blocks)}

    def place(self, game_id: str) -> int:
        """The place of a game, by its id."""
        block, _, turn = game_id.rpartition(".")
        if block in self._places and turn.isdecimal() and int(turn) < self.seats:
            return self._places[block] * self.seats + int(turn)
        raise InvalidSettingError(f"the schedule has no game {game_id!r}")

    def game_id(self, place: int) -> str:
        """The id of the game at a place."""
        block, turn = divmod(place, self.seats)
        return f"{_id(*self._blocks[block])}.{turn}"

    def __len__(self) -> int:
        return len(self._blocks) * self.seats

    @overload
    def __getitem__(self, place: int) -> ScheduledGame: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ScheduledGame, ...]: ...
    def __getitem__(self, place: int | slice) -> ScheduledGame | tuple[ScheduledGame, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        place = range(len(self))[place]
        block, turn = divmod(place, self.seats)
        first, second, number = self._blocks[block]
        pair = self.agents[first], self.agents[second]
        single, others = pair if number % 2 == 0 else pair[::-1]
        seated = tuple(single if seat == turn else others for seat in range(self.seats))
        seed = derived_seed(self.seed, sorted(pair), number * self.seats + (0 if self.duplicate else turn))
        opening = self.openings[number % len(self.openings)] if self.openings else ()
        return ScheduledGame(self.game_id(place), seed, seated, opening)


def _id(first: int, second: int, number: int) -> str:
    """Of a block: its number among those of the pair, and the pair's, which further agents leave as it is."""
    return f"{number}.{second * (second - 1) // 2 + first}"
