"""Computes how many rolls a side needs to bear off, for all positions at home.

``envs/games/backgammon/bear_off.py`` reads the table.

python scripts/solve_bear_off.py --help
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any

import numba
import numpy as np
import typer

from zermelo.envs.games.backgammon import bear_off
from zermelo.envs.games.backgammon.bear_off import CHECKERS, COLUMNS, FILE, HOME, POSITIONS, ROLLS
from zermelo.envs.jit.compiling import Functions
from zermelo.envs.support.files import replaced

place = Functions().compiled(bear_off.place)
MOST_PLAYS = 1000
"""More than there are ways to play a roll."""


@numba.njit
def play_die(low: int, die: int, plays: Any, count: int) -> int:
    """Adds the positions after one number has been played, each once; how many there are by then."""
    if low >> 4 == 0:
        return add(low, plays, count)
    from_above = True
    for point in range(HOME, 0, -1):
        if low >> 4 * point & 15 == 0:
            continue
        after = low - (1 << 4 * point)
        if point > die:
            count = add(after + (1 << 4 * (point - die)), plays, count)
        elif point == die or from_above:
            count = add(after + 1, plays, count)
        from_above = False
    return count


@numba.njit
def add(low: int, plays: Any, count: int) -> int:
    for index in range(count):
        if plays[index] == low:
            return count
    plays[count] = low
    return count + 1


@numba.njit
def play_roll(low: int, first: int, second: int, plays: Any, room: Any) -> int:
    """The positions after a roll; ``low`` counts the checkers off from 0 in its lowest four bits."""
    if first != second:
        count = 0
        for one, other in ((first, second), (second, first)):
            before = play_die(low, one, room, 0)
            for index in range(before):
                count = play_die(room[index], other, plays, count)
        return count
    plays[0], count = low, 1
    for _ in range(4):
        before = count
        room[:before] = plays[:before]
        count = 0
        for index in range(before):
            count = play_die(room[index], first, plays, count)
    return count


@numba.njit
def solve(positions: Any, chances: Any) -> None:
    """Writes each position's row; ``positions`` come in the order of their pips."""
    means = np.zeros((2, POSITIONS))
    plays, room = np.zeros(MOST_PLAYS, np.int64), np.zeros(MOST_PLAYS, np.int64)
    for low in positions:
        row = place(low)
        for first in range(1, 7):
            for second in range(1, first + 1):
                p = (1 if first == second else 2) / 36
                count = play_roll(low, first, second, plays, room)
                for part in range(2):
                    start, size = (0, ROLLS) if part == 0 else (ROLLS, COLUMNS - ROLLS)
                    best, least = -1, np.inf
                    for index in range(count):
                        after = plays[index]
                        is_done = after >> 4 == 0 if part == 0 else after & 15 != 0
                        mean = 0.0 if is_done else means[part, place(after)]
                        if mean < least:
                            least, best = mean, -2 if is_done else place(after)
                    if best == -2:
                        chances[row, start] += p
                    else:
                        for column in range(size - 1):
                            chances[row, start + column + 1] += p * chances[best, start + column]
                    means[part, row] += p * (1 + least)


def solved() -> Any:
    """The chances of each roll, for all positions: an array of shape (``POSITIONS``, ``COLUMNS``)."""
    counts = np.array([n for n in itertools.product(range(CHECKERS + 1), repeat=HOME) if sum(n) <= CHECKERS])
    pips = counts @ np.arange(1, HOME + 1)
    positions = (counts << 4 * np.arange(1, HOME + 1)).sum(axis=1)[np.argsort(pips, kind="stable")]
    chances = np.zeros((POSITIONS, COLUMNS))
    chances[0, [0, ROLLS]] = 1
    solve(positions[1:], chances)
    return chances


def main(out: Annotated[Path, typer.Argument(help="The file to write.")] = FILE) -> None:
    """Computes the table of bear-offs in some seconds, and writes it."""
    with replaced(out) as partial:
        bear_off.write(partial, solved())


if __name__ == "__main__":
    typer.run(main)
