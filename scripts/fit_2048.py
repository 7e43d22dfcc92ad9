"""Learns what boards of 2048 are worth by self-play, and writes it to the file that the rules read.

After each move the numbers of the board before it are moved towards what the move has gained and the next board is
worth (temporal differences), the more the more their errors so far had one sign (temporal coherence: D. Beal and
M. Smith, 1999; W. Jaskowski, "Mastering 2048 with delayed temporal coherence learning", 2018). Games may be played
again from their middle (K. Matsuzaki, "Developing a 2048 player with backward temporal coherence learning and
restart", 2017).

python scripts/fit_2048.py --help
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Annotated, Any, Final

import numba
import numpy as np
import typer

from zermelo.envs.files import replaced
from zermelo.envs.games.twenty_forty_eight import packed, weights
from zermelo.envs.jit.compiling import Functions
from zermelo.envs.rules import bits

FILE: Final = Path(weights.__file__).with_name("weights.npz")
CHUNK: Final = 1_000_000
"""Moves between two looks at the clock."""
PLACES: Final = 8 * weights.SHAPES
"""The numbers that a board's worth is the sum of."""
LONGEST: Final = 1 << 18
"""Moves after which a game is given up; hardly any is."""
LEAST_REPLAYED: Final = 50
"""A game is not played again from later than so many moves before its end."""
GAMMA: Final = -7046029254386353131
"""Increment of SplitMix64's state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
NUMBER, ERRORS, SIZES, COLUMNS = 0, 1, 2, 4
"""Columns of what is learned: the number, the sum of its errors, and of their sizes; a power of two of them."""

compiled = Functions().compiled
push, mirrored, turned = compiled(packed.push), compiled(packed.mirrored), compiled(packed.turned)
place, downgraded = compiled(weights.place), compiled(weights.downgraded)
mix, shift_right = bits.mix, bits.shift_right


@numba.njit(nogil=True)
def list_places(board: int, places: Any) -> None:
    """The places of a board's numbers: of all shapes, and all turns and mirrors."""
    count = 0
    for _ in range(4):
        for _ in range(2):
            for shape in range(weights.SHAPES):
                places[count] = place(board, shape)
                count += 1
            board = mirrored(board)
        board = turned(board)


@numba.njit(nogil=True)
def best(board: int, learned: Any, places: Any, best_places: Any) -> tuple[int, float, int]:
    """The board after the move that looks best, what it is worth with the points of the move, and those points.

    The points are -1 where no move is legal.
    """
    after, worth, points = board, np.float32(-np.inf), -1
    for action in range(4):
        pushed, gain = push(board, action)
        if gain < 0 or pushed == board:
            continue
        list_places(downgraded(pushed), places)
        total = np.float32(gain)
        for index in range(PLACES):
            total += learned[places[index], NUMBER]
        if total > worth:
            after, worth, points = pushed, total, gain
            best_places[:] = places
    return after, worth, points


@numba.njit(nogil=True)
def with_tile(board: int, dice: Any) -> int:
    """The board with a new tile, drawn by SplitMix64."""
    free = 0
    for square in range(16):
        free += board >> 4 * square & 15 == 0
    dice[0] += GAMMA
    drawn = shift_right(mix(dice[0]), 11)
    chosen, tile = drawn % free, 2 if drawn // free % 10 == 0 else 1
    for square in range(16):
        if board >> 4 * square & 15 == 0:
            if chosen == 0:
                return board | tile << 4 * square
            chosen -= 1
    return board


@numba.njit(nogil=True)
def play(learned: Any, moves: int, dice: Any, path: Any, at: Any, scores: Any, rate: float, restarts: bool) -> int:
    """Plays on, and learns; how many games have ended, whose scores it writes down.

    From a board with a tile of 2 ** 14 a game goes on with smaller tiles, as the rules see it
    (``weights.downgraded``); they give fewer points.

    Args:
        learned: The numbers and their errors.
        moves: How many moves to play.
        dice: The state of the generator.
        path: The boards of the game at hand.
        at: The number of its last board, that of its first one, and its score.
        scores: Room for the scores of games that were begun at the start.
        rate: The largest share of an error that is made good.
        restarts: Whether a game that is over is played again from its middle, as long as that is not near its end:
            so it learns from twice as many moves, and most of them late in the game.
    """
    places, now, before = np.empty(PLACES, np.int64), np.empty(PLACES, np.int64), np.empty(PLACES, np.int64)
    number, begin, score = at
    board = path[number]
    ended, is_first, worth_before = 0, True, np.float32(0)
    for _ in range(moves):
        if board == 0:
            board, number, begin, score, is_first = with_tile(with_tile(0, dice), dice), 0, 0, 0, True
            path[0] = board
        after, worth, points = best(board, learned, places, now)
        if not is_first:
            error = (worth if points >= 0 else np.float32(0)) - worth_before
            for index in range(PLACES):
                one = learned[before[index]]
                coherence = abs(one[ERRORS]) / one[SIZES] if one[SIZES] > 0 else np.float32(1)
                one[NUMBER] += np.float32(rate) * coherence * error / PLACES
                one[ERRORS] += error
                one[SIZES] += abs(error)
        if points < 0:
            if begin == 0:
                scores[ended] = score
                ended += 1
            middle = (begin + number) // 2
            board, is_first = 0, True
            if restarts and number - middle >= LEAST_REPLAYED:
                board, number, begin = path[middle], middle, middle
            continue
        score += points
        worth_before, is_first = worth - np.float32(points), False
        before[:] = now
        number += 1
        board = with_tile(downgraded(after), dice) if number < len(path) else 0
        if board != 0:
            path[number] = board
    at[0], at[1], at[2] = number, begin, score
    if board == 0:
        at[0] = path[0] = 0
    return ended


def main(
    state: Annotated[Path, typer.Argument(help="What is being learned; learning goes on from it if it is there.")],
    minutes: Annotated[float, typer.Option(min=0.0, help="Time to learn for.")] = 120.0,
    threads: Annotated[int, typer.Option(min=1, help="Threads that play and learn, all from one another.")] = 2,
    rate: Annotated[float, typer.Option(min=1e-9, help="The largest share of an error that is made good.")] = 1.0,
    least: Annotated[
        float, typer.Option(min=0.0, help="Drop numbers for good whose errors so far are fewer points in sum.")
    ] = 0.0,
    restarts: Annotated[
        bool, typer.Option(help="Play games again from their middle: for numbers that have learned for an hour.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The file to write at the end.")] = FILE,
) -> None:
    """Learns what boards of 2048 are worth by self-play. It is safe to stop: every ten minutes the state is saved.

    Most numbers are of boards that hardly come. Without them the file is a third as large, and the others make up
    for it when learning goes on.

    Example: python scripts/fit_2048.py state.npy --minutes 120
             python scripts/fit_2048.py state.npy --minutes 90 --restarts
             python scripts/fit_2048.py state.npy --minutes 15 --restarts --least 100000
    """
    shape = weights.SHAPES * weights.SIZE, COLUMNS
    learned = np.load(state) if state.exists() else np.zeros(shape, np.float32)
    learned[learned[:, SIZES] < least] = 0, 0, np.inf, 0  # which no error changes
    started, done, scores = time.monotonic(), 0, list[int]()

    def learn(thread: int) -> None:
        nonlocal done
        dice, found = np.array([time.time_ns() + thread]), np.empty(CHUNK, np.int64)
        path, at = np.zeros(LONGEST, np.int64), np.zeros(3, np.int64)
        while time.monotonic() - started < 60 * minutes:
            ended = play(learned, CHUNK, dice, path, at, found, rate, restarts)
            scores.extend(found[:ended].tolist())
            done += CHUNK

    def save() -> None:
        with replaced(state) as partial, open(partial, "wb") as file:
            np.save(file, learned)

    workers = [threading.Thread(target=learn, args=(number,), daemon=True) for number in range(threads)]
    for worker in workers:
        worker.start()
    saved = time.monotonic()
    while any(worker.is_alive() for worker in workers):
        time.sleep(min(60.0, 60 * minutes))
        print(
            f"{(time.monotonic() - started) / 60:.0f} min, {done / 1e6:,.0f} million moves, {len(scores):,} "
            f"games, the last 500 of {np.mean(scores[-500:] or [0]):,.0f} points on average",
            flush=True,
        )
        if time.monotonic() - saved > 600:
            save()
            saved = time.monotonic()
    save()
    write(out, learned)


def write(path: Path, learned: Any) -> None:
    """Writes the numbers as the rules read them."""
    numbers = np.rint(learned[:, NUMBER] / weights.UNIT)
    whole = np.clip(numbers, -(1 << 14), (1 << 14) - 1).astype(np.int16)
    known = whole != 0
    twice = whole[known] << 1 ^ whole[known] >> 15  # the sign is bit 0, so that small ones have few bits
    with replaced(path) as partial, open(partial, "wb") as file:
        np.savez_compressed(
            file, known=np.packbits(known), low=twice.astype(np.uint8), high=(twice >> 8).astype(np.uint8)
        )


if __name__ == "__main__":
    typer.run(main)
