"""Training of small networks in PyTorch, and their weights as whole numbers."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.feature_sets import feature_set
from zermelo.agents.evaluators.fitted.network import LARGEST_OUTPUT, ONE, OUTPUT_ONE, NetworkEvaluator, plane_words
from zermelo.agents.evaluators.fitted.patterns import PatternFeatures, turned
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.learning.tuning.fitting import seat_turns
from zermelo.agents.learning.tuning.self_play import Lessons
from zermelo.envs import UnsupportedGameError
from zermelo.envs.rules.words import WORD

_BATCHES: Final = 256, 4_096
"""The fewest and the most positions of a batch; between these there are a hundred batches."""
_RATE: Final = 2e-3
_LAST_RATE: Final = 0.02
"""The learning rate at the end, as a share of the first."""
_MOST_EPOCHS: Final = 30
_TEST_SHARE: Final = 0.05
"""Share of the positions, the last ones, by which the loss is measured."""
_PILOT: Final = 50_000
"""Positions by which it is chosen how seats share columns."""
_MOST_PHASES: Final = 8
_RARE: Final = 10
"""Bits that are set, or not set, in fewer positions have no column."""
_SAMPLE: Final = 4_096
"""Positions in which two bits that always agree are taken for one."""

Weights = dict[str, npt.NDArray[np.float32]]


def seat_columns(game: Any, start: Any, states: Sequence[Any], seed: int) -> list[npt.NDArray[np.int32]]:
    """Ways in which seats may share columns; each has a column's number for every bit, of shape (2 seats, bits).

    The first has columns of their own; the others see the second seat's board as it is, or turned.
    """
    bits = 64 * plane_words(game, states[:1]).shape[2]
    straight = np.arange(bits, dtype=np.int32)
    found = [np.stack((straight, straight + bits))]
    rules = game.rules
    if not (hasattr(rules, "layout") and hasattr(rules, "planes")):
        return found
    try:
        features: Any = feature_set("patterns", game, states)
        turns = seat_turns(features, game, start, np.random.default_rng(seed))
    except UnsupportedGameError:
        return found
    if not isinstance(features, PatternFeatures):
        return found
    rows, columns, first, down, right = rules.layout()
    cells = np.arange(rows * columns).reshape(rows, columns)
    places = [
        first + row * down + column * right for row, column in itertools.product(range(rows), range(columns))
    ]
    for turn in turns:
        image, word = straight.copy(), 0
        for plane in rules.planes(start, 0):
            is_set = isinstance(plane, tuple)
            at = [64 * (word + p // WORD) + p % WORD if is_set else 64 * word + p for p in places]
            image[at] = np.array(at)[turned(cells, turn).ravel()]
            word += len(plane) if is_set else 1
        found.append(np.stack((straight, image)))
    return found


@dataclass
class Trained:
    """A network as it was trained, and as whole numbers.

    Attributes:
        weights: What a later training begins with.
        loss, average: Log loss on positions kept apart, in nats, and that of always predicting the average.
        error: How much the whole numbers differ in the probability of winning, on average over those positions.
    """

    evaluator: NetworkEvaluator
    weights: Weights
    loss: float
    average: float
    error: float


def choose_columns(ways: Sequence[npt.NDArray[np.int32]], lessons: Lessons, seed: int) -> npt.NDArray[np.int32]:
    """The way to share columns with the lowest loss of a small network; shared ones if they are as good."""
    losses = [train(lessons[-_PILOT:], way, hidden=16, seconds=10, seed=seed).loss for way in ways]
    return ways[int(np.argmin([losses[0] * 0.995, *losses[1:]]))]


def train(
    lessons: Lessons,
    columns: npt.NDArray[np.int32],
    *,
    hidden: int,
    seconds: float,
    seed: int,
    outcome_share: float = 0.5,
    start: Weights | None = None,
    on_step: Callable[[float], object] = lambda _: None,
) -> Trained:
    """Trains a network for so many seconds, or until it has seen all positions often.

    Args:
        lessons: What to learn.
        columns: The column of each bit of each seat, of ``seat_columns``.
        hidden: Size of the hidden layer of each seat.
        seconds: How long, about.
        seed: Of the first weights and of the order.
        outcome_share: Weight of a game's outcome in the target; the rest is the search's value.
        start: Weights of an earlier training to begin with.
        on_step: Called with the share of the training that is done.
    """
    torch = require("torch", "PyTorch", "torch")
    used = _used_columns(lessons, columns)
    number = np.full(columns.max() + 1, -1, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    packed = _packed(lessons, columns, number, len(used))
    thresholds, phase = _phases(lessons, columns, number)
    values = np.where(np.isnan(lessons.values), lessons.outcomes, lessons.values)
    targets = torch.from_numpy(outcome_share * lessons.outcomes + (1 - outcome_share) * values)
    weights = (
        _first_weights(columns, hidden, len(thresholds) + 1, seed)
        if start is None
        else _resized(start, len(thresholds) + 1)
    )
    parts = {name: torch.nn.Parameter(torch.from_numpy(array.copy())) for name, array in weights.items()}
    parts["first"] = torch.nn.Parameter(torch.from_numpy(weights["first"][used]))
    phase_of = torch.from_numpy(phase)

    def odds(rows: npt.NDArray[np.int64]) -> Any:
        sides = []
        for side in (0, 1):
            seen = np.unpackbits(packed[rows, side], axis=1, count=len(used)).astype(np.float32)
            sides.append((torch.from_numpy(seen) @ parts["first"] + parts["bias"]).clamp(0, 1) ** 2)
        here = phase_of[rows]
        return (torch.cat(sides, 1) * parts["outputs"][here]).sum(1) + parts["output_bias"][here]

    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    tested = max(1, int(len(lessons) * _TEST_SHARE))
    train_rows, test_rows = np.arange(len(lessons) - tested), np.arange(len(lessons) - tested, len(lessons))
    train_rows = train_rows if len(train_rows) else test_rows
    generator, begun = np.random.default_rng(seed), time.monotonic()
    optimizer = torch.optim.AdamW(parts.values(), lr=_RATE, weight_decay=1e-4)
    size = min(max(len(train_rows) // 100, _BATCHES[0]), _BATCHES[1])
    batches = -(-len(train_rows) // size)
    done, is_over = 0.0, False
    for epoch in itertools.count():
        order = generator.permutation(train_rows)
        for step in range(batches):
            passed = (epoch + step / batches) / _MOST_EPOCHS
            done = max(done, passed, (time.monotonic() - begun) / seconds)
            if is_over := done >= 1:
                break
            rate = _LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * done)) / 2
            for group in optimizer.param_groups:
                group["lr"] = _RATE * rate
            rows = order[step * size : (step + 1) * size]
            loss = loss_of(odds(rows), targets[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                parts["outputs"].clamp_(-LARGEST_OUTPUT / OUTPUT_ONE, LARGEST_OUTPUT / OUTPUT_ONE)
            on_step(done)
        if is_over:
            break
    with torch.no_grad():
        tests = [odds(rows) for rows in np.array_split(test_rows, -(-len(test_rows) // _BATCHES[1]))]
        said = torch.cat(tests)
        mean = targets[train_rows].mean().expand(len(test_rows))
        lost, average = (float(loss_of(each, targets[test_rows])) for each in (said, torch.logit(mean, 1e-6)))
    found = {name: part.detach().numpy() for name, part in parts.items()}
    evaluator = _in_whole_numbers(found, columns, number, thresholds)
    checked = test_rows[:2_000]
    whole = evaluator.log_odds(lessons.planes[checked], lessons.movers[checked].astype(np.int64))
    error = np.abs(_shares(whole) - _shares(said.numpy()[: len(checked)].astype(float))).mean()
    all_first = weights["first"].copy()
    all_first[used] = found["first"]
    return Trained(evaluator, found | {"first": all_first}, lost, average, float(error))


def _shares(odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shares: npt.NDArray[np.float64] = 1 / (1 + np.exp(-odds))
    return shares


def _unpacked(planes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """The bits of one seat's planes; shape (positions, bits)."""
    return np.unpackbits(np.ascontiguousarray(planes.astype("<u8")).view(np.uint8), axis=1, bitorder="little")


def _used_columns(lessons: Lessons, columns: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
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
    found: dict[tuple[bytes, bytes], int] = {}
    for column in np.flatnonzero(varies).tolist():
        found.setdefault((looks[0][column], looks[1][column]), column)
    return np.array(sorted(found.values()), np.int64)


def _packed(
    lessons: Lessons, columns: npt.NDArray[np.int32], number: npt.NDArray[np.int32], size: int
) -> npt.NDArray[np.uint8]:
    """The used bits of the player to move, then of the opponent; shape (positions, 2, bytes)."""
    packed = np.zeros((len(lessons), 2, -(-size // 8)), np.uint8)
    for seat in (0, 1):
        to = number[columns[seat]]
        for begin in range(0, len(lessons), 16 * _SAMPLE):
            part = slice(begin, begin + 16 * _SAMPLE)
            bits = _unpacked(lessons.planes[part, seat])
            seen = np.zeros((len(bits), size), np.uint8)
            seen[:, to[to >= 0]] = bits[:, to >= 0]
            rows = np.arange(begin, begin + len(bits))
            packed[rows, (lessons.movers[part] != seat).astype(int)] = np.packbits(seen, axis=1)
    return packed


def _phases(
    lessons: Lessons, columns: npt.NDArray[np.int32], number: npt.NDArray[np.int32]
) -> tuple[list[int], npt.NDArray[np.int64]]:
    """From how many bits of seat 0's planes each phase begins, as many positions in each; and the phases."""
    mask = np.packbits(number[columns[0]] >= 0, bitorder="little").view("<u8")
    filled = np.bitwise_count(lessons.planes[:, 0] & mask).sum(axis=1)
    shares = np.arange(1, _MOST_PHASES) / _MOST_PHASES
    thresholds = sorted({int(one) for one in np.quantile(filled, shares)} - {int(filled.min())})
    return thresholds, np.searchsorted(thresholds, filled, side="right").astype(np.int64)


def _first_weights(columns: npt.NDArray[np.int32], hidden: int, phases: int, seed: int) -> Weights:
    draw = np.random.default_rng(seed)
    outputs = draw.normal(0, 1 / math.sqrt(hidden), hidden)
    outputs = np.concatenate((outputs, -outputs))  # what is good for one player is bad for the other
    return {
        "first": draw.normal(0, 0.1, (columns.max() + 1, hidden)).astype(np.float32),
        "bias": np.full(hidden, 0.3, np.float32),
        "outputs": np.tile(outputs, (phases, 1)).astype(np.float32),
        "output_bias": np.zeros(phases, np.float32),
    }


def _resized(weights: Weights, phases: int) -> Weights:
    """The weights with the outputs of as many phases, each that of the nearest one before."""
    places = np.linspace(0, len(weights["outputs"]) - 1, phases).round().astype(int)
    return weights | {name: weights[name][places] for name in ("outputs", "output_bias")}


def _in_whole_numbers(
    parts: Weights, columns: npt.NDArray[np.int32], number: npt.NDArray[np.int32], thresholds: Sequence[int]
) -> NetworkEvaluator:
    def short(array: npt.NDArray[np.float32], one: int, largest: int = 2**15 - 1) -> npt.NDArray[np.int16]:
        return np.clip(np.rint(array * one), -largest, largest).astype(np.int16)

    return NetworkEvaluator(
        number[columns],
        short(parts["first"], ONE),
        short(parts["bias"], ONE),
        short(parts["outputs"], OUTPUT_ONE, LARGEST_OUTPUT),
        np.rint(parts["output_bias"].astype(float) * ONE * OUTPUT_ONE).astype(np.int64),
        thresholds,
    )
