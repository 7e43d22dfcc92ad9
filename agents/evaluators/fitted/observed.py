"""Features of what the player to move observes, for games of which nobody has written any.

Each seat has features of its own, so that it does not matter whether an environment turns the board around.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.core.options import FITTED_UNIT
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.files import replaced


def _openspiel_state(state: Any) -> Any | None:
    for candidate in (state, getattr(state, "state", None)):
        if type(candidate).__module__.partition(".")[0] == "pyspiel" and hasattr(candidate, "get_game"):
            return candidate
    return None


def observed_array(game: Any, state: Any, seat: int | None = None) -> npt.NDArray[Any]:
    """The observation of a seat, or of the player to move, as an array."""
    inside: Any = _openspiel_state(state)
    seen: Any = None
    if hasattr(game, "observation"):
        seen = game.observation(state, game.to_move(state) if seat is None else seat)
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
        indices, values: Which feature, and its value.
        starts: Where each state's begin, and the end of the last one's; shape (states + 1,).
        seats: Whose expectation the weighted sum says, of each state.
    """

    indices: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int64]

    def sums(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        running = np.concatenate(([0.0], np.cumsum(weights[self.indices] * self.values)))
        sums: npt.NDArray[np.float64] = np.diff(running[self.starts])
        return sums

    @staticmethod
    def joined(parts: Sequence[Entries]) -> Entries:
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


class FeatureSet(msgspec.Struct, frozen=True, dict=True, tag_field="kind", forbid_unknown_fields=True):
    """Numbers that are read off a state; files hold the fields of each kind of features."""

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of features, of all seats together."""

    @abc.abstractmethod
    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        """The features of states in which a player is to move."""


def unlike(game: Any, wanted: str, found: str) -> UnsupportedGameError:
    """The error for a game that shows its players something else than features were made for."""
    return UnsupportedGameError(
        f"this evaluation was fitted to a game that shows its players {wanted}, but {game.traits.name} shows "
        f"{found}"
    )


def write_evaluation(path: str, text: str) -> None:
    """Writes the file of a fitted evaluation as a whole."""
    try:
        with replaced(path) as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidSettingError(
            f"cannot write {path}: {error.strerror or error}; choose another file"
        ) from error


def values_by_seat(
    game: Any, state: Any, seat: int, mine: float, bounds: tuple[float, float]
) -> tuple[float, ...]:
    """Values for all seats from that of one, rounded as compiled code does, and strictly inside finite bounds."""
    lower, upper = bounds
    if math.isfinite(upper - lower):
        mine = math.floor(mine * FITTED_UNIT + 0.5) / FITTED_UNIT
        mine = min(max(mine, lower + 1 / FITTED_UNIT), upper - 1 / FITTED_UNIT)
    if game.traits.seats == 1:
        return (mine,)
    other = game.traits.constant - sum(game.utility(state)) - mine
    return (mine, other) if seat == 0 else (other, mine)


def seats_of(game: Any, states: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Returns the seat to move in each state."""
    return np.array([game.to_move(state) for state in states], np.int64)


class ObservationFeatures(FeatureSet, frozen=True, tag="observation"):
    """All numbers of the observation, and a constant."""

    seats: int
    length: int

    @classmethod
    def fitting(cls, game: Any, states: Sequence[Any]) -> ObservationFeatures:
        return cls(game.traits.seats, observed_array(game, states[0]).size)

    @property
    def size(self) -> int:
        return self.seats * (self.length + 1)

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        seats = seats_of(game, states)
        if game.traits.seats != self.seats:
            raise unlike(game, f"{self.seats} seats", f"{game.traits.seats}")
        seen = np.ones((len(states), self.length + 1))
        for row, state in enumerate(states):
            array = observed_array(game, state).ravel()
            if array.size != self.length:
                raise unlike(game, f"{self.length} numbers", f"{array.size}")
            seen[row, :-1] = array
        rows, columns = np.nonzero(seen)
        starts = np.searchsorted(rows, np.arange(len(states) + 1))
        return Entries(columns + seats[rows] * (self.length + 1), seen[rows, columns], starts, seats)
