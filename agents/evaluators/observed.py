"""Features of what the player to move observes, for games of which nobody has written any.

Every environment shows its players something. ``ObservationFeatures`` are the numbers of that; where it is a
board, ``PatternFeatures`` say what stands on small windows of it. Each seat has features of its own, so that it
does not matter whether an environment turns the board around. Lucas, "Learning to play Othello with n-tuple
systems", Australian Journal of Intelligent Information Processing Systems 9 (2008).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

import numpy as np
import numpy.typing as npt

from zermelo.agents.core.importing import import_name
from zermelo.agents.evaluators.boards import openspiel_state
from zermelo.agents.evaluators.written import features_for
from zermelo.envs import InvalidSettingError, UnsupportedGameError

__all__ = [
    "LARGE",
    "AboveEvaluation",
    "Entries",
    "FeatureSet",
    "NamedFeatures",
    "ObservationFeatures",
    "PatternFeatures",
    "feature_set",
    "features_from",
    "observed_array",
]

_MOST_WEIGHTS: Final = 4_000_000
_MOST_CODES: Final = 40
_SAMPLES: Final = 200
LARGE: Final = 10.0
"""Log odds are taken so many times, so that hardly anything holds their weight where it begins."""
_LEAST: Final = 1e-4
"""A probability that is never fallen short of."""


def observed_array(game: Any, state: Any) -> npt.NDArray[Any]:
    """What the player to move observes, as an array.

    Raises:
        UnsupportedGameError: The game does not show its players arrays.
    """
    inside: Any = openspiel_state(state)
    seen: Any = None
    if hasattr(game, "observation"):
        seen = game.observation(state, game.to_move(state))
    if inside is not None and len(inside.get_game().observation_tensor_shape()) == 3:  # its planes come first
        seen = np.moveaxis(np.reshape(seen, inside.get_game().observation_tensor_shape()), 0, -1)
    array = np.asarray(seen) if seen is not None else np.empty(0)
    if array.size == 0 or array.dtype.kind not in "biuf":
        raise UnsupportedGameError(
            f"{game.traits.name} does not show its players an array of numbers: give features of your own, as "
            "module:name"
        )
    return array


@dataclass(frozen=True)
class Entries:
    """The features of some states that are not zero, states one after another.

    Attributes:
        indices, values: Which feature, and its value; shape (how many in all,).
        starts: Where each state's begin in those, and the end of the last one's; shape (states + 1,).
        seats: Whose expectation the weighted sum says, of each state; shape (states,).
    """

    indices: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int64]

    def sums(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The weighted sum of each state."""
        running = np.concatenate(([0.0], np.cumsum(weights[self.indices] * self.values)))
        sums: npt.NDArray[np.float64] = np.diff(running[self.starts])
        return sums

    @staticmethod
    def joined(parts: Sequence[Entries]) -> Entries:
        """Several as one."""
        starts, end = [np.zeros(1, np.int64)], 0
        for part in parts:
            starts.append(part.starts[1:] + end)
            end += int(part.starts[-1])
        return Entries(
            np.concatenate([part.indices for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate(starts),
            np.concatenate([part.seats for part in parts]),
        )


class FeatureSet(Protocol):
    """Numbers that are read off a state.

    Attributes:
        kind: What files call it.
    """

    kind: ClassVar[str]

    @property
    def size(self) -> int:
        """How many there are, for all seats together."""
        ...

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """Those of some states in which a player is to move."""
        ...

    def settings(self) -> dict[str, Any]:
        """What ``features_from`` makes it again from."""
        ...


def _unlike(game: Any, wanted: str, found: str) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"this evaluation was fitted to a game that shows its players {wanted}, but {game.traits.name} shows "
        f"{found}"
    )


def _seats(game: Any, states: Sequence[Any]) -> npt.NDArray[np.int64]:
    return np.array([game.to_move(state) for state in states], np.int64)


@dataclass(frozen=True)
class ObservationFeatures:
    """All numbers of the observation, and a constant."""

    kind: ClassVar[str] = "observation"
    seats: int
    length: int

    @classmethod
    def fitting(cls, game: Any, states: Sequence[Any]) -> ObservationFeatures:
        """Those of a game, from some of its states."""
        return cls(game.traits.seats, observed_array(game, states[0]).size)

    @property
    def size(self) -> int:
        """A number for each seat."""
        return self.seats * (self.length + 1)

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """Those that are not zero."""
        seats = _seats(game, states)
        if game.traits.seats != self.seats:
            raise _unlike(game, f"{self.seats} seats", f"{game.traits.seats}")
        seen = np.ones((len(states), self.length + 1))
        for row, state in enumerate(states):
            array = observed_array(game, state).ravel()
            if array.size != self.length:
                raise _unlike(game, f"{self.length} numbers", f"{array.size}")
            seen[row, :-1] = array
        rows, columns = np.nonzero(seen)
        starts = np.searchsorted(rows, np.arange(len(states) + 1))
        return Entries(columns + seats[rows] * (self.length + 1), seen[rows, columns], starts, seats)

    def settings(self) -> dict[str, Any]:
        """Its fields."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class PatternFeatures:
    """What stands on each small window of the board: squares of four cells, and three cells in a line.

    A cell is described by the first of the planes that is not zero there, or by its number where the observation
    is no stack of planes. Planes that are the same all over the board, such as who is to move, are left out.

    Attributes:
        seats: Of the game.
        rows, columns: Of the board.
        planes: Those that tell cells apart; none if the observation is the board itself.
        codes: The numbers in cells then.
    """

    kind: ClassVar[str] = "patterns"
    seats: int
    rows: int
    columns: int
    planes: tuple[int, ...] = ()
    codes: tuple[float, ...] = ()
    _windows: Any = field(init=False, repr=False, compare=False)
    _powers: Any = field(init=False, repr=False, compare=False)
    _offsets: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds = len(self.planes) + 1 if self.planes else len(self.codes)
        windows = _windows(self.rows, self.columns, 4 if kinds**4 * self.rows * self.columns < 400_000 else 2)
        cells = self.rows * self.columns
        padded = np.full((len(windows), 4), cells, np.int64)
        powers = np.zeros((len(windows), 4), np.int64)
        sizes = []
        for number, window in enumerate(windows):
            padded[number, : len(window)] = window
            powers[number, : len(window)] = kinds ** np.arange(len(window))
            sizes.append(kinds ** len(window))
        object.__setattr__(self, "_windows", padded)
        object.__setattr__(self, "_powers", powers)
        object.__setattr__(self, "_offsets", np.concatenate(([0], np.cumsum(sizes))))

    @classmethod
    def fitting(cls, game: Any, states: Sequence[Any]) -> PatternFeatures:
        """Those of a game, from some of its states.

        Raises:
            UnsupportedGameError: The observation is no board, or one with too many kinds of cells.
        """
        seen = np.stack([observed_array(game, state) for state in states])
        if seen.ndim == 4:
            uneven = (seen != seen[:, :1, :1, :]).any(axis=(0, 1, 2))
            planes = tuple(np.flatnonzero(uneven).tolist())
            found = cls(game.traits.seats, seen.shape[1], seen.shape[2], planes=planes)
            fits = 0 < len(found.planes) < _MOST_CODES
        else:
            rows, columns = seen.shape[1:] if seen.ndim == 3 else (1, seen[0].size)
            codes = np.unique(seen)
            fits = 1 < len(codes) <= _MOST_CODES
            found = cls(game.traits.seats, rows, columns, codes=tuple(codes[:_MOST_CODES].tolist()))
        if not fits or found.size > _MOST_WEIGHTS:
            raise UnsupportedGameError(
                f"what {game.traits.name} shows its players, of shape {seen.shape[1:]}, is no board with few "
                "kinds of cells: use the features 'observation', or some of your own"
            )
        return found

    @property
    def size(self) -> int:
        """A number for each seat, window and way to fill it."""
        return int(self.seats * self._offsets[-1])

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """One for each window."""
        seen = np.stack([observed_array(game, state) for state in states])
        needed = max(self.planes, default=-1) + 1
        shape = seen.shape[1:] if seen.ndim > 2 else (1, *seen.shape[1:])
        if shape[:2] != (self.rows, self.columns) or (len(shape) == 3) != bool(needed) or needed > shape[-1]:
            raise _unlike(game, f"a board of {self.rows} rows and {self.columns} columns", f"{seen.shape[1:]}")
        cells = np.zeros((len(states), self.rows * self.columns + 1), np.int64)
        if self.planes:
            flat = seen[..., self.planes].reshape(len(states), -1, len(self.planes)) != 0
            cells[:, :-1] = np.where(flat.any(axis=2), flat.argmax(axis=2) + 1, 0)
        else:
            flat = seen.reshape(len(states), -1)
            cells[:, :-1] = np.clip(np.searchsorted(self.codes, flat), 0, len(self.codes) - 1)
        seats = _seats(game, states)
        patterns = (cells[:, self._windows] * self._powers).sum(axis=2)
        indices = patterns + self._offsets[:-1] + (seats * int(self._offsets[-1]))[:, None]
        starts = np.arange(len(states) + 1) * len(self._windows)
        return Entries(indices.ravel(), np.ones(indices.size), starts, seats)

    def settings(self) -> dict[str, Any]:
        """Its fields."""
        names = ("seats", "rows", "columns", "planes", "codes")
        return {name: getattr(self, name) for name in names}


def _windows(rows: int, columns: int, longest: int) -> list[list[int]]:
    """Squares of four cells, lines of three or two, and single cells: as places in the flattened board."""
    length = min(longest, 3)
    shapes = [[(0, 0)]]
    shapes += [[(down * step, right * step) for step in range(length)] for down, right in _DIRECTIONS]
    if longest == 4:
        shapes.append([(0, 0), (0, 1), (1, 0), (1, 1)])
    found = []
    for shape in shapes:
        for row in range(rows):
            for column in range(columns):
                cells = [(row + down, column + right) for down, right in shape]
                if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                    found.append([r * columns + c for r, c in cells])
    return found


_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True)
class NamedFeatures:
    """Functions of game and state, greater where the first player stands better, as ``LinearEvaluator`` has them.

    Attributes:
        source: Where they are: ``"module:name"`` of a mapping from names to functions.
    """

    kind: ClassVar[str] = "named"
    source: str
    functions: Mapping[str, Callable[[Any, Any], float]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = import_name(self.source)
        if not isinstance(found, Mapping) or not found or not all(map(callable, found.values())):
            raise InvalidSettingError(
                f"{self.source} must be a dictionary of features, functions of game and state by name, not "
                f"{found!r}"
            )
        object.__setattr__(self, "functions", dict(found))

    @property
    def size(self) -> int:
        """One for each function, and a constant."""
        return len(self.functions) + 1

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """All of them."""
        seen = np.ones((len(states), self.size))
        for row, state in enumerate(states):
            seen[row, :-1] = [float(function(game, state)) for function in self.functions.values()]
        if not np.isfinite(seen).all():
            raise InvalidSettingError(f"a feature of {self.source} gave a number that is not finite")
        indices = np.tile(np.arange(self.size), len(states))
        starts = np.arange(len(states) + 1) * self.size
        return Entries(indices, seen.ravel(), starts, np.zeros(len(states), np.int64))

    def settings(self) -> dict[str, Any]:
        """Its source."""
        return {"source": self.source}


@dataclass(frozen=True)
class AboveEvaluation:
    """Features of another kind, and the evaluation that somebody has written of the game, as log odds.

    Attributes:
        inner: The other features, which correct that evaluation.
    """

    kind: ClassVar[str] = "above"
    inner: FeatureSet

    @property
    def size(self) -> int:
        """One more than the others."""
        return self.inner.size + 1

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """The others', and one for each state."""
        inner = self.inner.entries(game, states)
        ends = inner.starts[1:]
        own = [
            LARGE * _log_odds(game, state, seat) for state, seat in zip(states, inner.seats.tolist(), strict=True)
        ]
        return Entries(
            np.insert(inner.indices, ends, self.inner.size),
            np.insert(inner.values, ends, own),
            inner.starts + np.arange(len(inner.starts)),
            inner.seats,
        )

    def settings(self) -> dict[str, Any]:
        """The others'."""
        return {"inner": {"kind": self.inner.kind, **self.inner.settings()}}


def _log_odds(game: Any, state: Any, seat: int) -> float:
    """What the written evaluation says of a seat, its place between the utility bounds read as a probability."""
    evaluator = features_for(game, state)
    if evaluator is None:
        raise UnsupportedGameError(
            f"this evaluation corrects one that somebody has written, and {game.traits.name} has none"
        )
    value, (lower, upper) = evaluator(game, state)[seat], game.traits.utility_bounds
    if not math.isfinite(upper - lower):
        return float(value)
    share = min(max((value - lower) / (upper - lower), _LEAST), 1.0 - _LEAST)
    return math.log(share / (1.0 - share))


def feature_set(name: str, game: Any, states: Sequence[Any]) -> FeatureSet:
    """The features of a name, fitted to what some states of a game show.

    Args:
        name: ``"patterns"``, ``"observation"``, ``"module:name"``, or ``"auto"``: patterns of boards, else all
            numbers, and what has been written of the game.
        game: The game.
        states: States in which a player is to move, such as those of a few games at random.
    """
    if ":" in name:
        return NamedFeatures(name)
    states = states[:_SAMPLES]
    if name == "observation":
        return ObservationFeatures.fitting(game, states)
    if name == "patterns":
        return PatternFeatures.fitting(game, states)
    if name != "auto":
        raise InvalidSettingError(f"features must be patterns, observation, auto or module:name, not {name!r}")
    found: FeatureSet
    try:
        found = PatternFeatures.fitting(game, states)
    except UnsupportedGameError:
        found = ObservationFeatures.fitting(game, states)
    return found if features_for(game, states[0]) is None else AboveEvaluation(found)


def features_from(settings: Mapping[str, Any]) -> FeatureSet:
    """The features that a file names.

    Raises:
        KeyError, TypeError, ValueError: The file is damaged.
    """
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()
    }
    kind = plain.pop("kind")
    if kind == AboveEvaluation.kind:
        return AboveEvaluation(features_from(plain["inner"]))
    if kind == NamedFeatures.kind:
        return NamedFeatures(**plain)
    return PatternFeatures(**plain) if kind == PatternFeatures.kind else ObservationFeatures(**plain)
