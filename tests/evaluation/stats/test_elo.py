"""Elo of a pair: published tables, tables at the edge, and what the intervals promise."""

import itertools
import math

import numpy as np
import pytest

from zermelo.envs import InvalidSettingError
from zermelo.evaluation import elo, sprt
from zermelo.evaluation.results import count_pairs
from zermelo.evaluation.stats.ratings import Decision
from zermelo.evaluation.stats.ratings.elo import elo_from_score
from zermelo.evaluation.stats.ratings.scores import (
    fit_mean,
    fit_t_value,
    mean_and_variance,
)

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
    assert estimate.note or 0 < estimate.score < 1
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
    assert "10 games were won" in estimate.note


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


@pytest.mark.parametrize(("games", "least"), [(5, 0.93), (10, 0.93), (20, 0.93), (40, 0.93)])
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


def _trinomial(score, draws):
    """Chances of a loss, a draw and a win; ``draws`` is their share of what the score allows."""
    draw = draws * 2 * (1 - score)
    return np.array([1 - score - draw / 2, draw, score - draw / 2])


def _coverage(difference, games, draws, paired, matches=2000):
    """How often the 95 % interval holds the truth, and how often it lies below or above it."""
    score = 1 / (1 + 10 ** (-difference / 400))
    rng = np.random.default_rng([difference, games, round(10 * draws), paired])
    single = _trinomial(score, draws)
    if paired:
        chances = np.convolve(single, single)
        drawn = rng.multinomial(games // 2, chances / chances.sum(), size=matches)
        # The middle column is all of WL: whether it is DD changes nothing.
        tables = [{"pairs": (ll, ld, even, 0, wd, ww)} for ll, ld, even, wd, ww in drawn.tolist()]
    else:
        drawn = rng.multinomial(games, single / single.sum(), size=matches)
        tables = [dict(zip(("losses", "draws", "wins"), row, strict=True)) for row in drawn.tolist()]
    known = {}
    below = above = 0
    for table in tables:
        key = str(table)
        if key not in known:
            known[key] = elo(**table)
        below += known[key].score_upper < score - 1e-12
        above += known[key].score_lower > score + 1e-12
    return 1 - (below + above) / matches, below / matches, above / matches


CELLS = list(itertools.product((0, 100, 300), (4, 10, 40, 200), (0.0, 0.3, 0.6), (False, True)))
QUICK = [(0, 10, 0.3, False), (100, 10, 0.0, False), (300, 10, 0.0, True), (300, 40, 0.0, False)]
FEW_SCORES = {  # Cells above 97 %, all of which err to the safe side: few games have few possible scores.
    (difference, games, draws, paired)
    for difference, games, draws, paired in CELLS
    if games == 4
    or (
        games == 10
        and (paired or (difference, draws) in ((0, 0.0), (100, 0.6), (300, 0.0), (300, 0.3), (300, 0.6)))
    )
    or (games == 40 and paired and difference == 300)
}


@pytest.mark.defect(40)
@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, marks=[] if cell in QUICK else pytest.mark.slow, id="-".join(map(str, cell)))
        for cell in CELLS
    ],
)
def test_intervals_of_simulated_matches_hold_the_truth_as_often_as_they_say(cell):
    coverage, below, above = _coverage(*cell)
    assert coverage >= 0.93, (coverage, below, above)
    assert max(below, above) <= 0.045
    if cell not in FEW_SCORES:
        assert coverage <= 0.97


def _small_tables():
    for wins, draws, losses in itertools.product(range(7), range(4), range(7)):
        if wins + draws + losses:
            yield {"wins": wins, "draws": draws, "losses": losses}
    for pairs in itertools.product(range(3), range(2), range(3), (0,), range(2), range(4)):
        if sum(pairs):
            yield {"pairs": pairs}


@pytest.mark.defect(40)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_interval_and_likelihood_of_superiority_never_contradict_each_other(confidence):
    for table in _small_tables():
        found = elo(**table, confidence=confidence)
        sure = 0.5 + confidence / 2
        assert (found.lower > 0) == (found.likelihood_of_superiority > sure), (table, found)
        assert (found.upper < 0) == (found.likelihood_of_superiority < 1 - sure), (table, found)
        assert (found.elo > 0) >= (found.likelihood_of_superiority > 0.5)
        assert (found.elo < 0) >= (found.likelihood_of_superiority < 0.5)


@pytest.mark.defect(40)
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


@pytest.mark.defect(40)
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
    p = fit_mean(values, frequencies, 0.4)
    assert sum(p) == pytest.approx(1.0)
    assert mean_and_variance(values, p)[0] == pytest.approx(0.4)
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
