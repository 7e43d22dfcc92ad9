"""Games of one move: the first player chooses a row, the second a column. Arrays are of shape (rows, columns)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.equilibrium.sequence_form import Floats
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call

_ROUNDING: Final = 1e-9
_SMALL: Final = 1e-6  # less than this of a choice is the program's inaccuracy


class MatrixSolution(NamedTuple):
    """An equilibrium of a zero-sum game: the first player's value, and both players' mixed strategies."""

    value: float
    row: Floats
    column: Floats


class Dominated(NamedTuple):
    """A row or column that is worse than a mixture of others, whatever the other player does."""

    player: int  # 0 for rows, 1 for columns
    action: int
    by: Floats  # the mixture


@checked_call
def solve_matrix(payoffs: npt.ArrayLike) -> MatrixSolution:
    """The value and an equilibrium of a zero-sum game.

    ``payoffs`` are those of the second player to the first. Found are, in this order, a saddle point; in a square
    matrix, mixtures of all choices that make the other player indifferent; and a linear program's solution.
    """
    matrix = _matrix(payoffs)
    rows, columns = matrix.shape
    worst, best = matrix.min(axis=1), matrix.max(axis=0)
    if worst.max() == best.min():
        return MatrixSolution(float(worst.max()), np.eye(rows)[worst.argmax()], np.eye(columns)[best.argmin()])
    halves = matrix / 2  # their range is finite
    lowest, size = halves.min(), np.ptp(halves)
    scaled = (halves - lowest) / size
    row, column = _mixed(scaled, range(rows), range(columns)) or _programmed(scaled)
    return MatrixSolution(float(2 * (lowest + size * (row @ scaled @ column))), row, column)


def _mixed(payoffs: Floats, mine: Sequence[int], theirs: Sequence[int]) -> tuple[Floats, Floats] | None:
    """The equilibrium in which both mix just these choices, as many of each; None if there is none."""
    if len(mine) != len(theirs):
        return None
    inner, row, column = payoffs[np.ix_(mine, theirs)], np.zeros(len(payoffs)), np.zeros(payoffs.shape[1])
    one, other = _indifferent(inner.T), _indifferent(inner)
    if one is None or other is None:
        return None
    row[mine], column[theirs] = one, other
    gain = (payoffs @ column).max() - (row @ payoffs).min()
    return (row, column) if gain <= _ROUNDING else None


def _programmed(payoffs: Floats) -> tuple[Floats, Floats]:
    """An equilibrium by linear programming, worked out again from the choices that are mixed in it."""
    from scipy.optimize import linprog

    rows, columns = payoffs.shape
    # Maximize v, where a mixture of rows gets at least v against every column; v may be negative.
    objective = np.append(np.zeros(rows), -1.0)
    against = np.hstack([-payoffs.T, np.ones((columns, 1))])
    total = np.append(np.ones(rows), 0.0)[None]
    bounds = [(0.0, None)] * rows + [(None, None)]
    solved: Any = linprog(objective, A_ub=against, b_ub=np.zeros(columns), A_eq=total, b_eq=[1.0], bounds=bounds)
    column = np.maximum(-solved.ineqlin.marginals, 0.0)  # the dual program is the second player's
    row = np.maximum(solved.x[:-1], 0.0)
    exact = _mixed(payoffs, *(np.flatnonzero(mixture > _SMALL).tolist() for mixture in (row, column)))
    return exact or (row / row.sum(), column / column.sum())


@checked_call
def pure_equilibria(first: npt.ArrayLike, second: npt.ArrayLike) -> list[tuple[int, int]]:
    """Rows and columns from which neither player gains by changing its own choice."""
    one, two = _matrices(first, second)
    stable = (one == one.max(axis=0)) & (two == two.max(axis=1)[:, None])
    return [(int(row), int(column)) for row, column in np.argwhere(stable)]


@checked_call
def equilibria(first: npt.ArrayLike, second: npt.ArrayLike) -> list[tuple[Floats, Floats]]:
    """Equilibria of a small game, mixed ones too, by support enumeration over both players' payoffs.

    Both players mix as many choices, so of degenerate games some equilibria may be missing. Nisan, Roughgarden,
    Tardos and Vazirani (eds.), *Algorithmic Game Theory* (2007), algorithm 3.4.
    """
    one, two = _matrices(first, second)
    rows, columns = one.shape
    pairs: list[tuple[Floats, Floats]] = []
    for size in range(1, min(rows, columns) + 1):
        for mine in itertools.combinations(range(rows), size):
            for theirs in itertools.combinations(range(columns), size):
                column = _indifferent(one[np.ix_(mine, theirs)])  # makes the first player indifferent
                row = _indifferent(two[np.ix_(mine, theirs)].T)
                if row is None or column is None:
                    continue
                x, y = np.zeros(rows), np.zeros(columns)
                x[list(mine)], y[list(theirs)] = row, column
                if (one @ y).max() <= x @ one @ y + _ROUNDING and (x @ two).max() <= x @ two @ y + _ROUNDING:
                    pairs.append((x, y))
    return pairs


def _indifferent(payoffs: Floats) -> Floats | None:
    """The mixture of columns, all of them used, against which all rows get the same; None where there is none."""
    size = len(payoffs)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size], system[:size, size], system[size, :size] = payoffs, -1.0, 1.0
    try:
        mixed: Floats = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
    except np.linalg.LinAlgError:
        return None
    return mixed if (mixed > _ROUNDING).all() else None


@checked_call
def dominated(first: npt.ArrayLike, second: npt.ArrayLike) -> Iterator[Dominated]:
    """Strictly dominated choices, one after the other: each is left out before the next is looked for."""
    payoffs = _matrices(first, second)
    left = [list(range(payoffs[0].shape[0])), list(range(payoffs[0].shape[1]))]
    while step := next((each for player in (0, 1) for each in _dominated_by(player, payoffs, left)), None):
        left[step.player].remove(step.action)
        yield step


def _dominated_by(player: int, payoffs: tuple[Floats, Floats], left: list[list[int]]) -> Iterator[Dominated]:
    """The player's choices that a mixture of its others beats everywhere, in what is left."""
    mine = left[player]
    worth = payoffs[player][np.ix_(left[0], left[1])]
    worth = worth if player == 0 else worth.T
    for place, action in enumerate(mine):
        if len(mine) == 1:
            return
        others = [each for each in range(len(mine)) if each != place]
        margin = solve_matrix(worth[others] - worth[place])
        if margin.value > _ROUNDING:
            by = np.zeros(payoffs[player].shape[player])
            by[[mine[each] for each in others]] = margin.row
            yield Dominated(player, action, by)


def _matrix(payoffs: npt.ArrayLike) -> Floats:
    try:
        matrix = np.asarray(payoffs, np.float64)
    except (TypeError, ValueError):  # text, or rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InvalidSettingError(
            f"payoffs must be a matrix of finite numbers, rows for the first player, not {payoffs!r}"
        )
    return matrix


def _matrices(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Floats, Floats]:
    one, two = _matrix(first), _matrix(second)
    if one.shape != two.shape:
        raise InvalidSettingError(f"both players' payoffs need one shape, not {one.shape} and {two.shape}")
    return one, two
