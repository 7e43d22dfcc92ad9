"""Stored games as a data frame."""

import math
import sys
from dataclasses import replace

import pytest
from doubles.made_games import made_records

from zermelo.envs.errors import MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import round_robin
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind
from zermelo.evaluation.storage.games import games_of, read_games

RECORDS = list(made_records(20))


def frame_of(records):
    pytest.importorskip("pandas")
    return games_of([record.to_json() for record in records]).to_pandas()


def test_a_data_frame_has_a_row_for_each_game():
    frame = frame_of(RECORDS)
    assert [*frame.index] == [record.game_id for record in RECORDS]
    for record in RECORDS:
        row = frame.loc[record.game_id]
        assert (row["env"], row["seed"], row["plies"]) == (record.env, record.seed, len(record.actions))
        assert [row["agent_0"], row["agent_1"]] == [*record.agents]
        assert [row["reward_0"], row["reward_1"]] == [*record.rewards]
        assert [row["outcome_0"], row["outcome_1"]] == [*map(str, record.outcomes)]
    assert frame["score_0"].dtype == "float64"
    assert frame["seed"].dtype == "int64"


def test_what_is_missing_is_missing():
    lost = Failure(FailureKind.CRASH, 1, "act raised")
    failed = replace(RECORDS[1], end=EndReason.FAILURE, failure=lost)
    frame = frame_of([replace(RECORDS[0], rewards=(math.inf, -math.inf)), failed])
    assert [*frame["failure_seat"].isna()] == [True, False]
    assert frame["failure_seat"].iloc[1] == 1
    assert [*frame["failure"]] == ["", "CRASH"]
    assert frame["reward_0"].iloc[0] == math.inf


def test_a_run_without_games_is_an_empty_table():
    frame = frame_of([])
    assert len(frame) == 0
    assert {"env", "seed", "end"} <= set(frame.columns)


def test_a_folder_is_read(tmp_path):
    pytest.importorskip("pandas")
    round_robin("classic/tictactoe-v3", ["random", "greedy"], games=2, workers=1, out=tmp_path)
    frame = read_games(tmp_path).to_pandas()
    assert [*frame["agent_0"].value_counts()] == [1, 1]


def test_without_pandas_the_line_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError) as caught:
        games_of([]).to_pandas()
    assert str(caught.value) == f"pandas is not installed: {install_command('notebook')}"
