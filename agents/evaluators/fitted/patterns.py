"""Patterns on a board as features: what stands on each small window of it.

Lucas, "Learning to play Othello with n-tuple systems", Australian Journal of Intelligent Information Processing
Systems 9 (2008). Windows that mirrors and turns make of each other may share their weights, and so may the seats.
Whole lines as windows, and weights of their own for phases of the game: Buro, "Experiments with Multi-ProbCut and
a new high-quality evaluation function for Othello" (1997).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet, observed_array, seats_of, unlike
from zermelo.envs import InvalidSettingError, UnsupportedGameError

_MOST_WEIGHTS: Final = 4_000_000
MOST_CODES: Final = 40
_MOST_PATTERNS: Final = 400_000
"""Maximum patterns of windows of one size."""
_FEW_KINDS: Final = 3
_LONGEST: Final = 8
OWN: Final = -1
"""Each seat has weights of its own."""
_Small: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100)]
_Turn: TypeAlias = Annotated[int, msgspec.Meta(ge=OWN, le=7)]
_Plane: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10_000)]


def turned(cells: npt.NDArray[Any], turn: int) -> npt.NDArray[Any]:
    """A board, of which rows and columns are the first axes, mirrored and turned.

    Bit 0 of ``turn`` exchanges left and right, bit 1 top and bottom, bit 2 rows and columns after that.
    """
    cells = cells[:, ::-1] if turn & 1 else cells
    cells = cells[::-1] if turn & 2 else cells
    return cells.swapaxes(0, 1) if turn & 4 else cells


class _Layout(NamedTuple):
    """The places of windows, and the weights that they share.

    Attributes:
        windows: The cells of each window, as places in the flattened board.
        powers: How much each kind of cell adds to the number of a pattern.
        offsets: The first pattern of each window.
        length: Number of weights for one seat and phase.
        first: Whose weight each pattern has: of those that mirrors make of each other the first one's.
    """

    windows: npt.NDArray[np.int64]
    powers: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    length: int
    first: npt.NDArray[np.int64]


class PatternFeatures(FeatureSet, frozen=True, tag="patterns"):
    """The contents of small windows of the board: squares of four cells, lines of three, and longer ones.

    A cell is described by the plane that is not zero there, or by its number where the observation is no stack of
    planes. Where planes overlap, the first that is set counts. Planes that are the same all over the board, such
    as who is to move, are left out. With no more than three kinds of cells, windows are also whole lines of up to
    eight cells and squares of nine.

    Attributes:
        seats: Of the game.
        rows, columns: Of the board.
        planes: Those that tell cells apart.
        codes: The numbers in cells, if the observation is the board itself.
        turns: The mirrors and turns (``turned``) that leave what a board is worth as it is; any two of them after
            each other are one of them.
        second: How the second seat's board is turned to be looked up as the first one's; ``OWN`` for none.
        longest: How many cells a window has at most; with many kinds of cells windows are small anyway.
        phases: Numbers of cells that are not of the first kind with which phases begin, after the first one: each
            window has weights for all of the game and for each phase.
    """

    seats: Annotated[int, msgspec.Meta(ge=1, le=2)]
    rows: _Small
    columns: _Small
    planes: Annotated[tuple[_Plane, ...], msgspec.Meta(max_length=MOST_CODES)] = ()
    codes: Annotated[tuple[int | float, ...], msgspec.Meta(max_length=MOST_CODES)] = ()
    turns: tuple[_Turn, ...] = (0,)
    second: _Turn = OWN
    phases: tuple[int, ...] = ()
    longest: _Small = 9

    def __post_init__(self) -> None:
        assert self.layout

    @functools.cached_property
    def layout(self) -> _Layout:
        """The places of windows; refuses boards with none, or with too many patterns."""
        cells, kinds = self.rows * self.columns, self.kinds
        places = np.arange(cells).reshape(self.rows, self.columns)
        moved = [turned(places, turn).ravel().tolist() for turn in self.turns]
        found = _tied(_windows(self.rows, self.columns, min(self._most_cells, self.longest)), moved)
        if not found or sum(kinds ** len(window) for _, window in found) > _MOST_WEIGHTS:
            raise InvalidSettingError(
                f"a board of {self.rows} by {self.columns} has no windows, or too many patterns"
            )
        most = max(len(window) for _, window in found)
        padded = np.full((len(found), most), cells, np.int64)
        powers = np.zeros((len(found), most), np.int64)
        offsets, known, length = np.empty(len(found), np.int64), dict[int, int](), 0
        first: list[npt.NDArray[np.int64]] = []
        for number, (shared, window) in enumerate(found):
            padded[number, : len(window)] = window
            powers[number, : len(window)] = kinds ** np.arange(len(window))
            if shared not in known:
                known[shared] = length
                first.append(length + _first_patterns(window, moved, kinds))
                length += kinds ** len(window)
            offsets[number] = known[shared]
        return _Layout(padded, powers, offsets, length, np.concatenate(first))

    @classmethod
    def fitting(cls, game: Any, states: Sequence[Any]) -> PatternFeatures:
        """The features of a game, from some of its states; refuses observations that are no such board."""
        seen = np.stack([observed_array(game, state) for state in states])
        if seen.ndim == 4:
            uneven = (seen != seen[:, :1, :1, :]).any(axis=(0, 1, 2))
            planes = tuple(np.flatnonzero(uneven).tolist())
            fits = 0 < len(planes) < MOST_CODES
            found = cls._small_enough(game.traits.seats, *seen.shape[1:3], planes=planes[:MOST_CODES])
        else:
            rows, columns = seen.shape[1:] if seen.ndim == 3 else (1, seen[0].size)
            codes = np.unique(seen)
            fits = 1 < len(codes) <= MOST_CODES
            found = cls._small_enough(game.traits.seats, rows, columns, codes=tuple(codes[:MOST_CODES].tolist()))
        if not fits or found.size > _MOST_WEIGHTS:
            raise UnsupportedGameError(
                f"what {game.traits.name} shows its players, of shape {seen.shape[1:]}, is no board with few "
                "kinds of cells: use the features 'observation', or some of your own"
            )
        return found

    @classmethod
    def _small_enough(cls, seats: int, rows: int, columns: int, **shown: Any) -> PatternFeatures:
        for longest in (9, 4):
            found = cls(seats, rows, columns, longest=1, **shown)
            if seats * _patterns(rows, columns, min(longest, found._most_cells), found.kinds) <= _MOST_WEIGHTS:
                break
        return cls(seats, rows, columns, longest=longest, **shown)

    @property
    def kinds(self) -> int:
        return len(self.planes) + 1 if self.planes else len(self.codes)

    @property
    def _most_cells(self) -> int:
        if self.kinds**4 * self.rows * self.columns < _MOST_PATTERNS:
            return 4 if self.kinds > _FEW_KINDS else 9
        return 2

    @property
    def size(self) -> int:
        seats = self.seats if self.second == OWN else 1
        return seats * (1 + (len(self.phases) + 1) * bool(self.phases)) * self.layout.length

    def entries(self, game: Any, states: Sequence[Any]) -> Entries:
        seats, cells, layout = seats_of(game, states), self.cells(game, states), self.layout
        if self.second > 0:
            places = turned(np.arange(self.rows * self.columns).reshape(self.rows, self.columns), self.second)
            second = np.flatnonzero(seats == 1)
            cells[second, :-1] = cells[second][:, places.ravel()]
        patterns = np.zeros((len(states), len(layout.windows)), np.int64)
        for place in range(layout.windows.shape[1]):
            patterns += cells[:, layout.windows[:, place]] * layout.powers[:, place]
        indices = patterns + layout.offsets
        if len(self.turns) > 1:
            indices = layout.first[indices]
        if self.phases:
            filled = (cells[:, :-1] != 0).sum(axis=1)
            phase = np.searchsorted(self.phases, filled, side="right")
            indices = np.concatenate((indices, indices + (1 + phase[:, None]) * layout.length), axis=1)
        if self.second == OWN:
            indices = indices + (seats * (self.size // self.seats))[:, None]
        starts = np.arange(len(states) + 1) * indices.shape[1]
        return Entries(indices.ravel(), np.ones(indices.size), starts, seats)

    def cells(self, game: Any, states: Sequence[Any], seat: int | None = None) -> npt.NDArray[np.int64]:
        """The kind of each cell, row by row, and 0 at the end; shape (states, cells + 1).

        A seat sees them, if one is given, else the player to move in each state.
        """
        seen = np.stack([observed_array(game, state, seat) for state in states])
        needed = 1 + max(self.planes, default=-1)
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
        return cells

    def windows(self) -> list[tuple[int, list[int], list[int]]]:
        """Each window's first pattern, its cells, and how much each kind of cell adds to that."""
        found = []
        layout = self.layout
        for offset, window, powers in zip(layout.offsets.tolist(), layout.windows, layout.powers, strict=True):
            length = np.count_nonzero(powers)
            found.append((offset, window[:length].tolist(), powers[:length].tolist()))
        return found


def _patterns(rows: int, columns: int, longest: int, kinds: int) -> int:
    return sum(kinds ** len(window) for window in _windows(rows, columns, longest))


def _windows(rows: int, columns: int, longest: int) -> list[tuple[int, ...]]:
    """Squares, lines of three or two, single cells, and whole lines: as places in the flattened board."""
    length = min(longest, 3)
    shapes = [[(0, 0)]]
    shapes += [[(down * step, right * step) for step in range(length)] for down, right in _DIRECTIONS]
    for side in (2, 3):
        if longest >= side * side:
            shapes.append([(down, right) for down in range(side) for right in range(side)])
    found = []
    for shape, row, column in itertools.product(shapes, range(rows), range(columns)):
        cells = [(row + down, column + right) for down, right in shape]
        if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
            found.append(tuple(r * columns + c for r, c in cells))
    return found + (_lines(rows, columns) if longest == 9 else [])


def _lines(rows: int, columns: int) -> list[tuple[int, ...]]:
    """Whole rows, columns and diagonals of four to eight cells."""
    found = []
    for down, right in _DIRECTIONS:
        lines: dict[int, list[int]] = {}
        for row, column in itertools.product(range(rows), range(columns)):
            lines.setdefault(column * down - row * right, []).append(row * columns + column)
        found += [tuple(line) for line in lines.values() if 3 < len(line) <= _LONGEST]
    return found


def _tied(windows: Sequence[tuple[int, ...]], moved: Sequence[Sequence[int]]) -> list[tuple[int, tuple[int, ...]]]:
    """The windows, each with the number of one whose weights it shares, and its cells in that one's order."""
    known: dict[frozenset[int], tuple[int, tuple[int, ...]]] = {}
    for number, window in enumerate(windows):
        for there in moved:
            image = tuple(there[cell] for cell in window)
            known.setdefault(frozenset(image), (number, image))
    return [known[frozenset(window)] for window in windows]


def _first_patterns(window: tuple[int, ...], moved: Sequence[Sequence[int]], kinds: int) -> npt.NDArray[np.int64]:
    """For each pattern of a window the least of those that turns make of it which leave the window in place."""
    codes = np.arange(kinds ** len(window))
    least = codes.copy()
    for there in moved:
        image = [there[cell] for cell in window]
        if set(image) == set(window) and image != list(window):
            turned_codes = np.zeros_like(codes)
            for place, cell in enumerate(image):
                turned_codes += codes // kinds**place % kinds * kinds ** window.index(cell)
            least = np.minimum(least, turned_codes)
    return least


_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
