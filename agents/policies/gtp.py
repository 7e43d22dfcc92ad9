"""Go programs that speak GTP, version 2 (Farnebäck, 2002), as agents."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import RESERVE, GameClock
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import check_number, integer
from zermelo.agents.policies.engines import (
    EngineAgent,
    EngineError,
    EngineMoveError,
    EngineTimeoutError,
    quoted,
)
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.games.go.rules import Go
from zermelo.envs.live.wrappers import game_name

COLOURS: Final = ("black", "white")
COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # of a Go board; there is no I


_RESPONSE: Final = re.compile(r"(?P<sign>[=?])(?P<id>\d*)(?:\s+(?P<text>.*)|(?P<close>[A-Za-z].*)|$)")
_AFTER_ERROR: Final = 1.0
"""Seconds in which an answer may follow a line like an error, of an engine that ends no answer by a blank line."""
_FIRST: Final = 1  # number of the first command
_LATER: Final = 0.2  # seconds in which the answer to the first command may follow a banner like one


class _Talk(TransientState):
    clock: GameClock | None = None
    main_seconds: int | None = None
    number: int | None = None  # of the last command; None for an engine that answers without it
    ends_answers = False  # by blank lines, as it should


class _Position(NamedTuple):
    size: int
    komi: float
    moves: list[tuple[str, str]]  # colours and points
    to_play: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GtpAgent(EngineAgent):
    """Plays a GTP engine in environments of Go: ``gtp(path="gnugo --mode gtp --chinese-rules", level=1)``.

    The environments score by area and take all stones on the board for alive: an engine has to be told to play
    until the dead ones are captured (GNU Go: ``--chinese-rules --capture-all-dead``). In a game with a clock it is
    told the time of both players (``time_settings``, ``time_left``). An engine that answers ``resign`` has lost.

    Attributes:
        seconds: Time that a move may take.
        level: GNU Go's own measure of effort, 0 to 10; None leaves it.
    """

    kind: ClassVar[str] = "gtp"

    seconds: float = 60.0
    level: int | None = integer(None, "GNU Go's levels")

    _talk: _Talk = field(init=False, default_factory=_Talk)

    def __post_init__(self) -> None:
        check_number("seconds", self.seconds, lower=0, above=True)
        super().__post_init__()

    def _arguments(self) -> list[str]:
        return [] if self.level is None else ["--level", str(self.level)]

    def _new_game(self) -> None:
        self._talk.clock = self._talk.main_seconds = None

    def _greet(self) -> None:
        """Finds out whether it repeats the numbers of commands, as it should: then no stray line is an answer."""
        self._talk.number = _FIRST
        remedy = "give what makes it speak it, as in gtp(path='gnugo --mode gtp')"
        with self._first_answer("GTP", remedy) as ends:
            found = self._read_response(f"{_FIRST} protocol_version", ends)
        if found["id"] != str(_FIRST):  # perhaps it was part of a banner
            with self._ended_by_errors():
                lines = self._running.lines_within(_LATER)
            if not any(line.startswith(f"={_FIRST}") for line in lines):
                self._talk.number = None

    def _respond(self, command: str) -> re.Match[str]:
        """The response to a command, by its sign and its first line."""
        if self._talk.number is not None:
            self._talk.number += 1
            command = f"{self._talk.number} {command}"
        return self._read_response(command)

    def _read_response(self, command: str, ends: float | None = None) -> re.Match[str]:
        engine, number = self._running, "" if self._talk.number is None else str(self._talk.number)
        with self._ended_by_errors():
            engine.send(command)
            ends = self._end_of(self.seconds) if ends is None else ends
            error: re.Match[str] | None = None
            while True:
                try:
                    line = engine.line(ends)
                except EngineTimeoutError:
                    if error is None:
                        raise
                    return error
                if not line:
                    self._talk.ends_answers = True
                    if error is not None:
                        return error
                found = _RESPONSE.fullmatch(line)
                if found is None or (number not in (found["id"], str(_FIRST)) and number):
                    continue
                if found["sign"] == "=" or found["id"]:
                    return found
                # What looks like an error may be a stray line: then the answer follows before a blank line.
                error = found
                if not self._talk.ends_answers:
                    ends = min(ends, time.monotonic() + _AFTER_ERROR)

    def _ask(self, command: str) -> str:
        found = self._respond(command)
        if found["sign"] != "=":
            raise EngineError(f"{self.path} answered {quoted(found[0])} to {command!r}")
        return (found["text"] or found["close"] or "").strip()

    @classmethod
    def check_env(cls, env: Any) -> None:
        _go_position(env)

    def tell_clock(self, clock: GameClock) -> None:
        self._talk.clock = clock
        if self._talk.main_seconds is None:
            self._talk.main_seconds = max(int(clock.own_left), 1)

    def decide(self, env: Any) -> int:
        position = _go_position(env)
        size, to_play = position.size, position.to_play
        for command in (f"boardsize {size}", "clear_board", f"komi {position.komi:g}"):
            self._ask(command)
        for colour, vertex in position.moves:
            self._ask(f"play {colour} {vertex}")
        for command in self._of_clock(to_play):
            self._respond(command)  # an engine that knows no clocks says so, and plays
        self._forget_unasked()
        answer = self._ask(f"genmove {to_play}")
        vertex = (answer.split() or [""])[0].lower()
        if vertex == "resign":
            raise Resignation(f"{self.path} resigns")
        if vertex == "pass":
            return size * size
        column, row = COLUMNS.find(vertex[:1].upper()), vertex[1:]
        if (
            not vertex
            or not 0 <= column < size
            or not re.fullmatch(r"[0-9]{1,2}", row)
            or not 1 <= int(row) <= size
        ):
            raise EngineMoveError(f"{self.path} answered {quoted(answer)}, which is no move")
        return (size - int(row)) * size + column

    def _of_clock(self, to_play: str) -> list[str]:
        """Commands that tell the time of both players, in whole seconds; byo-yomi stands for an increment."""
        clock, self._talk.clock = self._talk.clock, None
        if clock is None:
            return []
        added = int(clock.increment)
        return [
            f"time_settings {self._talk.main_seconds} {added} {int(added > 0)}",
            f"time_left {'white' if to_play == 'black' else 'black'} {max(int(clock.left[1 - clock.seat]), 0)} 0",
            f"time_left {to_play} {max(int(clock.own_left - RESERVE), 0)} 0",
        ]


def _go_position(env: Any) -> _Position:
    raw = env.unwrapped
    if isinstance(rules := getattr(raw, "rules", None), Go):
        start = rules.initial_state()
        moves = [(COLOURS[ply % 2], rules.action_text(start, action)) for ply, action in enumerate(raw.played)]
        return _Position(rules.size, float(rules.komi), moves, COLOURS[len(moves) % 2])
    position: Any = getattr(raw, "_go", None)
    if not hasattr(position, "recent"):
        raise UnsupportedGameError(
            f"gtp plays Go, such as classic/go-v5 or zermelo/Go-v0, and not {game_name(env)}"
        )
    size = int(raw._N)
    moves = []
    for played in position.recent:
        vertex = "pass" if played.move is None else f"{COLUMNS[played.move[1]]}{size - played.move[0]}"
        moves.append((_colour(played.color), vertex))
    return _Position(size, float(raw._komi), moves, _colour(position.to_play))


def _colour(number: int) -> str:
    return COLOURS[0] if number > 0 else COLOURS[1]
