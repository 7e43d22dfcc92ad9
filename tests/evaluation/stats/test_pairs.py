"""Openings played from both sides: intervals are those of pairs, in the standings and in the ratings."""

import math
import random

import pytest
from doubles.made_games import toy_game

from zermelo.evaluation import Standings
from zermelo.evaluation.stats.rows import dispersion
from zermelo.evaluation.storage.counting import count_games


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
