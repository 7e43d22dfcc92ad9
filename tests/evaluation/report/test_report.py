"""The report as text: what it says is what the games say, and nothing in it can do harm."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace

import pytest
from doubles.html_page import Page, rows, section
from doubles.made_games import NAMES, made_records

from zermelo.evaluation import GameRecord, Standings, read_games, read_standings, round_robin
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind
from zermelo.evaluation.output.numbers import MINUS, number, time_text
from zermelo.evaluation.output.web_page import embedded_json
from zermelo.evaluation.report.effort import Effort
from zermelo.evaluation.report.markup import ticks
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.storage.files import write_text

HOSTILE = "<script>alert(1)</script>\"'&{{data}}\u2028\x00$&"


def game(agents, rewards, seed=0, **settings):
    return GameRecord(
        env="no such environment", agents=tuple(agents), seat_names=tuple("xyz"[: len(agents)]), seed=seed,
        rewards=tuple(map(float, rewards)), **{"end": EndReason.TERMINATED} | settings,
    )  # fmt: skip


def test_a_page_is_well_formed_and_complete():
    text = report_page(made_records(300))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {"ratings", "crosstable", "seats", "faults", "effort", "length", "games", "provenance"} <= set(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert page.tags.count("table") == page.tags.count("caption")
    assert page.tags.count("h1") == 1
    assert "viewport" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


@pytest.mark.thorough
def test_a_page_names_nothing_outside_itself():
    page = Page(report_page(made_records(50)))
    outside = [value for _, name, value in page.attributes if name in ("src", "href", "action") and value]
    assert all(value.startswith(("#", "data:")) for value in outside)
    policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'")
    style = re.search(r"<style>(.*?)</style>", report_page(made_records(2)), re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_names_and_messages_stay_text():
    names = (HOSTILE, "]]>--><!--", "plain", "broken</title>")
    text = report_page(made_records(300, names=names))
    page = Page(text)
    assert page.tags.count("script") == 2
    assert page.tags.count("b") == 0
    assert "<script>alert" not in text
    assert sorted(page.data["agents"]) == sorted(names)
    assert any("</script>" in (game["failure"] or {}).get("message", "") for game in page.data["games"])


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028", "a&amp;b", "\ud800", "\x00"])
def test_embedded_json_cannot_leave_its_element(text):
    written = embedded_json({text: [text]})
    assert not set("<>&") & set(written)
    assert written.isascii()
    assert json.loads(written) == {text: [text]}


@pytest.mark.thorough
def test_the_same_games_give_the_same_page_in_any_order():
    records = list(made_records(400))
    page = report_page(records)
    random.Random(1).shuffle(records)
    others = report_page(records)
    assert Page(others).data["games"] == Page(page).data["games"]
    assert report_page(iter(records)) == others


# -- what the tables say ---------------------------------------------------------------------------------------


def test_scores_are_those_of_the_standings():
    records = list(made_records(500))
    standings, effort = Standings.from_records(records), Effort()
    for record in records:
        effort.add(GameRecord.from_json(record.to_json()))
    assert effort.games == 500
    page = report_page(records)
    shown = {row[1]: row for row in rows(page, "ratings")[1:]}
    seats = {row[0]: row[1:] for row in rows(page, "seats")[1:]}
    crosstable = {row[1]: row[2:] for row in rows(page, "crosstable")[1:]}
    order = list(crosstable)
    for row in standings.rows:
        counts = [str(count) for count in (row.wins, row.draws, row.losses)]
        assert shown[row.agent][5:] == [*counts, f"{100 * row.score:.1f}"]
        by_seat = [f"{100 * seat.score:.1f}" for seat in row.by_seat]
        assert seats[row.agent] == [*by_seat, *(str(seat.games) for seat in row.by_seat)]
        for other, cell in zip(order, crosstable[row.agent], strict=True):
            share = standings.crosstable.get((row.agent, other))
            assert cell == ("·" if other == row.agent else "" if share is None else f"{100 * share:.1f}")
        found = effort.agents[row.agent]
        assert found.moves == row.moves
        assert found.seconds / found.moves == pytest.approx(row.seconds_per_move)


def test_moves_are_counted_by_agent():
    records = list(made_records(100))
    time, nodes = (row for row in rows(report_page(records), "effort") if row[0] == "strong")
    moves = [move for record in records for move in record.moves if record.agents[move.seat] == "strong"]
    searched = [move for move in moves if move.nodes is not None]
    assert time[1] == str(len(moves))
    assert time[3] == time_text(max(move.seconds for move in moves))
    assert nodes[2] == number(max(move.nodes for move in searched))
    assert nodes[3] == f"{sum(move.depth for move in searched) / len(searched):.1f}"


def test_a_single_player_is_shown_by_returns():
    records = [
        game((name,), (k,), k, end=end)
        for name in ("a", "b")
        for k, end in enumerate([EndReason.TERMINATED, EndReason.TRUNCATED, EndReason.MOVE_LIMIT])
    ]
    records.append(replace(records[0], end=EndReason.FAILURE, failure=Failure(FailureKind.CRASH, 0, "no")))
    standings = Standings.from_records(records)
    page = report_page(records)
    assert rows(page, "ratings")[1][1:] == ["a", "4", "1", f"{MINUS}1.484 to 3.484"]
    assert standings.row("a").interval == pytest.approx((-1.484, 3.484), abs=1e-3)
    assert 'id="crosstable"' not in page
    assert rows(page, "faults")[1] == ["a", "1", "1"]


def test_three_seats_have_a_crosstable_and_three_columns_of_scores():
    rewards = [(3, 2, 1), (3, 1, 2), (1, 2, 3), (2, 2, 0)]
    records = [game("abc", paid, k) for k, paid in enumerate(rewards)]
    page = report_page(records)
    Page(page)
    table = {row[0]: row[1:4] for row in rows(page, "seats")}
    assert table["a"] == ["68.8", "", ""]
    assert table["all agents"][0] == "68.8"
    against = {row[1]: row[2:] for row in rows(page, "crosstable")[1:]}
    assert sorted(against["a"]) == sorted(["·", "62.5", "75.0"])


def test_faults_are_counted_by_kind_and_void_games_are_said():
    records = list(made_records(200))
    void = Failure(FailureKind.ENVIRONMENT_ERROR, None, "the environment <i>broke</i>")
    records.append(replace(records[0], end=EndReason.FAILURE, failure=void, game_id="void"))
    page = report_page(records)
    counts = dict.fromkeys((FailureKind.CRASH, FailureKind.ILLEGAL_ACTION), 0)
    for record in records:
        if record.failure is not None and record.failure.seat is not None:
            counts[record.failure.kind] += 1
    row = next(row for row in rows(page, "faults") if row[0] == "broken")
    assert row == ["broken", *(str(count) for count in counts.values()), str(sum(counts.values()))]
    assert "1 game counts for nobody" in section(page, "notes")
    assert "<i>" not in page
    page = report_page([replace(record, failure=None) for record in made_records(20, names=NAMES[:3])])
    assert "no agent failed" in page
    assert 'id="faults"' not in page


def test_ratings_are_those_of_the_standings():
    won, lost = (1.0, -1.0), (-1.0, 1.0)
    beaten = [
        game(pair, rewards, k)
        for k in range(3)
        for name in "ab"
        for pair, rewards in (((name, "random"), won), (("random", name), lost))
    ]
    mixed = [game(pair, rewards) for pair in ("ab", "ba") for rewards in (won, lost, won)]
    more = [game(("random", name), won, 9) for name in "ab"]
    for games, anchor, zero in (
        (beaten + mixed, None, "the average of a, b"),
        (beaten + mixed + more, "random", "random"),
    ):
        page, ratings = report_page(games), Standings.from_records(games).ratings
        assert ratings.anchor == anchor
        assert f"{zero} is fixed at 0" in section(page, "ratings")
        shown = {row[1]: row[2:4] for row in rows(page, "ratings")[1:]}
        for player in ratings.players:
            ends = f"{number(player.lower)} to {number(player.upper)}"
            assert shown[player.name] == [number(player.elo), "anchor" if player.name == anchor else ends]
    assert shown["a"][0] not in ("0", "∞")


@pytest.mark.parametrize(
    ("value", "text"), [(12.345, "12.3 s"), (0.5, "500 ms"), (0.0123, "12.3 ms"), (2e-5, "20 µs"), (math.nan, "")]
)
def test_times_have_a_unit(value, text):
    assert time_text(value) == text


def test_numbers():
    assert number(1234567.0) == "1,234,567"
    assert number(-5.25, 1) == f"{MINUS}5.2"
    assert number(-math.inf) == f"{MINUS}∞"
    assert number(math.nan) == ""


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-950, 400), (0.001, 0.0012), (1e6, 3e6)])
def test_ticks_are_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 7
    assert all(low - 1e-9 <= mark <= high + 1e-9 for mark in found)


def test_there_must_be_games():
    with pytest.raises(StoreError, match="no games to report on"):
        report_page([])


# -- files -----------------------------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "report.html"
    write_text(target, "one")
    write_text(target, "two\n")
    assert target.read_bytes() == b"two\n"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(StoreError, match="cannot write"):
        write_text(tmp_path / "no" / "report.html", "three")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        write_text(tmp_path / "folder", "four")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "report.html"]
    with pytest.raises(StoreError, match="cannot write /dev/null: it is there, and no file"):
        write_text("/dev/null", "five")


@pytest.mark.thorough
def test_the_judges_table_is_part_of_the_page():
    from zermelo.evaluation.analysis.judge import judge

    pytest.importorskip("pettingzoo.classic")
    records = [record for record in made_records(40, names=NAMES[:3]) if record.failure is None][:5]
    judged = judge(records).to_dict()
    page = report_page(records, judged=judged)
    Page(page)
    table = rows(page, "judge")
    assert table[0][:4] == ["agent", "judged", "not judged", "optimal"]
    assert [row[0] for row in table[1 : 1 + len(judged["agents"])]] == [line["agent"] for line in judged["agents"]]


def test_a_report_of_a_folder_is_that_of_its_records_and_reads_each_once_but_those_shown(tmp_path, monkeypatch):
    standings = round_robin("classic/tictactoe-v3", ["random", "greedy"], games=120, out=tmp_path)
    records = tuple(standings.records)
    expected = report_page(records, games=3, standings=standings)
    made = []
    from_json = GameRecord.from_json
    monkeypatch.setattr(GameRecord, "from_json", lambda line: made.append(line) or from_json(line))
    assert report_page(read_games(tmp_path), games=3, standings=read_standings(tmp_path)) == expected
    assert len(set(made)) == 120
    assert 123 <= len(made) < 180


def headings(page):
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", page)


def test_chips_come_before_ratings():
    records = [
        game(agents, (won, -won), number, game_id=f"{number}.0.{turn}")
        for number in range(6)
        for turn, (agents, won) in enumerate([("ab", number), ("ba", number - 2)])
    ]
    page = report_page(records)
    assert headings(page)[1:5] == ["Rewards", "Who wins from whom", "Ratings", "Score by seat"]
    assert "Ratings count games won, drawn and lost, however much was at stake." in page
    assert 'title="a against b: 1 to 1, 6 deals"' in page
    assert '<td class="n">1</td>' in page


def test_teams_have_scores_and_no_ratings():
    records = [
        game(agents, (score + number, score + number), number, game_id=f"{number}.{pairing}.{turn}")
        for number in range(3)
        for pairing, (agents, score) in enumerate([("aa", 9), ("ab", 2), ("bb", 5)])
        for turn in (0, 1)
    ]
    page = report_page(records)
    # The games were made without moves, so each repeats another: that is the first thing to read.
    assert headings(page)[:3] == ["Read this first", "Scores of teams", "Who plays well with whom"]
    assert "Ratings" not in headings(page)
    assert "Elo" not in page.partition("<script")[0]
    assert "a, alone" in page
    assert "b, mixed" in page
