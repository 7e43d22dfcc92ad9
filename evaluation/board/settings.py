"""Settings of a game on the board, and the players' clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from zermelo.agents.base.clock import GameClock
from zermelo.agents.base.machine import default_threads
from zermelo.agents.specs import describe_settings, runs_own_code
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.spec_text import Spec, parse_spec
from zermelo.evaluation.match.clock import TimeControl
from zermelo.evaluation.match.text import shown

LONGEST: Final = 200  # characters of a move or an agent that a page may send


@dataclass(frozen=True)
class BoardSettings:
    """Settings of a new game."""

    env: str
    opponent: str = "auto"
    seat: int = 0  # the person's
    seed: int = 0
    clock: str = ""  # none is a game without clocks
    analyst: str = "auto"
    ponder: bool = False  # the agent thinks on the person's time too


_PARALLEL: Final = ("threads", "workers")
_MOST_PARALLEL: Final = 256
_COUNTED: Final = {"memory_mb": 4_096, "batch_size": 4_096, "depth": 1_000}
_MOST: Final = 10**9  # the largest number that a setting of an agent may be that a page names; of some it is less


def changed_settings(settings: BoardSettings, wanted: Mapping[str, Any]) -> BoardSettings:
    """Settings with those changed that a page asks for: ``seat``, ``opponent``, ``clock`` and ``seed``."""
    changes: dict[str, Any] = {
        name: text_setting(name, wanted[name]) for name in ("opponent", "clock") if name in wanted
    }
    numbers = {name: wanted[name] for name in ("seat", "seed") if name in wanted}
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise InvalidSettingError(f"{name} is a whole number of at least 0, not {shown(value, 40)}")
    return replace(settings, **changes, **numbers)


def text_setting(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InvalidSettingError(f"{name} is a text of at most {LONGEST} characters, not {shown(value, 40)}")
    return value.strip()


def require_known(spec: str, given: BoardSettings) -> None:
    if not spec or spec in (given.opponent, given.analyst):
        return
    if ":" not in (name := parse_spec(spec).name):
        describe_settings(name)  # an unknown name is said to be one
    if runs_own_code(spec):
        raise InvalidSettingError(
            f"{shown(spec, 60)} may run code or read files of its own: name it on the command line, as in zermelo "
            "play ENV AGENT"
        )
    _require_modest(parse_spec(spec))


def require_startable(spec: str) -> None:
    """Refuses an agent of the command line that would start more threads or processes than a system stands."""
    for name, value in _settings_of(parse_spec(spec)):
        if name in _PARALLEL and isinstance(value, int) and value > _MOST_PARALLEL:
            raise InvalidSettingError(f"{name} is at most {_MOST_PARALLEL} on the board, not {value}: take fewer")


def _settings_of(spec: Spec) -> Iterator[tuple[str, Any]]:
    for name, value in spec.arguments.items():
        yield name, value
        if isinstance(value, Spec):
            yield from _settings_of(value)


def _require_modest(spec: Spec) -> None:
    for name, value in _settings_of(spec):
        most = default_threads() if name in _PARALLEL else _COUNTED.get(name, _MOST)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if (is_number and not abs(value) <= most) or (name == "workers" and not is_number):
            raise InvalidSettingError(
                f"{name} is a number of at most {most:,} on the board, not {shown(value, 40)}: name an agent that "
                "takes more on the command line, as in zermelo play ENV AGENT"
            )


class Clock:
    """The players' time for a game, with what each move adds, as people write it: ``300+5``."""

    def __init__(self, control: str, seats: int, now: Callable[[], float] = time.monotonic) -> None:
        seconds, self._added = TimeControl.read(control)
        self.control = control
        self._left = [seconds] * seats
        self._now = now
        self._running: int | None = None
        self._since = 0.0

    def start(self, seat: int | None) -> None:
        """Lets a seat's clock run, and no other; None stops them all, and the move is not counted."""
        self._stop()
        self._running, self._since = seat, self._now()

    def press(self) -> None:
        seat = self._running
        self._stop()
        if seat is not None:
            self._left[seat] += self._added

    def _stop(self) -> None:
        if self._running is not None:
            self._left[self._running] = self.left(self._running)
        self._running = None

    def left(self, seat: int) -> float:
        spent = self._now() - self._since if seat == self._running else 0.0
        return max(self._left[seat] - spent, 0.0)

    def shown(self, seat: int) -> GameClock:
        left = tuple(map(self.left, range(len(self._left))))
        return GameClock(left=left, seat=seat, increment=self._added)

    def fallen(self) -> int | None:
        return self._running if self._running is not None and self.left(self._running) == 0 else None
