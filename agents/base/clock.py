"""The clocks of a game, and the share of the remaining time that a move should take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, runtime_checkable

from zermelo.agents.base.settings import check_number
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call

RESERVE: Final = 0.2
"""Seconds that are kept for what is not the search's: the way to the agent's process and back, a busy machine."""
_MOVES_LEFT: Final = 25
_OF_INCREMENT: Final = 0.75
"""A usual move takes that share of the time left, and of the increment."""
_HARDEST: Final = 2.5
"""How many times as long as a usual move the hardest may take."""
_OF_ALL: Final = 0.4
"""The largest share of the time left that any move may take."""
_SHORTEST: Final = 1e-3


class TimeShare(NamedTuple):
    """Seconds for one move: those of a usual move, and the most that a hard one may take."""

    usual: float
    most: float


@checked_call
@dataclass(frozen=True, kw_only=True)
class GameClock:
    """The remaining time of all players before a move.

    Attributes:
        left: The seconds that each seat has left.
        seat: The seat that is to move, whose time runs.
        increment: The seconds that each move of the player to move adds to its time.
        increments: The same for each seat, where players have different ones; else empty.
        move_seconds: The most that this move may take, however much time is left; infinity where only the clock
            counts.
    """

    left: tuple[float, ...]
    seat: int
    increment: float = 0.0
    move_seconds: float = math.inf
    increments: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for seconds in (*self.left, self.increment, *self.increments):
            check_number("the time of a clock", seconds, lower=0)
        if isinstance(self.seat, bool) or not isinstance(self.seat, int) or not 0 <= self.seat < len(self.left):
            raise InvalidSettingError(
                f"the seat of a clock must be a whole number from 0 to {len(self.left) - 1}, not {self.seat!r}"
            )
        if isinstance(self.move_seconds, bool) or not self.move_seconds > 0:
            raise InvalidSettingError(f"move_seconds must be greater than 0, not {self.move_seconds!r}")

    @property
    def own_left(self) -> float:
        """The seconds that the player to move has left."""
        return self.left[self.seat]

    @property
    def move_limit(self) -> float:
        """The most seconds that this move may take by its own limit, a reserve left out."""
        return max(self.move_seconds - RESERVE, self.move_seconds / 2)

    def share(self) -> TimeShare:
        """The time that a search should take for this move, a reserve left out."""
        spare = max(self.own_left - RESERVE, 0.0)
        usual = spare / _MOVES_LEFT + _OF_INCREMENT * self.increment
        most = min(_HARDEST * usual, _OF_ALL * spare, self.move_limit)
        return TimeShare(max(min(usual, most), _SHORTEST), max(most, _SHORTEST))


@runtime_checkable
class SupportsClock(Protocol):
    """An agent that manages its time itself where a game has a clock. Other agents need not know of clocks."""

    def tell_clock(self, clock: GameClock) -> None:
        """Called before each ``act`` of a game with a clock: the time that all players have left."""
        ...
