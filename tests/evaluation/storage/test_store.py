"""The folder of a run: what is in it, how it is read, and what happens when it cannot be used."""

import contextlib
import json
import os
import re
import sqlite3
import threading

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good
from doubles.made_games import numbers_of as table

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import play_match, read_games, read_standings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.storage.database import create, open_reader, open_writer
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.plan import Tournament

AGENTS = [Good("a"), First("b")]


def play(out, **settings):
    return round_robin(toy_envs.DiceEnv, AGENTS, **{"games": 4, "out": out, **settings})


def test_a_run_is_kept_game_by_game(tmp_path):
    out = tmp_path / "new" / "run"
    seen = []

    def on_game(record):
        db = sqlite3.connect(out / "games.sqlite")
        stored = {text for (text,) in db.execute("SELECT record FROM records")}
        db.close()
        seen.append(record.game_id)
        assert record.to_json() in stored, "a game was acknowledged before it was committed"

    standings = play(out, on_game=on_game)
    assert sorted(seen) == ["0.0.0", "0.0.1", "1.0.0", "1.0.1"]
    assert read_games(out) == standings.records
    spec = json.loads((out / "spec.json").read_text())
    assert spec["games"] == 4
    assert [agent["name"] for agent in spec["agents"]] == ["a", "b"]
    assert spec["versions"]["zermelo"]
    assert spec["machine"]["system"]
    assert json.loads((out / "standings.json").read_text())["games"] == 4
    assert (out / "standings.csv").read_text().startswith("agent,")
    assert [json.loads(line)["game_id"] for line in (out / "games.jsonl").read_text().splitlines()] == seen


def test_the_database_is_durable_and_says_what_it_is(tmp_path):
    store = Store(Schedule("ab", seats=2, games=2, seed=0), {"games": 2}, tmp_path)
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert store._db.execute("PRAGMA user_version").fetchone() == (4,)
    store.close()


@pytest.mark.thorough
def test_a_database_gives_the_standings_that_memory_gives(tmp_path):
    agents = {"good": Good, "first": First, "third": First}
    for env in (toy_envs.DiceEnv, toy_envs.three_players, toy_envs.WalkEnv):
        stored = round_robin(env, agents, games=4, seed=3, out=tmp_path / env.__name__)
        fresh = round_robin(env, agents, games=4, seed=3)
        assert table(stored) == table(fresh) == table(read_standings(tmp_path / env.__name__))
        assert stored.results.rotations == fresh.results.rotations
        assert [r.without_timings() for r in stored.records] == [r.without_timings() for r in fresh.records]


def test_games_are_read_as_a_sequence(tmp_path):
    play(tmp_path)
    games = read_games(tmp_path)
    ids = ["0.0.0", "0.0.1", "1.0.0", "1.0.1"]
    assert [game.game_id for game in games] == ids
    assert [game.game_id for game in games] == ids, "they can be read twice"
    assert len(games) == 4
    assert games[1].game_id == "0.0.1"
    assert games[-1].game_id == "1.0.1"
    assert [game.game_id for game in games[1:3]] == ids[1:3]
    assert [game.game_id for game in games[::-2]] == ids[::-2]
    assert games[4:] == ()
    assert repr(games) == "<StoredGames: 4 games>"
    with pytest.raises(IndexError, match="there are 4 games, so no game 4"):
        games[4]


def test_a_finished_run_is_told_again_without_playing(tmp_path):
    first = play(tmp_path)
    before = (tmp_path / "games.jsonl").read_bytes()
    again = play(tmp_path, on_game=lambda record: pytest.fail("a game was played again"))
    assert table(first) == table(again)
    assert first.records == again.records
    assert (tmp_path / "games.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"games": 2}, "games: 4 there, 2 here"),
        ({"seed": 1}, "seed: 0 there, 1 here"),
        ({"max_moves": 7}, "max_moves: 100000 there, 7 here"),
        ({"openings": 1}, 'openings: none there, {"plies": 1'),
        ({"until_sure": True}, "until_sure: none there"),
        (
            {"agents": [Good("a"), Good("b")]},
            r"agents: .*b \(doubles.bad_agents:First\) there, .*b \(doubles.bad_agents:Good\) here",
        ),
        ({"env": toy_envs.ToyEnv}, "env: doubles.toy_envs:DiceEnv there, doubles.toy_envs:ToyEnv here"),
    ],
)  # fmt: skip
def test_another_tournament_does_not_go_into_the_same_folder(settings, said, tmp_path):
    play(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StoreError, match=said) as caught:
        round_robin(**{"env": toy_envs.DiceEnv, "agents": AGENTS, "games": 4, "out": tmp_path, **settings})
    assert "choose another folder" in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_other_versions_do_not_go_on_with_a_run_but_can_show_it(tmp_path, monkeypatch):
    play(tmp_path)
    to_dict = Tournament.to_dict
    newer = {"zermelo": "99"}
    monkeypatch.setattr(Tournament, "to_dict", lambda plan: {**to_dict(plan), "versions": newer})
    assert play(tmp_path).complete
    db = sqlite3.connect(tmp_path / "games.sqlite")
    with db:
        db.execute("DELETE FROM games WHERE game_index = 3")
        db.execute("DELETE FROM records WHERE game_index = 3")
    db.close()
    with pytest.raises(StoreError, match=r"begun with other versions \(zermelo: .* there, 99 here"):
        play(tmp_path)
    assert len(read_games(tmp_path)) == 3


def test_a_second_run_on_the_same_folder_is_told(tmp_path):
    schedule = Schedule("ab", seats=2, games=2, seed=0)
    store = Store(schedule, {}, tmp_path)
    with pytest.raises(StoreError, match=rf"in use by another run \(process {os.getpid()}\)"):
        Store(schedule, {}, tmp_path)
    store.close()
    Store(schedule, {}, tmp_path).close()


def test_the_last_game_of_a_burst_is_kept_while_nothing_else_comes(tmp_path):
    schedule = Schedule("ab", seats=2, games=2, seed=0)
    with Store(schedule, {}, tmp_path) as store:
        for record in records():
            store.append(record)
        deadline = threading.Event()
        for _ in range(600):
            if len(read_games(tmp_path)) == 2:
                break
            deadline.wait(0.05)
        assert len(read_games(tmp_path)) == 2
        assert [record.game_id for record in store.kept()] == ["0.0.0", "0.0.1"]


def records():
    return round_robin(toy_envs.ToyEnv, {"a": First, "b": First}, games=2).records


def test_a_game_that_comes_twice_is_kept_once(tmp_path):
    schedule = Schedule("ab", seats=2, games=2, seed=0)
    for store in (Store(schedule, {}), Store(schedule, {}, tmp_path)):
        for record in (*records(), *records()):
            store.append(record)
        store.flush()
        assert [record.game_id for record in store.records] == ["0.0.0", "0.0.1"]
        assert len(store.kept()) == 2
        store.forget(1)
        assert [record.game_id for record in store.records] == ["0.0.0"]
        assert not store.has(1)
        store.append(records()[1])
        store.flush()
        assert store.results().games == 2
        store.close()


def test_an_existing_folder_may_be_used(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    play(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(StoreError, match=r"cannot write the games to .*out"):
        play(tmp_path / "out")


@pytest.mark.thorough
def test_a_full_disk_loses_nothing_and_the_run_can_be_gone_on_with(tmp_path, monkeypatch):
    """SQLite's own limit on the size of the file gives the error of a full disk."""
    commit = Store._commit
    commits = []

    def fill(store):
        commits.append(len(store._waiting))
        if len(commits) == 2:
            pages = store._db.execute("PRAGMA page_count").fetchone()[0]
            store._db.execute(f"PRAGMA max_page_count = {pages}")
        commit(store)

    monkeypatch.setattr("zermelo.evaluation.storage.store.INTERVAL", 0.0)
    monkeypatch.setattr(Store, "_commit", fill)
    acknowledged = []
    with pytest.raises(
        StoreError, match=r"disk is full; \d+ games are safe in it: .* give the same command again"
    ):
        play(tmp_path, games=200, on_game=acknowledged.append)
    monkeypatch.undo()
    stored = [record.game_id for record in read_games(tmp_path)]
    assert 0 < len(stored) < 200
    assert stored == [record.game_id for record in acknowledged]
    resumed = play(tmp_path, games=200)
    assert table(resumed) == table(play(None, games=200))
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 200


def test_a_text_that_cannot_be_written_is_one_sentence_too(tmp_path):
    with Store(Schedule("ab", seats=2, games=2, seed=0), {}, tmp_path) as store:
        (tmp_path / "games.jsonl").mkdir()
        store.append(records()[0])
        with pytest.raises(StoreError, match=r"cannot write the games to .*; 1 game is safe"):
            store.finish({})
        with pytest.raises(StoreError, match="cannot write the games"):
            store.append(records()[1])
    assert len(read_games(tmp_path)) == 1


def test_a_damaged_database_without_text_is_refused_and_left_alone(tmp_path):
    play(tmp_path, games=40)
    (tmp_path / "games.jsonl").unlink()
    path = tmp_path / "games.sqlite"
    whole = path.read_bytes()
    for damaged in (b"not a database at all, " * 100, whole[:4096] + b"\x00" * 4096 + whole[8192:]):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"games\.sqlite is damaged .*; nothing was changed"):
            play(tmp_path, games=40)
        assert path.read_bytes() == damaged
    path.write_bytes(b"not a database at all, " * 100)
    with pytest.raises(StoreError, match="is damaged"):
        read_games(tmp_path)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (5, "a newer zermelo (store version 5, this one reads 4): update"),
        (2, "an older zermelo (store version 2, "),
    ],
)
def test_a_database_of_another_version_or_of_somebody_else_is_refused(version, said, tmp_path):
    play(tmp_path)
    db = sqlite3.connect(tmp_path / "games.sqlite")
    db.execute(f"PRAGMA user_version = {version}")
    for use in (play, read_games):
        with pytest.raises(StoreError, match=re.escape(said)):
            use(tmp_path)
    db.execute("PRAGMA application_id = 7")
    for use in (play, read_games):
        with pytest.raises(StoreError, match="database of another program"):
            use(tmp_path)
    db.close()


def test_a_run_that_was_killed_before_its_tables_were_made_starts_anew(tmp_path):
    (tmp_path / "games.sqlite").touch()
    with pytest.raises(StoreError, match="holds no tournament"):
        read_games(tmp_path)
    assert play(tmp_path).complete


@pytest.mark.thorough
def test_games_of_an_older_run_can_be_read_but_not_gone_on_with(tmp_path):
    standings = play(tmp_path / "new", games=3)
    old = tmp_path / "old"
    old.mkdir()
    whole = (tmp_path / "new" / "games.jsonl").read_text()
    path = old / "games.jsonl"
    path.write_text("".join(reversed(whole.splitlines(keepends=True))))
    assert read_games(old) == standings.records
    assert table(read_standings(old))["agents"] == table(standings)["agents"]
    with pytest.raises(StoreError, match=r"already holds a tournament \(games.jsonl without games.sqlite\)"):
        play(old, games=3)
    path.write_text(whole[:-10])  # torn by a kill
    assert read_games(old) == standings.records[:2]
    lines = whole.splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    with pytest.raises(StoreError, match="line 2: not a game record"):
        read_games(old)


@pytest.mark.thorough
def test_an_empty_name_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidSettingError, match="out is empty"):
        play("")
    with pytest.raises(SystemExit) as ended:
        main(["tournament", "classic/tictactoe-v3", "random", "greedy", "--out", ""])
    assert ended.value.code == 2
    assert not list(tmp_path.iterdir())


def test_a_folder_without_a_run(tmp_path):
    with pytest.raises(StoreError, match="holds no tournament"):
        read_games(tmp_path)
    with pytest.raises(StoreError, match="holds no tournament"):
        read_standings(tmp_path)


def test_a_match_without_an_id_is_not_of_the_schedule(tmp_path):
    store = Store(Schedule("ab", seats=2, games=2, seed=0), {}, tmp_path)
    with store, pytest.raises(InvalidSettingError, match="the schedule has no game ''"):
        store.append(play_match(toy_envs.ToyEnv, [First(), First()], seed=0))


def test_a_run_that_is_just_being_created_is_empty_or_whole(tmp_path):
    """A reader sees the tables, the mark and the version of one moment."""
    said, is_over = set(), threading.Event()

    def read(path):
        while not is_over.is_set():
            try:
                with open_reader(path):
                    said.add("whole")
            except StoreError as error:
                said.add(str(error).rpartition(": ")[2])

    for number in range(40):
        path = tmp_path / str(number) / "games.sqlite"
        path.parent.mkdir()
        with contextlib.closing(open_writer(path)) as db:
            is_over.clear()
            reader = threading.Thread(target=read, args=(path,))
            reader.start()
            create(db, {}, 2)
            is_over.set()
            reader.join()
    assert said <= {"whole", "games.sqlite is empty"}
