"""Limits of a whole game: its moves, and its time."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
        match = _CONTROL.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None or float(match[1]) == 0:
            raise InvalidSettingError(
                f"a clock is seconds for the game and for each move, such as '60+0.6', not {text!r}"
            )
        return cls(float(match[1]), float(match[2] or 0))

    def __str__(self) -> str:
        return f"{self.seconds:g}+{self.increment:g}"


def time_controls(clock: str | Sequence[str], count: int) -> tuple[TimeControl, ...]:
    """The time control of each player: one for all, or one for each, separated by commas in a text.

    Raises:
        InvalidSettingError: There are others than one or ``count``, or one cannot be read.
    """
    parts = clock.split(",") if isinstance(clock, str) else clock
    controls = [TimeControl.read(part) for part in (parts if isinstance(parts, list | tuple) else [parts])]
    if len(controls) not in (1, count):
        raise InvalidSettingError(
            f"{len(controls)} clocks are given for {count} players: give one for all of them, or one for each"
        )
    return tuple(controls if len(controls) == count else controls * count)


class SeatClocks:
    """The time that each seat of a game has left."""

    def __init__(self, control: TimeControl, seats: int, own: Sequence[TimeControl] = ()) -> None:
        """``own`` has a time control for each seat, where they differ."""
        controls = own or [control] * seats
        self._added = [one.increment for one in controls]
        self._left = [one.seconds for one in controls]

    def shown(self, seat: int) -> GameClock:
        increments = tuple(self._added) if len({*self._added}) > 1 else ()
        return GameClock(left=tuple(self._left), seat=seat, increment=self._added[seat], increments=increments)

    def has_time(self, seat: int, seconds: float) -> bool:
        """Counts a move's time, and then the increment; False if it took longer than there was."""
        left = self._left[seat] - seconds
        self._left[seat] = max(left, 0.0) + self._added[seat]
        return left >= 0


def too_late(seconds: float, clock: GameClock | None) -> str:
    """Returns the message of an agent that took more than so many seconds for a move."""
    ran_out = clock is not None and seconds == clock.own_left
    return f"did not answer within {seconds:.4g} s" + ", all that its clock had left" * ran_out
