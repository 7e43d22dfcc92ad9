"""Elo of a pair: published tables, tables at the edge, and what the intervals promise."""

import json
import math

import numpy as np
import pytest

from zermelo.envs import InvalidSettingError
from zermelo.evaluation import elo
from zermelo.evaluation.stats.ratings import count_pairs
from zermelo.evaluation.stats.ratings.multinomial import (
    deviation_at_mean,
    fit_mean,
    fit_t_value,
    mean_and_variance,
)
from zermelo.evaluation.stats.ratings.scales import elo_from_score, score_from_elo

# fastchess, app/tests/elo_test.cpp: (wins, draws, losses), then Elo, error, normalized Elo, its error, LOS, score.
GAMES = [
    ((76, 123, 89), None, None, -20.76, 40.13, 0.1553, 0.477),
    ((136, 111, 96), 40.70, 30.43, 49.77, 36.77, 0.9960, 0.558),
    ((34, 0, 356), None, None, -508.44, 34.48, None, 0.087),
]
# The same file: pairs LL, LD, WL, DD, WD, WW.
PAIRS = [
    ((34, 54, 31, 32, 64, 75), 55.58, 27.65, 57.94, 28.28, 1.0000, 0.579),
    ((332, 433, 457, 41, 333, 334), -8.64, 10.33, -9.17, 10.96, 0.0505, 0.488),
    ((7895, 8757, 5485, 200, 568, 9999), -21.04, 2.95, -19.01, 2.65, 0.0000, 0.470),
]


def _check_published(estimate, published):
    values = (
        estimate.elo,
        estimate.error,
        estimate.normalized_elo,
        estimate.normalized_error,
        estimate.likelihood_of_superiority,
        estimate.score,
    )
    for value, expected, digits in zip(values, published, (2, 2, 2, 2, 4, 3), strict=True):
        if expected is not None:
            assert value == pytest.approx(expected, abs=0.5001 * 10**-digits)


@pytest.mark.parametrize(("counts", *("e", "err", "n", "nerr", "los", "score")), GAMES)
def test_games_as_published(counts, e, err, n, nerr, los, score):
    _check_published(elo(*counts), (e, err, n, nerr, los, score))


@pytest.mark.parametrize(("counts", *("e", "err", "n", "nerr", "los", "score")), PAIRS)
def test_pairs_as_published(counts, e, err, n, nerr, los, score):
    # The published 2.65 and 2.95 are rounded from either side of a half: two digits, one unit.
    estimate = elo(pairs=counts)
    _check_published(estimate, (e, None, n, None, los, score))
    assert estimate.error == pytest.approx(err, abs=0.006)
    assert estimate.normalized_error == pytest.approx(nerr, abs=0.006)
    assert estimate.games == 2 * sum(counts)


def test_pairs_of_unlike_kind_count_the_same_in_the_middle():
    assert elo(pairs=(1, 2, 7, 0, 3, 4)).elo == elo(pairs=(1, 2, 0, 7, 3, 4)).elo


EDGES = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (10, 0, 0), (0, 0, 10), (0, 10, 0), (1, 1, 726), (9, 1, 0)]
EDGES += [(10**6, 0, 0), (0, 10**6, 0), (1, 10**6, 0), (10**6, 0, 1), (5, 5, 0), (1, 0, 1), (0, 5, 1)]


@pytest.mark.parametrize("counts", EDGES)
def test_edges_give_bounds_and_never_nan(counts):
    estimate = elo(*counts)
    numbers = [v for v in vars(estimate).values() if isinstance(v, float)]
    assert not any(math.isnan(v) for v in numbers)
    assert estimate.lower <= estimate.elo <= estimate.upper
    assert estimate.normalized_lower <= estimate.normalized_elo <= estimate.normalized_upper
    assert 0.0 <= estimate.score_lower <= estimate.score <= estimate.score_upper <= 1.0
    assert estimate.lower < estimate.upper
    assert estimate.note or estimate.method == "standard error"
    mirrored = elo(counts[2], counts[1], counts[0])
    assert mirrored.lower == pytest.approx(-estimate.upper)
    assert mirrored.normalized_lower == pytest.approx(-estimate.normalized_upper)
    assert mirrored.los == pytest.approx(1.0 - estimate.los)
    read = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert float(read["elo"]) == estimate.elo
    assert str(estimate)


@pytest.mark.parametrize(
    "pairs", [(0,) * 6, (0, 0, 0, 0, 0, 3), (0, 0, 0, 0, 3, 0), (0, 0, 2, 1, 0, 0), (0, 1, 0, 0, 0, 9)]
)
def test_edges_of_pairs(pairs):
    estimate = elo(pairs=pairs)
    assert not any(math.isnan(v) for v in vars(estimate).values() if isinstance(v, float))
    assert estimate.lower <= estimate.elo <= estimate.upper
    assert estimate.normalized_lower <= estimate.normalized_elo <= estimate.normalized_upper


def test_all_wins_bound_is_exact():
    # Ten wins in ten have a chance of 2.5 % when the score is 0.025 ** 0.1.
    estimate = elo(10, 0, 0)
    assert estimate.elo == estimate.upper == math.inf
    assert estimate.lower == pytest.approx(elo_from_score(0.025**0.1))
    assert estimate.likelihood_of_superiority == pytest.approx(1 - 0.5**11)
    assert "10 games were won" in estimate.note


def test_one_sided_table_of_728_games():
    estimate = elo(1, 1, 726)
    assert estimate.score == pytest.approx(1.5 / 728)
    assert -1500 < estimate.lower < estimate.elo < estimate.upper < -800
    assert estimate.method == "profile likelihood"


def test_interval_of_even_score_is_symmetric_and_narrows():
    widths = []
    for n in (1, 10, 100, 1000):
        estimate = elo(0, n, 0)
        assert estimate.lower == pytest.approx(-estimate.upper)
        widths.append(estimate.error)
    assert widths == sorted(widths, reverse=True)


def test_games_to_be_sure():
    assert elo(136, 111, 96).games_to_be_sure == 0
    assert elo(5, 0, 5).games_to_be_sure == elo(0, 0, 0).games_to_be_sure == math.inf
    # 0.5 ** n falls under 2.5 % at six wins.
    assert elo(1, 0, 0).games_to_be_sure == 5
    # (1.96 / 0.02) ** 2 * 0.2496 = 2397.
    assert elo(52, 0, 48).games_to_be_sure == math.ceil(0.2496 * (1.959963984540054 / 0.02) ** 2 - 100)
    more = elo(520, 0, 480).games_to_be_sure
    assert elo(520 + round(0.52 * more), 0, 480 + round(0.48 * more)).lower == pytest.approx(0.0, abs=0.2)
    assert elo(pairs=(0, 20, 30, 0, 25, 0)).games_to_be_sure % 2 == 0


@pytest.mark.parametrize(("games", "least"), [(5, 0.87), (10, 0.89), (20, 0.92), (40, 0.91)])
def test_coverage_of_the_interval_enumerated(games, least):
    """Sums the chance of every table whose interval holds the truth: no simulation, no luck."""
    tables = [(w, d, games - w - d) for w in range(games + 1) for d in range(games - w + 1)]
    ends = [(e.score_lower - 1e-12, e.score_upper + 1e-12) for e in (elo(*t) for t in tables)]
    coefficients = [math.comb(games, w) * math.comb(games - w, d) for w, d, _ in tables]
    for score in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995):
        for share in (0.0, 0.3, 0.6, 0.9):
            draw = share * 2 * (1 - score)
            win = score - draw / 2
            loss = 1 - win - draw
            chances = [
                c * win**w * draw**d * max(loss, 0.0) ** x
                for c, (w, d, x) in zip(coefficients, tables, strict=True)
            ]
            assert sum(chances) == pytest.approx(1.0)
            covered = sum(p for p, (low, high) in zip(chances, ends, strict=True) if low <= score <= high)
            assert covered >= least, (score, share, covered)


@pytest.mark.parametrize(
    "arguments",
    [
        {"wins": -1},
        {"draws": 1.5},
        {"losses": "3"},
        {"wins": True},
        {"wins": float("nan")},
        {"pairs": (1, 2, 3)},
        {"pairs": (1, 2, 3, 4, 5, -6)},
        {"wins": 1, "pairs": (1, 2, 3, 4, 5, 6)},
        {"wins": 1, "confidence": 1.0},
        {"wins": 1, "confidence": 95},
    ],
)
def test_impossible_counts_are_refused(arguments):
    with pytest.raises(InvalidSettingError, match=r"must|not both"):
        elo(**arguments)


def test_whole_numbers_of_any_kind_count():
    assert elo(np.int64(10), 5.0, 3).elo == elo(10, 5, 3).elo


def test_scales():
    assert score_from_elo(0) == 0.5
    assert score_from_elo(400) == pytest.approx(10 / 11)
    for score in (0.001, 0.3, 0.5, 0.9, 0.9999):
        assert score_from_elo(elo_from_score(score)) == pytest.approx(score)
    assert elo_from_score(0.0) == -math.inf
    assert elo_from_score(1.0) == math.inf
    assert score_from_elo(-1e6) == 0.0
    assert score_from_elo(1e6) == 1.0


def test_count_pairs():
    scores = [(0, 0), (0.5, 0), (0, 1), (1, 0), (0.5, 0.5), (1, 0.5), (1, 1), (1, 1)]
    assert count_pairs(scores) == (1, 1, 2, 1, 1, 2)
    with pytest.raises(InvalidSettingError, match=r"1, 0\.5 or 0"):
        count_pairs([(1, 2)])


@pytest.mark.parametrize("seed", range(5))
def test_constrained_fits_meet_their_constraint_and_beat_their_neighbours(seed):
    rng = np.random.default_rng(seed)
    values = (0.0, 0.25, 0.5, 0.75, 1.0)
    frequencies = rng.dirichlet(np.ones(5)).tolist()
    factors = fit_mean(values, frequencies, 0.4)
    p = [f * x for f, x in zip(frequencies, factors, strict=True)]
    assert sum(p) == pytest.approx(1.0)
    assert mean_and_variance(values, p)[0] == pytest.approx(0.4)
    assert deviation_at_mean(values, frequencies, 0.4) == pytest.approx(math.sqrt(mean_and_variance(values, p)[1]))
    q = fit_t_value(values, frequencies, 0.5, 0.3)
    mean, variance = mean_and_variance(values, q)
    assert sum(q) == pytest.approx(1.0)
    assert (mean - 0.5) / math.sqrt(variance) == pytest.approx(0.3)

    def likelihood(x):
        return sum(f * math.log(y) for f, y in zip(frequencies, x, strict=True))

    # Steps that keep sum and mean cannot make it likelier.
    for _ in range(50):
        step = rng.normal(size=5)
        basis = np.linalg.qr(np.array([np.ones(5), values]).T)[0]
        step -= basis @ (basis.T @ step)
        step *= 0.5 * min(p) / np.abs(step).max()  # All stay positive.
        assert likelihood(np.array(p) + step) < likelihood(p)
