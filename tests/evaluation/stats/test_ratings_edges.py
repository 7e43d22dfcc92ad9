"""Ratings where results say little: one-sided, disconnected or missing ones, and who leads."""

import itertools
import math
import random

import numpy as np
import pytest
from doubles.rated_games import both_ways, matches

from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.evaluation import elo, fit_ratings, sprt
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choice_fit import ChoiceFit
from zermelo.evaluation.stats.ratings.model import RankingModel

UNIT = 400 / math.log(10)


def _numbers(table):
    for player in table.players:
        yield from (v for v in vars(player).values() if isinstance(v, float))
    for effect in (*table.seat_effects, *table.tie_effects):
        yield from (v for v in vars(effect).values() if isinstance(v, float))


def test_moving_first_is_worth_points_too():
    """Between equals the first seat scores what its Elo says: here 5 + 4 / 2 points of 10 games."""
    table = fit_ratings(matches(*[(one, other, 5, 4, 1) for one, other in (("A", "B"), ("B", "A"))]))
    estimate, lower, upper = table.seat_advantage_elo
    assert estimate == pytest.approx(400 * math.log10(7 / 3), abs=1e-3)
    assert 0 < lower < estimate < upper
    assert fit_ratings(EDGES["one order only"]).seat_advantage_elo is None
    assert fit_ratings(EDGES["the first seat always"]).seat_advantage_elo is None


EDGES = {
    "one game": matches(("A", "B", 1, 0, 0)),
    "one draw": matches(("A", "B", 0, 1, 0)),
    "all draws": matches(("A", "B", 0, 10, 0), ("B", "A", 0, 10, 0), ("B", "C", 0, 10, 0)),
    "all wins": matches(*both_ways("A", "B", 10, 0, 0)),
    "nearly all": matches(("A", "B", 1, 1, 726)),
    "nearly all, both seats": matches(("A", "B", 1, 0, 363), ("B", "A", 363, 1, 0)),
    "disconnected": matches(*both_ways("A", "B", 5, 2, 3), *both_ways("C", "D", 4, 0, 2)),
    "disconnected, one-sided": matches(("A", "B", 5, 0, 0), ("C", "D", 0, 4, 0)),
    "the first seat always": matches(("A", "B", 5, 0, 0), ("B", "A", 5, 0, 0)),
    "chain": matches(*both_ways("A", "B", 5, 0, 0), *both_ways("B", "C", 5, 0, 0)),
    "fork": matches(*both_ways("A", "C", 5, 0, 0), *both_ways("B", "C", 5, 0, 0)),
    "one order only": matches(("A", "B", 3, 1, 2), ("B", "C", 3, 1, 2)),
    "itself": matches(("A", "A", 3, 1, 2)),
    "three seats, one winner ever": GameCounts([(("A", "B", "C"), (2, 1, 0))] * 3),
    "three seats, tied by two and by three": GameCounts(
        [(("c", "b", "f"), (1, 1, 1)), (("A", "f", "b"), (1, 1, 98)), (("f", "d", "b"), (1, 1, 1))]
    ),
    "three seats, all tied": GameCounts([(("A", "B", "C"), (1, 1, 1))] * 3),
    "two and three seats": GameCounts([(("A", "B", "C"), (2, 1, 0)), (("C", "A"), (1, 0)), (("B", "C"), (0, 0))]),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("anchor", [None, "A"])
def test_edges_give_bounds_or_statements_and_never_nan(name, anchor):
    table = fit_ratings(EDGES[name], anchor=anchor)
    assert not any(math.isnan(x) for x in _numbers(table))
    for player in table.players:
        assert player.lower <= player.elo <= player.upper
        assert math.isfinite(player.smoothed_elo)
        if math.isinf(player.elo) or player.method == "none":
            assert any(player.name in note for note in table.notes)
    for first, second in itertools.product(EDGES[name].players, repeat=2):
        p = table.superiority(first, second)
        assert 0 <= p <= 1
        assert p + table.superiority(second, first) == pytest.approx(1.0)


def test_no_games():
    table = fit_ratings([])
    assert table.players == ()
    assert table.notes == ("No games.",)
    assert table.games == 0


def test_all_wins_have_the_exact_bound_of_the_pair():
    table = fit_ratings(EDGES["all wins"], anchor="B", seat_effects=False)
    assert table["A"].elo == math.inf
    assert table["A"].status == "plus infinity"
    assert table["A"].lower == pytest.approx(elo(20, 0, 0).lower, abs=1e-3)
    assert table.superiority("A", "B") == pytest.approx(elo(20, 0, 0).likelihood_of_superiority)
    assert table["A"].smoothed_elo == pytest.approx(elo(41, 0, 1).elo, abs=0.1)  # 20.5 to 0.5
    assert table["B"].method == "anchor"


def test_random_at_zero_and_losing_all():
    """The usual anchor: everyone is infinitely above it, and still ordered among each other."""
    rows = [*both_ways("x", "y", 12, 3, 8), *both_ways("y", "z", 12, 3, 8), *both_ways("x", "z", 14, 3, 6)]
    rows += [row for name in "xyz" for row in both_ways(name, "random", 20, 0, 0)]
    table = fit_ratings(matches(*rows), anchor="random")
    assert [p.name for p in table.players] == ["x", "y", "z", "random"]
    assert [p.elo for p in table.players] == [math.inf] * 3 + [0.0]
    assert all(p.lower > 400 for p in table.players[:3])
    assert table["x"].smoothed_elo > table["y"].smoothed_elo > table["z"].smoothed_elo > table["x"].lower * 0.5
    alone = fit_ratings(matches(*rows[:6]), anchor="z")
    difference = table.difference("x", "z")
    assert difference.estimate == pytest.approx(alone["x"].elo / UNIT, abs=1e-6)
    assert (difference.lower, difference.upper) == pytest.approx(
        (alone.difference("x", "z").lower, alone.difference("x", "z").upper), abs=1e-5
    )
    assert any("x, y, z" in note and "random" in note for note in table.notes)


def test_disconnected_parts_are_said():
    table = fit_ratings(EDGES["disconnected"], anchor="C")
    assert table.components == (("C", "D"), ("A", "B"))
    assert table["C"].component == table["D"].component == 0
    assert table["A"].component == 1
    assert any("never met" in note for note in table.notes)
    assert table.superiority("A", "C") == 0.5
    assert table.difference("A", "C").upper == math.inf
    # Each part is rated as it would be alone, but for the shared seat and tie effects.
    alone = fit_ratings(matches(*both_ways("A", "B", 50, 0, 30)), seat_effects=False)
    shared = fit_ratings(
        matches(*both_ways("A", "B", 50, 0, 30), *both_ways("C", "D", 4, 0, 2)), seat_effects=False
    )
    assert shared["A"].elo / UNIT == pytest.approx(alone["A"].elo / UNIT)


def test_fork_is_undetermined():
    table = fit_ratings(EDGES["fork"], anchor="A", seat_effects=False)
    assert table["B"].status == "undetermined"
    assert (table["B"].lower, table["B"].upper) == (-math.inf, math.inf)
    assert table["C"].elo == -math.inf
    assert table.superiority("A", "B") == 0.5


def test_seats_that_cannot_be_told_apart_are_left_out():
    table = fit_ratings(EDGES["one order only"])
    assert table.seat_effects == ()
    assert any("What a seat is worth is not estimated" in note for note in table.notes)


def test_first_seat_always_wins():
    table = fit_ratings(EDGES["the first seat always"])
    assert table.seat_advantage.estimate == math.inf
    assert table.seat_advantage.lower > 0
    assert any("What moving first is worth" in note for note in table.notes)


def test_drawn_games_are_said():
    assert any("drawn" in note for note in fit_ratings(EDGES["all draws"]).notes)


@pytest.mark.parametrize(
    "results",
    [
        [("A", "B", 2)],
        [("A", "B", math.nan)],
        [("A", 3, 1)],
        [("A", "B")],
        [(("A", "B"), (1,))],
        [(("A",), (1,))],
        [(("A", "B"), (1, math.nan))],
        [("A", "B", 1, 0)],
    ],
)
def test_results_of_no_known_form_are_refused(results):
    with pytest.raises(InvalidSettingError):
        fit_ratings(results)


def test_wrong_settings_are_refused():
    with pytest.raises(UnknownNameError, match="anchor 'Z' played no game: those who did are A, B"):
        fit_ratings(EDGES["one game"], anchor="Z")
    with pytest.raises(UnknownNameError, match="no player named 'Z'"):
        fit_ratings(EDGES["one game"])["Z"]
    with pytest.raises(UnknownNameError, match="'Z'"):
        fit_ratings(EDGES["one game"]).superiority("A", "Z")
    with pytest.raises(InvalidSettingError, match="wins"):
        GameCounts.match("A", "B", -1)


@pytest.mark.parametrize(
    "counts", [(12, 3, 8), (60, 10, 50), (3, 0, 0), (5, 0, 0), (6, 0, 0), (2, 0, 1), (40, 0, 10)]
)
def test_the_leader_is_sure_where_the_interval_says_so(counts):
    games = GameCounts()
    games += GameCounts.match("a", "b", *counts)
    table = fit_ratings(games)
    assert (table.leader_note == "") == (table.difference("a", "b").lower > 0)
    assert (table.leader_note == "") == (table.superiority("a", "b") > 0.975)


def test_who_leads_may_be_untold():
    assert "do not show which of" in fit_ratings([("a", "b", 1), ("b", "a", 1)]).leader_note
    assert "do not show which of" in fit_ratings([("a", "b", 0.5)]).leader_note
    assert fit_ratings([("a", "b", 1)] * 9).leader_note == ""
    assert fit_ratings([]).leader_note == ""


def test_numbers_are_names_too():
    counts = GameCounts([((0, 1), (1, 0)), (np.int64(1), 0, 1.0)])
    assert list(counts.items()) == [(("0", "1"), (0, 1), 1), (("1", "0"), (0, 1), 1)]
    assert [player.name for player in fit_ratings(counts).players] == ["0", "1"]
    with pytest.raises(InvalidSettingError, match="players must be all names, or all numbers"):
        GameCounts([((0.5, "a"), (1, 0))])


@pytest.mark.parametrize("function", [elo, sprt])
def test_more_games_than_numbers_tell_apart_are_refused(function):
    function(10**9, 1, 1)
    with pytest.raises(InvalidSettingError, match="wins must be at most 1,000,000,000"):
        function(10**18, 1, 1)


@pytest.mark.parametrize("seed", range(20))
def test_infinite_ratings_are_those_that_no_chain_of_points_bounds(seed):
    rng = random.Random(seed)
    results = []
    for _ in range(25):
        first, second = sorted(rng.sample("abcdefghij", 2))
        results.append((first, second, 1.0 if rng.random() < 0.9 else rng.choice([0.0, 0.5])))
    table = fit_ratings(results, anchor=results[0][0])
    # Who took points from whom, directly or not.
    above = {(a, b) for a, b, score in results if score} | {(b, a) for a, b, score in results if score < 1.0}
    for middle, one, other in itertools.product("abcdefghij", repeat=3):
        if {(one, middle), (middle, other)} <= above:
            above.add((one, other))
    for player in table.players:
        if player.component == 0 and player.name != table.anchor:
            rises, falls = (table.anchor, player.name) not in above, (player.name, table.anchor) not in above
            expected = {
                (True, True): "undetermined",
                (True, False): "plus infinity",
                (False, True): "minus infinity",
            }
            assert player.status == expected.get((rises, falls), "finite"), (seed, player)


def test_many_agents_have_the_intervals_that_the_modified_root_gives():
    rng = random.Random(3)
    results = []
    for one, other in itertools.combinations(range(30), 2):
        chance = 1.0 / (1.0 + 10.0 ** ((one - other) / 10.0))
        results += [(f"{one:02}", f"{other:02}", float(rng.random() < chance)) for _ in range(2)]
    model = RankingModel(GameCounts(results), seat_effects=False, by_points=True)
    fit = ChoiceFit(model.choices)
    methods = set()
    for name in model.column:
        contrast = model.mean(name) - model.mean(*model.column)
        effect = fit.effect(contrast, name)
        methods.add(effect.method)
        tolerance = 0.031 if effect.method == "standard error" else 1e-3
        for end, expected in ((effect.lower, 1.96), (effect.upper, -1.96)):
            assert fit.root(contrast, end) == pytest.approx(expected, rel=tolerance)
        straight = [effect.estimate + x * 1.96 * effect.standard_error for x in (-1.0, 1.0)]
        roots = [abs(fit.root(contrast, end)) / 1.96 for end in straight]
        if max(abs(root - 1.0) for root in roots) > 0.031:
            assert effect.method == "modified root"
    assert methods == {"standard error", "modified root"}


def test_a_long_fit_says_what_takes_long(monkeypatch, capsys):
    monkeypatch.setattr("zermelo.evaluation.stats.ratings.fit.LONG", 0.0)
    results = [(f"a{i}", f"a{j}", float((i * j) % 3 > 0)) for i in range(20) for j in range(i)]
    fit_ratings(results)
    assert "computing the ratings of 20 agents" in capsys.readouterr().err
