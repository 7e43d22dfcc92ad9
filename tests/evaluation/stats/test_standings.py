"""Standings: recomputed from records alone, and shown as tables, JSON and CSV."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import pickle
import re
import sys
from dataclasses import replace

import pytest
from doubles.bad_agents import First, Good, Last
from doubles.made_games import toy_game as game
from doubles.toy_envs import ToyEnv, WalkEnv

from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import Standings, fit_ratings, round_robin
from zermelo.evaluation.match.record import Failure, FailureKind
from zermelo.evaluation.results import Results
from zermelo.evaluation.stats.score_interval import paired_interval
from zermelo.evaluation.storage.counting import count_games

RECORDS = [
    game("ab", (1, -1), actions=(1, 2)),
    game("ba", (0, 0), actions=(1, 3)),
    game("ab", (-1, 1), actions=(1, 4)),
    game("ba", (0, 0), failure=0, game_id="1.0.1"),
    game("ac", (1, -1), actions=(5, 6)),
]


def test_counts_scores_and_intervals():
    standings = Standings.from_records(RECORDS)
    a = standings.row("a")
    assert (a.games, a.wins, a.draws, a.losses) == (5, 3, 1, 1)
    assert a.score == pytest.approx(3.5 / 5)
    assert a.interval == paired_interval(3, 1, 1)
    assert [seat.games for seat in a.by_seat] == [3, 2]
    assert [seat.score for seat in a.by_seat] == pytest.approx([2 / 3, 0.75])
    assert a.failures == {}
    b = standings.row("b")
    assert (b.wins, b.draws, b.losses) == (1, 1, 2)
    assert b.failures == {FailureKind.CRASH: 1}
    assert standings.crosstable["a", "b"] == pytest.approx(2.5 / 4)
    assert standings.crosstable["b", "a"] == pytest.approx(1.5 / 4)
    assert ("b", "c") not in standings.crosstable
    assert [row.agent for row in standings.rows] == ["a", "b", "c"]
    assert a.seconds_per_move == pytest.approx(0.002)


def test_the_order_of_the_records_does_not_matter():
    forwards = Standings.from_records(RECORDS, agents="abc")
    backwards = Standings.from_records(RECORDS[::-1], agents="abc")
    assert forwards.rows == backwards.rows
    assert forwards.crosstable == backwards.crosstable


def test_rows_are_equal_where_numbers_are_missing_in_both():
    """An agent without a game has no score: nan, which a process that sends it makes anew."""
    rows = Standings.from_records(RECORDS, agents="abcd").rows
    sent = pickle.loads(pickle.dumps(rows))
    assert math.isnan(rows[-1].score)
    assert sent == rows
    assert hash(sent[0].by_seat) == hash(rows[0].by_seat)
    assert replace(rows[0], mean_reward=math.nan) != rows[0]


def test_failures_are_told_with_their_first_reason():
    notes = Standings.from_records(RECORDS).notes
    assert notes == ("b lost 1 game by CRASH, first in game 1.0.1: act raised ValueError: oh",)


def test_void_games_count_for_nobody_and_are_told():
    void = game("ab", (1, 0), failure=Failure(FailureKind.ENVIRONMENT_ERROR, None, "fell over"), game_id="0.0.0")
    standings = Standings.from_records([void])
    assert standings.games == 1
    assert standings.row("a").games == 0
    assert math.isnan(standings.row("a").score)
    assert "1 game counts for nobody" in standings.notes[0]
    assert "fell over" in standings.notes[0]
    assert "toy: 1 game" in str(standings)


def test_deterministic_repetitions_are_told():
    same = [game("ab", (1, -1), actions=(1, 2)), game("ba", (1, -1), actions=(1, 2))] * 3
    (note,) = Standings.from_records(same).notes
    assert "a v b (6 games are 2)" in note
    varied = [*same, game("ab", (1, -1), actions=(1, 7))]
    assert Standings.from_records(varied).notes == ()
    once = same[:2]
    assert Standings.from_records(once).notes == ()


def test_a_run_that_was_stopped_says_so():
    standings = Standings.from_records(RECORDS, planned=40)
    assert not standings.complete
    assert standings.notes[0] == "Stopped after 5 of 40 games."
    assert Standings.from_records([], agents="ab", planned=4).rows[0].games == 0
    none = Standings(env="toy", seat_names=("x", "y"), results=Results(), agents="ab", planned=4)
    assert str(none).startswith("toy: 0 games")
    assert "Stopped after 0 of 4 games." in str(none)


def test_single_players_are_ranked_by_mean_return_and_crashing_does_not_help():
    crash = Failure(FailureKind.CRASH, 0, "act raised KeyError: 1")
    records = [game("a", (-20,)), game("a", (-30,)), game("b", (0,), failure=crash), game("b", (-50,))]
    standings = Standings.from_records(records)
    assert [(row.agent, row.score, row.games) for row in standings.rows] == [("a", -25.0, 2), ("b", -50.0, 2)]
    assert standings.row("b").failures == {FailureKind.CRASH: 1}
    assert standings.row("b").interval == (-math.inf, math.inf)
    text = str(standings)
    assert "mean return" in text
    assert "against" not in text


def test_three_seats():
    standings = Standings.from_records([game("abc", (3, 3, 0)), game("bca", (1, 0, 0))])
    a, b, c = (standings.row(name) for name in "abc")
    assert (b.wins, b.draws, b.losses) == (1, 1, 0)
    assert b.score == pytest.approx(0.875)
    assert c.score == pytest.approx(0.125)
    assert standings.crosstable["a", "b"] == 0.25
    assert standings.crosstable["a", "c"] == 0.75
    assert len(a.by_seat) == 3
    assert "3rd" in str(standings)


def test_an_agent_in_two_seats_is_not_compared_with_itself():
    standings = Standings.from_records([game("aab", (2, 1, 0))])
    assert standings.row("a").games == 2
    assert ("a", "a") not in standings.crosstable
    assert standings.crosstable["a", "b"] == 1.0


def test_text_fits_a_terminal_and_has_no_colour_codes():
    text = str(Standings.from_records(RECORDS))
    lines = text.splitlines()
    tables = [line for line in lines if line and line[0] in "#123"]
    assert len(tables) == 12
    assert max(map(len, tables)) <= 80
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in lines)


def test_names_with_brackets_are_shown_as_they_are():
    text = str(Standings.from_records([game(["a[bold]", "b[/]"], (1, 0), actions=(1,))]))
    assert "a[bold]" in text
    assert "b[/]" in text


@pytest.mark.thorough
@pytest.mark.parametrize("width", [12, 40, 60, 400])
def test_no_number_is_cut_where_a_terminal_is_narrow(width):
    names = [f"agent number {k} of a great many" for k in range(7)]
    standings = Standings.from_records([game(pair, (1, 0)) for pair in itertools.pairwise(names)] * 1234)
    tables, _, _ = standings.text(width).partition("score: 1")
    for head in ("95 % interval", "ms/move", "leader is stronger"):
        assert head in tables
    assert tables.count(" 2468 ") == 5  # games of all but the two at the ends
    assert tables.count("…") == 0


def test_json_has_no_nan_and_all_the_numbers():
    standings = Standings.from_records(RECORDS, agents=["nobody"])
    data = json.loads(standings.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["games"] == 5
    by_name = {row["agent"]: row for row in data["agents"]}
    assert by_name["a"]["score"] == pytest.approx(0.7)
    assert by_name["a"]["against"] == {"b": 0.625, "c": 1.0}
    assert by_name["b"]["failures"] == {"CRASH": 1}
    assert by_name["nobody"]["score"] is None


def test_csv_has_a_line_for_each_agent():
    rows = list(csv.DictReader(io.StringIO(Standings.from_records(RECORDS).to_csv())))
    assert [row["agent"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["against b"] == "0.625"
    assert rows[0]["score as player_1"] == "0.75"
    assert rows[1]["failures"] == "1"


def test_ratings_come_with_the_standings():
    """Agreement with ``fit_ratings`` on the same games, counted by hand."""
    games = [
        ("ab", 1),
        ("ab", 0.5),
        ("ba", 1),
        ("ba", 0),
        ("bc", 1),
        ("bc", 0.5),
        ("cb", 1),
        ("ca", 0.5),
        ("ca", 0),
    ]
    records = [game(agents, (score, 1 - score)) for agents, score in games]
    standings = Standings.from_records(records, anchor="c")
    by_hand = fit_ratings([(agents[0], agents[1], score) for agents, score in games], anchor="c")
    assert standings.ratings == by_hand
    assert standings.ratings["c"].elo == 0.0
    assert math.isnan(standings.superiority(standings.rows[0].agent))
    leader, other = standings.rows[0].agent, standings.rows[1].agent
    assert standings.superiority(other) == by_hand.superiority(leader, other)
    data = {row["agent"]: row for row in standings.to_dict()["agents"]}
    assert data["b"]["elo"] == by_hand["b"].elo
    assert data["b"]["elo_interval"] == [by_hand["b"].lower, by_hand["b"].upper]


def test_random_is_the_zero_where_it_plays():
    with_random = Standings.from_records([game(["random", "b"], (1, 0)), game(["b", "random"], (1, 0))])
    assert with_random.anchor == "random"
    assert with_random.ratings["random"].elo == 0.0
    assert "random is fixed at 0" in str(with_random)
    without = Standings.from_records([game(pair, paid) for pair in ("ab", "ba") for paid in ((1, 0), (0, 1))])
    assert without.anchor is None
    assert "the average is fixed at 0" in str(without)


def test_random_is_not_the_zero_where_it_lost_everything_and_others_compare():
    """Else the rating of every agent is ∞."""
    lost = [game(["random", name], (0, 1)) for name in "ab"]
    standings = Standings.from_records([*lost, game("ab", (1, 0)), game("ba", (1, 0)), game("ab", (1, 0))])
    assert standings.ratings.anchor is None
    assert standings.ratings["a"].elo == -standings.ratings["b"].elo > 0.0
    assert standings.ratings["random"].elo == -math.inf
    asked = Standings.from_records(standings.records, anchor="random")
    assert [asked.ratings[name].elo for name in ("a", "b", "random")] == [math.inf, math.inf, 0.0]
    only_wins = Standings.from_records([*lost, game("ab", (1, 0)), game("ba", (0, 1))])
    assert only_wins.ratings.anchor == "random"  # nobody to be the average of


def test_the_footer_names_who_has_0_where_one_agent_won_everything():
    """Two rows of 0 and ∞ have no average of 0."""
    records = [game(pair, (1, 0) if pair[0] == "a" else (0, 1)) for pair in ("ab", "ba") * 5]
    said = str(Standings.from_records(records))
    assert "the average is fixed at 0" not in said
    zero = re.search(r"point; (\w+) is fixed at 0", said)[1]
    assert re.search(rf"\d +{zero} +0 ", said)


def test_what_games_paid_is_told_where_it_says_more_than_wins_and_losses():
    money = Standings.from_records([game("ab", (7, -2)), game("ba", (-5, 4))])
    assert {row.agent: row.mean_reward for row in money.rows} == {"a": 5.5, "b": -3.5}
    assert re.search(r" lost +reward +95 % interval.*\n.*\n1 +a +2 +2 +0 +0 +5.5 ", str(money))
    assert " reward " not in str(Standings.from_records([game("ab", (1, 0)), game("ba", (1, 0))]))


def test_ratings_that_mean_little_are_told_of():
    apart = Standings.from_records([game("ab", (1, 0)), game("cd", (1, 0))])
    assert apart.all_notes
    assert f"Note: {apart.all_notes[-1]}" in str(apart)
    rock = [game(pair, (1, 0)) for pair in ("ab", "bc", "ca") for _ in range(30)]
    assert any(
        "Agents beat each other in a circle: a > b > c > a" in note
        for note in Standings.from_records(rock).all_notes
    )


def test_agents_that_no_chain_of_games_connects_are_not_compared():
    games = [game(pair, rewards) for pair in ("ab", "cd", "ba", "dc") for rewards in ((1, 0), (0, 1), (1, 0))]
    standings = Standings.from_records([*games, game("ab", (1, 0))])
    assert standings.rows[0].agent == "a"
    assert 0.5 < standings.superiority("b") < 1.0
    assert math.isnan(standings.superiority("c"))
    assert math.isnan(standings.superiority("d"))
    assert "never met" in str(standings)


def test_who_leads_is_said_to_be_unsure():
    close = str(Standings.from_records([game("ab", (1, 0)), game("ba", (0, 1)), game("ab", (0, 1))]))
    assert "Note: One win more or less would change who leads, a or b." in close
    text = str(Standings.from_records([game("ab", (1, 0)), game("ba", (0, 1)), game("ab", (0, 1))] * 4))
    assert re.search(r"Note: a leads, but that it is stronger than b is not sure \(likelihood \d\d %\)\.", text)
    assert "not sure" not in str(Standings.from_records([game("ab", (1, 0)), game("ba", (0, 1))] * 20))


def test_one_sided_results_give_a_bound():
    text = str(Standings.from_records([game("ab", (1, 0)), game("ba", (0, 1))] * 10))
    assert re.search(r"^1  a +∞ +\d+ .. ∞ *$", text, re.MULTILINE)
    assert "∞: no bound" in text
    assert re.search(r"^2  b +0 +> 99.9$", text, re.MULTILINE)
    losing = Standings.from_records([game("ab", (1, 0)), game("ba", (0, 1))] * 10, anchor="a")
    assert re.search(r"^2  b +-∞ +-∞ .. -\d+ +> 99.9$", str(losing), re.MULTILINE)


def test_a_single_player_has_no_ratings():
    standings = Standings.from_records([game("a", (1,)), game("b", (2,))])
    assert standings.ratings is None
    assert standings.to_dict()["agents"][0]["elo"] is None
    assert "Elo" not in str(standings)


def test_failures_count_as_losses_in_the_ratings_and_void_games_not_at_all():
    crash = Failure(FailureKind.CRASH, 0, "oh")
    void = Failure(FailureKind.ENVIRONMENT_ERROR, None, "oh")
    totals = count_games([game("ab", (5, 0), failure=crash), game("ab", (5, 0), failure=void)])
    assert list(totals.counts().items()) == [(("a", "b"), (1, 0), 1)]
    assert totals.void == 1


def test_a_notebook_shows_tables_of_escaped_text():
    shown = Standings.from_records([game(("<b>", "b"), (1, 0)), game(("b", "<b>"), (0, 1))])._repr_html_()
    assert shown.count("<table>") == shown.count("</table>") == 3
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "<td>100.0</td>" in shown


@pytest.fixture(scope="module")
def standings():
    return round_robin(ToyEnv, {"good": Good, "first": First, "last": Last}, games=4)


@pytest.mark.parametrize(
    ("module", "method", "package"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("matplotlib.pyplot", "plot_ratings", "matplotlib"),
        ("matplotlib.pyplot", "plot_crosstable", "matplotlib"),
    ],
)
def test_a_missing_package_is_its_pip_line(standings, module, method, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        getattr(standings, method)()
    assert str(caught.value) == f"{package} is not installed: {install_command('notebook')}"


@pytest.mark.thorough
def test_a_data_frame_has_the_table(standings):
    pytest.importorskip("pandas")
    frame = standings.to_pandas()
    assert [*frame.index] == [row.agent for row in standings.rows]
    for row in standings.rows:
        assert frame.loc[row.agent, "score"] == pytest.approx(row.score)
        assert frame.loc[row.agent, "mean_reward"] == pytest.approx(row.mean_reward)
    assert frame.loc["good", "against first"] == pytest.approx(standings.crosstable["good", "first"])


@pytest.mark.thorough
def test_plots_show_every_agent(standings):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    ratings, crosstable = standings.plot_ratings(), standings.plot_crosstable()
    for axes in (ratings, crosstable):
        assert {label.get_text() for label in axes.get_yticklabels()} == {"good", "first", "last"}
        axes.figure.canvas.draw()
    assert {text.get_text() for text in crosstable.texts} == {
        f"{met.mean:.3g}" for met in standings.rewards.values()
    }
    by_wins = Standings.from_records(standings.records, score="wins")
    assert {text.get_text() for text in by_wins.plot_crosstable().texts} == {
        f"{100 * share:.0f}" for share in standings.crosstable.values()
    }
    _, given = pyplot.subplots()
    assert standings.plot_ratings(given) is given
    pyplot.close("all")


def test_a_single_player_has_no_ratings_to_plot():
    with pytest.raises(InvalidSettingError, match="there are no ratings to plot"):
        round_robin(WalkEnv, [First, Last], games=2).plot_ratings()
