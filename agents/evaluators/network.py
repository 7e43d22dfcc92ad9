"""Small networks over the planes of a game, whose first layer compiled code updates move by move.

    values of the hidden layer, for each seat:  bias + the columns of the bits that are set in the seat's planes
    log odds of the player to move:             outputs . clip(values, 0, 255)^2 of both seats, the mover's first

Nodchip, Motohiro and Nasu, "NNUE: efficiently updatable neural-network-based evaluation functions" (2018); sizes,
scales and activation are those that the chess programming wiki recommends for small networks.
"""

from __future__ import annotations

import base64
import functools
import itertools
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.base.scores import known_win
from zermelo.agents.evaluators.protocol import values_by_seat
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Chance, Game
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.rules_game import RulesGame, is_shipped
from zermelo.envs.rules.words import flatten_state
from zermelo.envs.support.data_files import FileKind, ShortText, in_a_sentence, read_json, write_json

ONE: Final = 255  # a hidden value that counts in full, and what the first layer's weights are multiplied by
OUTPUT_ONE: Final = 64  # what the weights of the output are multiplied by
MOST_HIDDEN: Final = 256
LARGEST_OUTPUT: Final = 127  # the largest weight of the output: sums then fit into 32 bits
_STEP: Final = 16  # the hidden size is a multiple of the numbers that a processor adds at once
_SLOTS: Final = 65  # positions whose hidden values are stored: 64 by their ply, and the empty board for good
_HEADER: Final = 13
_LARGEST_SUM: Final = 30.0
_LARGEST_BIAS: Final = 2.0**40
_Short = npt.NDArray[np.int16]


def plane_words(game: Any, states: Sequence[Any]) -> npt.NDArray[np.uint64]:
    """The planes of both seats, or the integers of the state, as 64-bit words; shape (states, 2 seats, words)."""
    planes = method_or_default(game.rules, "planes")
    low = (1 << 64) - 1
    words = [[[word & low for word in flatten_state(planes(state, seat))] for seat in (0, 1)] for state in states]
    return np.array(words, np.uint64)


def require_planes(game: Any) -> None:
    """Refuses games whose boards compiled code cannot read, or whose values are no shares of the utility."""
    reason = "two players"
    if isinstance(game, RulesGame):
        traits = game.traits
        bounds = traits.utility_bounds == tuple(map(float, method_or_default(game.rules, "utility_bounds")()))
        even = traits.is_opposed and sum(traits.utility_bounds) == traits.constant
        if even and bounds and traits.terminal_rewards_only and traits.chance is not Chance.SAMPLED:
            return
        reason = "two opposed players whose rewards are those of the rules"
    raise UnsupportedGameError(f"a network is for rules of {reason}, which {game.traits.name} has not")


@dataclass(eq=False)
class PlaneNetwork:
    """The value of a state by a small network."""

    columns: npt.NDArray[np.int32]
    """For each bit of each seat's planes the number of its column in the first layer, or -1 for none; int32 of
    shape (2 seats, 64 * words)."""
    first: _Short  # the first layer; int16 of shape (columns, hidden)
    bias: _Short  # of the hidden layer; int16 of shape (hidden,)
    outputs: _Short
    """For each phase the weights of the hidden values of the player to move, then of the opponent; int16 of shape
    (phases, 2 * hidden)."""
    output_bias: npt.NDArray[np.int64]  # for each phase; int64 of shape (phases,)
    phases: Sequence[int] = ()  # bits of seat 0's planes from which each phase but the first begins
    path: str = ""  # the file that it was read from, as specs write it
    rules: str = ""  # that it was fitted to (``rules_text``), and for no others; empty if unknown

    def __post_init__(self) -> None:
        self.phases = tuple(self.phases)
        self._tables: dict[Any, NetworkTables | None] = {}  # by game, whose class and parameters give the bounds
        columns, first, hidden, blocks = self.columns, self.first, self.hidden, len(self.phases) + 1
        if hidden % _STEP or not _STEP <= hidden <= MOST_HIDDEN:
            raise InvalidSettingError(
                f"the hidden size must be a multiple of {_STEP} up to {MOST_HIDDEN}, not {hidden}"
            )
        shapes = (2, *columns.shape[1:]), (len(first), hidden), (hidden,), (blocks, 2 * hidden), (blocks,)
        if tuple(array.shape for array in self.arrays) != shapes or columns.ndim != 2 or columns.shape[1] % 64:
            raise InvalidSettingError("the parts of the network do not fit together")
        largest = np.abs(self.outputs.astype(int)).max(initial=0)
        is_there = columns.min(initial=0) >= -1 and columns.max(initial=-1) < len(first)
        if not is_there or largest > LARGEST_OUTPUT:
            raise InvalidSettingError("the network has columns that are not there, or weights that are too large")

    @property
    def hidden(self) -> int:
        return len(self.bias)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in the order of the arguments, which is that in files."""
        return self.columns, self.first, self.bias, self.outputs, self.output_bias

    def _parts(self) -> tuple[bytes, ...]:
        return (*(array.tobytes() for array in self.arrays), repr(self.phases).encode())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlaneNetwork) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def spec(self) -> str:
        return repr(self.path)

    @property
    def words(self) -> int:
        return int(self.columns.shape[1]) // 64

    @functools.cached_property
    def masks(self) -> npt.NDArray[np.uint64]:
        """The bits that have a column; shape (2 seats, words)."""
        packed = np.packbits(self.columns >= 0, axis=1, bitorder="little")
        return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)

    def log_odds(self, planes: npt.NDArray[np.uint64], movers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The log odds that the seat to move wins, from what ``plane_words`` returns; shape (states,)."""
        seen = np.ascontiguousarray(planes & self.masks)
        rows = np.arange(len(seen))
        phase = np.searchsorted(self.phases, np.bitwise_count(seen[:, 0]).sum(axis=1), side="right")
        bits = np.unpackbits(seen.astype("<u8").view(np.uint8), axis=2, bitorder="little").astype(bool)
        values = np.empty((len(seen), 2, self.hidden), np.int16)
        for row in range(len(seen)):
            for seat in (0, 1):
                used = self.first[self.columns[seat, bits[row, seat]]]
                values[row, seat] = used.sum(axis=0, dtype=np.int16) + self.bias
        squares = np.clip(values, 0, ONE).astype(np.int64) ** 2
        sides = np.concatenate((squares[rows, movers], squares[rows, 1 - movers]), axis=1)
        sums = (sides * self.outputs[phase]).sum(axis=1)
        odds: npt.NDArray[np.float64] = (sums / float(ONE) + self.output_bias[phase]) / float(ONE * OUTPUT_ONE)
        return odds

    def __call__(self, game: Game[Any], state: Any) -> tuple[float, ...]:
        require_planes(game)
        inside: Any = game
        if self.rules not in ("", wanted := rules_text(inside.rules)):
            raise UnsupportedGameError(
                f"{self.path or 'this network'} was fitted to {self.rules}, not to {wanted}: give another"
            )
        words = plane_words(game, [state])
        if words.shape[2] != self.words:
            raise UnsupportedGameError(
                f"this network was fitted to a game with planes of {self.words} words, but {game.traits.name} has "
                f"{words.shape[2]}"
            )
        mover, (lower, upper) = max(game.to_move(state), 0), game.traits.utility_bounds
        if method_or_default(inside.rules, "is_known_win")(state):
            value = known_win(inside.evaluation(state)[mover], lower, upper)
            return values_by_seat(game, state, mover, value, (lower, upper))
        odds = float(self.log_odds(words, np.array([mover]))[0])
        share = 1.0 / (1.0 + math.exp(-min(max(odds, -_LARGEST_SUM), _LARGEST_SUM)))
        return values_by_seat(game, state, mover, lower + (upper - lower) * share, (lower, upper))

    def tables(self, game: Any) -> NetworkTables | None:
        """What compiled code reads; None if only plain Python can evaluate, which says why."""
        if game not in self._tables:
            try:
                require_planes(game)
                width = plane_words(game, [game.rules.initial_state()]).shape[2]
            except UnsupportedGameError:
                width = 0
            if self.rules not in ("", rules_text(game.rules)):
                width = 0
            self._tables[game] = NetworkTables(self, game) if width == self.words else None
        return self._tables[game]

    def save(self, path: str, about: NetworkOrigin | None = None) -> None:
        """Writes a file; ``about`` says where the weights come from."""
        about = NetworkOrigin(rules=self.rules) if about is None else about
        packed = b"".join(array.astype(kind).tobytes() for array, kind in zip(self.arrays, _KINDS, strict=True))
        sizes = self.words, len(self.first), self.hidden
        text = base64.b64encode(zlib.compress(packed, 9)).decode()
        stored = StoredNetwork(2, *sizes, list(self.phases), text, about)
        write_evaluation(path, msgspec.json.encode(stored))

    def __reduce__(self) -> Any:
        return PlaneNetwork, (*self.arrays, self.phases, self.path, self.rules)


def require_writable(path: str) -> None:
    """Refuses a path that agents would not know for an evaluation's, or that cannot be written."""
    if not path.endswith(".json") or not Path(path).parent.is_dir() or Path(path).is_dir():
        raise InvalidSettingError(f"the file must end in .json and be in a folder that is there, not {path!r}")


KIND: Final = FileKind("evaluation", "name one that `zermelo tune` wrote")
LARGEST: Final = 1 << 25  # bytes of a file


def write_evaluation(path: str, text: bytes) -> None:
    """Writes the file of an evaluation, an object of JSON, with its checksum and as a whole."""
    try:
        write_json(path, text)
    except OSError as error:
        raise InvalidSettingError(
            f"cannot write {path}: {error.strerror or error}; choose another file"
        ) from error


_KINDS: Final = ("<i4", "<i2", "<i2", "<i2", "<i8")
_MOST_BYTES: Final = 1 << 24


_Size = Annotated[int, msgspec.Meta(ge=1, le=_MOST_BYTES)]


class NetworkOrigin(msgspec.Struct):
    """Where a network comes from: the environment, its rules, the number of its generation, and its positions."""

    env: ShortText = ""
    rules: ShortText = ""
    generation: int = 0
    positions: int = 0


class StoredNetwork(msgspec.Struct, tag_field="form", tag="zermelo network"):
    """A file's content: sizes, and the arrays one behind the other, compressed, as text."""

    version: Literal[2]
    words: _Size
    columns: _Size
    hidden: _Size
    phases: Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=_MOST_BYTES)]], msgspec.Meta(max_length=64)]
    arrays: str
    about: NetworkOrigin

    def evaluator(self, path: str) -> PlaneNetwork:
        hidden, blocks = self.hidden, len(self.phases) + 1
        shapes = (2, 64 * self.words), (self.columns, hidden), (hidden,), (blocks, 2 * hidden), (blocks,)
        sizes = [math.prod(shape) * int(kind[2]) for shape, kind in zip(shapes, _KINDS, strict=True)]
        if sum(sizes) > _MOST_BYTES:
            raise ValueError(f"its sizes make arrays of {sum(sizes):,} bytes")
        unpacker = zlib.decompressobj()
        packed = unpacker.decompress(base64.b64decode(self.arrays, validate=True), sum(sizes) + 1)
        if sum(sizes) != len(packed) or not unpacker.eof or unpacker.unused_data:
            raise ValueError("its arrays have not its sizes")
        ends = list(itertools.accumulate(sizes))
        arrays = [
            np.frombuffer(packed[end - size : end], kind).reshape(shape).astype(f"=i{kind[2]}")
            for size, end, shape, kind in zip(sizes, ends, shapes, _KINDS, strict=True)
        ]
        if self.phases != sorted(set(self.phases)) or np.abs(arrays[-1].astype(float)).max() > _LARGEST_BIAS:
            raise ValueError("its phases are not ascending, or its weights are too large")
        try:
            columns, first, bias, outputs, output_bias = arrays
            return PlaneNetwork(columns, first, bias, outputs, output_bias, self.phases, path, self.about.rules)
        except InvalidSettingError as error:
            raise ValueError(str(error)) from None


class NetworkTables:
    """The words that ``evaluators.network_kernel`` reads, at ``address`` as long as this object lives."""

    def __init__(self, network: PlaneNetwork, game: Any) -> None:
        hidden, bits = network.hidden, network.columns.shape[1]
        expanded = np.zeros((2 * bits, hidden), np.int16)
        used = network.columns.ravel() >= 0
        expanded[used] = network.first[network.columns.ravel()[used]]
        self._bias = np.ascontiguousarray(network.bias)
        self._arrays: list[npt.NDArray[Any]] = [
            expanded,
            np.ascontiguousarray(network.masks).view(np.int64),
            np.ascontiguousarray(network.outputs),
            np.ascontiguousarray(network.output_bias),
            np.array([*network.phases, 0], np.int64),
        ]
        self._slot = 2 * network.words + 2 * hidden // 4
        self._words = np.zeros(_HEADER, np.int64)
        self._words[:8] = (
            network.words,
            hidden,
            *(array.ctypes.data for array in self._arrays),
            len(network.phases),
        )
        self._words[10:] = self._slot, *map(int, game.traits.utility_bounds)
        self._both = 2 * network.words
        self._own = self.words()
        self.address = self._own.ctypes.data

    def words(self) -> npt.NDArray[np.int64]:
        """A block of them with room to work in: one for each thread. It is of use as long as this object lives."""
        block = np.concatenate((self._words, np.zeros(self._both + _SLOTS * self._slot, np.int64)))
        block[8] = block.ctypes.data + 8 * _HEADER
        block[9] = block[8] + 8 * self._both
        slots = block[_HEADER + self._both :].reshape(_SLOTS, self._slot)
        slots[:, self._both :].view(np.int16)[:] = np.tile(self._bias, 2)  # no bit is set yet
        return block


FOLDER: Final = Path(__file__).with_name("networks")


@functools.cache  # without a key: the package's files stay the same
def _files() -> dict[str, Path]:
    paths = sorted(FOLDER.glob("*.json"))
    return {_stored(path).about.rules: path for path in paths}


@functools.cache  # by the name of a file of the package, which stays the same
def _read(path: Path) -> PlaneNetwork:
    with in_a_sentence(path, KIND):
        return _stored(path).evaluator(str(path))


def _stored(path: Path) -> StoredNetwork:
    stored: StoredNetwork = read_json(path, KIND, StoredNetwork, largest=LARGEST)
    return stored


def rules_text(rules: Any) -> str:
    """Rules with their parameters, as text; those that only say where a game starts are left at their defaults."""
    starts: Sequence[str] = getattr(rules, "start_parameters", ())
    if not starts:
        return str(rules)
    return str(type(rules)(**{name: value for name, value in rules._asdict().items() if name not in starts}))


def shipped_network(game: Game[Any]) -> PlaneNetwork | None:
    """The network for a game; None if there is none."""
    if not isinstance(game, RulesGame) or not is_shipped(game.rules):
        return None
    path = _files().get(rules_text(game.rules))
    return None if path is None else _read(path)


@dataclass(frozen=True, kw_only=True)
class ShippedNetwork:
    """The network that this package brings for the game."""

    def spec(self) -> str:
        return "network"

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        return self._network(game)(game, state)

    def tables(self, game: Game[Any]) -> NetworkTables | None:
        return self._network(game).tables(game)

    def _network(self, game: Game[Any]) -> PlaneNetwork:
        network = shipped_network(game)
        if network is None:
            raise UnsupportedGameError(
                f"this package has no network for {game.traits.name}: `zermelo tune ENV --model network "
                "--out FILE` learns one, for evaluator='FILE'"
            )
        return network
