"""Tables for other programs: every format says what the records say."""

import csv
import json
import math
import re
import sys
from dataclasses import replace

import pytest
from doubles.made_games import made_records

from zermelo.envs import ZermeloError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import GameRecord
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, Move
from zermelo.evaluation.output import TABLES, ExportFormat
from zermelo.evaluation.output.export import export_games
from zermelo.evaluation.storage.rows import game_row, move_rows

RECORDS = list(made_records(40))
ODD = GameRecord(
    env='odd, "quoted"\nname',
    agents=("=a,b", "ü</script>"),
    seat_names=("x", "y"),
    seed=2**60,
    rewards=(math.inf, -math.inf),
    end=EndReason.TRUNCATED,
    opening=((1, 2), 3),
    moves=(Move(1, (4, 5), 0.25, 7, 2, -math.inf), Move(0, 6)),
)


def read(path):
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()


@pytest.fixture(params=TABLES)
def form(request):
    if request.param is ExportFormat.PARQUET:
        pytest.importorskip("pyarrow")
    return request.param


@pytest.mark.thorough
def test_every_game_and_every_move_is_a_row(form, tmp_path):
    games, moves = export_games(iter(RECORDS), tmp_path / "new", form)
    assert (games.name, moves.name) == (f"games.{form}", f"moves.{form}")
    found, steps = read(games), read(moves)
    assert [row["game_id"] for row in found] == [record.game_id for record in RECORDS]
    assert len(steps) == sum(len(record.moves) for record in RECORDS)
    for row, record in zip(found, RECORDS, strict=True):
        assert (row["agent_0"], row["agent_1"]) == record.agents
        assert float(row["reward_1"]) == record.rewards[1]
        assert float(row["score_0"]) == record.scores[0]
        assert row["outcome_1"] == record.outcomes[1]
        assert int(row["plies"]) == len(record.moves)
        assert row["failure"] == ("" if record.failure is None else record.failure.kind)
    first = [row for row in steps if row["game_id"] == RECORDS[0].game_id]
    for row, move in zip(first, RECORDS[0].moves, strict=True):
        assert int(row["seat"]) == move.seat
        assert row["agent"] == RECORDS[0].agents[move.seat]
        assert row["action"] == str(move.action)
        assert float(row["seconds"]) == move.seconds
        assert row["nodes"] in ((None, "") if move.nodes is None else (move.nodes, str(move.nodes)))
    assert sorted(path.name for path in games.parent.iterdir()) == [games.name, moves.name]


@pytest.mark.thorough
def test_odd_values_survive(form, tmp_path):
    games, moves = export_games([ODD], tmp_path, form)
    row, steps = read(games)[0], read(moves)
    assert (row["env"], row["agent_0"], row["agent_1"]) == (ODD.env, *ODD.agents)
    assert int(row["seed"]) == 2**60
    assert float(row["reward_1"]) == -math.inf
    assert [step["action"] for step in steps] == ["[1, 2]", "3", "[4, 5]", "6"]
    assert [int(step["ply"]) for step in steps] == [0, 1, 2, 3]
    assert steps[0]["agent"] in (None, "")
    assert float(steps[2]["value"]) == -math.inf
    assert steps[3]["nodes"] in (None, "")


def test_rows_of_one_record():
    row = game_row(ODD)
    assert row["opening"] == "[[1, 2], 3]"
    assert row["outcome_0"] == "win"
    assert [move["agent"] for move in move_rows(ODD)] == [None, None, "ü</script>", "=a,b"]


def test_files_are_replaced_only_by_complete_ones(tmp_path):
    def broken():
        yield RECORDS[0]
        raise StoreError("line 2 is damaged")

    export_games(RECORDS, tmp_path, "csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StoreError, match="damaged"):
        export_games(broken(), tmp_path, "csv")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.thorough
def test_records_are_not_kept(tmp_path):
    made = 0

    def counting():
        nonlocal made
        for record in made_records(2000):
            made += 1
            yield record

    export_games(counting(), tmp_path, ExportFormat.JSON)
    assert made == len(read(tmp_path / "games.json")) == 2000


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(InvalidSettingError, match="exported as csv, json, parquet, not 'xlsx'"):
        export_games(RECORDS, tmp_path, "xlsx")
    with pytest.raises(StoreError, match="no games to export"):
        export_games([], tmp_path, "csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write the tables to"):
        export_games(RECORDS, tmp_path / "file", "csv")


def test_a_missing_pyarrow_is_said_with_the_line_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ZermeloError, match=re.escape(install_command("parquet"))):
        export_games(RECORDS, tmp_path, "parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_single_player_has_no_outcome():
    record = replace(ODD, agents=("one",), seat_names=("player",), rewards=(2.0,), moves=(), opening=())
    row = game_row(record)
    assert (row["score_0"], row["outcome_0"], row["opening"]) == (2.0, None, "")
