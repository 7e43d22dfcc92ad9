"""Patterns on a board as features: what stands on each small window of it.

Lucas, "Learning to play Othello with n-tuple systems", Australian Journal of Intelligent Information Processing
Systems 9 (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from zermelo.agents.evaluators.observed import Entries, observed_array, seats_of, unlike
from zermelo.envs import UnsupportedGameError

__all__ = ["PatternFeatures"]

_MOST_WEIGHTS: Final = 4_000_000
_MOST_CODES: Final = 40


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
            raise unlike(game, f"a board of {self.rows} rows and {self.columns} columns", f"{seen.shape[1:]}")
        cells = np.zeros((len(states), self.rows * self.columns + 1), np.int64)
        if self.planes:
            flat = seen[..., self.planes].reshape(len(states), -1, len(self.planes)) != 0
            cells[:, :-1] = np.where(flat.any(axis=2), flat.argmax(axis=2) + 1, 0)
        else:
            flat = seen.reshape(len(states), -1)
            cells[:, :-1] = np.clip(np.searchsorted(self.codes, flat), 0, len(self.codes) - 1)
        seats = seats_of(game, states)
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
