"""Learns what boards of 2048 are worth by self-play, and writes it to the files that the rules read.

After each game its boards are gone through from the last to the first, and the numbers of each are moved towards
what came of it (temporal differences with lambda), the more the more their errors so far had one sign (temporal
coherence: D. Beal and M. Smith, 1999; W. Jaskowski, "Mastering 2048 with delayed temporal coherence learning",
2018). Then the game is played again from its middle (K. Matsuzaki, "Developing a 2048 player with backward
temporal coherence learning and restart", 2017).

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

from zermelo.envs.games.twenty_forty_eight import packed, weights
from zermelo.envs.jit.compiling import Functions
from zermelo.envs.rules import bits
from zermelo.envs.support.files import replaced

CHUNK: Final = 1_000_000
"""Moves between two looks at the clock."""
PLACES: Final = 8 * weights.SHAPES
"""The numbers that a board's worth is the sum of."""
LONGEST: Final = 1 << 17
"""Moves after which a game is given up; hardly any is."""
SHORTEST: Final = 10
"""A game of so few moves is not played again."""
BOARDS: Final = 20_000
"""Boards with a new tile of 16,384 from which games of the second stage begin."""
NEGLIGIBLE: Final = 2
"""Numbers of so few units are not written: they are many, and hardly count."""
GAMMA: Final = -7046029254386353131
"""Increment of SplitMix64's state for each number (0x9E3779B97F4A7C15, as a signed integer)."""
SUM, SIZE = 0, 1
"""Columns of the errors of each number: their sum, and that of their sizes."""

compiled = Functions().compiled
push, mirrored, turned = compiled(packed.push), compiled(packed.mirrored), compiled(packed.turned)
place, downgraded, stage_of = compiled(weights.place), compiled(weights.downgraded), compiled(weights.stage_of)
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
def total(numbers: Any, places: Any) -> float:
    """The sum of the numbers at some places."""
    found = np.float32(0)
    for index in range(PLACES):
        found += numbers[places[index]]
    return found


@numba.njit(nogil=True)
def best(board: int, stage: int, numbers: Any, places: Any) -> tuple[int, int]:
    """The board after the move that looks best, and the points of that move; -1 where no move is legal."""
    after, highest, points = board, np.float32(-np.inf), -1
    for action in range(4):
        pushed, gain = push(board, action)
        if gain < 0 or pushed == board:
            continue
        list_places(downgraded(pushed, stage), places)
        worth = np.float32(gain) + total(numbers, places)
        if worth > highest:
            after, highest, points = pushed, worth, gain
    return after, points


@numba.njit(nogil=True)
def drawn(dice: Any, number: int) -> int:
    """A number below ``number``, by SplitMix64."""
    dice[0] += GAMMA
    return shift_right(mix(dice[0]), 11) % number


@numba.njit(nogil=True)
def with_tile(board: int, dice: Any) -> int:
    """The board with a new tile."""
    free = 0
    for square in range(16):
        free += board >> 4 * square & 15 == 0
    chosen, tile = drawn(dice, free), 2 if drawn(dice, 10) == 0 else 1
    for square in range(16):
        if board >> 4 * square & 15 == 0:
            if chosen == 0:
                return board | tile << 4 * square
            chosen -= 1
    return board


@numba.njit(nogil=True)
def learn(
    numbers: Any, errors: Any, boards: Any, points: Any, count: int, stage: int, rate: float, decay: float
) -> None:
    """Learns from the boards after each of ``count`` moves and the points of these moves, the last one first."""
    places, coming = np.empty(PLACES, np.int64), np.float32(0)
    for move in range(count - 1, -1, -1):
        list_places(downgraded(boards[move], stage), places)
        error = coming - total(numbers, places)
        for index in range(PLACES):
            of = errors[places[index]]
            coherence = abs(of[SUM]) / of[SIZE] if of[SIZE] > 0 else np.float32(1)
            numbers[places[index]] += np.float32(rate) * coherence * error / PLACES
            of[SUM] += error
            of[SIZE] += abs(error)
        coming = np.float32(decay) * coming + np.float32(1 - decay) * total(numbers, places) + points[move]


@numba.njit(nogil=True)
def play(
    numbers: Any,
    errors: Any,
    starts: Any,
    moves: int,
    dice: Any,
    game: Any,
    at: Any,
    scores: Any,
    stage: int,
    rate: float,
    decay: float,
) -> int:
    """Plays on, and learns; how many games have ended, whose points it writes down.

    A board with a tile too large for the stage goes on with smaller tiles, as the rules see it
    (``weights.downgraded``); they give fewer points.

    Args:
        numbers: What is learned.
        errors: The errors of each number so far.
        starts: Boards from which games begin.
        moves: How many moves to play.
        dice: The state of the generator.
        game: The boards after each move of the game at hand, and the points of these moves; shape (2, LONGEST).
        at: The board to move on, the moves of the game so far, and whether it began in another's middle.
        scores: Room for the points of games from their start.
        stage: Which stage's numbers they are.
        rate: The largest share of an error that is made good.
        decay: Lambda: how much what came of a board counts beside what the next one is thought to be worth.
    """
    places = np.empty(PLACES, np.int64)
    board, count, again = at
    ended = 0
    for _ in range(moves):
        if board == 0:
            board, count, again = starts[drawn(dice, len(starts))], 0, 0
        after, points = best(board, stage, numbers, places)
        if points >= 0 and count < LONGEST:
            game[0, count], game[1, count] = after, points
            count += 1
            board = with_tile(downgraded(after, stage), dice)
            continue
        if not again:
            scores[ended] = game[1, :count].sum()
            ended += 1
        learn(numbers, errors, game[0], game[1], count, stage, rate, decay)
        board = with_tile(downgraded(game[0, count // 2], stage), dice) if count > SHORTEST else 0
        count, again = 0, 1
    at[0], at[1], at[2] = board, count, again
    return ended


@numba.njit(nogil=True)
def list_starts(numbers: Any, dice: Any, starts: Any) -> None:
    """Fills in boards with a tile of 16,384 that has just come, in games by the numbers of the first stage."""
    places, board = np.empty(PLACES, np.int64), 0
    for count in range(len(starts)):
        while stage_of(board) == 0:
            after, points = best(board, 0, numbers, places)
            board = with_tile(after if points >= 0 else with_tile(0, dice), dice)
        starts[count], board = board, 0


def first_state(stage: int, seed: int) -> dict[str, Any]:
    """What nothing has been learned in yet."""
    dice, places = np.array([seed]), weights.SHAPES * weights.SIZE
    starts = np.array([with_tile(with_tile(0, dice), dice) for _ in range(BOARDS)])
    if stage == 1:
        known = weights.UNIT * weights.read(weights.FILES[0]).astype(np.float32)
        list_starts(known, dice, starts)
    return {"numbers": np.zeros(places, np.float32), "errors": np.zeros((places, 2), np.float32), "starts": starts}


def main(
    state: Annotated[Path, typer.Argument(help="What is being learned; learning goes on from it if it is there.")],
    stage: Annotated[
        int, typer.Option(min=1, max=2, help="1: until a tile of 16,384; 2: boards with one, after stage 1.")
    ] = 1,
    minutes: Annotated[float, typer.Option(min=0.0, help="Time to learn for.")] = 120.0,
    threads: Annotated[int, typer.Option(min=1, help="Threads that play and learn, all from one another.")] = 2,
    rate: Annotated[float, typer.Option(min=1e-9, help="The largest share of an error that is made good.")] = 1.0,
    decay: Annotated[float, typer.Option(min=0.0, max=1.0, help="Lambda of the temporal differences.")] = 0.5,
    least: Annotated[
        float, typer.Option(min=0.0, help="Drop numbers for good whose errors so far are fewer points in sum.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="The file to write at the end; by default the rules'.")] = None,
) -> None:
    """Learns what boards of 2048 are worth by self-play. It is safe to stop: every ten minutes the state is saved.

    Most numbers are of boards that hardly come. Without them the file is a third as large, and the others make up
    for it when learning goes on.

    Example: python scripts/fit_2048.py first.npz --minutes 120
             python scripts/fit_2048.py first.npz --minutes 15 --least 100000
             python scripts/fit_2048.py second.npz --stage 2 --minutes 120
    """
    learned = dict(np.load(state)) if state.exists() else first_state(stage - 1, time.time_ns())
    if (known := stage_of(int(learned["starts"][0])) + 1) != stage:
        raise typer.BadParameter(f"{state} is of stage {known}: learn on with --stage {known}, or in another file")
    numbers, errors = (np.ascontiguousarray(learned[name]) for name in ("numbers", "errors"))
    dropped = errors[:, SIZE] < least
    numbers[dropped], errors[dropped, SIZE] = 0, np.inf  # which no error changes
    learned |= {"numbers": numbers, "errors": errors}
    started, done, scores = time.monotonic(), 0, list[int]()

    def work(thread: int) -> None:
        nonlocal done
        dice, found = np.array([time.time_ns() + thread]), np.empty(CHUNK, np.int64)
        game, at = np.zeros((2, LONGEST), np.int64), np.zeros(3, np.int64)
        while time.monotonic() - started < 60 * minutes:
            ended = play(numbers, errors, learned["starts"], CHUNK, dice, game, at, found, stage - 1, rate, decay)
            scores.extend(found[:ended].tolist())
            done += CHUNK

    def save() -> None:
        with replaced(state) as partial, open(partial, "wb") as file:
            np.savez(file, **learned)

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(threads)]
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
    write(out or weights.FILES[stage - 1], numbers)


def write(path: Path, numbers: Any) -> None:
    """Writes the numbers as the rules read them, but for the smallest ones."""
    rounded = np.rint(numbers / weights.UNIT)
    whole = np.clip(rounded, -(1 << 14), (1 << 14) - 1).astype(np.int16)
    known = np.abs(whole) > NEGLIGIBLE
    twice = whole[known] << 1 ^ whole[known] >> 15  # the sign is bit 0, so that small ones have few bits
    with replaced(path) as partial, open(partial, "wb") as file:
        np.savez_compressed(
            file, known=np.packbits(known), low=twice.astype(np.uint8), high=(twice >> 8).astype(np.uint8)
        )


if __name__ == "__main__":
    typer.run(main)
