"""Chess engines that speak UCI (Meyer-Kahlen, 2000-2006), as agents."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import RESERVE, GameClock
from zermelo.agents.base.machine import thread_count
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import check_number, declared, integer
from zermelo.agents.policies.engines import START_SECONDS, EngineAgent, EngineMoveError, quoted
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.notation import castling_by_rook, coordinates
from zermelo.envs.games.chess.rules import Chess
from zermelo.envs.games.chess.scores import value_of_centipawns, value_of_mate
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.spec_text import did_you_mean

_SECONDS: Final = 0.1  # time for a move, where nothing else limits it
_LONGEST: Final = 600.0  # seconds after which a search that only nodes or depth limit is taken to hang
_OPTION: Final = re.compile(r"option name (?P<name>.+?) type (?P<kind>\w+)(?P<rest>.*)")
_BOUND: Final = re.compile(r"\b(min|max) (-?\d+)")
_INFO: Final = re.compile(r"\b(depth|nodes|multipv|score cp|score mate) (-?\d+)")
_FIXED: Final = {"uci_chess960": "Chess960 is not played here", "uci_variant": "only chess is played here"}
"""Options that would have the engine play another game, in small letters."""


def _check_options(name: str, value: Any) -> dict[str, Any]:
    is_good = isinstance(value, Mapping) and all(
        isinstance(key, str) and key and isinstance(one, int | str) and "\n" not in f"{key}{one}"
        for key, one in value.items()
    )
    if not is_good:
        raise InvalidSettingError(
            f"{name} must be a dictionary of names and values, such as {{'Hash': 64, 'MultiPV': 1}}, not {value!r}"
        )
    return dict(value)


class _Played(NamedTuple):
    """A game of this package's rules so far: its actions, the same as moves, and the state after them."""

    start: Any
    actions: Sequence[int]
    moves: Sequence[str]
    state: Any


class _EngineState(TransientState):
    clock: GameClock | None = None  # the game's, by which it manages its time
    reply: str | None = None  # the position after its own move and the reply that it expects
    played: _Played | None = None
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
        options: Other options of the engine, by the names that it gives them: ``{"Hash": 64, "Skill Level": 5}``.
    """

    kind: ClassVar[str] = "uci"

    seconds: float | None = None
    nodes: int | None = integer(None, "nodes", lower=1)
    depth: int | None = integer(None, "plies", lower=1)
    elo: int | None = integer(None, "Elo")
    threads: int = thread_count(1)
    options: Mapping[str, Any] | None = declared(None, _check_options, "a dictionary of names and values")

    _talk: _EngineState = field(init=False, default_factory=_EngineState)

    def __post_init__(self) -> None:
        if self.seconds is not None:
            check_number("seconds", self.seconds, lower=0, above=True)
        super().__post_init__()

    def _greet(self) -> None:
        with self._first_answer("UCI", "give path a chess engine that speaks it, such as stockfish") as ends:
            lines = self._answer("uci", until=lambda line: line == "uciok", ends=ends)
        # Some say uciok before they are asked, and name their options afterwards.
        lines += self._answer("isready", until=lambda line: line == "readyok", seconds=START_SECONDS.get())
        offered = {found["name"]: found for found in map(_OPTION.match, lines) if found is not None}
        given = {name.lower(): name for name in self.options or {}}
        wanted = {"UCI_LimitStrength": True, "UCI_Elo": self.elo} if self.elo is not None else {}
        if self.threads > 1 or ("Threads" in offered and "threads" not in given):
            wanted["Threads"] = self.threads
        for name, value in wanted.items():
            setting = "threads" if name == "Threads" else "elo"
            if name.lower() in given:
                raise InvalidSettingError(f"give {setting} or {given[name.lower()]!r} in options, not both")
            if name not in offered:
                raise InvalidSettingError(f"{self.path} has no option {name}: leave {setting} out")
            self._set_option(offered[name], value, setting)
        names = {name.lower(): name for name in offered}
        for name, value in (self.options or {}).items():
            if (why := _FIXED.get(name.lower())) is not None:
                raise InvalidSettingError(f"leave {name!r} out of options: {why}")
            if name.lower() not in names:
                hint = did_you_mean(name, offered) or f"it has {', '.join(offered) or 'none'}"
                raise InvalidSettingError(f"{self.path} has no option {name!r}: {hint}")
            self._set_option(offered[names[name.lower()]], value, names[name.lower()])

    def _set_option(self, offered: re.Match[str], value: Any, setting: str) -> None:
        """Sets an option, if the value is one that the engine offers; ``setting`` is for messages."""
        kind, rest = offered["kind"], offered["rest"]
        bounds = {bound: int(number) for bound, number in _BOUND.findall(rest)}
        allowed, is_good, written = "text", True, str(value)
        if kind == "check":
            written = written.lower()
            allowed, is_good = "True or False", written in ("true", "false")
        elif kind == "spin":
            allowed = f"from {bounds['min']} to {bounds['max']}" if len(bounds) == 2 else "a whole number"
            is_number = isinstance(value, int) and not isinstance(value, bool)
            is_good = is_number and bounds.get("min", value) <= value <= bounds.get("max", value)
        elif kind == "combo":
            choices = {choice.strip().lower(): choice.strip() for choice in re.split(r"\bvar\b", rest)[1:]}
            allowed, is_good = " or ".join(choices.values()), written.lower() in choices
            written = choices.get(written.lower(), written)
        elif kind == "button":
            allowed, is_good = "True, which presses it", value is True
        if not is_good:
            raise InvalidSettingError(f"{setting} must be {allowed} for {self.path}, not {value!r}")
        words = "" if kind == "button" else f" value {written or '<empty>'}"
        self._running.send(f"setoption name {offered['name']}{words}")

    def _new_game(self) -> None:
        self._talk.clock = self._talk.reply = self._talk.expected = self._talk.played = None
        self._ask("ucinewgame", "isready", wanted="readyok", seconds=START_SECONDS.get())

    def _ask(self, *commands: str, wanted: str, seconds: float) -> list[str]:
        def is_wanted(line: str) -> bool:
            return line.split(maxsplit=1)[:1] == [wanted]

        return self._answer(*commands, until=is_wanted, seconds=seconds)

    @classmethod
    def check_env(cls, env: Any) -> None:
        _chess_position(env, _EngineState())

    def tell_clock(self, clock: GameClock) -> None:
        self._talk.clock = clock

    def decide(self, env: Any) -> int:
        here, actions, others = _chess_position(env, self._talk)
        expected, self._talk.expected = self._talk.expected, None
        if expected is not None:
            self._game.pondered = self.pondered.after(is_hit=expected == here)
        commands = ["ponderhit"]
        if expected != here:
            if expected is not None:
                self._ask("stop", wanted="bestmove", seconds=0.0)
            # What answers nothing comes before readyok.
            self._ask("isready", wanted="readyok", seconds=self._patience)
            commands = [f"position fen {here}", f"go {self._limits}"]
        lines = self._ask(*commands, wanted="bestmove", seconds=self._patience)
        self._process.figures = _figures(lines)
        words = lines[-1].lower().split()
        move = words[1] if len(words) > 1 else ""
        if move == "resign":
            raise Resignation(f"{self.path} resigns")
        move = re.sub("[-=]", "", move)  # some write promotions as e7e8=q
        move = others.get(move, move)
        if move not in actions:
            raise EngineMoveError(f"{self.path} answered {quoted(lines[-1])}, which is no legal move")
        reply = words[3] if words[2:3] == ["ponder"] and len(words) > 3 else ""
        self._talk.reply = _after(here, move, reply) if reply else None
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
        steps = clock.increments or (clock.increment,) * 2
        white_step, black_step = (round(1000 * step) for step in steps)
        white, black = map(_milliseconds, left[:2])
        words = f"wtime {white} btime {black} winc {white_step} binc {black_step}"
        most = min(self._most_seconds(clock), clock.move_limit)
        return words if most == math.inf else f"{words} movetime {_milliseconds(min(most, left[clock.seat]))}"

    def ponder(self) -> None:
        """Has the engine think on the reply that it expects (UCI's ``go ponder``), if it has named one."""
        self.stop_pondering()
        expected, self._talk.reply = self._talk.reply, None
        if expected is not None:
            self._running.send(f"position fen {expected}")
            self._running.send(f"go ponder {self._limits}")
            self._talk.expected = expected

    def stop_pondering(self) -> None:
        expected, self._talk.expected = self._talk.expected, None
        if expected is not None:
            self._ask("stop", wanted="bestmove", seconds=0.0)


def _milliseconds(seconds: float) -> int:
    return max(int(1000 * seconds), 1)


def _figures(lines: Sequence[str]) -> tuple[int | None, int | None, float | None]:
    """Nodes, depth and value of the last lines of an engine that say a score of its best move."""
    for line in reversed(lines):
        if not line.startswith("info ") or "bound" in line:
            continue
        said = {
            name: int(number) for name, number in _INFO.findall(line.partition(" pv ")[0].partition(" string ")[0])
        }
        if said.get("multipv", 1) != 1 or not ("score cp" in said or "score mate" in said):
            continue
        mate = said.get("score mate")
        value = value_of_centipawns(said["score cp"]) if mate is None else value_of_mate(mate)
        return said.get("nodes"), said.get("depth"), value
    return None, None, None


def _chess_position(env: Any, talk: _EngineState) -> tuple[str, dict[str, int], dict[str, str]]:
    """The start and moves of a game as UCI has them, legal actions by moves, and other ways to write castling."""
    raw = env.unwrapped
    if isinstance(getattr(raw, "rules", None), Chess):
        return _own_position(raw, talk)
    board: Any = getattr(raw, "board", None)
    if not hasattr(board, "move_stack") or not hasattr(board, "legal_moves"):
        raise UnsupportedGameError(f"uci plays chess, such as classic/chess-v6, and not {game_name(env)}")
    from pettingzoo.classic.chess import chess_utils

    player = env.possible_agents.index(env.agent_selection)
    numbers = {
        chess_utils.action_to_move(board, action, player): int(action) for action in chess_utils.legal_moves(board)
    }
    others = {
        f"{move.uci()[:2]}{'ah'[move.to_square > move.from_square]}{move.uci()[3]}": move.uci()
        for move in numbers
        if board.is_castling(move)
    }
    here = _after(board.root().fen(), *(move.uci() for move in board.move_stack))
    return here, {move.uci(): action for move, action in numbers.items()}, others


def _own_position(raw: Any, talk: _EngineState) -> tuple[str, dict[str, int], dict[str, str]]:
    game, played, state = RulesGame(raw.rules), list(raw.played), raw.position
    known = talk.played
    if known is None or known.start != raw.rules or played[: len(known.actions)] != known.actions:
        known = _Played(raw.rules, [], [], game.initial_state())
    moves, last = [*known.moves], known.state
    for action in played[len(known.actions) :]:
        moves.append(coordinates(last, action))
        last = game.result(last, action)
    if last == state:
        talk.played = _Played(raw.rules, played, moves, last)
        here = _after(raw.rules.fen, *moves)
    else:  # the position was set from outside
        here = write_fen(state)
    legal = {int(action): coordinates(state, action) for action in game.legal_actions(state)}
    others = {other: move for action, move in legal.items() if (other := castling_by_rook(state, action))}
    return here, {move: action for action, move in legal.items()}, others


def _after(position: str, *moves: str) -> str:
    """A position as UCI has it, after further moves."""
    if not moves:
        return position
    return " ".join([position, *([] if " moves " in position else ["moves"]), *moves])
