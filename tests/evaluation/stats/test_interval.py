"""Confidence intervals: published values, the ends of the scale, and how often they cover the truth."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from doubles.made_games import toy_game

from zermelo.evaluation import Standings
from zermelo.evaluation.stats.rows import dispersion
from zermelo.evaluation.stats.score_interval import paired_interval, student_interval, wilson_interval
from zermelo.evaluation.storage.counting import count_games


def _statistic(wins, losses, games, delta):
    """Tango's statistic by brute force: the chance of a loss that is most likely, found on a grid and refined."""

    def log_likelihood(loss):
        win, draw = loss + delta, 1 - 2 * loss - delta
        terms = ((wins, win), (losses, loss), (games - wins - losses, draw))
        return sum(count * math.log(chance) if count else 0.0 for count, chance in terms)

    low, high = max(0.0, -delta) + 1e-15, (1 - delta) / 2 - 1e-15
    for _ in range(200):  # golden section: the log-likelihood is concave
        third = (high - low) / 3
        if log_likelihood(low + third) < log_likelihood(high - third):
            low += third
        else:
            high -= third
    loss = (low + high) / 2
    variance = games * (2 * loss + delta - delta * delta)
    return abs(wins - losses - games * delta) / math.sqrt(variance)


@pytest.mark.parametrize(
    ("wins", "draws", "losses"), [(3, 5, 2), (10, 0, 7), (1, 30, 4), (136, 111, 96), (0, 43, 1)]
)
def test_the_ends_are_where_the_statistic_is_two_standard_errors(wins, draws, losses):
    games = wins + draws + losses
    for end in paired_interval(wins, draws, losses):
        assert _statistic(wins, losses, games, 2 * end - 1) == pytest.approx(1.959964, abs=1e-4)


@pytest.mark.parametrize("games", [1, 2, 20, 1000])
def test_without_draws_it_is_wilsons(games):
    for wins in range(0, games + 1, max(1, games // 5)):
        expected = wilson_interval(wins / games, games)
        assert paired_interval(wins, 0, games - wins) == pytest.approx(expected, abs=1e-9)


def test_wilsons_published_values():
    # Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3.
    assert wilson_interval(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0 / 20, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(1 / 29, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


@pytest.mark.parametrize(
    "counts", [(0, 0, 0), (20, 0, 0), (0, 0, 20), (0, 20, 0), (1, 726, 1), (0, 0, 1), (0, 1, 0)]
)
def test_degenerate_tables_have_honest_ends(counts):
    low, high = paired_interval(*counts)
    assert 0.0 <= low <= high <= 1.0
    wins, draws, losses = counts
    if sum(counts):
        score = (wins + draws / 2) / sum(counts)
        assert low <= score <= high
        assert high - low > 0.0
    mirrored = paired_interval(losses, draws, wins)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("win", "draw"), [(0.5, 0.0), (0.9, 0.05), (0.3, 0.4), (0.05, 0.9), (0.98, 0.0), (0.2, 0.1)]
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(win, draw):
    """Exactly, over all outcomes of 20 games: at least 92 % for a nominal 95 %."""
    games, loss = 20, 1 - win - draw
    truth = win + draw / 2
    covered = 0.0
    for wins, draws in itertools.product(range(games + 1), repeat=2):
        losses = games - wins - draws
        if losses < 0:
            continue
        ways = math.comb(games, wins) * math.comb(games - wins, draws)
        low, high = paired_interval(wins, draws, losses)
        covered += ways * win**wins * draw**draws * loss**losses * (low - 1e-12 <= truth <= high + 1e-12)
    assert covered > 0.92


def test_student():
    values = np.random.default_rng(0).normal(3.0, 2.0, 15)
    low, high = student_interval(list(values))
    half = 2.1447866879 * values.std(ddof=1) / math.sqrt(15)  # t(0.975, 14) from tables
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert student_interval([1.0]) == (-math.inf, math.inf)
    assert student_interval([2.0, 2.0]) == (2.0, 2.0)


def game(number, turn, reward, openings=True):
    agents, opening = ("ab", "ba")[turn], (number,) if openings else ()
    return toy_game(agents, (reward, -reward), f"0.{number}.{turn}", opening=opening, seed=number)


def run(pairs, balanced, seed=0, openings=True):
    """Games of two equals in pairs; where openings are not balanced, one side of each wins, whoever has it."""
    dice, records = random.Random(seed), []
    for number in range(pairs):
        side = dice.choice([1.0, -1.0])
        for turn in (0, 1):
            records.append(game(number, turn, dice.choice([1.0, -1.0]) if balanced else side, openings))
    return records


def width(standings):
    low, high = standings.row("a").interval
    return high - low


def test_one_sided_openings_tell_more_than_their_games_taken_singly():
    paired, single = (Standings.from_records(run(200, False, openings=which)) for which in (True, False))
    assert dispersion(single.results) == 1.0
    # Each pair is a win and a loss: nothing varies but for the ten pairs that speak for independence.
    assert dispersion(paired.results) == pytest.approx(10 / 210)
    assert paired.row("a").score == single.row("a").score == 0.5
    assert width(paired) == pytest.approx(width(single) * math.sqrt(10 / 210), rel=0.02)
    narrow, wide = (standings.ratings["a"] for standings in (paired, single))
    assert narrow.elo == pytest.approx(wide.elo, abs=1e-6)
    ratio = (narrow.upper - narrow.lower) / (wide.upper - wide.lower)
    assert ratio == pytest.approx(math.sqrt(10 / 210), rel=0.05)
    assert paired.ratings.log_likelihood == pytest.approx(single.ratings.log_likelihood)


@pytest.mark.thorough
def test_balanced_openings_change_little():
    found = [dispersion(count_games(run(300, True, seed))) for seed in range(20)]
    assert sum(found) / len(found) == pytest.approx(1.0, abs=0.05)


def test_games_that_go_alike_from_both_sides_are_worth_less():
    """Whoever is better in an opening wins it from both seats, so a pair is hardly more than one game."""
    same = [
        game(number, turn, side if turn == 0 else -side) for number in range(200)
        for side in (random.Random(number).choice([1.0, -1.0]),) for turn in (0, 1)
    ]  # fmt: skip
    assert dispersion(count_games(same)) == pytest.approx(2.0, abs=0.06)


@pytest.mark.thorough
@pytest.mark.parametrize("strength", [0.0, 0.4])
def test_intervals_of_pairs_hold_the_truth(strength):
    """Openings favour a side more or less, one agent may be stronger: of 95 % intervals about that many hold."""
    dice, held, repeats = random.Random(5), 0, 120
    nodes = [x / 10 - 2 for x in range(41)]
    weights = [math.exp(-x * x / 2) for x in nodes]

    def chance(tilt):
        return 1 / (1 + math.exp(-tilt))

    truth = sum(w * (chance(x + strength) + chance(strength - x)) / 2 for x, w in zip(nodes, weights, strict=True))
    truth /= sum(weights)
    for _ in range(repeats):
        records = []
        for number in range(40):
            (tilt,) = dice.choices(nodes, weights)
            for turn in (0, 1):
                first_wins = dice.random() < chance((tilt if turn == 0 else -tilt) + strength)
                records.append(game(number, turn, 1.0 if first_wins == (turn == 0) else -1.0))
        low, high = Standings.from_records(records).row("a").interval
        held += low <= truth <= high
    assert 0.93 - 3 * math.sqrt(0.95 * 0.05 / repeats) < held / repeats
