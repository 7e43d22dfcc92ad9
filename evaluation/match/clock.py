"""Limits of a whole game: its moves, and its time."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from zermelo.agents.base.clock import GameClock
from zermelo.envs.errors import InvalidSettingError

MAX_MOVES: Final = 100_000
"""The default limit on moves: a game in which random players may wander for ever still ends."""
_CONTROL: Final = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


class TimeControl(NamedTuple):
    """Seconds for a game, and those that each move adds."""

    seconds: float
    increment: float = 0.0

    @classmethod
    def read(cls, text: Any) -> TimeControl:
        """A time control as people write it: ``"60+0.6"``, or ``"60"``.

        Raises:
            InvalidSettingError: It is written otherwise, or has no time for the game.
        """
        match = _CONTROL.fullmatch(text) if isinstance(text, str) else None
        if match is None or float(match[1]) == 0:
            raise InvalidSettingError(
                f"a clock is seconds for the game and for each move, such as '60+0.6', not {text!r}"
            )
        return cls(float(match[1]), float(match[2] or 0))


class SeatClocks:
    """The time that each seat of a game has left."""

    def __init__(self, control: TimeControl, seats: int) -> None:
        self._added = control.increment
        self._left = [control.seconds] * seats

    def shown(self, seat: int) -> GameClock:
        return GameClock(left=tuple(self._left), seat=seat, increment=self._added)

    def has_time(self, seat: int, seconds: float) -> bool:
        """Counts a move's time, and then the increment; False if it took longer than there was."""
        left = self._left[seat] - seconds
        self._left[seat] = max(left, 0.0) + self._added
        return left >= 0
