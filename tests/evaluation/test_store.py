"""The folder of a run: what is in it, and what happens when it cannot be used."""

import json
import os

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import JsonLinesStore, StoreError, play_match, read_games, round_robin


def test_a_run_is_kept_game_by_game(tmp_path):
    out = tmp_path / "new" / "run"
    seen = []

    def on_game(record):
        lines = (out / "games.jsonl").read_text().splitlines()
        seen.append(len(lines))

    standings = round_robin(toy_envs.DiceEnv, [Good("a"), First("b")], games=4, out=out, on_game=on_game)
    assert seen == [1, 2, 3, 4]
    assert read_games(out) == standings.records
    spec = json.loads((out / "spec.json").read_text())
    assert spec["games"] == 4
    assert [agent["name"] for agent in spec["agents"]] == ["a", "b"]
    assert spec["versions"]["zermelo"]
    assert json.loads((out / "standings.json").read_text())["games"] == 4
    assert (out / "standings.csv").read_text().startswith("agent,")


def test_a_folder_with_a_run_is_not_overwritten(tmp_path):
    round_robin(toy_envs.ToyEnv, [Good("a"), First("b")], games=1, out=tmp_path)
    before = (tmp_path / "games.jsonl").read_bytes()
    with pytest.raises(StoreError, match=r"already holds a tournament.*choose another folder"):
        round_robin(toy_envs.ToyEnv, [Good("a"), First("b")], games=1, out=tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes() == before


def test_an_existing_empty_folder_may_be_used(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    JsonLinesStore(tmp_path, {}).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(StoreError, match=r"cannot write the games to .*out"):
        JsonLinesStore(tmp_path / "out", {})


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="uses Linux's /proc, which nobody can write to")
def test_a_folder_that_cannot_be_written():
    with pytest.raises(StoreError, match="cannot write the games to /proc/nothing"):
        JsonLinesStore("/proc/nothing", {})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="uses Linux's /dev/full, where every write fails")
def test_a_full_disk_is_one_sentence(tmp_path):
    store = JsonLinesStore(tmp_path, {})
    store._games.close()
    store._games = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w")
    with pytest.raises(StoreError, match="No space left"):
        store.append(play_match(toy_envs.ToyEnv, [First(), First()], seed=0))
    with pytest.raises(StoreError, match="No space left"):
        store.close()


def test_a_torn_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path):
    standings = round_robin(toy_envs.ToyEnv, [Good("a"), First("b")], games=3, out=tmp_path)
    path = tmp_path / "games.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-10])
    assert read_games(tmp_path) == standings.records[:2]
    lines = whole.splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    with pytest.raises(StoreError, match="line 2: not a game record"):
        read_games(tmp_path)


def test_a_folder_without_a_run(tmp_path):
    with pytest.raises(StoreError, match="holds no tournament"):
        read_games(tmp_path)
