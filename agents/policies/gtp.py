"""Go programs that speak GTP, version 2 (Farnebäck, 2002), as agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import RESERVE, GameClock
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import check_number, integer
from zermelo.agents.policies.engines import EngineAgent, EngineError, EngineMoveError, quoted
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.wrappers import game_name

COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # of a Go board; there is no I


class _Time(TransientState):
    clock: GameClock | None = None
    main_seconds: int | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GtpAgent(EngineAgent):
    """Plays a GTP engine in PettingZoo's Go: ``gtp(path="gnugo --mode gtp --chinese-rules", level=1)``.

    The environment counts areas, with all stones alive that are on the board: an engine has to be told to play
    until the dead ones are captured (GNU Go: ``--chinese-rules --capture-all-dead``). In a game with a clock it is
    told the time of both players (``time_settings``, ``time_left``). An engine that answers ``resign`` has lost.

    Attributes:
        seconds: That a move may take.
        level: GNU Go's own measure of effort, 0 to 10; None leaves it.
    """

    kind: ClassVar[str] = "gtp"

    seconds: float = 60.0
    level: int | None = integer(None)

    _time: _Time = field(init=False, default_factory=_Time)

    def __post_init__(self) -> None:
        check_number("seconds", self.seconds, lower=0, above=True)
        super().__post_init__()

    def _arguments(self) -> list[str]:
        return [] if self.level is None else ["--level", str(self.level)]

    def _new_game(self) -> None:
        self._time.clock = self._time.main_seconds = None

    def _respond(self, command: str) -> str:
        """The first line of the response, which begins with ``=``, or with ``?`` where it is an error."""
        return self._answer(command, until=lambda line: line[:1] in ("=", "?"), seconds=self.seconds)[-1]

    def _ask(self, command: str) -> str:
        line = self._respond(command)
        if not line.startswith("="):
            raise EngineError(f"{self.path} answered {quoted(line)} to {command!r}")
        return line[1:].strip()

    @classmethod
    def check_env(cls, env: Any) -> None:
        if not hasattr(getattr(env.unwrapped, "_go", None), "recent"):
            raise UnsupportedGameError(f"gtp plays Go, such as classic/go-v5, and not {game_name(env)}")

    def tell_clock(self, clock: GameClock) -> None:
        self._time.clock = clock
        if self._time.main_seconds is None:
            self._time.main_seconds = max(int(clock.own_left), 1)

    def decide(self, env: Any) -> int:
        self.check_env(env)
        raw = env.unwrapped
        position, size = raw._go, int(raw._N)
        for command in (f"boardsize {size}", "clear_board", f"komi {raw._komi}"):
            self._ask(command)
        for played in position.recent:
            move = played.move
            vertex = "pass" if move is None else f"{COLUMNS[move[1]]}{size - move[0]}"
            self._ask(f"play {_colour(played.color)} {vertex}")
        for command in self._of_clock(position.to_play):
            self._respond(command)  # an engine that knows no clocks says so, and plays
        self._forget_unasked()
        answer = self._ask(f"genmove {_colour(position.to_play)}")
        if answer.lower() == "resign":
            raise Resignation(f"{self.path} resigns")
        if answer.lower() == "pass":
            return size * size
        column, row = COLUMNS.find(answer[:1].upper()), answer[1:]
        if not answer or not 0 <= column < size or not row.isdecimal() or not 1 <= int(row) <= size:
            raise EngineMoveError(f"{self.path} answered {quoted(answer)}, which is no move")
        return int((size - int(row)) * size + column)

    def _of_clock(self, to_play: int) -> list[str]:
        """Commands that tell the time of both players, in whole seconds; byo-yomi stands for an increment."""
        clock, self._time.clock = self._time.clock, None
        if clock is None:
            return []
        added = int(clock.increment)
        return [
            f"time_settings {self._time.main_seconds} {added} {int(added > 0)}",
            f"time_left {_colour(-to_play)} {max(int(clock.left[1 - clock.seat]), 0)} 0",
            f"time_left {_colour(to_play)} {max(int(clock.own_left - RESERVE), 0)} 0",
        ]


def _colour(number: int) -> str:
    return "black" if number > 0 else "white"
