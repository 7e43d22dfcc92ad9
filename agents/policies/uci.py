"""Chess engines that speak UCI (Meyer-Kahlen, 2000-2006), as agents."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import RESERVE, GameClock
from zermelo.agents.base.machine import thread_count
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import check_number, integer
from zermelo.agents.policies.engines import START_SECONDS, EngineAgent, EngineMoveError, quoted
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.notation import coordinates
from zermelo.envs.games.chess.rules import Chess
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.rules.rules_game import RulesGame

_SECONDS: Final = 0.1  # time for a move, where nothing else limits it
_LONGEST: Final = 600.0  # seconds after which a search that only nodes or depth limit is taken to hang
_OPTION: Final = re.compile(r"option name (?P<name>.+?) type (?P<rest>.*)")
_BOUND: Final = re.compile(r"\b(min|max) (-?\d+)")


class _EngineState(TransientState):
    clock: GameClock | None = None  # the game's, by which it manages its time
    reply: tuple[Callable[..., str | None], str, str] | None = None
    """The position after the last moves as a function, the engine's own move, and the reply it expects."""
    expected: str | None = None  # the position that it ponders on


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UciAgent(EngineAgent):
    """Plays a UCI engine in chess environments: ``uci(path="stockfish", elo=1500, seconds=0.1)``.

    In a game with a clock the engine is told the time of both players (``go wtime ... btime ...``) and manages its
    own, unless there are nodes or a depth. An engine that answers ``bestmove resign`` resigns. Pondering saves it
    time: a move that it has pondered on for as long as its limit comes at once.

    Attributes:
        seconds: Time for a move, unless there are nodes or a depth; with a clock the most for a move. None is 0.1
            without a clock, and no further limit with one.
        nodes: Nodes for a move; with one thread the same seed is the same game.
        depth: Moves to look ahead; with one thread the same seed is the same game.
        elo: The rating to play at, where the engine can.
        threads: The engine's threads.
    """

    kind: ClassVar[str] = "uci"

    seconds: float | None = None
    nodes: int | None = integer(None, lower=1)
    depth: int | None = integer(None, lower=1)
    elo: int | None = integer(None)
    threads: int = thread_count(1)

    _talk: _EngineState = field(init=False, default_factory=_EngineState)

    def __post_init__(self) -> None:
        if self.seconds is not None:
            check_number("seconds", self.seconds, lower=0, above=True)
        super().__post_init__()

    def _greet(self) -> None:
        lines = self._answer("uci", until=lambda line: line == "uciok", seconds=START_SECONDS.get())
        options = {found["name"]: found["rest"] for found in map(_OPTION.match, lines) if found is not None}
        if self.threads > 1 or "Threads" in options:
            self._set_option(options, "Threads", self.threads, "threads")
        if self.elo is not None:
            self._set_option(options, "UCI_LimitStrength", "true", "elo")
            self._set_option(options, "UCI_Elo", self.elo, "elo")

    def _set_option(self, options: dict[str, str], name: str, value: Any, setting: str) -> None:
        if name not in options:
            raise InvalidSettingError(f"{self.path} has no option {name}: leave {setting} out")
        bounds = {bound: int(number) for bound, number in _BOUND.findall(options[name])}
        if bounds.keys() == {"min", "max"} and not bounds["min"] <= value <= bounds["max"]:
            raise InvalidSettingError(
                f"{setting} must be from {bounds['min']} to {bounds['max']} for {self.path}, not {value!r}"
            )
        self._running.send(f"setoption name {name} value {value}")

    def _new_game(self) -> None:
        self._talk.clock = self._talk.reply = self._talk.expected = None
        self._ask("ucinewgame", "isready", wanted="readyok", seconds=START_SECONDS.get())

    def _ask(self, *commands: str, wanted: str, seconds: float) -> str:
        def is_wanted(line: str) -> bool:
            return line.split(maxsplit=1)[:1] == [wanted]

        return self._answer(*commands, until=is_wanted, seconds=seconds)[-1]

    @classmethod
    def check_env(cls, env: Any) -> None:
        _chess_position(env)

    def tell_clock(self, clock: GameClock) -> None:
        self._talk.clock = clock

    def decide(self, env: Any) -> int:
        here, actions, after = _chess_position(env)
        expected, self._talk.expected = self._talk.expected, None
        if expected is not None:
            self._game.pondered = self.pondered.after(is_hit=expected == here)
        commands = ["ponderhit"]
        if expected != here:
            if expected is not None:
                self._ask("stop", wanted="bestmove", seconds=0.0)
            self._forget_unasked()
            commands = [f"position fen {here}", f"go {self._limits}"]
        line = self._ask(*commands, wanted="bestmove", seconds=self._patience)
        words = line.lower().split()
        move = words[1] if len(words) > 1 else ""
        if move == "resign":
            raise Resignation(f"{self.path} resigns")
        if move not in actions:
            raise EngineMoveError(f"{self.path} answered {quoted(line)}, which is no legal move")
        reply = words[3] if words[2:3] == ["ponder"] and len(words) > 3 else ""
        self._talk.reply = (after, move, reply) if reply else None
        return actions[move]

    @property
    def _patience(self) -> float:
        clock = self._talk.clock
        limit = math.inf if clock is None else min(clock.own_left, clock.move_seconds)
        if self.nodes is not None or self.depth is not None:
            return min(limit, _LONGEST)
        return min(limit, self._most_seconds(clock))

    def _most_seconds(self, clock: GameClock | None) -> float:
        if self.seconds is not None:
            return self.seconds
        return _SECONDS if clock is None else math.inf

    @property
    def _limits(self) -> str:
        limits = {"nodes": self.nodes, "depth": self.depth}
        given = " ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
        clock = self._talk.clock
        if given or clock is None:
            return given or f"movetime {_milliseconds(self._most_seconds(None))}"
        left = [seconds - RESERVE if seat == clock.seat else seconds for seat, seconds in enumerate(clock.left)]
        step = round(1000 * clock.increment)
        white, black = map(_milliseconds, left[:2])
        words = f"wtime {white} btime {black} winc {step} binc {step}"
        most = min(self._most_seconds(clock), clock.move_limit)
        return words if most == math.inf else f"{words} movetime {_milliseconds(min(most, left[clock.seat]))}"

    def ponder(self) -> None:
        """Has the engine think on the reply that it expects (UCI's ``go ponder``), if it has named one."""
        self.stop_pondering()
        found, self._talk.reply = self._talk.reply, None
        if found is not None:
            after, move, reply = found
            if (expected := after(move, reply)) is not None:
                self._running.send(f"position fen {expected}")
                self._running.send(f"go ponder {self._limits}")
                self._talk.expected = expected

    def stop_pondering(self) -> None:
        expected, self._talk.expected = self._talk.expected, None
        if expected is not None:
            self._ask("stop", wanted="bestmove", seconds=0.0)


def _milliseconds(seconds: float) -> int:
    return max(int(1000 * seconds), 1)


def _chess_position(env: Any) -> tuple[str, dict[str, int], Callable[..., str | None]]:
    """The position of a chess environment as UCI has it, legal actions by their moves, and what is after moves."""
    raw = env.unwrapped
    if isinstance(getattr(raw, "rules", None), Chess):
        game, state = RulesGame(raw.rules), raw.position
        return write_fen(state), _moves(game, state), functools.partial(_fen_after, game, state)
    board: Any = getattr(raw, "board", None)
    if not hasattr(board, "move_stack") or not hasattr(board, "legal_moves"):
        raise UnsupportedGameError(f"uci plays chess, such as classic/chess-v6, and not {game_name(env)}")
    from pettingzoo.classic.chess import chess_utils

    player = env.possible_agents.index(env.agent_selection)
    moves = {
        chess_utils.action_to_move(board, action, player).uci(): int(action)
        for action in chess_utils.legal_moves(board)
    }
    start, played = board.root().fen(), [move.uci() for move in board.move_stack]

    def after(*others: str) -> str:
        return " ".join([start, *["moves"][: len(played) + len(others)], *played, *others])

    return after(), moves, after


def _moves(game: RulesGame, state: Any) -> dict[str, int]:
    return {coordinates(state, action): int(action) for action in game.legal_actions(state)}


def _fen_after(game: RulesGame, state: Any, *moves: str) -> str | None:
    for move in moves:
        action = _moves(game, state).get(move)
        if action is None:
            return None
        state = game.result(state, action)
    return write_fen(state)
