"""Ratings from games: published tables, intervals, the same answer in any order."""

import contextlib
import io
import itertools
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from doubles.rated_games import both_ways, matches

from zermelo.evaluation import fit_ratings
from zermelo.evaluation.results import GameCounts, HeadToHead
from zermelo.evaluation.stats.ratings.choice_fit import ChoiceFit
from zermelo.evaluation.stats.ratings.elo import elo
from zermelo.evaluation.stats.ratings.model import RankingModel

UNIT = 400 / math.log(10)

# A. Agresti, Categorical Data Analysis, 2nd ed., table 10.11: baseball 1987, wins at home and away.
TEAMS = ("Mil", "Det", "Tor", "NY", "Bos", "Cle", "Bal")
BASEBALL = {
    "Mil": "4-3 4-2 4-3 6-1 4-2 6-0",
    "Det": "3-3 4-2 4-3 6-0 6-1 4-3",
    "Tor": "2-5 4-3 2-4 4-3 4-2 6-0",
    "NY": "3-3 5-1 2-5 4-3 4-2 6-1",
    "Bos": "5-1 2-5 3-3 4-2 5-2 6-0",
    "Cle": "2-5 3-3 3-4 4-3 4-2 2-4",
    "Bal": "2-5 1-5 1-6 2-4 1-6 3-4",
}

# R. R. Davidson, 1970, JASA 65:317, example 2: six chocolate puddings, i, j, preferences for i, for j, ties.
PUDDINGS = (
    "12 19 22 16, 13 16 19 12, 23 19 19 10, 14 18 23 13, 24 23 19 9, 34 19 20 15, 15 13 19 18, 25 16 20 12, "
    "35 16 15 17, 45 17 14 16, 16 18 21 12, 26 22 20 12, 36 13 18 10, 46 14 19 18, 56 11 21 12"
)


def _baseball():
    counts = GameCounts()
    for home, row in BASEBALL.items():
        away = [team for team in TEAMS if team != home]
        for other, result in zip(away, row.split(), strict=True):
            wins, losses = (int(x) for x in result.split("-"))
            counts += GameCounts.match(home, other, wins, 0, losses)
    return counts


def _puddings():
    counts = GameCounts()
    for row in PUDDINGS.split(", "):
        pair, *numbers = row.split()
        first, second, ties = (int(x) for x in numbers)
        counts += GameCounts.match(pair[0], pair[1], first, ties, second)
    return counts


# --- Published tables --------------------------------------------------------------------------


def test_baseball_with_home_advantage():
    table = fit_ratings(_baseball(), anchor="Bal")
    home = table.seat_advantage
    assert home.estimate == pytest.approx(0.302, abs=5e-4)
    assert home.standard_error == pytest.approx(0.1309, abs=5e-5)
    assert home.lower < home.estimate < home.upper
    assert home.lower > 0.04
    assert table.notes == ()


def test_baseball_without_home_advantage():
    table = fit_ratings(_baseball(), anchor="Bal", seat_effects=False)
    found = [table[team].elo / UNIT for team in ("Cle", "Bos", "NY", "Tor", "Det", "Mil", "Bal")]
    assert found == pytest.approx([0.68, 1.11, 1.25, 1.29, 1.44, 1.58, 0.0], abs=5e-3)
    assert [player.name for player in table.players] == ["Mil", "Det", "Tor", "NY", "Bos", "Cle", "Bal"]
    assert table["Mil"].games == 78


def test_puddings_with_ties():
    table = fit_ratings(_puddings(), seat_effects=False)
    # Davidson's worths are of wins to losses, Elo is of points: with draws it is not 400 log10 of them.
    worth = np.exp([table[name].log_worth for name in "123456"])
    assert (worth / worth.sum()).tolist() == pytest.approx(
        [0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024], abs=1e-4
    )
    assert math.exp(table.tie_effects[0].estimate) == pytest.approx(0.7468, abs=1e-4)


def test_partial_rankings_with_ties_against_the_likelihood_written_out():
    """The Davidson-Luce likelihood by its definition, maximized by another method."""
    from scipy.optimize import minimize

    names = ("apple", "banana", "orange", "pear")
    ranks = [(1, 2, 0, 0), (4, 1, 2, 3), (2, 1, 1, 1), (1, 2, 3, 0), (2, 1, 1, 0), (1, 0, 3, 2)]  # 0: not ranked

    def surprise(x):
        worth, log_delta, total = [0.0, *x[:3]], {1: 0.0, 2: x[3], 3: x[4]}, 0.0
        for row in ranks:
            left = [k for k in range(4) if row[k]]
            while len(left) > 1:

                def weight(group):
                    return math.exp(log_delta[len(group)] + sum(worth[k] for k in group) / len(group))

                best = [k for k in left if row[k] == min(row[j] for j in left)]
                everything = sum(weight(g) for size in log_delta for g in itertools.combinations(left, size))
                total -= math.log(weight(best) / everything)
                left = [k for k in left if k not in best]
        return total

    expected = minimize(surprise, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    counts = GameCounts()
    for row in ranks:
        counts += GameCounts([([names[k] for k in range(4) if row[k]], [-rank for rank in row if rank])])
    table = fit_ratings(counts, anchor="apple", seat_effects=False)
    found = [table[name].elo / UNIT for name in names[1:]] + [effect.estimate for effect in table.tie_effects]
    assert found == pytest.approx(expected.x, abs=1e-4)
    assert table.log_likelihood == pytest.approx(-expected.fun, abs=1e-9)
    assert [effect.name for effect in table.tie_effects] == ["2 tied", "3 tied"]


# --- Agreement with what is known otherwise ----------------------------------------------------


def test_two_players_without_draws_have_the_elo_of_the_pair():
    table = fit_ratings(matches(*both_ways("A", "B", 30, 0, 20)), anchor="B", seat_effects=False)
    assert table["A"].elo == pytest.approx(elo(60, 0, 40).elo)
    assert table.superiority("A", "B") == pytest.approx(elo(60, 0, 40).likelihood_of_superiority, abs=5e-3)
    assert table.superiority("B", "A") == pytest.approx(1 - table.superiority("A", "B"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_true_strengths_are_found(seed):
    rng = random.Random(seed)
    truth = {"a": 0.0, "b": 0.4, "c": 1.5, "d": 2.0}
    table = fit_ratings(_play(rng, truth, seat=0.3, tie=0.8, rounds=800), anchor="a")
    for name, value in truth.items():
        # Near equality the log odds of points grow by 2 / (2 + nu) of the log odds of wins to losses.
        error = table[name].standard_error / UNIT * (2 + 0.8) / 2
        assert table[name].log_worth == pytest.approx(value, abs=4.5 * error + 1e-9)
    assert table.seat_advantage.estimate == pytest.approx(0.3, abs=4.5 * table.seat_advantage.standard_error)
    assert table.tie_effects[0].estimate == pytest.approx(
        math.log(0.8), abs=4.5 * table.tie_effects[0].standard_error
    )


@pytest.mark.parametrize("seed", [4, 5])
def test_three_seats_with_seat_effects(seed):
    rng = random.Random(seed)
    truth, seats = {"a": 0.0, "b": 0.7, "c": 1.2, "d": -0.4}, (0.5, 0.0, -0.5)
    counts = GameCounts()
    for players in itertools.permutations(truth, 3):
        for _ in range(120):
            # Plackett-Luce as a race: who arrives first at exponential times.
            times = [rng.expovariate(math.exp(truth[p] + s)) for p, s in zip(players, seats, strict=True)]
            counts += GameCounts([(players, [-t for t in times])])
    table = fit_ratings(counts, anchor="a")
    for name, value in truth.items():
        assert table[name].elo / UNIT == pytest.approx(value, abs=4.5 * table[name].standard_error / UNIT + 1e-9)
    assert [e.name for e in table.seat_effects] == ["seat 1 of 3", "seat 2 of 3", "seat 3 of 3"]
    for effect, value in zip(table.seat_effects, seats, strict=True):
        assert effect.estimate == pytest.approx(value, abs=4.5 * effect.standard_error)
    assert sum(e.estimate for e in table.seat_effects) == pytest.approx(0.0, abs=1e-9)
    assert table.seat_advantage is None


def test_winner_takes_all_is_not_a_tie_of_the_others():
    counts = GameCounts()
    for winner, games in (("a", 30), ("b", 20), ("c", 10)):
        for players in itertools.permutations("abc"):
            counts += GameCounts([(players, [1.0 if p == winner else -0.5 for p in players])] * games)
    table = fit_ratings(counts, anchor="c")
    # Choices of a winner alone: worth is proportional to wins.
    assert table["a"].elo / UNIT == pytest.approx(math.log(3))
    assert table["b"].elo / UNIT == pytest.approx(math.log(2))
    assert table.tie_effects == ()
    assert any("only the winner" in note for note in table.notes)


@pytest.mark.parametrize("seed", range(4))
def test_every_player_expects_the_points_that_it_scored(seed):
    """The definition of Elo ratings: 1 / (1 + 10 ** (-d / 400)) points a game, from whichever seat."""
    games = [*_play(random.Random(seed), {"a": 0, "b": 0.5, "c": 1, "d": 1.5}, seat=0.7, tie=1.5, rounds=4)]
    table, surplus = fit_ratings(games[seed:]), dict.fromkeys("abcd", 0.0)
    for first, second, score in games[seed:]:
        expected = 1 / (1 + 10 ** ((table[second].elo - table[first].elo) / 400))
        surplus[first] += score - expected
        surplus[second] -= score - expected
    assert surplus == pytest.approx(dict.fromkeys("abcd", 0.0), abs=1e-4)


def test_draws_without_a_loss_are_finite_points():
    table = fit_ratings(matches(*both_ways("A", "B", 5, 10, 0)), anchor="B")
    assert table["A"].elo == pytest.approx(elo(10, 20, 0).elo)
    assert table["A"].log_worth == math.inf  # no game says that B can win


def test_a_first_seat_that_always_wins_leaves_the_score():
    table = fit_ratings(matches(("A", "B", 5, 0, 0), ("B", "A", 3, 0, 2)), anchor="B")
    assert table["A"].elo == pytest.approx(elo(7, 0, 3).elo)


def test_seats_that_were_not_shared_are_said_where_they_matter():
    uneven = matches(("A", "B", 18, 0, 2), ("B", "A", 4, 0, 1))
    assert any("A sat first in 20 of 25 games against B" in note for note in fit_ratings(uneven).notes)
    for games in (matches(("A", "B", 10, 0, 10), ("B", "A", 2, 0, 3)), matches(*both_ways("A", "B", 18, 0, 2))):
        assert not any("sat first" in note for note in fit_ratings(games).notes)


def test_few_games_are_said():
    few = fit_ratings(matches(*both_ways("A", "B", 1, 0, 1), *both_ways("B", "C", 3, 0, 1)), anchor="B")
    assert any("A played at most 5 games each" in note for note in few.notes)
    assert not any("at most" in note for note in fit_ratings(matches(*both_ways("A", "B", 3, 0, 3))).notes)


# --- Order, form and size ----------------------------------------------------------------------


def _play(rng, truth, *, seat, tie, rounds):
    for first, second in itertools.permutations(truth, 2):
        half = (truth[first] - truth[second] + seat) / 2
        weights = (math.exp(half), tie, math.exp(-half))
        for score in rng.choices((1.0, 0.5, 0.0), weights, k=rounds):
            yield first, second, score


def test_order_of_games_and_form_do_not_matter():
    games = list(_play(random.Random(7), {"a": 0, "b": 1, "c": 4}, seat=0.2, tie=0.5, rounds=12))
    table = fit_ratings(games, anchor="a")
    random.Random(8).shuffle(games)
    assert fit_ratings(games, anchor="a") == table
    long = [((first, second), (score, 1 - score)) for first, second, score in games]
    assert fit_ratings(iter(long), anchor="a") == table
    one, other = GameCounts(games[:20]), GameCounts(games[20:])
    assert one + other == other + one == GameCounts(long)
    assert fit_ratings(one + other, anchor="a") == table


@pytest.mark.thorough
def test_the_same_in_another_process():
    """No hash order, no random state: byte for byte."""
    script = (
        "import random\n"
        "from zermelo.evaluation import fit_ratings\n"
        "rng = random.Random(3)\n"
        "pairs = [(a, b) for a in 'wxyz' for b in 'wxyz' if a != b]\n"
        "games = [(a, b, rng.choice((1.0, 0.5, 0.0))) for a, b in pairs * 5]\n"
        "games += [(a, 'loser', 1.0) for a in 'wxyz'] + [('loser', a, 0.0) for a in 'wxyz']\n"
        "print(fit_ratings(games, anchor='loser'))\n"
    )
    env = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run([sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True)
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(script, {})
    assert there.stdout == here.getvalue()


def test_importing_evaluation_does_not_import_scipy():
    script = "import sys, zermelo.evaluation; print('scipy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "False"


def test_memory_is_bounded_by_what_is_different():
    counts = GameCounts(("a", "b", (1.0, 0.5, 0.0)[k % 3]) for k in range(300_000))
    assert len(list(counts.items())) == 3
    assert counts.games == 300_000
    assert counts.head_to_head()["b", "a"] == HeadToHead(100_000, 100_000, 100_000)


def test_without_an_anchor_the_average_is_zero():
    table = fit_ratings(_baseball())
    assert sum(p.elo / UNIT for p in table.players) == pytest.approx(0.0, abs=1e-9)


# --- Intervals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_modified_root_of_an_end_is_its_normal_quantile(seed):
    games = _play(random.Random(seed), {"a": 0, "b": 0.5, "c": 2}, seat=0.2, tie=0.5, rounds=4)
    fit = ChoiceFit(RankingModel(GameCounts(games), seat_effects=True).choices)
    contrast = np.array([-1.0, 0.0, 1.0, 0.0, 0.0])
    effect = fit.effect(contrast, "c - a")
    assert effect.method == "modified root"
    for end, root in ((effect.lower, 1.95996), (effect.upper, -1.95996)):
        assert fit.root(contrast, end) == pytest.approx(root, abs=1e-4)


@pytest.mark.parametrize("points", [(2, 1, 3), (4, 3, 2), (1, 4, 4), (3, 3, 1), (4, 5, 5)])
def test_ends_have_the_tails_of_all_results_that_leave_the_other_players_points(points):
    """Given everybody else's points, the chance of a's does not depend on their strengths: count all results.

    Half the chance of the points themselves counts with what lies beyond them (mid-p).
    """
    games, (ab, ac, bc) = 6, points
    rows = [("a", "b", ab, 0, games - ab), ("a", "c", ac, 0, games - ac), ("b", "c", bc, 0, games - bc)]
    table, ways = fit_ratings(matches(*rows), anchor="b", seat_effects=False), dict[int, int]()
    for wins in itertools.product(range(games + 1), repeat=3):
        if wins[1] + wins[2] == ac + bc:  # c has as many points
            number = math.prod(math.comb(games, won) for won in wins)
            ways[wins[0] + wins[1]] = ways.get(wins[0] + wins[1], 0) + number
    for end, sign in ((table["a"].lower, 1), (table["a"].upper, -1)):
        law = {own: number * math.exp(own * end / UNIT) for own, number in ways.items()}
        beyond = sum(p for own, p in law.items() if (own - ab - ac) * sign > 0) + law[ab + ac] / 2
        assert beyond / sum(law.values()) == pytest.approx(0.029, abs=0.005)


@pytest.mark.parametrize(
    ("players", "games", "spread", "draws"),
    [(4, 2, 0, 0.0), (4, 2, 200, 0.3), (4, 5, 400, 0.3)],
)
@pytest.mark.thorough
def test_intervals_hold_the_truth_as_often_as_they_say(players, games, spread, draws):
    """A small version of ``scripts/bench.py coverage``, which says more."""
    names, repeats, held = "abcdef"[:players], 60, 0
    truth = {name: spread * number / (players - 1) for number, name in enumerate(names)}
    for seed in range(repeats):
        table = fit_ratings(_points(random.Random(seed), truth, draws, games), anchor="a")
        held += sum(table[name].lower <= truth[name] <= table[name].upper for name in names[1:])
    # It was 83 to 84 % by the likelihood alone; in the long run it is 93 to 98 %.
    assert held / repeats / (players - 1) > 0.9


def _points(rng, truth, draws, rounds):
    """Games of so many rounds, seats in turn, with the expected points of Elo; the best and worst draw less."""
    for one, other in itertools.combinations(truth, 2):
        for number in range(rounds):
            first, second = (one, other) if number % 2 == 0 else (other, one)
            score = 1 / (1 + 10 ** ((truth[second] - truth[first]) / 400))
            draw = draws * 4 * score * (1 - score)
            yield first, second, rng.choices((1.0, 0.5, 0.0), (score - draw / 2, draw, 1 - score - draw / 2))[0]
