"""Elo of a pair: published tables, tables at the edge, and what the intervals promise."""

import itertools
import math
import random

import numpy as np
import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import elo, fit_ratings, sprt
from zermelo.evaluation.stats.ratings.elo import elo_from_score
from zermelo.evaluation.stats.ratings.sprt import Decision

# fastchess, app/tests/elo_test.cpp: (wins, draws, losses), then Elo, error, LOS, score.
GAMES = [
    ((76, 123, 89), None, None, 0.1553, 0.477),
    ((136, 111, 96), 40.70, 30.43, 0.9960, 0.558),
    ((34, 0, 356), None, None, None, 0.087),
]
# The same file: pairs LL, LD, WL, DD, WD, WW.
PAIRS = [
    ((34, 54, 31, 32, 64, 75), 55.58, 27.65, 1.0000, 0.579),
    ((332, 433, 457, 41, 333, 334), -8.64, 10.33, 0.0505, 0.488),
    ((7895, 8757, 5485, 200, 568, 9999), -21.04, 2.95, 0.0000, 0.470),
]


def _check_published(estimate, published):
    values = (
        estimate.elo,
        estimate.error,
        estimate.likelihood_of_superiority,
        estimate.score,
    )
    for value, expected, digits in zip(values, published, (2, 2, 4, 3), strict=True):
        if expected is not None:
            assert value == pytest.approx(expected, abs=0.5001 * 10**-digits)


@pytest.mark.parametrize(("counts", "e", "err", "los", "score"), GAMES)
def test_games_as_published(counts, e, err, los, score):
    _check_published(elo(*counts), (e, err, los, score))


@pytest.mark.parametrize(("counts", "e", "err", "los", "score"), PAIRS)
def test_pairs_as_published(counts, e, err, los, score):
    # The published 2.95 is rounded from a half: two digits, one unit.
    estimate = elo(pairs=counts)
    _check_published(estimate, (e, None, los, score))
    assert estimate.error == pytest.approx(err, abs=0.006)
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
    assert 0.0 <= estimate.score_lower <= estimate.score <= estimate.score_upper <= 1.0
    assert estimate.lower < estimate.upper
    mirrored = elo(counts[2], counts[1], counts[0])
    assert mirrored.lower == pytest.approx(-estimate.upper)
    assert mirrored.likelihood_of_superiority == pytest.approx(1.0 - estimate.likelihood_of_superiority)
    assert str(estimate)


@pytest.mark.parametrize(
    "pairs", [(0,) * 6, (0, 0, 0, 0, 0, 3), (0, 0, 0, 0, 3, 0), (0, 0, 2, 1, 0, 0), (0, 1, 0, 0, 0, 9)]
)
def test_edges_of_pairs(pairs):
    estimate = elo(pairs=pairs)
    assert not any(math.isnan(v) for v in vars(estimate).values() if isinstance(v, float))
    assert estimate.lower <= estimate.elo <= estimate.upper


def test_all_wins_bound_is_exact():
    # Half the chance of ten wins in ten is 2.5 % when the score is 0.05 ** 0.1.
    estimate = elo(10, 0, 0)
    assert estimate.elo == estimate.upper == math.inf
    assert estimate.lower == pytest.approx(elo_from_score(0.05**0.1))
    assert estimate.likelihood_of_superiority == pytest.approx(1 - 0.5**11)


def test_one_sided_table_of_728_games():
    estimate = elo(1, 1, 726)
    assert estimate.score == pytest.approx(1.5 / 728)
    assert -1500 < estimate.lower < estimate.elo < estimate.upper < -800
    assert estimate.method == "mid-p"


def test_interval_of_even_score_is_symmetric_and_narrows():
    widths = []
    for n in (1, 10, 100, 1000):
        estimate = elo(0, n, 0)
        assert estimate.lower == pytest.approx(-estimate.upper)
        widths.append(estimate.error)
    assert widths == sorted(widths, reverse=True)


def _tables(observations, kinds):
    """All counts of so many observations of several kinds."""
    if kinds == 1:
        return [(observations,)]
    return [(n, *rest) for n in range(observations + 1) for rest in _tables(observations - n, kinds - 1)]


@pytest.mark.parametrize(("games", "paired"), [(4, False), (10, False), (40, False), (4, True), (10, True)])
@pytest.mark.thorough
def test_coverage_of_the_interval_enumerated(games, paired):
    """Sums the chance of every table whose interval holds the truth: no simulation, no luck."""
    observations, kinds = (games // 2, 5) if paired else (games, 3)
    tables = _tables(observations, kinds)
    # The middle column of pairs is all of WL: whether it is DD changes nothing.
    found = [elo(pairs=(*t[:3], 0, *t[3:])) if paired else elo(*t[::-1]) for t in tables]
    ways = [math.factorial(observations) / math.prod(map(math.factorial, t)) for t in tables]
    for score in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995):
        for share in (0.0, 0.3, 0.6, 0.9):
            draw = share * 2 * (1 - score)
            single = np.maximum([1 - score - draw / 2, draw, score - draw / 2], 0.0)
            chances = np.convolve(single, single) if paired else single
            times = [way * np.prod(chances ** np.array(t)) for way, t in zip(ways, tables, strict=True)]
            assert sum(times) == pytest.approx(1.0)
            below = sum(p for p, e in zip(times, found, strict=True) if e.score_upper < score - 1e-12)
            above = sum(p for p, e in zip(times, found, strict=True) if e.score_lower > score + 1e-12)
            assert below + above <= 0.07, (score, share, below, above)
            assert max(below, above) <= 0.05


def _small_tables():
    for wins, draws, losses in itertools.product(range(7), range(4), range(7)):
        if wins + draws + losses:
            yield {"wins": wins, "draws": draws, "losses": losses}
    for pairs in itertools.product(range(3), range(2), range(3), (0,), range(2), range(4)):
        if sum(pairs):
            yield {"pairs": pairs}


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_interval_and_likelihood_of_superiority_never_contradict_each_other(confidence):
    for table in _small_tables():
        found = elo(**table, confidence=confidence)
        sure = 0.5 + confidence / 2
        assert (found.lower > 0) == (found.likelihood_of_superiority > sure), (table, found)
        assert (found.upper < 0) == (found.likelihood_of_superiority < 1 - sure), (table, found)
        assert (found.elo > 0) >= (found.likelihood_of_superiority > 0.5)
        assert (found.elo < 0) >= (found.likelihood_of_superiority < 0.5)


@pytest.mark.parametrize("difference", [50, 200, 400])
def test_a_sequential_test_accepts_no_hypothesis_that_the_interval_leaves_out(difference):
    """The tests of the two have the same level where alpha is 2.5 %."""
    for table in _small_tables():
        found = elo(**table)
        test = sprt(**table, elo0=0, elo1=difference, alpha=0.025, beta=0.025)
        if test.decision is Decision.ACCEPT_H1:
            assert found.upper > 0
            assert found.likelihood_of_superiority > 0.9, (table, found, test)
        elif test.decision is Decision.ACCEPT_H0:
            assert found.lower < difference, (table, found)


def test_three_pairs_are_no_certainty():
    found = elo(pairs=(0, 0, 0, 0, 1, 2))
    assert found.lower < 0 < found.upper
    assert 0.9 < found.likelihood_of_superiority < 0.975


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
    for score in (0.001, 0.3, 0.5, 10 / 11, 0.9999):
        assert 1 / (1 + 10 ** (-elo_from_score(score) / 400)) == pytest.approx(score)
    assert elo_from_score(10 / 11) == pytest.approx(400)
    assert elo_from_score(0.0) == -math.inf
    assert elo_from_score(1.0) == math.inf


# -- one scale, and probabilities ------------------------------------------------------------------------------


def _random_pairs(rng):
    counts = [0] * 6
    kinds = [rng.random() ** 4 + 1e-9 for _ in range(6)]
    for cell in rng.choices(range(6), kinds, k=rng.choice([1, 2, 5, 20, 150, 249])):
        counts[cell] += 1
    return counts


@pytest.mark.thorough
def test_probabilities_lie_between_0_and_1():
    rng = random.Random(1)
    for _ in range(200):
        ll, ld, wl, dd, wd, ww = pairs = _random_pairs(rng)
        for found in (elo(pairs=pairs), elo(ww + wd, wl + dd, ld + ll), elo(pairs=pairs, confidence=1 - 1e-12)):
            assert 0.0 <= found.likelihood_of_superiority <= 1.0, (pairs, found)
            assert 0.0 <= found.score_lower <= found.score <= found.score_upper <= 1.0, (pairs, found)


@pytest.mark.parametrize("pairs", [(0, 0, 0, 0, 39, 111), (105, 45, 0, 0, 0, 0), (0, 0, 0, 0, 1, 149)])
def test_what_is_next_to_certain_is_no_more_than_that(pairs):
    """Found by search: sums of a Fourier transform that exceed 1 by rounding."""
    assert 0.0 <= elo(pairs=pairs).likelihood_of_superiority <= 1.0
    assert 0.0 <= elo(pairs=pairs[::-1]).likelihood_of_superiority <= 1.0


@pytest.mark.parametrize("seed", range(8))
def test_the_same_games_give_the_same_difference_in_every_output(seed):
    """Games singly, pairs and the table of ratings: 400 Elo are 10 points to 1, draws counting half."""
    rng, games, pairs = random.Random(seed), [], [0] * 6
    kinds = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    first = [rng.random() + 0.05 for _ in range(3)]
    second = [rng.random() + 0.05 for _ in range(3)]
    for _ in range(rng.choice([3, 10, 60])):
        points = rng.choices(range(3), first)[0], rng.choices(range(3), second)[0]
        games += [("a", "b", points[0] / 2), ("b", "a", 1 - points[1] / 2)]
        pairs[kinds.index(tuple(sorted(points)))] += 1
    own = [score if one == "a" else 1 - score for one, _, score in games]
    single = elo(own.count(1), own.count(0.5), own.count(0))
    score = sum(own) / len(own)
    assert single.elo == pytest.approx(400 * math.log10(score / (1 - score)))
    assert elo(pairs=pairs).elo == pytest.approx(single.elo)
    for anchor in (None, "b"):
        table = fit_ratings(games, anchor=anchor)
        assert table["a"].elo - table["b"].elo == pytest.approx(single.elo, abs=1e-4)
        assert table.difference("a", "b").elo == pytest.approx(single.elo, abs=1e-4)


@pytest.mark.parametrize("counts", [(2, 0, 1), (1, 0, 2), (7, 3, 5), (1, 1, 30)])
def test_intervals_of_hardly_any_confidence_hold_the_estimate(counts):
    found = elo(*counts, confidence=1e-6)
    assert found.lower <= found.elo <= found.upper
