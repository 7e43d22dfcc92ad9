"""The engine under the rating models: derivatives, and maxima that hold some combinations fixed."""

from __future__ import annotations

import numpy as np
import pytest

from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choices import Choices
from zermelo.evaluation.stats.ratings.model import RankingModel


def games(seed: int, seats: int) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
    """Random results, with ties, of five players in games of some seats."""
    generator = np.random.default_rng(seed)
    return [
        (
            tuple(map(str, generator.permutation(list("abcde"))[:seats])),
            tuple(map(float, generator.integers(3, size=seats))),
        )
        for _ in range(40)
    ]


def choices(seed: int, seats: int, by_points: bool) -> Choices:
    counts = GameCounts(games(seed, seats))
    return RankingModel(counts, seat_effects=not by_points, by_points=by_points).choices


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("seats", "by_points"), [(2, True), (2, False), (3, False), (4, False)])
def test_derivatives_are_those_of_the_log_likelihood(seed: int, seats: int, by_points: bool) -> None:
    some = choices(seed, seats, by_points)
    theta, step = np.random.default_rng(seed).normal(size=some.parameters), 1e-5
    ways = step * np.eye(some.parameters)
    slopes = [(some.log_likelihood(theta + way) - some.log_likelihood(theta - way)) / (2 * step) for way in ways]
    assert some.gradient(theta) == pytest.approx(np.array(slopes), abs=1e-6)
    curves = [(some.gradient(theta - way) - some.gradient(theta + way)) / (2 * step) for way in ways]
    assert some.information(theta) == pytest.approx(np.array(curves), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("seats", [2, 3])
def test_a_maximum_holds_what_is_fixed_and_nothing_beside_it_is_better(seed: int, seats: int) -> None:
    some, generator = choices(seed, seats, False), np.random.default_rng(seed)
    fixed, _ = np.linalg.qr(generator.normal(size=(some.parameters, 2)))
    offset = fixed @ np.array([0.7, -1.2])
    best = some.maximize(np.zeros(some.parameters), fixed, ridge=0.01, offset=offset)
    assert fixed.T @ best == pytest.approx(np.array([0.7, -1.2]))

    def value(theta: np.ndarray) -> float:
        return some.log_likelihood(theta) - 0.005 * float(theta @ theta)

    for _ in range(20):
        way = generator.normal(size=some.parameters)
        way -= fixed @ (fixed.T @ way)
        for size in (1e-3, 0.1, 1.0):
            assert value(best + size * way) < value(best)
