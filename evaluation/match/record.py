"""One finished game, as data: who sat where, what was played, what it earned, how it ended.

A record holds only plain values, so that ``GameRecord.from_json(record.to_json()) == record`` exactly: NumPy's
scalars become Python's, arrays and lists become tuples, and infinities survive JSON (which has none).
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib.metadata
import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.score import SeatOutcome, half_points, outcomes_of, ranks_of
from zermelo.evaluation.match.text import json_number, kept, kept_line, plain

SCHEMA: Final = 2
"""The version of the JSON form; it is raised when a reader of the old form would misread the new one."""
_FLOAT: Final = "$float"
_DEEPEST: Final = 32
"""How deeply an action may be nested."""
_LONGEST: Final = 256
"""Bits of the largest number in an action."""


class FailureKind(enum.StrEnum):
    """Why a game ended without the rules ending it. All but the last are charged to a seat."""

    CRASH = "CRASH"
    """The agent raised, or the process it ran in died."""
    TIMEOUT = "TIMEOUT"
    """The agent did not answer in time."""
    ILLEGAL_ACTION = "ILLEGAL_ACTION"
    """The agent answered with something that is not a legal action, or not an action at all."""
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    INVALID_START = "INVALID_START"
    """The agent could not get ready for the game."""
    ENVIRONMENT_CHANGED = "ENVIRONMENT_CHANGED"
    """The agent changed the environment that it was only shown."""
    FLOOD = "FLOOD"
    """The agent wrote more output than it may."""
    LEFT_RUNNING = "LEFT_RUNNING"
    """The agent answered, and threads or processes that it had started for the move went on."""
    ENVIRONMENT_ERROR = "ENVIRONMENT_ERROR"
    """The environment itself failed: nobody's fault, and the game counts for nobody."""


class EndReason(enum.StrEnum):
    """The reason why the game ended."""

    TERMINATED = "terminated"
    TRUNCATED = "truncated"
    RESIGNATION = "resignation"
    """An agent gave up: its reward is -1, and that of all others 1."""
    ADJUDICATION = "adjudication"
    """Both players agreed on the result for so many moves as the match asks for."""
    MOVE_LIMIT = "move limit"
    """The match's own limit on moves; the rewards so far are compared."""
    FAILURE = "failure"


@dataclass(frozen=True)
class Failure:
    """A failure, and the seat that is charged with it.

    Attributes:
        kind: Its name.
        seat: The seat that is charged with it, or None for the environment's own.
        message: One sentence with the offending value.
        detail: The traceback where there is one, for whoever mends the agent.
    """

    kind: FailureKind
    seat: int | None
    message: str
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", kept_line(self.message))
        object.__setattr__(self, "detail", kept(self.detail))


class Move(NamedTuple):
    """One action of one seat.

    Attributes:
        seat: Who moved.
        action: What ``env.step`` was given, as a plain value.
        seconds: Wall-clock time that ``agent.act`` took; a game's clock counts the same.
        nodes: States that the agent's search visited; None, as all that follow, where it does not say so.
        depth: The depth it completed.
        value: The value it found for itself.
        expected: True if it had pondered on this position on the opponent's time; None where it did not ponder.
    """

    seat: int
    action: Any
    seconds: float = 0.0
    nodes: int | float | None = None
    depth: int | float | None = None
    value: float | None = None
    expected: bool | None = None


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game: its moves, rewards and times, and how it ended.

    Attributes:
        env: The environment's name or spec.
        agents: The name of the agent in each seat, in seat order.
        seat_names: What the environment calls its seats (``possible_agents``).
        seed: What the environment was reset with; the agents' seeds are derived from it.
        rewards: For each seat the sum of its instantaneous rewards.
        end: What ended the game.
        game_id: Its place in a schedule; empty for a single match.
        opening: Actions played before the agents took over.
        moves: What the agents played, in order.
        failure: What went wrong and whose fault it was, or None.
        seconds: Wall-clock time of the whole game.
        clocks: The time control of each seat, such as ``"60+0.6"``; empty for a game without clocks.
        versions: Of this package and what it stands on.
        schema: The version of the JSON form.
    """

    env: str
    agents: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    seat_names: tuple[str, ...]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    rewards: tuple[float, ...]
    end: EndReason
    game_id: str = ""
    opening: tuple[Any, ...] = ()
    moves: tuple[Move, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    clocks: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: Literal[2] = field(default=SCHEMA, repr=False)

    def __post_init__(self) -> None:
        # A tournament's games have the same versions: keep them once.
        if self.versions is not versions():
            object.__setattr__(self, "versions", _shared(tuple(self.versions.items())))

    @property
    def void(self) -> bool:
        """True if the environment itself failed: the game counts for nobody."""
        return self.failure is not None and self.failure.seat is None

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each seat (see ``zermelo.evaluation.match.score``); empty when the game is void."""
        if self.void or len(self.agents) == 1:
            return () if self.void else (float(self.rewards[0]),)
        return tuple(points / 2 / (len(self.agents) - 1) for points in half_points(self._ranks))

    @property
    def outcomes(self) -> tuple[SeatOutcome, ...]:
        """Win, draw or loss of each seat; empty for a single player and for a void game."""
        return () if self.void else outcomes_of(self._ranks)

    @functools.cached_property
    def _ranks(self) -> tuple[int, ...]:
        return ranks_of(self.rewards, None if self.failure is None else self.failure.seat)

    @property
    def actions(self) -> tuple[Any, ...]:
        """All actions from the start of the game, the opening first."""
        return (*self.opening, *(move.action for move in self.moves))

    def without_timings(self) -> GameRecord:
        """The part that the seed decides: the same game again gives an equal one."""
        moves = tuple(move._replace(seconds=0.0) for move in self.moves)
        failure = None if self.failure is None else replace(self.failure, detail="")
        return replace(self, moves=moves, failure=failure, seconds=0.0)

    def to_json(self) -> str:
        """One line of JSON (RFC 8259, ASCII only); figures that a move lacks are left out at its end."""
        rewards, seconds, opening = self.rewards, self.seconds, self.opening
        moves: Sequence[Any] = [move[:3] if move[3:] == _UNKNOWN else move for move in self.moves]
        measured = chain.from_iterable(move[2:] for move in moves)
        numbers = chain((seconds,), rewards, filter(None, measured))
        is_plain = all(map(math.isfinite, numbers)) and _AS_IT_IS.issuperset(map(type, self.actions))
        if not is_plain:
            rewards, seconds, opening = tuple(map(json_number, rewards)), json_number(seconds), _encode(opening)
            moves = [(move[0], _encode(move[1]), *map(json_number, move[2:])) for move in moves]
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "game_id": self.game_id,
            "env": self.env,
            "agents": self.agents,
            "seat_names": self.seat_names,
            "seed": self.seed,
            "rewards": rewards,
            "outcomes": self.outcomes,
            "scores": tuple(map(json_number, self.scores)),
            "end": self.end,
            "failure": None if self.failure is None else vars(self.failure),
            "opening": opening,
            "moves": moves,
            "seconds": seconds,
            **({"clocks": self.clocks} if self.clocks else {}),
            "versions": self.versions,
        }
        if is_plain:
            with contextlib.suppress(TypeError, ValueError, OverflowError):  # of large integers and odd characters
                text = msgspec.json.encode(data)
                if text.isascii():
                    return text.decode()
        return json.dumps(data, allow_nan=False, separators=(",", ":"), default=plain)

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Reads what ``to_json`` wrote; outcomes and scores are computed again.

        Raises:
            StoreError: The line is no game record, or one of another version of this package.
        """
        try:
            record = _RECORDS.decode(line)
            record._check()
            if all(type(action) is int and action.bit_length() < _LONGEST for action in record.actions):
                return record
            moves = tuple(move._replace(action=_decode(move.action)) for move in record.moves)
            return replace(record, opening=_decode(list(record.opening)), moves=moves)
        except (ValueError, RecursionError) as error:
            version = _version(line)
            if version > SCHEMA:
                raise StoreError(
                    f"this game was written by a newer zermelo (record version {version}, "
                    f"this one reads up to {SCHEMA}): update zermelo to read it"
                ) from None
            raise StoreError(f"not a game record ({error}): {line[:80]!r}") from error

    def _check(self) -> None:
        """Raises a ``ValueError`` if the parts do not fit each other."""
        seats = range(len(self.agents))
        if not len(self.agents) == len(self.seat_names) == len(self.rewards):
            raise ValueError(
                f"{len(self.agents)} agents in {len(self.seat_names)} seats, {len(self.rewards)} rewards"
            )
        if len(self.clocks) not in (0, len(self.agents)):
            raise ValueError(f"{len(self.clocks)} clocks of {len(self.agents)} agents")
        if any(map(math.isnan, (self.seconds, *self.rewards, *(move.seconds for move in self.moves)))):
            raise ValueError("a reward or time that is no number")
        charged = None if self.failure is None else self.failure.seat
        if any(move.seat not in seats for move in self.moves) or (charged is not None and charged not in seats):
            raise ValueError("a seat that is none")


_RECORDS: Final = msgspec.json.Decoder(GameRecord, strict=False)
"""Not strict: numbers may be text, as JSON has no infinities and no nan."""


class _Version(msgspec.Struct):
    schema: int


def _version(line: str) -> int:
    try:
        return msgspec.json.decode(line, type=_Version).schema
    except (ValueError, RecursionError):
        return 0


_UNKNOWN: Final = (None,) * 4
_AS_IT_IS: Final = frozenset({int, str, bool, type(None)})


def _encode(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is float:
        return value if math.isfinite(value) else {_FLOAT: repr(value)}
    if kind is tuple or kind is list:
        return value if _AS_IT_IS.issuperset(map(type, value)) else [_encode(item) for item in value]
    if kind is dict:
        return {str(key): _encode(item) for key, item in value.items()}
    return _encode(plain(value))


def _decode(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ValueError("an action that is nested too deeply")
    if isinstance(value, list):
        return tuple(_decode(item, depth + 1) for item in value)
    if isinstance(value, dict):
        if value.keys() == {_FLOAT}:
            return float(str(value[_FLOAT]))
        return {key: _decode(item, depth + 1) for key, item in value.items()}
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        raise ValueError("an action that is too large a number")
    return value


@functools.lru_cache(maxsize=64)  # by the items themselves, which are text
def _shared(items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return dict(items)


@functools.cache  # without a key: a process has its versions
def versions() -> Mapping[str, str]:
    """The versions of this package, of Python and of what games depend on, as far as they are installed."""
    packages = (
        "zermelo", "numpy", "gymnasium", "pettingzoo", "shimmy", "open_spiel", "rlcard", "numba", "torch",
        "stable_baselines3", "sb3_contrib",
    )  # fmt: skip
    installed = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed[name] = importlib.metadata.version(name)
    return {name: version for name, version in installed.items() if version}
