"""Programs of others that play, as agents: chess by UCI, Go by GTP.

An engine is started at its first game, sent the whole game before each of its moves, and ended with the agent. One
that does not answer in time, ends or answers with something else raises ``EngineError``: in a tournament that is
its failure.

Sources: the UCI protocol (Meyer-Kahlen, 2000-2006); GTP, version 2 (Farnebäck, 2002).
"""

from __future__ import annotations

import contextlib
import functools
import os
import selectors
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.envs import InvalidSettingError, MissingDependencyError, UnsupportedGameError, ZermeloError
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.notation import coordinates
from zermelo.envs.games.chess.rules import Chess
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.rules.rules_game import RulesGame

PATIENCE: Final = 10.0
"""Seconds for an answer beyond what the engine was given to think."""
COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Of a Go board; there is no I."""


class EngineError(ZermeloError):
    """An engine did not answer, ended, or answered with something else."""


class _Engine:
    """A running program that reads lines and answers with lines."""

    def __init__(self, words: Sequence[str], errors: int) -> None:
        self._name = words[0]
        self._rest = b""
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

    def send(self, line: str) -> None:
        assert self._process.stdin is not None, "it was started with a pipe"
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except OSError as error:
            raise EngineError(f"{self._how_it_ended()}, and cannot read {line!r}") from error

    def line(self, ends: float) -> str:
        """The next line that it writes, until that time of the monotonic clock."""
        assert self._process.stdout is not None, "it was started with a pipe"
        pipe = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, ends - time.monotonic())):
                    raise EngineError(f"{self._name} did not answer in time")
                part = os.read(pipe, 65536)
                if not part:
                    raise EngineError(self._how_it_ended())
                self._rest += part
        found, _, self._rest = self._rest.partition(b"\n")
        return found.decode(errors="replace").strip()

    def _how_it_ended(self) -> str:
        """A sentence on a program that has closed a pipe; as a rule it is about to end."""
        try:
            return f"{self._name} ended, with exit code {self._process.wait(PATIENCE)}"
        except subprocess.TimeoutExpired:
            return f"{self._name} has closed its input or output"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EngineAgent(ConfiguredAgent):
    """Base class of the agents of all protocols.

    Attributes:
        path: The program, with its arguments; a bare name is looked for where commands are.
    """

    _errors: ClassVar[int] = subprocess.DEVNULL
    """Where its standard error goes."""

    path: str = ""

    def __post_init__(self) -> None:
        words = shlex.split(self.path) if isinstance(self.path, str) else []
        if not words:
            raise InvalidSettingError(f"path must name a program, not {self.path!r}")
        program = shutil.which(words[0]) or shutil.which(f"/usr/games/{words[0]}")  # where Debian puts games
        if program is None:
            raise MissingDependencyError(f"there is no program {words[0]!r}: install it, or give path its place")
        self._set("_words", [program, *words[1:], *self._arguments()])
        self._set("_engine", None)
        super().__post_init__()

    def _arguments(self) -> list[str]:
        return []

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        if self.__dict__["_engine"] is None:
            self._set("_engine", _Engine(self.__dict__["_words"], self._errors))
            self._greet()
        self._new_game()

    @property
    def _running(self) -> _Engine:
        engine: _Engine | None = self.__dict__["_engine"]
        if engine is None:
            raise EngineError(f"{self.path} is not running: call reset first")
        return engine

    def _greet(self) -> None:
        """Prepares an engine that has just been started."""

    def _new_game(self) -> None:
        """Says that a new game begins."""

    def _answer(self, *commands: str, until: Callable[[str], bool], seconds: float) -> list[str]:
        """The lines that answer some commands, the last one included, for which ``until`` is true."""
        engine = self._running
        for command in commands:
            engine.send(command)
        ends = time.monotonic() + seconds + PATIENCE
        said = [engine.line(ends)]
        while not until(said[-1]):
            said.append(engine.line(ends))
        return said

    def __del__(self) -> None:
        engine = self.__dict__.get("_engine")
        if engine is not None:
            engine.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> EngineAgent:
        return type(self)(**{field.name: getattr(self, field.name) for field in fields(self)})


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UciAgent(EngineAgent):
    """Plays a UCI engine in chess environments: ``uci(path="stockfish", elo=1500, seconds=0.1)``.

    Pondering saves it time: a move that it has pondered on for as long as its limit comes at once.

    Attributes:
        seconds: Time for a move, unless there are nodes or a depth.
        nodes: Nodes for a move; with one thread the same seed is the same game.
        depth: Moves to look ahead; with one thread the same seed is the same game.
        elo: The rating to play at, where the engine can.
        threads: The engine's threads.
    """

    kind: ClassVar[str] = "uci"

    seconds: float = 0.1
    nodes: int | None = None
    depth: int | None = None
    elo: int | None = None
    threads: int = 1

    def _greet(self) -> None:
        self._ask("uci", "uciok")
        options: dict[str, Any] = {"Threads": self.threads}
        if self.elo is not None:
            options |= {"UCI_LimitStrength": "true", "UCI_Elo": self.elo}
        for name, value in options.items():
            self._running.send(f"setoption name {name} value {value}")

    def _new_game(self) -> None:
        self._running.send("ucinewgame")
        self._ask("isready", "readyok")

    def _ask(self, question: str, wanted: str, seconds: float = 0.0) -> str:
        return self._answer(question, until=lambda line: line.startswith(wanted), seconds=seconds)[-1]

    @classmethod
    def check_env(cls, env: Any) -> None:
        _chess_position(env)

    def decide(self, env: Any) -> int:
        here, actions, after = _chess_position(env)
        expected = self.__dict__.pop("_expected", None)
        if expected is not None:
            self._set("pondered", self.pondered.after(is_hit=expected == here))
        if expected == here:
            command = "ponderhit"
        else:
            if expected is not None:
                self._ask("stop", "bestmove")
            self._running.send(f"position fen {here}")
            command = f"go {self._limits}"
        line = self._ask(command, "bestmove", self.seconds)
        words = line.split()
        if len(words) < 2 or words[1] not in actions:
            raise EngineError(f"{self.path} answered {line!r}, which is no legal move")
        reply = words[3] if words[2:3] == ["ponder"] else ""
        self._set("_next", (after, words[1], reply) if reply else None)
        return actions[words[1]]

    @property
    def _limits(self) -> str:
        limits = {"nodes": self.nodes, "depth": self.depth}
        given = " ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
        return given or f"movetime {round(1000 * self.seconds)}"

    def ponder(self) -> None:
        """Has the engine think on the reply that it expects (UCI's ``go ponder``), if it has named one."""
        self.stop_pondering()
        if (found := self.__dict__.pop("_next", None)) is not None:
            after, move, reply = found
            if (expected := after(move, reply)) is not None:
                self._running.send(f"position fen {expected}")
                self._running.send(f"go ponder {self._limits}")
                self._set("_expected", expected)

    def stop_pondering(self) -> None:
        if self.__dict__.pop("_expected", None) is not None:
            self._ask("stop", "bestmove")


def _chess_position(env: Any) -> tuple[str, dict[str, int], Callable[..., str | None]]:
    """The position of a chess environment as UCI has it, legal actions by their moves, and what is after moves.

    With PettingZoo's board come all moves of the game; states of our own rules do not know them.
    """
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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GtpAgent(EngineAgent):
    """Plays a GTP engine in PettingZoo's Go: ``gtp(path="gnugo --mode gtp", level=1)``.

    Attributes:
        seconds: That a move may take.
        level: GNU Go's own measure of effort, 0 to 10; None leaves it.
    """

    kind: ClassVar[str] = "gtp"

    seconds: float = 60.0
    level: int | None = None

    def _arguments(self) -> list[str]:
        return [] if self.level is None else ["--level", str(self.level)]

    def _ask(self, command: str) -> str:
        line = self._answer(command, until=lambda line: line[:1] in ("=", "?"), seconds=self.seconds)[-1]
        if not line.startswith("="):
            raise EngineError(f"{self.path} answered {line!r} to {command!r}")
        return line[1:].strip()

    @classmethod
    def check_env(cls, env: Any) -> None:
        if not hasattr(getattr(env.unwrapped, "_go", None), "recent"):
            raise UnsupportedGameError(f"gtp plays Go, such as classic/go-v5, and not {game_name(env)}")

    def decide(self, env: Any) -> int:
        self.check_env(env)
        raw = env.unwrapped
        position, size = raw._go, int(raw._N)
        for command in (f"boardsize {size}", "clear_board", f"komi {raw._komi}"):
            self._ask(command)
        for played in position.recent:
            self._ask(f"play {_colour(played.color)} {_vertex(played.move, size)}")
        answer = self._ask(f"genmove {_colour(position.to_play)}")
        if answer.lower() in ("pass", "resign"):  # nobody can resign here
            return size * size
        column, row = COLUMNS.find(answer[:1].upper()), answer[1:]
        if not 0 <= column < size or not row.isdigit() or not 1 <= int(row) <= size:
            raise EngineError(f"{self.path} answered {answer!r}, which is no move")
        return int((size - int(row)) * size + column)


def _colour(number: int) -> str:
    return "black" if number > 0 else "white"


def _vertex(move: tuple[int, int] | None, size: int) -> str:
    return "pass" if move is None else f"{COLUMNS[move[1]]}{size - move[0]}"
