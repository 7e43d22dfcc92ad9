#!/usr/bin/env python
"""Fits the evaluation of 2048: tables of how much score is still to come, learned from self-play.

The evaluation is an n-tuple network (Szubert and Jaskowski, "Temporal difference learning of n-tuple networks for
the game 2048", CIG 2014), as ``zermelo.envs.games.twenty_forty_eight.weights`` has it. What is evaluated are
boards after a move, before the new tile. Weights are learned by TD(0), the best move one ahead being played, with
the step of each weight by temporal coherence (Beal and Smith 1999; for 2048: Jaskowski 2016).

One game in two begins with large tiles in a chain along the edge, so that those weights are learned too which
such play does not reach and a search does.

Tried in 70 seconds each, by the average score one move ahead: lines and squares alone 39,000, also with weights of
their own for boards with larger tiles; and two by three squares with tiles seen from the largest one 35,000; and
shapes of five squares 51,000, more of them no better. After 900 seconds those came to 78,000.
"""

# ruff: noqa: NPY002 - compiled code has no other generator as fast

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final

import numba
import numpy as np
import numpy.typing as npt
import typer

from zermelo.envs.games.twenty_forty_eight import packed, weights
from zermelo.envs.games.twenty_forty_eight.weights import FIVES, FIVES_SIZE, FOURS, FOURS_SIZE, UNIT
from zermelo.envs.jit.compiling import Functions

SQUARES: Final = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 4, 5), (1, 2, 5, 6), (5, 6, 9, 10))
"""Of the first place of each shape of four."""
PLACES: Final = 4 * FOURS - 3 + 8 * FIVES
"""Each shape of four has four places, only the one in the middle has one; each of five has eight."""
WEIGHTS: Final = FOURS * FOURS_SIZE + FIVES * FIVES_SIZE
CHAIN: Final = np.array((15, 14, 13, 12, 11, 10, 9))
"""Tiles that a game may begin with: each is there or not."""
CHUNK: Final = 500


def images(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """What mirrors and turns make of a shape."""
    found = []
    for symmetry in range(8):
        image = []
        for square in shape:
            row, column = divmod(square, 4)
            column = 3 - column if symmetry & 1 else column
            row = 3 - row if symmetry & 2 else row
            row, column = (column, row) if symmetry & 4 else (row, column)
            image.append(4 * row + column)
        found.append(tuple(image))
    return found


def same_entries() -> npt.NDArray[np.int32]:
    """For each shape and entry, the first entry that is a mirror image of it."""
    entries, found = np.arange(FOURS_SIZE), []
    tiles = [entries >> 4 * place & 15 for place in range(4)]
    for squares in SQUARES:
        same = [image for image in images(squares) if set(image) == set(squares)]
        mirrored = [
            sum(tiles[image.index(square)] << 4 * place for place, square in enumerate(squares)) for image in same
        ]
        found.append(np.min(mirrored, axis=0))
    return np.array(found, np.int32)


SAME: Final = same_entries()

compiled = Functions().compiled
push, turned, mirrored = map(compiled, (packed.push, packed.turned, packed.mirrored))
four_at, five_at, kinds_of = map(compiled, (weights.four_at, weights.five_at, weights.kinds_of))


@numba.njit
def active(board: int, entries: Any) -> None:
    """Writes which weights a board has, one for each place."""
    entries[0] = (FOURS - 1) * FOURS_SIZE + SAME[FOURS - 1, four_at(board, FOURS - 1)]
    place = 1
    for _ in range(4):
        for shape in range(FOURS - 1):
            entries[place] = shape * FOURS_SIZE + SAME[shape, four_at(board, shape)]
            place += 1
        kinds = kinds_of(board)
        for _ in range(2):
            for shape in range(FIVES):
                entries[place] = FOURS * FOURS_SIZE + shape * FIVES_SIZE + five_at(kinds, shape)
                place += 1
            kinds = mirrored(kinds)
        board = turned(board)


@numba.njit
def worth(board: int, learned: Any, entries: Any) -> float:
    """The sum of its weights."""
    active(board, entries)
    total = 0.0
    for place in range(PLACES):
        total += learned[entries[place]]
    return total


@numba.njit
def with_tile(board: int) -> int:
    """The board with a new tile on some empty square."""
    while True:
        square = np.random.randint(16)
        if board >> 4 * square & 15 == 0:
            return board | (2 if np.random.randint(10) == 0 else 1) << 4 * square


@numba.njit
def best(board: int, learned: Any, entries: Any) -> tuple[int, int]:
    """The board after the best move, the same if there is none, and its gain."""
    chosen, chosen_gain, most = board, 0, -np.inf
    for direction in range(4):
        after, gain = push(board, direction)
        if after != board:
            value = gain + worth(after, learned, entries)
            if value > most:
                chosen, chosen_gain, most = after, gain, value
    return chosen, chosen_gain


@numba.njit
def seed(number: int) -> None:
    np.random.seed(number)


@numba.njit
def learn(learned: Any, errors: Any, sizes: Any, games: int) -> tuple[float, int]:
    """Plays games and learns from each move; the average score of those from the start, and how many moves."""
    here, entries = np.empty(PLACES, np.int64), np.empty(PLACES, np.int64)
    total, counted, moves = 0.0, 0, 0
    for game in range(games):
        board = 0
        if game & 1:
            place = 0
            for tile in CHAIN:
                if np.random.randint(2):
                    board |= tile << 4 * (place if place < 4 else 11 - place)
                    place += 1
        board = with_tile(with_tile(board))
        score, last = 0, -1
        while True:
            after, gain = best(board, learned, entries)
            ended = after == board
            if last >= 0:
                active(last, here)
                before = 0.0
                for place in range(PLACES):
                    before += learned[here[place]]
                error = -before if ended else gain + worth(after, learned, entries) - before
                for place in range(PLACES):
                    entry = here[place]
                    step = abs(errors[entry]) / sizes[entry] if sizes[entry] else 1.0
                    learned[entry] += step * error / PLACES
                    errors[entry] += error
                    sizes[entry] += abs(error)
            if ended:
                break
            score += gain
            moves += 1
            last = after
            board = with_tile(after)
        if not game & 1:
            total += score
            counted += 1
    return total / counted, moves


def written(learned: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of the file: ``fours`` in units, ``fives`` as the numbers whose points are nearest."""
    fours = np.take_along_axis(learned[: FOURS * FOURS_SIZE].reshape(FOURS, -1), SAME.astype(np.int64), axis=1)
    limits = np.iinfo(np.int16)
    stand_for = np.array([weights.points(number) for number in range(-127, 128)])
    middles = (stand_for[1:] + stand_for[:-1]) / 2
    fives = np.searchsorted(middles, learned[FOURS * FOURS_SIZE :]) - 127
    return {
        "fours": np.clip(np.rint(fours / UNIT), limits.min, limits.max).astype(np.int16),
        "fives": fives.astype(np.int8).reshape(FIVES, FIVES_SIZE),
    }


def main(
    out: Annotated[Path, typer.Argument(help="The file to write, ending in .npz.")],
    games: Annotated[int, typer.Option(min=CHUNK, help="Games of self-play.")] = 152_000,
    seconds: Annotated[float, typer.Option(help="After how long to stop anyway; 0: never.")] = 0,
    seed_number: Annotated[int, typer.Option("--seed", min=0, help="Of all that is drawn.")] = 1,
) -> None:
    """Fits the weights and writes them.

    Example: python scripts/fit_2048.py envs/games/twenty_forty_eight/weights.npz --games 152000
    """
    seed(seed_number)
    learned, errors, sizes = (np.zeros(WEIGHTS, np.float32) for _ in range(3))
    started, moves, told = time.perf_counter(), 0, 0.0
    for played in range(CHUNK, games + 1, CHUNK):
        average, more = learn(learned, errors, sizes, CHUNK)
        moves += more
        now = time.perf_counter() - started
        if now > told + 10:
            told = now
            typer.echo(f"{now:5.0f} s {played:9,} games {moves:13,} moves  average {average:9,.0f}", err=True)
            sys.stderr.flush()
        if seconds and now > seconds:
            break
    np.savez_compressed(out, **written(learned))
    typer.echo(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
