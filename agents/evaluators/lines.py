"""Features of games in which a line of stones wins: tic-tac-toe and Connect Four."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from zermelo.agents.evaluators.boards import Grid, lines_of, read_grid
from zermelo.agents.evaluators.features import no_board
from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.envs import Game


@functools.lru_cache(maxsize=32)
def _lines(rows: int, columns: int, length: int) -> tuple[Callable[[tuple[int, ...]], tuple[int, ...]], ...]:
    """For every line of a board, what takes its cells out of all cells."""
    return tuple(operator.itemgetter(*line) for line in lines_of(rows, columns, length))


def _grid(game: Game[Any], state: Any, name: str) -> Grid:
    grid = read_grid(game, state)
    if grid is None:
        raise no_board(game, name, "a board of stones")
    return grid


@functools.lru_cache(maxsize=16)  # several features of one position ask one after the other
def line_counts(grid: Grid) -> tuple[list[int], list[int]]:
    """For seats 0 and 1, how many lines without an opponent's stone hold 0, 1, 2, ... of their own."""
    counts: tuple[list[int], list[int]] = ([0] * (grid.in_row + 1), [0] * (grid.in_row + 1))
    cells = grid.cells
    for line in _lines(grid.rows, grid.columns, grid.in_row):
        stones = line(cells)
        first, second = stones.count(0), stones.count(1)
        if not second:
            counts[0][first] += 1
        if not first:
            counts[1][second] += 1
    return counts


def open_lines(game: Game[Any], state: Any) -> float:
    """Lines still open to MAX (seat 0) minus lines still open to MIN: Nilsson's evaluation of tic-tac-toe."""
    first, second = line_counts(_grid(game, state, "tictactoe"))
    return sum(first) - sum(second)


def tictactoe() -> LinearEvaluator:
    """Open lines, for tic-tac-toe and its relatives."""
    return LinearEvaluator(features={"open_lines": open_lines}, weights={"open_lines": 1.0}, scale=8.0)


def _windows(stones: int, game: Game[Any], state: Any) -> float:
    """Windows that hold exactly so many stones of one player and none of the other's, MAX's minus MIN's."""
    first, second = line_counts(_grid(game, state, "connect_four"))
    return first[stones] - second[stones]


def connect_four() -> LinearEvaluator:
    """Open windows of four, worth the more the more stones are in them.

    The windows that hold one, two and three stones of a player and none of the opponent's.
    """
    return LinearEvaluator(
        features={
            "ones": functools.partial(_windows, 1),
            "twos": functools.partial(_windows, 2),
            "threes": functools.partial(_windows, 3),
        },
        weights={"ones": 1.0, "twos": 3.0, "threes": 9.0},
        scale=40.0,
    )
