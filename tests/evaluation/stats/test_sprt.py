"""Sequential tests: published ratios, decisions, error rates."""

import math
import random

import pytest
from scipy.optimize import brentq

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import sprt
from zermelo.evaluation.stats.ratings.sprt import Decision, Sprt

# fastchess, app/tests/sprt_test.cpp: wins, losses, draws there.
PUBLISHED_GAMES = [
    ((36433, 36027, 68692), 0, 2, 0.92),
    ((10871, 10650, 20431), -1.75, 0.25, 2.30),
    ((4250, 0, 0), 0, 10, 120.56),
]
PUBLISHED_PAIRS = [
    ((365, 16618, 36029, 200, 16974, 390), 0, 2, 2.25),
    ((127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, 3.01),
    ((0, 0, 0, 0, 0, 5550), 0, 5, 111.82),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "llr"), PUBLISHED_GAMES)
def test_games_as_published(counts, elo0, elo1, llr):
    wins, losses, draws = counts
    result = sprt(wins, draws, losses, elo0=elo0, elo1=elo1)
    assert result.llr == pytest.approx(llr, abs=0.005, rel=3e-4)
    assert result.games == sum(counts)


@pytest.mark.parametrize(("pairs", "elo0", "elo1", "llr"), PUBLISHED_PAIRS)
def test_pairs_as_published(pairs, elo0, elo1, llr):
    result = sprt(pairs=pairs, elo0=elo0, elo1=elo1)
    assert result.llr == pytest.approx(llr, abs=0.005, rel=3e-4)
    assert result.games == 2 * sum(pairs)


def test_bounds_and_decisions():
    result = sprt(0, 0, 0, elo0=0, elo1=5)
    assert result.lower_bound == pytest.approx(math.log(0.05 / 0.95))
    assert result.upper_bound == pytest.approx(math.log(0.95 / 0.05))
    assert result.llr == 0.0
    assert result.decision is Decision.CONTINUE
    won = sprt(600, 200, 200, elo0=0, elo1=10)
    assert won.decision is Decision.ACCEPT_H1
    lost = sprt(200, 200, 600, elo0=0, elo1=10)
    assert lost.decision is Decision.ACCEPT_H0
    assert str(lost).startswith("0 normalized Elo stronger rather than 10 (LLR -")
    lopsided = Sprt(alpha=0.01, beta=0.2)
    assert (lopsided.lower_bound, lopsided.upper_bound) == pytest.approx(
        (math.log(0.2 / 0.99), math.log(0.8 / 0.01))
    )


def test_exchanging_agents_and_hypotheses_turns_the_sign():
    one = sprt(120, 60, 100, elo0=-3, elo1=8)
    other = sprt(100, 60, 120, elo0=-8, elo1=3)
    assert one.llr == pytest.approx(-other.llr)


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 726), (0, 10**6, 0), (10**6, 0, 0)])
def test_degenerate_tables_have_ratios(counts):
    result = sprt(*counts, elo0=0, elo1=10)
    assert math.isfinite(result.llr)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.thorough
def test_error_rates(seed):
    """Under each hypothesis the wrong one is accepted at most about as often as promised."""
    rng = random.Random(seed)
    test = Sprt(elo0=0, elo1=60)
    # With draws of 40 %, the score whose normalized Elo is 60.
    better = brentq(lambda x: (x - 0.5) / math.sqrt(x - 0.1 - x * x) - 60 * math.log(10) / 800, 0.5, 0.6)
    for truth, wrong in ((0.5, Decision.ACCEPT_H1), (better, Decision.ACCEPT_H0)):
        errors = 0
        for _ in range(60):
            counts = [0, 0, 0]
            while True:
                for _ in range(10):
                    x = rng.random()
                    counts[0 if x < truth - 0.2 else 1 if x < truth + 0.2 else 2] += 1
                result = test.test(*counts)
                if result.decision is not Decision.CONTINUE:
                    break
            errors += result.decision is wrong
        assert errors <= 9  # Of 60 at 5 %: more than that has a chance under one in a thousand.


@pytest.mark.parametrize(
    "settings",
    [
        {"elo0": 5, "elo1": 5},
        {"elo0": 6, "elo1": 5},
        {"elo0": math.nan, "elo1": 5},
        {"alpha": 0},
        {"beta": 1},
        {"alpha": 0.6, "beta": 0.5},
        {"wins": -1},
        {"pairs": (1, 2)},
        {"wins": 1, "pairs": (1, 2, 3, 4, 5, 6)},
    ],
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(InvalidSettingError):
        sprt(**settings)
