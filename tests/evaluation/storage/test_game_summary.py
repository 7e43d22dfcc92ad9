"""A summary of a game says what the game says, and costs less."""

import itertools
import json
import math
from dataclasses import replace

import pytest
from doubles.made_games import made_records

from zermelo.evaluation import EndReason, GameRecord, Move, StoreError, read_games, read_standings, round_robin
from zermelo.evaluation.output.report import report_page
from zermelo.evaluation.storage.game_summary import GameSummary


def without_source(summary):
    columns = {name: list(getattr(summary, name)) for name in ("seats", "seconds", "nodes", "depths")}
    return summary._replace(source="", **columns)


def same(record):
    """The summary of the record and that of its line; they must not differ."""
    by_record, by_line = GameSummary.of(record), GameSummary.from_json(record.to_json())
    assert without_source(by_record) == without_source(by_line)
    assert by_line.record() == by_record.record() == record
    assert by_line.plies == len(record.actions)
    assert by_line.void == record.void
    return by_line


def test_summaries_say_what_the_records_say():
    record = next(itertools.islice(made_records(10), 4, None))
    for one in made_records(200):
        same(one)
    same(replace(record, opening=(3, (1, 2))))
    same(replace(record, moves=()))
    same(replace(record, moves=tuple(move._replace(nodes=None, depth=None) for move in record.moves)))
    same(replace(record, end=EndReason.MOVE_LIMIT))


def test_numbers_that_are_not_finite():
    record = next(made_records(1))
    found = same(replace(record, rewards=(math.inf, -math.inf), failure=None))
    assert found.rewards == (math.inf, -math.inf)
    valued = (Move(0, 1, 0.5, 3, 2, -math.inf),)
    assert same(replace(record, moves=valued)).nodes == [3]


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"schema": 1}', '{"schema": "x"}'])
def test_what_is_no_record_is_refused_as_a_record_is(text):
    with pytest.raises(StoreError, match="not a game record"):
        GameSummary.from_json(text)


def test_a_newer_record_is_refused():
    data = json.loads(next(made_records(1)).to_json())
    with pytest.raises(StoreError, match="newer zermelo"):
        GameSummary.from_json(json.dumps({**data, "schema": 99}))


def test_a_report_of_a_folder_is_that_of_its_records_and_makes_few_of_them(tmp_path, monkeypatch):
    standings = round_robin("classic/tictactoe-v3", ["random", "greedy"], games=120, out=tmp_path)
    records = tuple(standings.records)
    expected = report_page(records, games=3, standings=standings)
    made = []
    from_json = GameRecord.from_json
    monkeypatch.setattr(GameRecord, "from_json", lambda line: made.append(line) or from_json(line))
    assert report_page(read_games(tmp_path), games=3, standings=read_standings(tmp_path)) == expected
    assert 3 <= len(made) < 60
