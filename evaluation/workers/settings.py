"""Which agents get a process of their own, and what they may use there."""

from __future__ import annotations

import enum
import math
import sys
from dataclasses import asdict, dataclass
from typing import Any, Final

from zermelo.agents.base.settings import check_flag, check_whole
from zermelo.agents.specs import runs_own_code
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.match.clock import TimeControl

_POSIX: Final = sys.platform != "win32"


class Isolate(enum.StrEnum):
    """Which agents run in processes of their own."""

    ALL = "all"
    OWN = "own"
    """Those named by text that run somebody's own code (``module:factory``, learned policies); with a limit on
    time or memory, all but ``random``, which needs neither."""
    NONE = "none"


@checked_call
@dataclass(frozen=True, kw_only=True)
class AgentLimits:
    """The limits that are enforced from outside of an agent's process.

    An agent inside the worker cannot be stopped, so a limit on its time or memory implies a process of its own. An
    agent given as a live object or a function stays in the worker unless there is a limit, or ``isolate`` is
    ``"all"``.

    Attributes:
        isolate: Agents that get a process of their own: all; own (those named module:factory, learned ones, and
            with a limit on time or memory all but random); none.
        move_seconds: Time limit for a move, in seconds; an agent that takes longer loses. In Python: wall-clock
            time, without the way of the position to the process and back.
        clock: Time for a whole game and increment per move, in seconds; with commas one for each agent. Agents
            that manage their time are told; one that runs out loses. In Python: ``"60+0.6"``, or ``"60"``. Getting
            ready does not count, nor does the way of a position to the agent's process. ``SupportsClock`` has a
            clock told.
        start_seconds: Time limit for starting an agent or engine, and for getting ready for a game, in seconds.
        memory_mb: Memory limit of an agent's process, in MiB; an agent that takes more loses. In Python: resident
            memory of the process and its children; a bare one has about 60.
        ponder: Agents think on the opponent's time too, each in a process of its own. In Python: no clock counts
            it.
        output_kb: What may be written to standard output and error in one move, in KiB.
        hang_seconds: A move that takes more seconds counts as a hang and loses; 0 waits for ever. In Python:
            None, and not 0, waits for ever. It holds for all agents, whatever process they are in. An environment
            that hangs makes the game void.
    """

    isolate: Isolate = Isolate.OWN
    move_seconds: float | None = None
    clock: str | None = None
    start_seconds: float = 60.0
    memory_mb: int | None = None
    ponder: bool = False
    output_kb: int = 1024
    hang_seconds: float | None = 600.0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "isolate", Isolate(self.isolate))
        except ValueError:
            raise InvalidSettingError(f"isolate must be 'all', 'own' or 'none', not {self.isolate!r}") from None
        for name in ("move_seconds", "start_seconds", "hang_seconds"):
            _check_seconds(name, getattr(self, name), optional=name != "start_seconds")
        if self.clock is not None:
            for part in self.clock.split(",") if isinstance(self.clock, str) else [self.clock]:
                TimeControl.read(part)
        if self.memory_mb is not None:
            check_whole("memory_mb", self.memory_mb, lower=16)
        check_whole("output_kb", self.output_kb, lower=1)
        check_flag("ponder", self.ponder)
        if self.isolate is Isolate.NONE and (self.limited or self.ponder):
            limit = next(name for name in ("move_seconds", "clock", "memory_mb", "ponder") if getattr(self, name))
            raise InvalidSettingError(
                f"{limit} cannot be enforced with isolate='none': an agent inside the worker cannot be stopped; "
                "leave isolate at 'own', or leave out the limit"
            )
        if not _POSIX and (self.limited or self.ponder or self.isolate is Isolate.ALL):
            raise InvalidSettingError(
                f"isolate={self.isolate.value!r} with limits needs processes that fork, which {sys.platform} does "
                "not have: play without limits and with isolate='none'"
            )

    def to_dict(self) -> dict[str, Any]:
        """The settings that may decide games, as plain values; some only if they are used."""
        settings = {name: value for name, value in asdict(self).items() if name != "hang_seconds"}
        return {name: value for name, value in settings.items() if value or name not in ("clock", "ponder")}

    @property
    def limited(self) -> bool:
        """Whether time or memory is limited."""
        return self.timed or self.memory_mb is not None

    @property
    def timed(self) -> bool:
        """Whether time is limited."""
        return self.move_seconds is not None or self.clock is not None

    @property
    def time_control(self) -> TimeControl | None:
        """The time for a whole game, where it is limited; the first agent's where each has its own."""
        return None if self.clock is None else TimeControl.read(self.clock.partition(",")[0])

    def applies_to(self, source: Any) -> bool:
        """Whether the agent from this source (see ``participants``) gets a process of its own."""
        if self.isolate is not Isolate.OWN or not _POSIX:
            return _POSIX and self.isolate is Isolate.ALL
        if self.limited or self.ponder:
            return not _is_random(source)
        return isinstance(source, str) and runs_own_code(source)


def _is_random(source: Any) -> bool:
    from zermelo.agents.baselines import RandomAgent  # late: the command line imports this module

    if isinstance(source, str):
        return source.partition("(")[0].strip() == RandomAgent.kind
    return source is RandomAgent or type(source) is RandomAgent


def _check_seconds(name: str, value: Any, *, optional: bool) -> None:
    if value is None and optional:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise InvalidSettingError(f"{name} must be a number of seconds above 0, not {value!r}")
