"""Training of small networks, and their weights as whole numbers."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.machine import default_threads
from zermelo.agents.base.playouts import random_game
from zermelo.agents.evaluators.network import LARGEST_OUTPUT, ONE, OUTPUT_ONE, PlaneNetwork, plane_words
from zermelo.agents.training.networks.gradients_kernel import Floats, Weights, add_gradients, descend, list_columns
from zermelo.agents.training.networks.self_play import Lessons
from zermelo.envs.rules.words import WORD

Columns = npt.NDArray[np.int32]
Whole = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
_BATCHES: Final = 256, 4_096  # the fewest and the most positions of a batch; between these there are 100 batches
_RATE: Final = 2e-3
_LAST_RATE: Final = 0.02  # the learning rate at the end, as a share of the first
_MOST_EPOCHS: Final = 30
_TEST_SHARE: Final = 0.05  # share of the positions, the last ones, by which the loss is measured
_PILOT: Final = 50_000  # positions by which it is chosen how seats share columns
_MOST_PHASES: Final = 8
_WALKS, _WALK_STEPS = 10, 200  # random games whose moves are compared, and moves of each
_ALIKE: Final = 0.8  # turns may be chosen under which this share of the moves of the best turn look alike
_RARE: Final = 10  # bits that are set, or not set, in fewer positions have no column
_SAMPLE: Final = 4_096  # positions in which two bits that always agree are taken for one


def seat_columns(game: Any, start: Any, states: Sequence[Any], seed: int) -> list[Columns]:
    """Ways to share columns: a column's number for every bit of either seat, of shape (2 seats, bits).

    The first has columns of their own; the others see the second seat's board as it is, or turned.
    """
    bits = 64 * plane_words(game, states[:1]).shape[2]
    straight = np.arange(bits, dtype=np.int32)
    ways = [np.stack((straight, straight + bits))]
    rules = game.rules
    if not (hasattr(rules, "layout") and hasattr(rules, "planes")):
        return ways
    squares = _squares(rules)
    for turn in _seat_turns(game, start, np.random.default_rng(seed)):
        image, word = straight.copy(), 0
        for plane in rules.planes(start, 0):
            is_set = isinstance(plane, tuple)
            at = 64 * (word + squares // WORD) + squares % WORD if is_set else 64 * word + squares
            image[at] = turned(at, turn)
            word += len(plane) if is_set else 1
        ways.append(np.stack((straight, image)))
    return ways


def turned(board: npt.NDArray[Any], turn: int) -> npt.NDArray[Any]:
    """A board of rows and columns mirrored: by bit 0 of ``turn`` left and right, by bit 1 top and bottom."""
    board = board[:, ::-1] if turn & 1 else board
    return board[::-1] if turn & 2 else board


def _squares(rules: Any) -> Whole:
    """The bit of each square in a plane; shape (rows, columns)."""
    rows, columns, first, down, right = rules.layout()
    bits: Whole = first + down * np.arange(rows)[:, None] + right * np.arange(columns)
    return bits


def _board(rules: Any, state: Any, seat: int) -> npt.NDArray[np.int8]:
    """What a seat's planes have on each square; shape (rows, columns, planes)."""
    squares = _squares(rules)
    planes = []
    for plane in rules.planes(state, seat):
        words, size = (plane, WORD) if isinstance(plane, tuple) else ((plane,), 64)
        planes.append([[words[bit // size] >> bit % size & 1 for bit in row] for row in squares.tolist()])
    return np.moveaxis(np.array(planes, np.int8), 0, 2)


def _seat_turns(game: Any, start: Any, generator: np.random.Generator) -> list[int]:
    """Turns of the second seat's board under which its moves look like the first seat's, in some random games.

    The loss does not tell: a board seen the wrong way round halves the weights too.
    """
    turns = [0, 1] if game.rules.layout()[0] == 1 else [0, 2, 3]
    changes: set[bytes] = set()
    seen: dict[int, Counter[bytes]] = {turn: Counter() for turn in turns}
    for _ in range(_WALKS):
        for state, child in itertools.pairwise(random_game(game, start, generator, _WALK_STEPS)):
            mover = game.to_move(state)
            before, after = (_board(game.rules, one, mover) for one in (state, child))
            if mover == 0:
                changes.add(_change(before, after))
            for turn in turns if mover == 1 else ():
                seen[turn][_change(turned(before, turn), turned(after, turn))] += 1
    alike = {turn: sum(count for change, count in of.items() if change in changes) for turn, of in seen.items()}
    return [turn for turn in turns if alike[turn] >= _ALIKE * max(alike.values())]


def _change(before: npt.NDArray[np.int8], after: npt.NDArray[np.int8]) -> bytes:
    """The part of the board that changes, before and after."""
    differs = before != after
    rows, columns, _ = np.nonzero(differs)
    if not len(rows):
        return b""
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    parts = [np.where(differs[box], board[box], -1).tobytes() for board in (before, after)]
    return b"".join([str(differs[box].shape).encode(), *parts])


@dataclass
class Trained:
    """A network as it was trained, and as whole numbers."""

    evaluator: PlaneNetwork
    weights: Weights  # a later training begins with them
    loss: float  # log loss on positions kept apart, in nats
    average: float  # that of always predicting the average
    error: float  # of whole numbers in the probability of winning, on average over those positions


def choose_columns(ways: Sequence[Columns], lessons: Lessons, seed: int) -> Columns:
    """The way to share columns with the lowest loss of a small network; shared ones if they are as good."""
    losses = [train(lessons[-_PILOT:], way, hidden=16, seconds=10, seed=seed).loss for way in ways]
    return ways[int(np.argmin([losses[0] * 0.995, *losses[1:]]))]


def train(
    lessons: Lessons,
    columns: Columns,
    *,
    hidden: int,
    seconds: float,
    seed: int,
    outcome_share: float = 0.2,
    start: Weights | None = None,
    on_step: Callable[[float], object] = lambda _: None,
) -> Trained:
    """Trains a network for so many seconds, or until it has seen all positions often.

    ``columns`` are of ``seat_columns``, ``hidden`` is the size of each seat's hidden layer; the outcome counts
    ``outcome_share`` of the target, the search's value the rest; ``start`` are weights to begin with.
    """
    used = _used_columns(lessons, columns)
    number = np.full(columns.max() + 1, -1, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    active = _active(lessons, columns, number)
    thresholds, phases = _phases(lessons, columns, number)
    values = np.where(np.isnan(lessons.values), lessons.outcomes, lessons.values)
    targets = (outcome_share * lessons.outcomes + (1 - outcome_share) * values).astype(np.float32)
    if start is None:
        start = _first_weights(columns, hidden, len(thresholds) + 1, seed)
    start = _resized(start, len(thresholds) + 1)
    weights = start._replace(first=start.first[used])
    tested = max(1, int(len(lessons) * _TEST_SHARE))
    train_rows, test_rows = np.arange(len(lessons) - tested), np.arange(len(lessons) - tested, len(lessons))
    train_rows = train_rows if len(train_rows) else test_rows
    _improve(weights, train_rows, active, phases, targets, seconds, seed, on_step)
    nothing = Weights(*(np.empty((0,) * part.ndim, np.float32) for part in weights))
    loss = add_gradients(test_rows, active, phases, targets, weights, nothing) / len(test_rows)
    mean = min(max(float(targets[train_rows].mean()), 1e-6), 1 - 1e-6)
    average = -float(np.mean(np.log(mean) * targets[test_rows] + np.log1p(-mean) * (1 - targets[test_rows])))
    evaluator = _in_whole_numbers(weights, columns, number, thresholds)
    checked = test_rows[:2_000]
    whole = evaluator.log_odds(lessons.planes[checked], lessons.movers[checked].astype(np.int64))
    error = np.abs(_shares(whole) - _shares(log_odds(weights, active[checked], phases[checked]))).mean()
    first = start.first.copy()
    first[used] = weights.first
    return Trained(evaluator, weights._replace(first=first), loss, average, float(error))


def _improve(
    weights: Weights,
    rows: Whole,
    active: npt.NDArray[np.int16],
    phases: Whole,
    targets: Floats,
    seconds: float,
    seed: int,
    on_step: Callable[[float], object],
) -> None:
    """Improves weights in place, on all processors, batch by batch; the learning rate falls as a cosine."""
    size = min(max(len(rows) // 100, _BATCHES[0]), _BATCHES[1])
    batches = -(-len(rows) // size)
    means, squares = weights.zeros(), weights.zeros()
    gradients = [weights.zeros() for _ in range(default_threads())]
    limits = np.array([np.inf, np.inf, LARGEST_OUTPUT / OUTPUT_ONE, np.inf], np.float32)
    generator, begun = np.random.default_rng(seed), time.monotonic()
    with ThreadPoolExecutor(len(gradients)) as threads:
        for step in itertools.count():
            batch = step % batches
            if batch == 0:
                order = generator.permutation(rows)
            done = max(step / batches / _MOST_EPOCHS, (time.monotonic() - begun) / seconds)
            if done >= 1:
                break
            chosen = order[batch * size : (batch + 1) * size]

            def add(thread: int, chosen: Whole = chosen) -> None:
                mine = chosen[thread :: len(gradients)].copy()
                add_gradients(mine, active, phases, targets, weights, gradients[thread])

            for _ in threads.map(add, range(len(gradients))):
                pass
            rate = _RATE * (_LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * done)) / 2)
            for field in range(len(weights)):
                total = gradients[0][field]
                for others in gradients[1:]:
                    total += others[field]
                    others[field].fill(0)
                total /= len(chosen)
                moments = means[field], squares[field]
                descend(weights[field], total, *moments, np.float32(rate), step + 1, limits[field])
            on_step(done)


def log_odds(weights: Weights, active: npt.NDArray[np.int16], phases: Whole) -> Doubles:
    """The log odds of a win for the player to move, by the weights before rounding; shape (positions,)."""
    first = np.append(weights.first, np.zeros_like(weights.first[:1]), axis=0)  # column -1
    sums = first[active].sum(axis=2) + weights.bias
    inputs = (np.clip(sums, 0, 1) ** 2).reshape(len(active), -1)
    odds: Doubles = (inputs * weights.outputs[phases]).sum(axis=1, dtype=np.float64)
    return odds + weights.output_bias[phases]


def _shares(odds: Doubles) -> Doubles:
    shares: Doubles = 1 / (1 + np.exp(-odds))
    return shares


def _unpacked(planes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    return np.unpackbits(np.ascontiguousarray(planes.astype("<u8")).view(np.uint8), axis=1, bitorder="little")


def _used_columns(lessons: Lessons, columns: Columns) -> Whole:
    """The columns of bits that tell positions apart, each one that others always agree with only once."""
    counts = np.zeros((2, columns.max() + 1), np.int64)
    looks: list[list[bytes]] = [[b""] * counts.shape[1] for _ in (0, 1)]
    sample = np.linspace(0, len(lessons) - 1, min(_SAMPLE, len(lessons))).astype(int)
    for seat in (0, 1):
        for begin in range(0, len(lessons), 16 * _SAMPLE):
            bits = _unpacked(lessons.planes[begin : begin + 16 * _SAMPLE, seat])
            counts[seat][columns[seat]] += bits.sum(axis=0, dtype=np.int64)
        for column, seen in zip(columns[seat], _unpacked(lessons.planes[sample, seat]).T, strict=True):
            looks[seat][column] = seen.tobytes()
    rare = min(_RARE, len(lessons) // 100)
    varies = ((counts > rare) & (counts < len(lessons) - rare)).any(axis=0)
    first_alike: dict[tuple[bytes, bytes], int] = {}
    for column in np.flatnonzero(varies).tolist():
        first_alike.setdefault((looks[0][column], looks[1][column]), column)
    return np.array(sorted(first_alike.values()), np.int64)


def _active(lessons: Lessons, columns: Columns, number: Columns) -> npt.NDArray[np.int16]:
    """The columns set for the player to move and for the opponent, then -1; shape (positions, 2, width)."""
    masks = [np.packbits(number[columns[seat]] >= 0, bitorder="little").view("<u8") for seat in (0, 1)]
    width = max(np.bitwise_count(lessons.planes[:, seat] & masks[seat]).sum(axis=1).max() for seat in (0, 1))
    active = np.full((len(lessons), 2, max(int(width), 1)), -1, np.int16)
    list_columns(lessons.planes, lessons.movers, number[columns], active)
    return active


def _phases(lessons: Lessons, columns: Columns, number: Columns) -> tuple[list[int], Whole]:
    """From how many bits of seat 0's planes each phase begins, as many positions in each; and the phases."""
    mask = np.packbits(number[columns[0]] >= 0, bitorder="little").view("<u8")
    filled = np.bitwise_count(lessons.planes[:, 0] & mask).sum(axis=1)
    shares = np.arange(1, _MOST_PHASES) / _MOST_PHASES
    thresholds = sorted({int(one) for one in np.quantile(filled, shares)} - {int(filled.min())})
    return thresholds, np.searchsorted(thresholds, filled, side="right").astype(np.int64)


def _first_weights(columns: Columns, hidden: int, phases: int, seed: int) -> Weights:
    draw = np.random.default_rng(seed)
    outputs = draw.normal(0, 1 / math.sqrt(hidden), hidden)
    outputs = np.concatenate((outputs, -outputs))  # what is good for one player is bad for the other
    return Weights(
        draw.normal(0, 0.1, (columns.max() + 1, hidden)).astype(np.float32),
        np.full(hidden, 0.3, np.float32),
        np.tile(outputs, (phases, 1)).astype(np.float32),
        np.zeros(phases, np.float32),
    )


def _resized(weights: Weights, phases: int) -> Weights:
    """A copy of weights, with the outputs of as many phases, each that of the nearest one before."""
    places = np.linspace(0, len(weights.outputs) - 1, phases).round().astype(int)
    outputs, output_bias = weights.outputs[places], weights.output_bias[places]
    return Weights(weights.first.copy(), weights.bias.copy(), outputs, output_bias)


def _in_whole_numbers(
    weights: Weights, columns: Columns, number: Columns, thresholds: Sequence[int]
) -> PlaneNetwork:
    def short(array: npt.NDArray[np.float32], one: int, largest: int = 2**15 - 1) -> npt.NDArray[np.int16]:
        return np.clip(np.rint(array * one), -largest, largest).astype(np.int16)

    return PlaneNetwork(
        number[columns],
        short(weights.first, ONE),
        short(weights.bias, ONE),
        short(weights.outputs, OUTPUT_ONE, LARGEST_OUTPUT),
        np.rint(weights.output_bias.astype(float) * ONE * OUTPUT_ONE).astype(np.int64),
        thresholds,
    )
