"""The parts of a report: names, marks of the judge, ratings as games went on, and how it was made."""

import json
import re
from dataclasses import replace

import pytest
from doubles.made_games import made_records
from msgspec import structs

from zermelo.evaluation import GameRecord, Standings
from zermelo.evaluation.analysis.judge import Judge, JudgeWork
from zermelo.evaluation.analysis.judgement import GameVerdict, Mark, read_verdicts
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, Move
from zermelo.evaluation.report.effort import RatingHistory
from zermelo.evaluation.report.markup import LONGEST, Line, Point, line_plot, short_names
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.report.sections import provenance_section
from zermelo.evaluation.storage.invocations import Invocation, StoredRun


def test_long_names_are_cut_in_the_middle_and_stay_different():
    names = [f"agent(path='{'x' * 40}{end}')" for end in "ab"]
    short = short_names([*names, "random"])
    assert len(set(short.values())) == 3
    assert all(len(short[name]) == LONGEST and "…" in short[name] for name in names)
    same = ["x" * 20 + middle + "y" * 20 for middle in "ab"]
    assert short_names(same) == dict(zip(same, same, strict=True))


# -- the judge's marks -----------------------------------------------------------------------------------------


def tictactoe(*cells, game_id="0.0.0", names=("first", "second")):
    """A game that the first player wins or that is drawn, in the numbering of ``zermelo/MNK-v0``."""
    moves = tuple(Move(ply % 2, cell) for ply, cell in enumerate(cells))
    return GameRecord(
        env="zermelo/MNK-v0",
        agents=names,
        seat_names=("player_0", "player_1"),
        seed=0,
        rewards=(1.0, -1.0),
        end=EndReason.TERMINATED,
        game_id=game_id,
        moves=moves,
    )


LOST = tictactoe(4, 1, 0, 8, 6, 2, 3)
"""After 4, the answer 1 loses; only corners draw."""


@pytest.fixture(scope="module")
def verdict():
    judging = Judge(JudgeWork())
    [found] = judging.judged([LOST])
    assert judging.table().agent("second").total.draws_thrown_away == 1
    return found


def test_a_blunder_is_marked_with_all_values(verdict):
    first = verdict.moves[0]
    assert [move.ply for move in verdict.moves] == [0, 1, 2, 3, 4, 5, 6]
    assert first.mark is Mark.OPTIMAL
    assert set(first.values.values()) == {0.0}
    blunder = verdict.moves[1]
    assert (blunder.ply, blunder.played, blunder.mark) == (1, 1, Mark.DRAW_THROWN_AWAY)
    assert blunder.groups == [(0.0, [0, 2, 6, 8]), (-1.0, [1, 3, 5, 7])]


def test_verdicts_are_kept_as_lines(verdict, tmp_path):
    path = tmp_path / "judge.jsonl"
    assert read_verdicts(path, {"0.0.0"}) == {}
    path.write_text(verdict.to_json() + "\n")
    assert GameVerdict.from_json(verdict.to_json()) == verdict
    assert read_verdicts(path, {"0.0.0"}) == {"0.0.0": verdict}
    assert read_verdicts(path, {"1.0.0"}) == {}
    with pytest.raises(StoreError, match="cannot read"):
        read_verdicts(tmp_path, {"0.0.0"})


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"game": "0", "seed": 0, "moves": 3}',
        '{"game": "0", "seed": 0, "moves": [[0, 1, "o", [[1, [2]]]]]}',
        '{"game": "0", "seed": 0, "moves": [[0, 1, "x", [[1, [1]]]]]}',
        '{"game": "0", "seed": 0, "moves": [[0, 1, "o", [[1e999, [1]]]]]}',
        f'{{"game": "0", "seed": 0, "moves": [[0, 1, "o", [[1{"0" * 400}, [1]]]]]}}',
        "[" * 100_000,
    ],
    ids=["torn", "list", "number", "unplayed", "mark", "infinite", "huge", "deep"],
)
def test_lines_of_somebody_else_are_refused(line, tmp_path):
    path = tmp_path / "judge.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(StoreError, match=r"judge\.jsonl, line 1: not what the judge found of a game"):
        read_verdicts(path, {"0"})


def shown(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_has_marks_values_and_the_best_line(verdict):
    data = shown(report_page([LOST], verdicts=lambda wanted: dict.fromkeys(wanted, verdict)))
    game = data["games"][0]
    assert game["marks"] == "od" + "".join(str(move.mark) for move in verdict.moves[2:])
    assert game["values"][1] == [[0.0, [0, 2, 6, 8]], [-1.0, [1, 3, 5, 7]]]
    line = game["lines"]["1"]
    assert len(line) == 8  # a draw fills the board
    assert line[0] in {"a3", "c3", "a1", "c1"}
    assert data["written"]["0"] == "a3"
    assert (data["sum"], data["bounds"]) == (0.0, [-1.0, 1.0])
    assert data["coordinates"] == [["a", "b", "c"], ["3", "2", "1"]]


def test_verdicts_of_another_game_are_left_out(verdict):
    later = (structs.replace(verdict.moves[0], ply=70),)
    for other in (structs.replace(verdict, seed=5), structs.replace(verdict, moves=later)):
        page = report_page([LOST], verdicts=lambda wanted, other=other: {"0.0.0": other})
        game = shown(page)["games"][0]
        assert set(game.get("marks", ".")) == {"."}
        assert not any(game.get("values", ()))


# -- ratings as games went on ----------------------------------------------------------------------------------


def history_of(records):
    history = RatingHistory()
    for record in records:
        history.add(GameRecord.from_json(record.to_json()))
    return history


def test_the_last_point_is_the_rating_of_the_standings_in_any_order():
    records = list(made_records(300))
    standings = Standings.from_records(records)
    names = [player.name for player in standings.ratings.players]
    plot = history_of(records).plot(standings, names)
    assert plot == history_of(records[::-1]).plot(standings, names)
    leader = standings.ratings.players[0]
    counted = standings.ratings.games
    assert f"<title>{leader.name} after {counted} games: {leader.elo:,.0f} (" in plot
    assert plot.count("<title>") == 8 * 4


def test_few_games_have_no_history():
    records = list(made_records(3))
    assert history_of(records).plot(Standings.from_records(records), ["strong"]) == ""
    odd = [replace(record, game_id="x") for record in made_records(20)]
    assert history_of(odd).plot(Standings.from_records(odd), ["strong"]) == ""


def test_a_line_plot_of_one_point_and_equal_levels_has_labels_apart():
    plot = line_plot(
        "It", [Line("a", [Point(3, 5.0, float("-inf"), 7.0, "five")])], x_unit="x", y_unit="y",
        levels={"one": 5.0, "<two>": 5.0},
    )  # fmt: skip
    places = [float(place) for place in re.findall(r'top:([\d.]+)%" title', plot)]
    assert abs(places[0] - places[1]) >= 6.9
    assert "&lt;two&gt;" in plot
    assert "inf" not in plot
    assert "nan" not in plot


@pytest.mark.parametrize(("upper", "is_cut"), [(25.0, False), (900.0, True), (float("inf"), True)])
def test_a_line_plot_shows_whole_intervals_or_says_that_it_cuts_them(upper, is_cut):
    points = [Point(1, 5.0, 4.0, upper, "five"), Point(2, 10.0, 0.0, 15.0, "ten")]
    plot = line_plot("It", [Line("a", points)], x_unit="x", y_unit="y")
    band = re.findall(r'class="band" points="([^"]+)"', plot)[0]
    heights = [float(pair.partition(",")[2]) for pair in band.split()]
    assert (min(heights) == 0) == is_cut
    assert ("intervals that reach the edge go on beyond it" in plot) == is_cut


# -- how it was made -------------------------------------------------------------------------------------------


def test_the_page_says_how_its_games_were_made():
    machine = {"processor": "Some CPU", "processors": 4, "system": "Some <System>"}
    spec = {"env": "e", "seed": 7, "kind": "round-robin", "games": 20, "openings": {"plies": 2, "count": 10}}
    calls = (
        Invocation("2026-01-02 03:04:05", 61.25, 100, "zermelo tournament e a b", machine, {"torch": "2.0"}, ()),
        Invocation("2026-01-03 03:04:05", 7300.0, 20, "", machine, {"torch": "2.1"}, ()),
    )
    rated = provenance_section(StoredRun(spec | {"batches": []}, calls), {})
    assert "round-robin" not in rated
    assert "chosen on the way" in rated
    part = provenance_section(StoredRun(spec, calls), {})
    for text in (
        "zermelo tournament e a b", "from a program", "2026-01-02 03:04:05", "61.2 s", "2 h 1 min", "torch 2.1",
        "<dd>7</dd>", "round-robin, 20 games a pairing", "10 of 2 random moves",
        "Some CPU, 4 processors, Some &lt;System&gt;",
    ):  # fmt: skip
        assert text in part, text


@pytest.mark.parametrize("spec", [{}, {"openings": 3, "isolation": [], "machine": "x", "games": None}])
def test_a_specification_of_somebody_else_does_no_harm(spec):
    assert 'id="provenance"' in provenance_section(StoredRun(spec, ()), {})
