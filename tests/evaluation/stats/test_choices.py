"""The engine under the rating models: derivatives, and maxima that hold some combinations fixed."""

from __future__ import annotations

import numpy as np
import pytest

from zermelo.evaluation import fit_ratings
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choices import Choices, log_determinant_within
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY
from zermelo.evaluation.stats.ratings.model import RankingModel
from zermelo.evaluation.stats.ratings.profiles import Profiles


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


def linked(pairs: list[tuple[int, int]]) -> GameCounts:
    """A win and more each way between the players of each pair."""
    some = GameCounts()
    for number, (one, other) in enumerate(pairs):
        some += GameCounts.match(f"p{one:03}", f"p{other:03}", wins=1 + number % 4, draws=number % 2, losses=2)
    return some


PAIRS = {
    "chain": [(place, place + 1) for place in range(20)],
    "two parts": [(place, place + 1) for place in range(20) if place != 9],
    "star": [(0, place) for place in range(1, 20)],
    "everybody": [(one, other) for other in range(12) for one in range(other)],
}


@pytest.mark.parametrize("graph", PAIRS)
def test_factors_of_what_is_seen_give_the_maximum_and_the_determinant(graph: str) -> None:
    model = RankingModel(linked(PAIRS[graph]), seat_effects=False, by_points=True)
    some, unseen = model.choices, model.choices.null_space()
    profiles, start = Profiles(some, unseen), np.zeros(some.parameters)
    for other, value in (("p001", 0.5), ("p004", -1.5)):
        contrast = model.mean("p000") - model.mean(other)
        fixed = np.column_stack([unseen, contrast / np.linalg.norm(contrast)])
        best = some.maximize(start, fixed, offset=contrast * value / float(contrast @ contrast))
        found = profiles.fit(contrast, value, start)
        assert float(contrast @ found.theta) == pytest.approx(value)
        assert found.theta == pytest.approx(best, abs=1e-4)
        assert found.log_likelihood == pytest.approx(some.log_likelihood(best))
        assert found.log_determinant == pytest.approx(
            log_determinant_within(some.information(best), fixed), abs=1e-3
        )


def test_the_ends_of_a_long_chain_are_compared() -> None:
    """With a win each way between neighbours variances add up: 1 / (n p (1 - p)) a link."""
    counts = GameCounts()
    for place in range(119):
        counts += GameCounts.match(f"p{place:03}", f"p{place + 1:03}", wins=1, losses=1)
    table = fit_ratings(counts, anchor="p000")
    assert {player.status for player in table.players} == {"finite"}
    assert table["p119"].elo == pytest.approx(0.0, abs=1e-6)
    assert table["p119"].standard_error == pytest.approx(ELO_PER_LOG_ABILITY * (2 * 119) ** 0.5, rel=1e-6)
